/// What does a damaged or hostile ONNX file get: one message, and nothing opened or run away with?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "file_watch.h"
#include "hindsight/core/error.h"
#include "hindsight/workload/import.h"
#include "temporary_folder.h"
#include "workload/onnx_writer.h"

namespace hindsight::workload {
namespace {

using hindsight::test::onnx_attribute;
using hindsight::test::onnx_graph_attribute;
using hindsight::test::onnx_integers;
using hindsight::test::onnx_node;
using hindsight::test::onnx_tensor;
using hindsight::test::OnnxModel;
using hindsight::test::WireWriter;
using ::testing::Contains;
using ::testing::HasSubstr;
using Sizes = std::vector<std::int64_t>;

class HostileOnnx : public ::testing::Test {
 protected:
  ImportedNetwork read(const std::string& content) const { return import_network(folder_.write("net.onnx", content)); }
  std::string message(const std::string& content) const {
    try {
      static_cast<void>(read(content));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
      return error.what();
    }
    return "no error";
  }
  hindsight::test::TemporaryFolder folder_;
};

/// A convolution, a reshape with a computed shape and a product.
OnnxModel small_model() {
  OnnxModel model;
  model.input("x", {"1", "3", "8", "8"});
  model.initializer(onnx_tensor("w", {4, 3, 3, 3})).initializer(onnx_tensor("fc", {144, 10}));
  model.initializer(onnx_integers("shape", {0, -1}));
  model.node(onnx_node("Conv", {"x", "w"}, {"y"}, {onnx_attribute("strides", Sizes{1, 1})}))
      .node(onnx_node("Reshape", {"y", "shape"}, {"f"}))
      .node(onnx_node("MatMul", {"f", "fc"}, {"o"}));
  model.output("o", {"1", "10"});
  return model;
}

TEST_F(HostileOnnx, ValuesOfEveryNodeAreBounded) {
  const auto model = [](int nodes) {
    OnnxModel made = small_model();
    std::vector<std::int64_t> values(4096, 1);
    made.initializer(onnx_integers("c", values));
    for (int i = 0; i < nodes; ++i) made.node(onnx_node("Add", {"c", "c"}, {"t" + std::to_string(i)}, {}));
    return made.text();
  };
  EXPECT_EQ(read(model(1000)).network.layers().size(), 2U);
  EXPECT_THAT(message(model(1030)), HasSubstr("computed from more than 4,194,304 numbers"));
}

/// Axes are numbers, too: a tensor of 64 axes that goes from node to node.
TEST_F(HostileOnnx, AxesOfEveryNodeAreBounded) {
  const auto model = [](int nodes) {
    OnnxModel made = small_model();
    made.input("many", std::vector<std::string>(64, "1"));
    for (int i = 0; i < nodes; ++i) {
      made.node(onnx_node("Relu", {i == 0 ? "many" : "t" + std::to_string(i - 1)}, {"t" + std::to_string(i)}, {}));
    }
    return made.text();
  };
  EXPECT_EQ(read(model(65'000)).network.layers().size(), 2U);
  EXPECT_THAT(message(model(66'000)), HasSubstr("computed from more than 4,194,304 numbers"));
}

/// What a graph takes is counted whatever it consists of, before it is there.
TEST_F(HostileOnnx, WhatIsKeptOfAGraphIsBounded) {
  const auto refused = ::testing::HasSubstr("the graph takes more than 160 MiB of memory");
  const std::string long_name(60'000, 'n');
  OnnxModel names;
  for (int i = 0; i < 500; ++i) names.node(onnx_node("Relu", {long_name}, {long_name + std::to_string(i)}));
  EXPECT_THAT(message(names.text()), refused);

  std::vector<std::string> attributes;
  for (int i = 0; i < 1000; ++i) attributes.push_back(onnx_attribute("a" + std::to_string(i), 1));
  const std::string node = onnx_node("Relu", {"x"}, {"y"}, attributes);
  OnnxModel many_attributes;
  for (int i = 0; i < 1000; ++i) many_attributes.node(node);
  EXPECT_THAT(message(many_attributes.text()), refused);

  // Each axis of an input can be meant by the input's name.
  OnnxModel inputs;
  for (int i = 0; i < 100; ++i) inputs.input(long_name + std::to_string(i), std::vector<std::string>(64, "1"));
  EXPECT_THAT(message(inputs.text()), refused);
}

TEST_F(HostileOnnx, FunctionsThatMultiplyAreFoundThroughThoseThatCallThem) {
  const auto function = [](const std::string& name, const std::string& type) {
    WireWriter node, body;
    node.bytes(4, type);
    return body.bytes(1, name).bytes(7, node.text()).bytes(10, "own").text();
  };
  const auto model = [&](const std::string& inner) {
    OnnxModel made = small_model();
    made.node(onnx_node("Outer", {"x"}, {"z"}, {}));
    return made.text() + WireWriter().bytes(25, function("Middle", "Inner")).text() +
           WireWriter().bytes(25, function("Inner", inner)).text() +
           WireWriter().bytes(25, function("Outer", "Middle")).text();
  };
  // A call of the standard domain: the function "Outer" is of "own", so that it is not the node's.
  EXPECT_EQ(read(model("MatMul")).network.layers().size(), 2U);
  const auto own = [&](const std::string& inner) {
    OnnxModel made = small_model();
    WireWriter node;
    node.bytes(1, "x").bytes(2, "z").bytes(4, "Outer").bytes(7, "own");
    made.node(node.text());
    return made.text() + WireWriter().bytes(25, function("Middle", "Inner")).text() +
           WireWriter().bytes(25, function("Inner", inner)).text() +
           WireWriter().bytes(25, function("Outer", "Middle")).text();
  };
  EXPECT_THAT(message(own("MatMul")), HasSubstr("MatMul within it multiplies"));
  EXPECT_EQ(read(own("Relu")).network.layers().size(), 2U);
}

TEST_F(HostileOnnx, EveryPrefixIsRefusedOrWhole) {
  const std::string whole = small_model().text();
  EXPECT_EQ(read(whole).network.totals().macs, 36.0 * 4 * 27 + 1440);
  int refused = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string said = message(whole.substr(0, size));
    if (said != "no error") {
      ++refused;
      EXPECT_THAT(said, HasSubstr("net.onnx")) << size;
    }
  }
  EXPECT_GE(refused, static_cast<int>(whole.size()) - 10);  // the graph is whole before the opset behind it
  EXPECT_THAT(message(whole.substr(0, whole.size() / 2)), HasSubstr("cut short"));
}

TEST_F(HostileOnnx, ChangedBytesGiveAnErrorOrANetwork) {
  const std::string whole = small_model().text();
  constexpr unsigned kSeed = 15;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  int refused = 0;
  for (int i = 0; i < 600; ++i) {
    std::string content = whole;
    for (std::uint_fast32_t changes = 1 + random() % 3; changes > 0; --changes) {
      content[random() % content.size()] = static_cast<char>(random() % 256);
    }
    try {
      EXPECT_GT(read(content).network.totals().macs, 0);
    } catch (const Error& error) {
      ++refused;
      EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
    }
  }
  EXPECT_GT(refused, 200);
}

TEST_F(HostileOnnx, CyclesAndLooseEnds) {
  OnnxModel cycle;
  cycle.input("x", {"1", "8"}).initializer(onnx_tensor("w", {8, 8}));
  cycle.node(onnx_node("Add", {"x", "b"}, {"a"})).node(onnx_node("MatMul", {"a", "w"}, {"b"}));
  EXPECT_THAT(message(cycle.text()), HasSubstr("a cycle: node 'n_a' (Add) waits for its own output"));
  OnnxModel self;
  self.input("x", {"1", "8"}).node(onnx_node("Add", {"x", "a"}, {"a"}));
  EXPECT_THAT(message(self.text()), HasSubstr("a cycle"));
  OnnxModel loose;
  loose.input("x", {"1", "8"}).node(onnx_node("MatMul", {"x", "gone"}, {"y"}));
  EXPECT_THAT(message(loose.text()), HasSubstr("uses 'gone', which no node, input or initializer gives"));
  OnnxModel twice;
  twice.input("x", {"1", "8"}).node(onnx_node("Relu", {"x"}, {"y"})).node(onnx_node("Relu", {"x"}, {"y"}));
  EXPECT_THAT(message(twice.text()), HasSubstr("'y' is given twice"));
}

TEST_F(HostileOnnx, NodesOutOfOrderAreSorted) {
  OnnxModel model;
  model.input("x", {"1", "8"}).initializer(onnx_tensor("w", {8, 8}));
  model.node(onnx_node("MatMul", {"a", "w"}, {"y"})).node(onnx_node("Relu", {"x"}, {"a"}));
  EXPECT_EQ(read(model.text()).network.totals().macs, 64);
}

TEST_F(HostileOnnx, ImpossibleSizes) {
  const auto convolution = [](const Sizes& kernel, const std::vector<std::string>& attributes = {}) {
    OnnxModel model;
    model.input("x", {"1", "3", "8", "8"}).initializer(onnx_tensor("w", kernel));
    model.node(onnx_node("Conv", {"x", "w"}, {"y"}, attributes));
    return model.text();
  };
  EXPECT_THAT(message(convolution({4, 3, -3, 3})), HasSubstr("tensor 'w' has an axis of -3 elements"));
  EXPECT_THAT(message(convolution({1LL << 40, 3, 1LL << 40, 3})), HasSubstr("more than 2^53 elements"));
  EXPECT_THAT(message(convolution({4, 3, 9, 9})), HasSubstr("node 'n_y' (Conv): a kernel of 9 over 8 padded pixels"));
  EXPECT_THAT(message(convolution({4, 5, 3, 3})), HasSubstr("channels differ"));
  EXPECT_THAT(message(convolution({4, 3, 3, 3}, {onnx_attribute("strides", Sizes{0, 1})})), HasSubstr("strides is 0"));
  EXPECT_THAT(message(convolution({4, 3, 3, 3}, {onnx_attribute("pads", Sizes{-1, 0, 0, 0})})),
              HasSubstr("pads is -1"));
  EXPECT_THAT(message(convolution({4, 3, 3, 3}, {onnx_attribute("group", -1)})), HasSubstr("-1 groups"));
  EXPECT_THAT(message(convolution({4, 3, 3, 3}, {onnx_attribute("dilations", Sizes{1LL << 31, 1LL << 31})})),
              HasSubstr("a kernel"));
  OnnxModel wide;
  wide.input("x", {"9223372036854775807", "8"}).initializer(onnx_tensor("w", {8, 8}));
  wide.node(onnx_node("MatMul", {"x", "w"}, {"y"}));
  EXPECT_THAT(message(wide.text()), HasSubstr("'x' has an axis of 9223372036854775807 elements"));
  OnnxModel many;
  many.input("x", {"2147483648", "2147483648"}).initializer(onnx_tensor("w", {8, 8}));
  many.node(onnx_node("Relu", {"x"}, {"y"}));
  EXPECT_THAT(message(many.text()), HasSubstr("2^53"));
}

TEST_F(HostileOnnx, FilesBesideTheModelAreNeverOpened) {
  const auto outside = [](const std::string& location) {
    const std::string entry = WireWriter().bytes(1, "location").bytes(2, location).text();
    const std::string tensor =
        WireWriter().integer(1, 8).integer(1, 8).integer(2, 1).bytes(8, "w").bytes(13, entry).integer(14, 1).text();
    OnnxModel model;
    model.input("x", {"1", "8"}).initializer(tensor).node(onnx_node("MatMul", {"x", "w"}, {"y"}));
    return model.text();
  };
  const ImportedNetwork beside = read(outside("weights.bin"));  // there is no such file
  EXPECT_EQ(beside.network.totals().parameters, 64);
  EXPECT_THAT(beside.remarks, Contains(HasSubstr("1 tensor in files beside the model, which were not opened")));
  for (const char* location : {"../../etc/passwd", "/etc/passwd", "C:\\secret"}) {
    EXPECT_THAT(read(outside(location)).remarks, Contains(HasSubstr("points to a file outside of its folder")));
  }
  const std::filesystem::path within = folder_.write("model/weights.bin", std::string(256, 'w'));
  const std::filesystem::path above = folder_.write("secret.bin", std::string(256, 's'));
  std::filesystem::create_symlink(above, folder_ / "model/link.bin");
  const hindsight::test::FileWatch watch({within, above});
  for (const std::string& location :
       {std::string("weights.bin"), std::string("link.bin"), std::string("../secret.bin"), above.string()}) {
    EXPECT_EQ(import_network(folder_.write("model/net.onnx", outside(location))).network.totals().parameters, 64);
    EXPECT_FALSE(watch.any_opened()) << location;
  }
  static_cast<void>(std::ifstream(above));
  EXPECT_TRUE(watch.any_opened()) << "it would have been seen";
}

TEST_F(HostileOnnx, LoopsThatMultiplyAreRefused) {
  OnnxModel body;
  body.node(onnx_node("MatMul", {"a", "b"}, {"c"}));
  OnnxModel model;
  model.input("x", {"1", "8"});
  model.node(onnx_node("Loop", {"x"}, {"y"}, {onnx_graph_attribute("body", body.graph())}));
  EXPECT_THAT(message(model.text()), HasSubstr("node 'n_y' (Loop): MatMul within it multiplies"));
  // Graphs within graphs, deeper than any model.
  std::string nested = OnnxModel().node(onnx_node("Relu", {"a"}, {"b"})).graph();
  for (int depth = 0; depth < 1000; ++depth) {
    nested = OnnxModel().node(onnx_node("If", {"a"}, {"b"}, {onnx_graph_attribute("then", nested)})).graph();
  }
  OnnxModel deep;
  deep.input("x", {"1"}).node(onnx_node("If", {"x"}, {"y"}, {onnx_graph_attribute("then", nested)}));
  EXPECT_THAT(message(deep.text()), HasSubstr("graphs nested deeper than 16"));
}

/// A tensor of this many axes of one element, with what is given of its values.
std::string tensor_of(int element, const std::vector<std::int64_t>& dims, const std::string& values) {
  WireWriter tensor;
  for (const std::int64_t dim : dims) tensor.integer(1, dim);
  return tensor.integer(2, element).bytes(8, "w").text() + values;
}
constexpr int kFloat32 = 1, kInt32 = 6, kInt64 = 7, kBoolean = 9, kFloat64 = 11;  // [spec: onnx] TensorProto.DataType

/// Fields that a model has, of another type, cut, or more of them than there may be.
TEST_F(HostileOnnx, FieldsOfAnotherTypeAreRefusedByTheirByte) {
  const auto in_graph = [](const std::string& fields) { return WireWriter().bytes(7, fields).text(); };
  const auto holding = [&](const std::string& tensor) { return in_graph(WireWriter().bytes(5, tensor).text()); };
  const auto raw = [](std::size_t bytes) { return WireWriter().bytes(9, std::string(bytes, '\0')).text(); };
  const std::string attribute = WireWriter().bytes(1, "a").integer(2, 1).text();
  const std::string with_attribute = WireWriter().bytes(4, "Relu").bytes(5, attribute).text();
  OnnxModel twice;
  twice.initializer(onnx_tensor("w", {2})).initializer(onnx_tensor("w", {2}));
  const std::vector<std::pair<std::string, std::string>> cases{
      {std::string(2, '\0'), "byte 0: model: a field of number 0"},
      {"\x0b", "byte 0: model: wire type 3"},
      {"\x09"
       "abc",
       "byte 0: model: ends within a number (the file is cut short)"},
      {"\x0d"
       "ab",
       "ends within a number (the file is cut short)"},
      {"\x38\x01", "model: field 7 is no message"},
      {OnnxModel().text() + WireWriter().bytes(7, "").text(), "a second graph"},
      {in_graph(WireWriter().bytes(1, WireWriter().bytes(1, "x").text()).text()), "a node without an operator"},
      {in_graph(WireWriter().bytes(1, with_attribute).text()), "attribute: field 2 is no number"},
      {holding(WireWriter().bytes(2, "x").text()), "tensor: field 2 is no whole number"},
      {holding(tensor_of(kInt64, {1}, raw(5))), "tensor 'w' ends within a number"},
      {holding(tensor_of(kFloat32, {1}, WireWriter().bytes(4, "abcdef").text())), "field 4 ends within a number"},
      {holding(tensor_of(kInt64, {1}, WireWriter().bytes(7, "\x01\x02").text())), "holds 2 values, but its axes say 1"},
      {holding(tensor_of(kBoolean, {1}, raw(5000))), "tensor 'w' holds 5000 values, but its axes say 1"},
      {holding(tensor_of(kFloat64, {2}, raw(8 * 5000))), "tensor 'w' holds 5000 values, but its axes say 2"},
      {holding(tensor_of(kInt64, {1}, WireWriter().bytes(7, std::string(5000, '\x01')).text())),
       "field 7 has more than 4096 values"},
      {holding(tensor_of(kFloat64, {1}, WireWriter().bytes(10, std::string(8 * 5000, '\0')).text())),
       "field 10 has more than 4096 values"},
      {holding(tensor_of(kFloat32, Sizes(65, 1), "")), "field 1 has more than 64 values"},
      {in_graph(WireWriter().bytes(11, hindsight::test::onnx_value("x", std::vector<std::string>(65, "1"))).text()),
       "more than 64 axes"},
      {in_graph(WireWriter().bytes(2, std::string(70'000, 'n')).text()), "a text of 70000 bytes (at most 65536)"},
      {in_graph(WireWriter().bytes(15, WireWriter().integer(3, -1).text()).text()), "has an axis of -1 elements"},
      {twice.text(), "two initializers of one name"}};
  for (const auto& [content, part] : cases) EXPECT_THAT(message(content), HasSubstr(part));
}

/// A shape is a shape in each of the ways that a file may say it.
TEST_F(HostileOnnx, ShapesInEveryFormOfNumbers) {
  const auto macs = [&](const std::string& shape) {
    OnnxModel model;
    model.input("x", {"4", "6"}).initializer(shape).initializer(onnx_tensor("m", {12, 3}));
    model.node(onnx_node("Reshape", {"x", "w"}, {"r"})).node(onnx_node("MatMul", {"r", "m"}, {"y"}));
    return read(model.text()).network.totals().macs;
  };
  const std::string narrow("\x02\0\0\0\x0c\0\0\0", 8), wide("\x02\0\0\0\0\0\0\0\x0c\0\0\0\0\0\0\0", 16);
  EXPECT_EQ(macs(tensor_of(kInt32, {2}, WireWriter().bytes(9, narrow).text())), 72);
  EXPECT_EQ(macs(tensor_of(kInt64, {2}, WireWriter().bytes(9, wide).text())), 72);
  EXPECT_EQ(macs(tensor_of(kInt64, {2}, WireWriter().integer(7, 2).integer(7, 12).text())), 72);
  EXPECT_EQ(macs(tensor_of(kInt64, {2}, WireWriter().bytes(7, "\x02\x0c").text())), 72);
  EXPECT_EQ(macs(tensor_of(kInt32, {2}, WireWriter().integer(5, 2).integer(5, -1).text())), 72);
}

TEST_F(HostileOnnx, OtherFiles) {
  EXPECT_THAT(message(""), HasSubstr("an empty file"));
  EXPECT_THAT(message("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"),
              HasSubstr("git lfs pull"));
  EXPECT_THAT(message("\x1f\x8b\x08 gzip"), HasSubstr("a gzip file, not an ONNX model"));
  EXPECT_THAT(message("just text"), HasSubstr("byte 0"));
  EXPECT_THAT(message(std::string(100, '\xff')), HasSubstr("a number that does not end"));
  EXPECT_THAT(message(WireWriter().integer(1, 8).text()), HasSubstr("no graph"));
  EXPECT_THAT(message(OnnxModel().input("x", {"1"}).node(onnx_node("Relu", {"x"}, {"y"})).text()),
              HasSubstr("no layer multiplies anything"));
}

TEST_F(HostileOnnx, ShapesThatDoNotGoTogether) {
  const auto with = [](const std::string& node, const std::string& tensor) {
    OnnxModel model;
    model.input("x", {"4", "6"}).initializer(tensor).node(node);
    return model.text();
  };
  EXPECT_THAT(message(with(onnx_node("MatMul", {"x", "w"}, {"y"}), onnx_tensor("w", {5, 3}))),
              HasSubstr("[4x6] times [5x3]"));
  EXPECT_THAT(message(with(onnx_node("Reshape", {"x", "s"}, {"y"}), onnx_integers("s", {5, -1}))),
              HasSubstr("[4x6] cannot become [5x-1]"));
  EXPECT_THAT(message(with(onnx_node("Reshape", {"x", "s"}, {"y"}), onnx_integers("s", {-1, -1}))),
              HasSubstr("two axes of -1"));
  EXPECT_THAT(message(with(onnx_node("Add", {"x", "w"}, {"y"}), onnx_tensor("w", {5}))),
              HasSubstr("do not go together"));
  EXPECT_THAT(
      message(with(onnx_node("Transpose", {"x"}, {"y"}, {onnx_attribute("perm", Sizes{0, 0})}), onnx_tensor("w", {5}))),
      HasSubstr("an axis is given twice"));
  // Parts that add up only because one is negative, and a step back through nothing.
  OnnxModel parts;
  parts.input("x", {"4", "6"}).initializer(onnx_integers("list", {1, 2, 3})).initializer(onnx_integers("s", {5, -2}));
  parts.node(onnx_node("Split", {"list", "s"}, {"a", "b"})).node(onnx_node("Reshape", {"x", "a"}, {"y"}));
  EXPECT_THAT(message(parts.text()), HasSubstr("3 elements cannot be split into [5x-2]"));
  OnnxModel none;
  none.input("x", {"4", "6"}).initializer(onnx_integers("list", {})).initializer(onnx_integers("back", {-1}));
  none.node(onnx_node("Slice", {"list", "back", "back", "axis", "back"}, {"a"}))
      .initializer(onnx_integers("axis", {0}));
  none.initializer(onnx_tensor("w", {6, 2})).node(onnx_node("MatMul", {"x", "w"}, {"y"}));
  EXPECT_EQ(read(none.text()).network.totals().macs, 48);
  EXPECT_THAT(message(with(onnx_node("Softmax", {}, {"y"}), onnx_tensor("w", {5}))),
              HasSubstr("its first input is missing"));
}

}  // namespace
}  // namespace hindsight::workload
