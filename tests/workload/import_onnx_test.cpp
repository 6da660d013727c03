/// Do ONNX graphs become the layers that they compute, with every MAC and parameter?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "hindsight/core/error.h"
#include "hindsight/workload/import.h"
#include "temporary_folder.h"
#include "workload/onnx_writer.h"

namespace hindsight::workload {
namespace {

using hindsight::test::kOnnxFloat;
using hindsight::test::kOnnxInt8;
using hindsight::test::onnx_attribute;
using hindsight::test::onnx_integers;
using hindsight::test::onnx_node;
using hindsight::test::onnx_tensor;
using hindsight::test::onnx_tensor_attribute;
using hindsight::test::OnnxModel;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Sizes = std::vector<std::int64_t>;

class ImportOnnx : public ::testing::Test {
 protected:
  ImportedNetwork read(const OnnxModel& model, const std::map<std::string, std::int64_t>& dimensions = {},
                       std::int64_t opset = 17) const {
    return import_network(folder_.write("net.onnx", model.text(opset)),
                          {.format = {}, .name = "", .dimensions = dimensions});
  }
  std::string message(const OnnxModel& model, const std::map<std::string, std::int64_t>& dimensions = {}) const {
    try {
      static_cast<void>(read(model, dimensions));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return {};
  }
  hindsight::test::TemporaryFolder folder_;
};

OnnxModel image(const std::vector<std::string>& dims = {"1", "3", "32", "32"}) {
  OnnxModel model;
  model.input("x", dims);
  return model;
}

/// A layer of one convolution of the image x.
Layer one_convolution(const ImportedNetwork& imported) {
  EXPECT_EQ(imported.network.layers().size(), 1U);
  return imported.network.layers().front();
}

TEST_F(ImportOnnx, ConvolutionsOfEverySort) {
  OnnxModel model = image();
  model.initializer(onnx_tensor("w1", {16, 3, 5, 3})).initializer(onnx_tensor("b1", {16}));
  model.node(onnx_node("Conv", {"x", "w1", "b1"}, {"y1"},
                       {onnx_attribute("strides", Sizes{2, 1}), onnx_attribute("pads", Sizes{2, 1, 1, 1})}));
  model.initializer(onnx_tensor("w2", {16, 1, 3, 3}));  // depthwise, dilated
  model.node(onnx_node("Conv", {"y1", "w2"}, {"y2"},
                       {onnx_attribute("group", 16), onnx_attribute("dilations", Sizes{2, 2}),
                        onnx_attribute("auto_pad", std::string("SAME_UPPER"))}));
  model.initializer(onnx_tensor("w3", {8, 4, 1, 1}));  // 4 groups
  model.node(onnx_node("Conv", {"y2", "w3"}, {"y3"}, {onnx_attribute("group", 4)}));
  const ImportedNetwork imported = read(model);
  const std::vector<Layer>& layers = imported.network.layers();
  ASSERT_EQ(layers.size(), 3U);
  EXPECT_EQ(layers[0].name, "n_y1");
  // 32 + 3 - 5 over 2, and 32 + 2 - 3: 16 x 32.
  EXPECT_EQ(layers[0].out_height(), 16);
  EXPECT_EQ(layers[0].out_width(), 32);
  EXPECT_TRUE(layers[0].has_bias);
  EXPECT_EQ(layers[1].type, LayerType::depthwise_convolution);
  EXPECT_EQ(layers[1].dilation_height, 2);
  EXPECT_EQ(layers[1].out_height(), 16);
  EXPECT_EQ(layers[2].groups, 4);
  EXPECT_EQ(imported.network.totals().macs, 512.0 * (16 * 45 + 16 * 9 + 8 * 4));
  EXPECT_EQ(imported.network.totals().parameters, 16 * 45 + 16 + 16 * 9 + 8 * 4);
  EXPECT_EQ(imported.network.extra_parameters().count, 0);
}

TEST_F(ImportOnnx, ANameOfWhichNothingCanStayIsNone) {
  OnnxModel model = image();
  model.initializer(onnx_tensor("w", {4, 3, 3, 3})).node(onnx_node("Conv", {"x", "w"}, {"y"}));
  const auto name_of = [&](const std::string& file) {
    return import_network(folder_.write(file, model.text(17)), {.format = {}, .name = "", .dimensions = {}})
        .network.name();
  };
  EXPECT_EQ(name_of("\u30e6\u30cb.onnx"), "network");
  EXPECT_EQ(name_of("net\u00e9.onnx"), "net__");
}

TEST_F(ImportOnnx, TransposedConvolutions) {
  OnnxModel model = image({"1", "8", "10", "10"});
  model.initializer(onnx_tensor("w", {8, 4, 3, 3}));
  model.node(onnx_node("ConvTranspose", {"x", "w"}, {"y"},
                       {onnx_attribute("strides", Sizes{2, 2}), onnx_attribute("pads", Sizes{1, 1, 1, 1}),
                        onnx_attribute("output_padding", Sizes{1, 1})}));
  const Layer layer = one_convolution(read(model));
  EXPECT_EQ(layer.type, LayerType::transposed_convolution);
  EXPECT_EQ(layer.out_height(), 20);
  EXPECT_EQ(lower(layer, 1).macs, 100.0 * 8 * 4 * 9);
}

TEST_F(ImportOnnx, BatchNormalisationAndBiasBelongToTheLayerBefore) {
  OnnxModel model = image();
  model.initializer(onnx_tensor("w", {16, 3, 3, 3}));
  for (const char* name : {"scale", "shift", "mean", "variance"}) model.initializer(onnx_tensor(name, {16}));
  model.initializer(onnx_tensor("fc", {16, 10})).initializer(onnx_tensor("bias", {10}));
  model.initializer(onnx_tensor("table", {7, 10}));
  model.node(onnx_node("Conv", {"x", "w"}, {"y"}))
      .node(onnx_node("BatchNormalization", {"y", "scale", "shift", "mean", "variance"}, {"z"}))
      .node(onnx_node("Relu", {"z"}, {"r"}))
      .node(onnx_node("GlobalAveragePool", {"r"}, {"p"}))
      .node(onnx_node("Flatten", {"p"}, {"f"}))
      .node(onnx_node("MatMul", {"f", "fc"}, {"m"}))
      .node(onnx_node("Add", {"bias", "m"}, {"o"}))
      .node(onnx_node("Gather", {"table", "i"}, {"g"}, {onnx_attribute("axis", 0)}))
      .initializer(onnx_integers("i", {3}));
  const ImportedNetwork imported = read(model);
  EXPECT_TRUE(imported.network.layers()[0].batch_norm);
  EXPECT_FALSE(imported.network.layers()[0].has_bias);
  EXPECT_TRUE(imported.network.layers()[1].has_bias);
  // Weights, a scale and a shift per channel; weights and bias; the table. Mean and variance are folded.
  EXPECT_EQ(imported.network.totals().parameters, 16 * 27 + 32 + 160 + 10 + 70);
  EXPECT_EQ(imported.network.extra_parameters().count, 70);
  EXPECT_THAT(imported.without_macs, Contains(OperatorCount{.name = "BatchNormalization", .count = 1}));
}

TEST_F(ImportOnnx, BatchesAreTheNetworks) {
  OnnxModel model = image({"N", "3", "8", "8"});
  model.initializer(onnx_tensor("w", {4, 3, 3, 3})).initializer(onnx_tensor("fc", {10, 144}));
  model.node(onnx_node("Conv", {"x", "w"}, {"y"}))
      .node(onnx_node("Flatten", {"y"}, {"f"}))
      .node(onnx_node("Gemm", {"f", "fc"}, {"o"}, {onnx_attribute("transB", 1)}));
  const ImportedNetwork imported = read(model, {{"N", 8}});
  EXPECT_EQ(imported.network.batch(), 8);
  EXPECT_EQ(imported.network.layers()[1].rows, 1);
  EXPECT_EQ(imported.network.totals().macs, 8.0 * (36 * 4 * 27 + 1440));
  EXPECT_EQ(imported.network.totals().parameters, 4 * 27 + 1440);
}

/// Queries and keys of 4 heads of 16, from tokens of 64, the way exporters write it: with shapes that are computed.
OnnxModel attention_model() {
  OnnxModel model;
  model.input("x", {"batch", "tokens", "64"});
  for (const char* name : {"q", "k", "v", "o"}) model.initializer(onnx_tensor(std::string("w") + name, {64, 64}));
  model.initializer(onnx_integers("zero", {0}, true)).initializer(onnx_integers("one", {1}, true));
  model.initializer(onnx_integers("axis0", {0})).initializer(onnx_integers("heads", {4, 16}));
  model.node(onnx_node("Shape", {"x"}, {"s"}))
      .node(onnx_node("Gather", {"s", "zero"}, {"s0"}))
      .node(onnx_node("Gather", {"s", "one"}, {"s1"}))
      .node(onnx_node("Unsqueeze", {"s0", "axis0"}, {"u0"}))
      .node(onnx_node("Unsqueeze", {"s1", "axis0"}, {"u1"}))
      .node(onnx_node("Concat", {"u0", "u1", "heads"}, {"shape"}, {onnx_attribute("axis", 0)}));
  for (const std::string name : {"q", "k", "v"}) {
    model.node(onnx_node("MatMul", {"x", "w" + name}, {name}))
        .node(onnx_node("Reshape", {name, "shape"}, {name + "4"}))
        .node(onnx_node("Transpose", {name + "4"}, {name + "t"},
                        {onnx_attribute("perm", name == "k" ? Sizes{0, 2, 3, 1} : Sizes{0, 2, 1, 3})}));
  }
  model.node(onnx_node("MatMul", {"qt", "kt"}, {"scores"}))
      .node(onnx_node("Softmax", {"scores"}, {"p"}, {onnx_attribute("axis", -1)}))
      .node(onnx_node("MatMul", {"p", "vt"}, {"values"}))
      .node(onnx_node("Transpose", {"values"}, {"vt4"}, {onnx_attribute("perm", Sizes{0, 2, 1, 3})}))
      .node(onnx_node("Reshape", {"vt4", "flat"}, {"v3"}))
      .node(onnx_node("MatMul", {"v3", "wo"}, {"out"}))
      .initializer(onnx_integers("flat", {0, 0, -1}));
  return model;
}

TEST_F(ImportOnnx, AttentionWithComputedShapes) {
  const ImportedNetwork imported = read(attention_model(), {{"batch", 2}, {"tokens", 10}});
  const std::vector<Layer>& layers = imported.network.layers();
  ASSERT_EQ(layers.size(), 6U);
  EXPECT_EQ(layers[0].type, LayerType::fully_connected);
  EXPECT_EQ(layers[0].rows, 20);
  EXPECT_EQ(layers[3].type, LayerType::matmul);
  EXPECT_EQ(layers[3].heads, 8);
  EXPECT_EQ(layers[3].rows, 10);
  EXPECT_EQ(layers[3].reduction, 16);
  EXPECT_EQ(layers[4].columns, 16);
  EXPECT_EQ(imported.network.totals().macs, 4.0 * 20 * 64 * 64 + 2.0 * 8 * 10 * 10 * 16);
  EXPECT_EQ(imported.network.totals().parameters, 4 * 64 * 64);
}

TEST_F(ImportOnnx, OpenSizesAreAskedForAllAtOnce) {
  EXPECT_THAT(message(attention_model()), HasSubstr("Give --dim batch=... --dim tokens=..."));
  EXPECT_THAT(message(attention_model(), {{"batch", 1}}), HasSubstr("Give --dim tokens=..."));
  EXPECT_THAT(message(attention_model(), {{"bach", 1}}), HasSubstr("no dimension 'bach'. Did you mean 'batch'?"));
  // Axes without a name, and with a wrong number.
  OnnxModel unnamed = image({"", "3", "-1", "8"});
  unnamed.initializer(onnx_tensor("w", {4, 3, 3, 3})).node(onnx_node("Conv", {"x", "w"}, {"y"}));
  EXPECT_THAT(message(unnamed, {{"x.2", 8}}), HasSubstr("Give --dim x.0=..."));
  EXPECT_THAT(message(unnamed, {{"x.0", 1}}), HasSubstr("'x' has an axis of -1 elements. Give its size as --dim x.2="));
  EXPECT_EQ(read(unnamed, {{"x.0", 1}, {"x.2", 8}}).network.totals().macs, 36.0 * 4 * 27);
}

TEST_F(ImportOnnx, SharedRightOperandsAndStackedExperts) {
  OnnxModel model;
  model.input("q", {"1", "8", "5", "16"}).input("k", {"1", "1", "16", "7"}).input("t", {"3", "6", "4"});
  model.initializer(onnx_tensor("experts", {3, 4, 9}));
  model.node(onnx_node("MatMul", {"q", "k"}, {"s"})).node(onnx_node("MatMul", {"t", "experts"}, {"e"}));
  const std::vector<Layer> layers = read(model).network.layers();
  EXPECT_EQ(layers[0].heads, 1);  // one key head: all queries are rows
  EXPECT_EQ(layers[0].rows, 40);
  EXPECT_EQ(layers[1].type, LayerType::fully_connected);
  EXPECT_EQ(layers[1].repeat, 3);
  EXPECT_EQ(layers[1].rows, 6);
  EXPECT_EQ(read(model).network.totals().parameters, 3 * 36);
}

TEST_F(ImportOnnx, AttentionAsOneNode) {
  OnnxModel model;
  model.input("x", {"2", "10", "64"}).input("q", {"1", "1", "256"}).input("past", {"1", "2", "99", "32"});
  model.input("k", {"1", "1", "64"}).input("q4", {"1", "8", "5", "16"}).input("k4", {"1", "2", "7", "16"});
  model.initializer(onnx_tensor("w", {64, 192})).initializer(onnx_tensor("b", {192}));
  model.node(onnx_node("Attention", {"x", "w", "b"}, {"a"}, {onnx_attribute("num_heads", 4)}, "com.microsoft"))
      .node(onnx_node("GroupQueryAttention", {"q", "k", "k", "past", "past"}, {"g", "p1", "p2"},
                      {onnx_attribute("num_heads", 8), onnx_attribute("kv_num_heads", 2)}, "com.microsoft"))
      .node(onnx_node("MultiHeadAttention", {"x", "x", "x"}, {"m"}, {onnx_attribute("num_heads", 4)}, "com.microsoft"))
      .node(onnx_node("Attention", {"q4", "k4", "k4"}, {"s"}));
  const ImportedNetwork imported = read(model, {}, 23);
  const std::vector<Layer>& layers = imported.network.layers();
  ASSERT_EQ(layers.size(), 9U);
  EXPECT_EQ(layers[0].name, "n_a.qkv");
  EXPECT_EQ(layers[0].columns, 192);
  EXPECT_EQ(layers[1].heads, 8);
  EXPECT_EQ(layers[3].kv_heads, 2);
  EXPECT_EQ(layers[3].columns, 100);  // 99 past keys and a new one
  EXPECT_EQ(layers[7].kv_heads, 2);
  EXPECT_EQ(imported.network.totals().macs,
            20.0 * 64 * 192 + 2 * 8.0 * 100 * 16 + 2 * 8.0 * 100 * 32 + 2 * 8.0 * 100 * 16 + 2 * 8.0 * 35 * 16);
  EXPECT_EQ(imported.network.totals().parameters, 64 * 192 + 192);
  EXPECT_THAT(imported.remarks, Contains(HasSubstr("masks are ignored")));
}

TEST_F(ImportOnnx, QuantisedWeightsAreWeights) {
  OnnxModel model = image({"1", "4", "8", "8"});
  model.initializer(onnx_tensor("wq", {8, 4, 3, 3}, kOnnxInt8)).initializer(onnx_tensor("scale", {8}));
  model.initializer(onnx_tensor("zero", {8}, kOnnxInt8)).initializer(onnx_tensor("v", {8, 5}, kOnnxInt8));
  model.node(onnx_node("DequantizeLinear", {"wq", "scale", "zero"}, {"w"}))
      .node(onnx_node("Conv", {"x", "w"}, {"y"}))
      .node(onnx_node("GlobalAveragePool", {"y"}, {"p"}))
      .node(onnx_node("Flatten", {"p"}, {"f"}))
      .node(onnx_node("QLinearMatMul", {"f", "scale", "zero", "v", "scale", "zero", "scale", "zero"}, {"o"}));
  const ImportedNetwork imported = read(model);
  EXPECT_EQ(imported.network.layers()[1].type, LayerType::fully_connected);
  EXPECT_EQ(imported.network.totals().parameters, 8 * 36 + 40);
}

TEST_F(ImportOnnx, RecurrentLayersAndEinsum) {
  OnnxModel model;
  model.input("x", {"20", "1", "40"}).input("a", {"2", "3", "5"}).input("b", {"2", "7", "5"});
  model.initializer(onnx_tensor("w", {2, 128, 40})).initializer(onnx_tensor("r", {2, 128, 32}));
  model.initializer(onnx_tensor("bias", {2, 256}));
  model.node(onnx_node("LSTM", {"x", "w", "r", "bias"}, {"h", "c"}))
      .node(onnx_node("Einsum", {"a", "b"}, {"e"}, {onnx_attribute("equation", std::string("bij, bkj -> bik"))}));
  const ImportedNetwork imported = read(model);
  const std::vector<Layer>& layers = imported.network.layers();
  ASSERT_EQ(layers.size(), 3U);
  EXPECT_EQ(imported.network.totals().macs, 2 * 20.0 * 128 * (40 + 32) + 2 * 3 * 7 * 5);
  EXPECT_EQ(imported.network.totals().parameters, 2 * (128 * 72 + 256));
  EXPECT_EQ(layers[2].heads, 2);
  EXPECT_THAT(imported.remarks, Contains(HasSubstr("recurrent layers are products over all their steps")));
}

TEST_F(ImportOnnx, UnknownOperatorsAreListedAndStatedShapesUsed) {
  OnnxModel model = image();
  model.initializer(onnx_tensor("w", {4, 3, 3, 3})).initializer(onnx_tensor("v", {4, 4, 3, 3}));
  model.node(onnx_node("Conv", {"x", "w"}, {"y"}))
      .node(onnx_node("Sharpen", {"y"}, {"z"}, {}, "my.domain"))
      .node(onnx_node("Conv", {"z", "v"}, {"o"}));
  EXPECT_THAT(message(model), HasSubstr("node 'n_o' (Conv): the shape of its input 'z' is not known: node 'n_z' "
                                        "(Sharpen) is not known here. Write shapes into the file"));
  model.value("z", {"1", "4", "30", "30"});
  const ImportedNetwork imported = read(model);
  EXPECT_THAT(imported.unknown, ElementsAre(OperatorCount{.name = "my.domain.Sharpen", .count = 1}));
  EXPECT_EQ(imported.network.totals().macs, 900.0 * 4 * 27 + 784.0 * 4 * 36);
  EXPECT_THAT(imported.remarks, Contains(HasSubstr("1 shape taken from what the file states")));
}

TEST_F(ImportOnnx, StatedShapesThatAreWrongAreSaid) {
  OnnxModel model = image();
  model.initializer(onnx_tensor("w", {4, 3, 3, 3})).node(onnx_node("Conv", {"x", "w"}, {"y"}));
  model.value("y", {"1", "4", "32", "32"});
  EXPECT_THAT(read(model).remarks, Contains(HasSubstr("'y' is [1x4x30x30], the file says [1x4x32x32]")));
}

TEST_F(ImportOnnx, WeightsOfSeveralLayersAreSaid) {
  OnnxModel model;
  model.input("x", {"4", "8"}).initializer(onnx_tensor("w", {8, 8}));
  model.node(onnx_node("MatMul", {"x", "w"}, {"y"})).node(onnx_node("MatMul", {"y", "w"}, {"z"}));
  EXPECT_THAT(read(model).remarks, Contains(HasSubstr("1 tensor of weights count in more than one layer")));
}

/// ResNet-50 as torchvision exports it.
class ResNet {
 public:
  ResNet() { model_.input("x", {"batch", "3", "224", "224"}); }

