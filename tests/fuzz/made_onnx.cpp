/// Networks as ONNX models, with what the format has besides layers: bodies, constants, other files, functions.
#include "fuzz/made.h"
#include "workload/onnx_writer.h"

namespace hindsight::fuzz {
namespace {

using test::onnx_attribute;
using test::onnx_graph_attribute;
using test::onnx_integers;
using test::onnx_node;
using test::onnx_tensor;
using test::onnx_tensor_attribute;
using test::OnnxModel;
using test::WireWriter;

constexpr int kOnnxBool = 9;

/// Numbers one after the other, as fields of several values have them. Below 128, a byte each.
std::string packed(const std::vector<std::int64_t>& values) {
  std::string bytes;
  for (const std::int64_t value : values) bytes += static_cast<char>(value);
  return bytes;
}

/// Eight bytes each, as raw data of whole numbers.
std::string raw(const std::vector<std::int64_t>& values) {
  std::string bytes;
  for (const std::int64_t value : values) {
    bytes += static_cast<char>(value);
    bytes.append(7, value < 0 ? '\xff' : '\0');
  }
  return bytes;
}

}  // namespace

std::string made_onnx() {
  return OnnxModel()
      .input("x", {"batch", "3", "8", "8"})
      .initializer(onnx_tensor("w", {4, 3, 3, 3}))
      .initializer(onnx_integers("shape", {0, -1}))
      .initializer(onnx_tensor("v", {144, 10}))
      .node(onnx_node("Conv", {"x", "w"}, {"y"},
                      {onnx_attribute("strides", std::vector<std::int64_t>{1, 1}),
                       onnx_attribute("kernel_shape", std::vector<std::int64_t>{3, 3})}))
      .node(onnx_node("Relu", {"y"}, {"r"}))
      .node(onnx_node("Reshape", {"r", "shape"}, {"f"}))
      .node(onnx_node("MatMul", {"f", "v"}, {"z"}))
      .output("z", {"batch", "10"})
      .text();
}

std::string made_onnx_bodies() {
  const auto branch = [](const std::string& type) {
    return OnnxModel().node(onnx_node(type, {"x"}, {"b"})).output("b", {"1", "16"}).graph();
  };
  const std::string body = OnnxModel()
                               .input("i", {}, test::kOnnxInt64)
                               .input("go", {}, kOnnxBool)
                               .input("v", {"1", "16"})
                               .node(onnx_node("Identity", {"go"}, {"on"}))
                               .node(onnx_node("Relu", {"v"}, {"r"}))
                               .output("on", {})
                               .output("r", {"1", "16"})
                               .graph();
  return OnnxModel()
      .input("x", {"1", "16"})
      .input("flag", {}, kOnnxBool)
      .initializer(onnx_integers("trips", {3}, true))
      .initializer(onnx_tensor("w", {16, 10}))
      .node(onnx_node(
          "If", {"flag"}, {"y"},
          {onnx_graph_attribute("then_branch", branch("Relu")), onnx_graph_attribute("else_branch", branch("Tanh"))}))
      .node(onnx_node("Loop", {"trips", "flag", "y"}, {"z"}, {onnx_graph_attribute("body", body)}))
      .value("z", {"1", "16"})
      .node(onnx_node("MatMul", {"z", "w"}, {"out"}))
      .output("out", {"1", "10"})
      .text();
}

std::string made_onnx_constants() {
  const std::string shape = WireWriter()
                                .bytes(1, packed({2}))  // dims and values in one field each
                                .integer(2, test::kOnnxInt64)
                                .bytes(7, packed({1, 16}))
                                .bytes(8, "s")
                                .text();
  const std::string axes =
      WireWriter().integer(1, 1).integer(2, test::kOnnxInt64).bytes(8, "axes").bytes(9, raw({-1})).text();
  return OnnxModel()
      .input("x", {"batch", "4", "4"})
      .initializer(axes)
      .initializer(onnx_tensor("w", {16, 10}))
      .node(onnx_node("Constant", {}, {"s"}, {onnx_tensor_attribute("value", shape)}))
      .node(onnx_node("Constant", {}, {"t"}, {onnx_attribute("value_ints", std::vector<std::int64_t>{0, 1})}))
      .node(onnx_node("Shape", {"x"}, {"of"}))
      .node(onnx_node("Gather", {"of", "t"}, {"some"}, {onnx_attribute("axis", 0)}))
      .node(onnx_node("Concat", {"some", "t"}, {"more"}, {onnx_attribute("axis", 0)}))
      .node(onnx_node("Reshape", {"x", "s"}, {"y"}))
      .node(onnx_node("Unsqueeze", {"y", "axes"}, {"u"}))
      .node(onnx_node("Squeeze", {"u", "axes"}, {"v"}))
      .node(onnx_node("Gemm", {"v", "w"}, {"z"}, {onnx_attribute("transB", 0)}))
      .output("z", {"1", "10"})
      .text();
}

std::string made_onnx_elsewhere() {
  const auto place = [](const std::string& key, const std::string& value) {
    return WireWriter().bytes(1, key).bytes(2, value).text();
  };
  const std::string weights = WireWriter()
                                  .integer(1, 16)
                                  .integer(1, 10)
                                  .integer(2, test::kOnnxFloat)
                                  .bytes(8, "w")
                                  .bytes(13, place("location", "../weights.bin"))
                                  .bytes(13, place("offset", "0"))
                                  .bytes(13, place("length", "640"))
                                  .integer(14, 1)
                                  .text();
  const std::string function = WireWriter()
                                   .bytes(1, "twice")
                                   .bytes(4, "a")
                                   .bytes(5, "c")
                                   .bytes(7, onnx_node("Relu", {"a"}, {"b"}))
                                   .bytes(7, onnx_node("Relu", {"b"}, {"c"}))
                                   .bytes(10, "own")
                                   .text();
  const std::string model = OnnxModel()
                                .input("x", {"1", "16"})
                                .initializer(weights)
                                .node(onnx_node("twice", {"x"}, {"y"}, {}, "own"))
                                .node(onnx_node("MatMul", {"y", "w"}, {"z"}))
                                .output("z", {"1", "10"})
                                .text();
  return model + WireWriter().bytes(25, function).bytes(8, WireWriter().bytes(1, "own").integer(2, 1).text()).text();
}

}  // namespace hindsight::fuzz