  OnnxModel build() {
    std::string x = convolution("x", 3, 64, 7, 2, 3);
    model_.node(onnx_node("MaxPool", {x}, {"pool"},
                          {onnx_attribute("kernel_shape", Sizes{3, 3}), onnx_attribute("strides", Sizes{2, 2}),
                           onnx_attribute("pads", Sizes{1, 1, 1, 1})}));
    x = "pool";
    std::int64_t channels = 64;
    const std::vector<std::pair<int, std::int64_t>> stages{{3, 64}, {4, 128}, {6, 256}, {3, 512}};
    for (const auto& [blocks, width] : stages) {
      for (int block = 0; block < blocks; ++block) {
        const std::int64_t stride = block == 0 && width > 64 ? 2 : 1;
        std::string y = convolution(x, channels, width, 1, 1, 0);
        y = convolution(y, width, width, 3, stride, 1);
        y = convolution(y, width, 4 * width, 1, 1, 0);
        if (block == 0) x = convolution(x, channels, 4 * width, 1, stride, 0);
        channels = 4 * width;
        const std::string sum = next();
        model_.node(onnx_node("Add", {y, x}, {sum}));
        x = next();
        model_.node(onnx_node("Relu", {sum}, {x}));
      }
    }
    model_.node(onnx_node("GlobalAveragePool", {x}, {"p"})).node(onnx_node("Flatten", {"p"}, {"f"}));
    model_.initializer(onnx_tensor("fc.w", {1000, 2048})).initializer(onnx_tensor("fc.b", {1000}));
    model_.node(onnx_node("Gemm", {"f", "fc.w", "fc.b"}, {"o"}, {onnx_attribute("transB", 1)}));
    return model_;
  }

 private:
  std::string next() { return "t" + std::to_string(++names_); }

  std::string convolution(const std::string& in, std::int64_t from, std::int64_t to, std::int64_t kernel,
                          std::int64_t stride, std::int64_t pad) {
    const std::string name = next();
    model_.initializer(onnx_tensor(name + ".w", {to, from, kernel, kernel}));
    model_.node(onnx_node(
        "Conv", {in, name + ".w"}, {name},
        {onnx_attribute("strides", Sizes{stride, stride}), onnx_attribute("pads", Sizes{pad, pad, pad, pad})}));
    std::vector<std::string> inputs{name};
    for (const char* part : {".scale", ".shift", ".mean", ".variance"}) {
      model_.initializer(onnx_tensor(name + part, {to}));
      inputs.push_back(name + part);
    }
    model_.node(onnx_node("BatchNormalization", inputs, {name + ".n"}));
    return name + ".n";
  }

  OnnxModel model_;
  int names_ = 0;
};

TEST_F(ImportOnnx, ResNet50HasThePublishedTotalsAndIsTheShippedNetwork) {
  const ImportedNetwork imported = read(ResNet().build(), {{"batch", 1}});
  EXPECT_EQ(imported.network.totals().macs, 4089184256);
  EXPECT_EQ(imported.network.totals().parameters, 25557032);
  const Network shipped = load_network("resnet50");
  EXPECT_EQ(imported.network.canonical_definition(), shipped.canonical_definition());
  EXPECT_EQ(read(ResNet().build(), {{"batch", 4}}).network.definition_hash(), shipped.with_batch(4).definition_hash());
}

/// Work behind a layer of an imported network.
std::vector<VectorWork> work_of(const ImportedNetwork& imported, std::size_t layer) {
  return imported.network.layers().at(layer).after.list();
}

TEST_F(ImportOnnx, WorkBehindLayersIsListedWithThem) {
  OnnxModel model = image({"1", "8", "16", "16"});
  model.initializer(onnx_tensor("w1", {8, 8, 3, 3})).initializer(onnx_tensor("w2", {8, 8, 1, 1}));
  model.initializer(onnx_tensor("w3", {4, 8})).initializer(onnx_tensor("scale", {1, 8, 1, 1}));
  model.node(onnx_node("Conv", {"x", "w1"}, {"y1"}, {onnx_attribute("auto_pad", std::string("SAME_UPPER"))}));
  model.node(onnx_node("Sigmoid", {"y1"}, {"s1"}));
  model.node(onnx_node("Mul", {"y1", "s1"}, {"z1"}));  // SiLU: of one layer
  model.node(onnx_node("Conv", {"z1", "w2"}, {"y2"}));
  model.node(onnx_node("Relu", {"y2"}, {"r2"}));
  model.node(onnx_node("Mul", {"r2", "scale"}, {"c2"}));  // a constant
  model.node(onnx_node("Add", {"c2", "z1"}, {"a2"}));
  model.node(onnx_node("GlobalAveragePool", {"a2"}, {"g2"}));
  model.node(onnx_node("Flatten", {"g2"}, {"f2"}));
  model.node(onnx_node("Gemm", {"f2", "w3"}, {"y3"}, {onnx_attribute("transB", 1)}));
  const ImportedNetwork imported = read(model);
  EXPECT_THAT(work_of(imported, 0), ElementsAre(VectorWork::activation));
  EXPECT_THAT(work_of(imported, 1), ElementsAre(VectorWork::add, VectorWork::pool));
  EXPECT_THAT(work_of(imported, 2), testing::IsEmpty());
  EXPECT_THAT(imported.remarks, testing::Each(testing::Not(HasSubstr("work behind layers"))));
}

TEST_F(ImportOnnx, StepsOfANormalisationAreOne) {
  OnnxModel model;
  model.input("x", {"1", "10", "32"});
  model.initializer(onnx_tensor("w", {32, 32})).initializer(onnx_tensor("g", {32}));
  model.initializer(onnx_tensor("two", {})).initializer(onnx_tensor("tiny", {}));
  model.node(onnx_node("MatMul", {"x", "w"}, {"y"}));
  model.node(onnx_node("Add", {"y", "x"}, {"r"}));  // residual of the network's input
  model.node(onnx_node("ReduceMean", {"r"}, {"mean"}, {onnx_attribute("axes", Sizes{-1})}));
  model.node(onnx_node("Sub", {"r", "mean"}, {"d"}));
  model.node(onnx_node("Pow", {"d", "two"}, {"q"}));
  model.node(onnx_node("ReduceMean", {"q"}, {"variance"}, {onnx_attribute("axes", Sizes{-1})}));
  model.node(onnx_node("Add", {"variance", "tiny"}, {"v"}));
  model.node(onnx_node("Sqrt", {"v"}, {"root"}));
  model.node(onnx_node("Div", {"d", "root"}, {"n"}));
  model.node(onnx_node("Mul", {"n", "g"}, {"out"}));
  EXPECT_THAT(work_of(read(model), 0), ElementsAre(VectorWork::add, VectorWork::norm));
}

TEST_F(ImportOnnx, WorkThatNoLayerTellsIsNamed) {
  OnnxModel model = image({"1", "8", "16", "16"});
  model.initializer(onnx_tensor("w1", {8, 8, 1, 1})).initializer(onnx_tensor("w2", {8, 8, 1, 1}));
  model.node(onnx_node("Conv", {"x", "w1"}, {"y1"}));
  model.node(onnx_node("GlobalAveragePool", {"y1"}, {"g"}));
  model.node(onnx_node("Conv", {"g", "w2"}, {"e"}));
  model.node(onnx_node("Sigmoid", {"e"}, {"s"}));
  model.node(onnx_node("Mul", {"y1", "s"}, {"z"}));  // squeeze and excitation: a factor per channel
  model.node(onnx_node("Softmax", {"z"}, {"p"}));
  const ImportedNetwork imported = read(model);
  EXPECT_THAT(work_of(imported, 0), ElementsAre(VectorWork::pool));
  EXPECT_THAT(work_of(imported, 1), ElementsAre(VectorWork::activation));
  EXPECT_THAT(imported.remarks,
              Contains(HasSubstr("work behind layers that no layer tells and nothing counts: Mul (1), Softmax (1)")));
}

}  // namespace
}  // namespace hindsight::workload
