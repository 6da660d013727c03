/// Do Timeloop problems, ZigZag workloads and MAESTRO networks become the layers that their tools see?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "file_watch.h"
#include "hindsight/core/error.h"
#include "hindsight/workload/import.h"
#include "temporary_folder.h"

namespace hindsight::workload {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ImportText : public ::testing::Test {
 protected:
  ImportedNetwork read(const std::string& name, const std::string& content) const {
    return import_network(folder_.write(name, content));
  }
  Layer one(const std::string& name, const std::string& content) const {
    const ImportedNetwork imported = read(name, content);
    EXPECT_EQ(imported.network.layers().size(), 1U);
    return imported.network.layers().front();
  }
  std::string message(const std::string& name, const std::string& content) const {
    try {
      static_cast<void>(read(name, content));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return {};
  }
  hindsight::test::TemporaryFolder folder_;
};

// A problem of Timeloop v4, its shape written out: output channels are M.
const std::string kShapeV4 =
    "problem:\n"
    "  version: 0.4\n"
    "  shape:\n"
    "    name: CNN_Layer\n"
    "    dimensions: [C, M, R, S, N, P, Q, G]\n"
    "    coefficients:\n"
    "      - {name: Wstride, default: 1}\n"
    "      - {name: Hstride, default: 1}\n"
    "      - {name: Wdilation, default: 1}\n"
    "      - {name: Hdilation, default: 1}\n"
    "    data_spaces:\n"
    "      - {name: Weights, projection: [[[C]], [[M]], [[R]], [[S]], [[G]]]}\n"
    "      - name: Inputs\n"
    "        projection: [[[N]], [[C]], [[G]], [[R, Wdilation], [P, Wstride]], [[S, Hdilation], [Q, Hstride]]]\n"
    "      - {name: Outputs, read_write: true, projection: [[[N]], [[M]], [[P]], [[Q]], [[G]]]}\n";

TEST_F(ImportText, TimeloopV4) {
  const Layer layer = one("conv1.yaml", kShapeV4 +
                                            "  instance: {C: 3, M: 64, R: 7, S: 7, N: 1, P: 112, Q: 112, G: 1,\n"
                                            "             HStride: 2, WStride: 2, densities: {Inputs: 0.5}}\n");
  EXPECT_EQ(layer.name, "conv1");
  EXPECT_EQ(layer.stride_height, 2);  // written HStride, declared Hstride
  EXPECT_EQ(layer.stride_width, 2);
  EXPECT_EQ(layer.in_height, 111 * 2 + 7);
  EXPECT_EQ(lower(layer, 1).macs, 118013952);
  const Layer grouped =
      one("g.yaml", kShapeV4 + "  instance: {C: 4, M: 8, R: 3, S: 3, N: 1, P: 14, Q: 10, G: 32, Wdilation: 2}\n");
  EXPECT_EQ(grouped.groups, 32);
  EXPECT_EQ(grouped.in_channels, 128);
  EXPECT_EQ(grouped.out_channels, 256);
  EXPECT_EQ(grouped.dilation_width, 2);
  EXPECT_EQ(lower(grouped, 1).macs, 32.0 * 4 * 8 * 9 * 140);
  const Layer depthwise = one("d.yaml", kShapeV4 + "  instance: {C: 1, M: 1, R: 3, S: 3, N: 1, P: 14, Q: 14, G: 32}\n");
  EXPECT_EQ(depthwise.type, LayerType::depthwise_convolution);
}

TEST_F(ImportText, TimeloopV3WithoutAnInstanceAndAsMatrices) {
  // Sizes at the top level, K for output channels.
  const Layer layer =
      one("v3.yaml",
          "problem:\n  shape: cnn-layer\n  C: 8\n  K: 16\n  N: 1\n  P: 10\n  Q: 12\n  R: 3\n  S: 3\n  Wstride: 2\n");
  EXPECT_EQ(layer.out_channels, 16);
  EXPECT_EQ(lower(layer, 1).macs, 16.0 * 8 * 120 * 9);
  const Layer product = one("gemm.yaml", "problem:\n  shape: gemm-ABZ\n  M: 128\n  N: 768\n  K: 64\n");
  EXPECT_EQ(product.type, LayerType::fully_connected);
  EXPECT_EQ(product.rows, 128);
  EXPECT_EQ(product.columns, 768);
  EXPECT_EQ(product.reduction, 64);
}

TEST_F(ImportText, TimeloopFolderOfTheExercises) {
  const std::filesystem::path folder = folder_.path() / "resnet";
  std::filesystem::create_directory(folder);
  const auto write = [&](const std::string& name, const std::string& content) {
    folder_.write("resnet/" + name, content);
  };
  write("problem_base.yaml", "problem: &problem_base\n  version: 0.4\n  shape: {name: x}\n");
  write(
      "001.yaml",
      "{{include_text('../problem_base.yaml')}}\nproblem:\n  <<<: *problem_base\n  instance: {C: 64, M: 64, P: 56, Q: "
      "56, R: 3, S: 3}\n");
  write(
      "000.yaml",
      "{{include_text('../problem_base.yaml')}}\nproblem:\n  <<<: *problem_base\n  instance: {C: 3, M: 64, P: 112, Q: "
      "112, R: 7, S: 7, HStride: 2, WStride: 2}\n");
  const ImportedNetwork imported = import_network(folder);
  EXPECT_EQ(imported.format, ImportFormat::timeloop);
  EXPECT_EQ(imported.network.name(), "resnet");
  ASSERT_EQ(imported.network.layers().size(), 2U);
  EXPECT_EQ(imported.network.layers()[0].name, "000");
  EXPECT_EQ(imported.network.totals().macs, 118013952 + 56.0 * 56 * 64 * 64 * 9);
  EXPECT_THAT(imported.remarks, Contains(HasSubstr("loops without a size are 1")));
  EXPECT_THAT(imported.remarks, Contains(HasSubstr("1 file without sizes left out")));
}

TEST_F(ImportText, TimeloopBatchedProducts) {
  const Layer layer = one("bmm.yaml",
                          "problem:\n"
                          "  shape:\n"
                          "    dimensions: [H, M, N, K]\n"
                          "    data_spaces:\n"
                          "      - {name: Queries, projection: [[[H]], [[M]], [[K]]]}\n"
                          "      - {name: Keys, projection: [[[H]], [[N]], [[K]]]}\n"
                          "      - {name: Scores, read_write: true, projection: [[[H]], [[M]], [[N]]]}\n"
                          "  instance: {H: 12, M: 197, N: 190, K: 64}\n");
  EXPECT_EQ(layer.type, LayerType::matmul);
  EXPECT_EQ(layer.heads, 12);
  EXPECT_EQ(layer.rows, 197);
  EXPECT_EQ(layer.columns, 190);
}

TEST_F(ImportText, BadTimeloopProblems) {
  EXPECT_THAT(message("p.yaml", kShapeV4 + "  instance: {C: -3, M: 64, R: 7, S: 7, N: 1, P: 112, Q: 112}\n"),
              HasSubstr("p.yaml:16:17: "));
  EXPECT_THAT(message("p.yaml", kShapeV4 + "  instance: {M: 64, R: 7, S: 7, N: 1, P: 112, Q: 112}\n"),
              HasSubstr("p.yaml:16:13: C has no size. Add C: 1"));
  EXPECT_THAT(message("p.yaml", kShapeV4), HasSubstr("a problem without sizes. Add e.g. instance: {C: 3, M: 64, ...}"));
  EXPECT_THAT(message("p.yaml", "problem:\n  instance: {P: 3, Q: 4}\n"), HasSubstr("neither M nor K"));
  EXPECT_THAT(message("p.yaml", "problem: 3\n"),
              HasSubstr("p.yaml:1:10: a problem is a map, with its sizes. Write e.g. problem: {instance: {C: 3, M"));
  EXPECT_THAT(message("p.yaml", "problem:\n  shape:\n    dimensions: [M]\n    data_spaces: []\n  instance: {M: 3}\n"),
              HasSubstr("two data spaces that are read"));
  EXPECT_THAT(message("p.yaml", "problem: {shape: gemm-ABZ, M: 2147483648, N: 2147483648, K: 2147483648}\n"),
              HasSubstr("2^53"));
  EXPECT_THAT(message("p.yaml", "problem: [1, 2\n"), HasSubstr("p.yaml:"));
}

const std::string kZigZag =
    "- id: 0\n"
    "  name: conv\n"
    "  operator_type: Conv\n"
    "  equation: O[b][k][oy][ox]+=W[k][c][fy][fx]*I[b][c][iy][ix]\n"
    "  dimension_relations: [ix=2*ox+1*fx, iy=2*oy+1*fy]\n"
    "  loop_dims: [B, K, C, OY, OX, FY, FX]\n"
    "  loop_sizes: [1, 64, 3, 112, 112, 7, 7]\n"
    "  pr_loop_dims: [IX, IY]\n"
    "  padding: [[3, 2], [3, 2]]\n"
    "  operand_source: {I: 0, W: 0}\n"
    "- id: 1\n"
    "  operator_type: Pooling\n"
    "  equation: O[b][g][oy][ox]+=W[fx][fy]*I[b][g][iy][ix]\n"
    "  loop_dims: [B, G, OY, OX, FX, FY]\n"
    "  loop_sizes: [1, 64, 56, 56, 3, 3]\n"
    "- id: 2\n"
    "  operator_type: Conv\n"
    "  equation: O[b][g][oy][ox]+=W[g][fy][fx]*I[b][g][iy][ix]\n"
    "  dimension_relations: [ix=1*ox+2*fx, iy=1*oy+2*fy]\n"
    "  loop_dims: [B, G, OY, OX, FY, FX]\n"
    "  loop_sizes: [1, 64, 56, 56, 3, 3]\n"
    "- id: 3\n"
    "  operator_type: Gemm\n"
    "  equation: O[h][m][n]+=W[h][k][n]*I[h][m][k]\n"
    "  loop_dims: [H, M, N, K]\n"
    "  loop_sizes: [12, 197, 190, 64]\n"
    "  operand_source: {I: 1, W: 2}\n"
    "- id: 4\n"
    "  operator_type: Gemm\n"
    "  equation: O[b][k]+=W[k][c]*I[b][c]\n"
    "  loop_dims: [B, K, C]\n"
    "  loop_sizes: [5, 1000, 512]\n"
    "  operand_source: {I: 3, W: 4}\n"
    "- id: 5\n"
    "  operator_type: Add\n"
    "  equation: O[b][g]=W[b][g]+I[b][g]\n"
    "  loop_dims: [B, G]\n"
    "  loop_sizes: [1, 64]\n"
    "- id: 6\n"
    "  operator_type: Sort\n";

TEST_F(ImportText, ZigZag) {
  const ImportedNetwork imported = read("net.yaml", kZigZag);
  EXPECT_EQ(imported.format, ImportFormat::zigzag);
  const std::vector<Layer>& layers = imported.network.layers();
  ASSERT_EQ(layers.size(), 4U);
  EXPECT_EQ(layers[0].name, "conv");
  EXPECT_EQ(layers[0].in_height, 224);  // 111 * 2 + 7 pixels, 5 of them padding
  EXPECT_EQ(layers[0].pad_top, 3);
  EXPECT_EQ(layers[1].type, LayerType::depthwise_convolution);
  EXPECT_EQ(layers[1].dilation_width, 2);
  EXPECT_EQ(layers[2].type, LayerType::matmul);
  EXPECT_EQ(layers[2].heads, 12);
  EXPECT_EQ(layers[3].type, LayerType::fully_connected);
  EXPECT_EQ(layers[3].rows, 5);
  EXPECT_EQ(imported.network.totals().macs, 118013952 + 64.0 * 56 * 56 * 9 + 12.0 * 197 * 190 * 64 + 5 * 512 * 1000.0);
  EXPECT_EQ(imported.network.totals().parameters, 9408 + 576 + 512000);
  EXPECT_THAT(imported.without_macs,
              ElementsAre(OperatorCount{.name = "Pooling", .count = 1}, OperatorCount{.name = "Add", .count = 1}));
  EXPECT_THAT(imported.unknown, ElementsAre(OperatorCount{.name = "Sort", .count = 1}));
}

TEST_F(ImportText, BadZigZag) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = kZigZag;
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_THAT(message("n.yaml", with("[1, 64, 3, 112, 112, 7, 7]", "[1, 64, 3, 112]")),
              HasSubstr("n.yaml:7:15: 4 sizes for 7 loops"));
  EXPECT_THAT(message("n.yaml", with("[1, 64, 3, 112, 112, 7, 7]", "[1, 64, 3, -112, 112, 7, 7]")),
              HasSubstr("n.yaml:7:"));
  EXPECT_THAT(message("n.yaml", with("ix=2*ox+1*fx", "ix=2*ox+0*fx")), HasSubstr("'0*fx' is no term"));
  EXPECT_THAT(message("n.yaml", with("ix=2*ox+1*fx", "ix")), HasSubstr("Write it like ix=2*ox+1*fx"));
  EXPECT_THAT(message("n.yaml", with("W[k][c][fy][fx]*I", "W[zz][c][fy][fx]*I")), HasSubstr("'zz'"));
  EXPECT_THAT(message("n.yaml", with("I[b][c][iy][ix]", "I[b][c][iy][ix")), HasSubstr("no tensor like"));
  EXPECT_THAT(message("n.yaml", "- loop_dims\n"),
              HasSubstr("item 1 of the document is 'loop_dims' but must be a map. Write it as NAME: VALUE lines."));
}

TEST_F(ImportText, Maestro) {
  const ImportedNetwork imported =
      read("net.m",
           "// a comment\n"
           "Constant Tokens 128;\n"
           "Network Mixed {\n"
           "  Layer CONV1 { Type: CONV\n"
           "    Stride { X: 2, Y: 2 }\n"
           "    Dimensions { K: 64, C: 3 R: 7, S: 7, Y:229, X:229 }\n"  // no comma
           "    Dataflow { SpatialMap(1,1) K; Cluster(Sz(R), P); }\n"
           "  }\n"
           "  Layer DW { Type: DSCONV; Dimensions { K: 1, C: 32, R: 3, S: 3, Y:112, X:112 } }\n"
           "  Layer GR { Type: NGCONV; Dimensions { G: 32, K: 4, C: 128, R: 3, S: 3, Y': 56, X': 56 } }\n"
           "  Layer UP { Type: TRCONV Dimensions { K: 512, C: 1024, R: 2, S: 2, Y: 28, X: 28 } }\n"
           "  Layer FC { Type: CONV Dimensions { N: Tokens, K: 1536, C: 1, R: 1, S: 512, Y: 1, X: 512 } }\n"
           "  Layer GR { Type: GEMM Dimensions { M: 4, N: 5, K: 6 } }\n"
           "  Layer B { Type: BMM Dimensions { B: 10, M: 4, N: 5, K: 6 } }\n"
           "  Layer P { Type: POOL Dimensions { K: 4, C: 5 } }\n"
           "}\n"
           "Accelerator { PE { NumPEs: 128; } }\n");
  EXPECT_EQ(imported.format, ImportFormat::maestro);
  EXPECT_EQ(imported.network.name(), "Mixed");
  const std::vector<Layer>& layers = imported.network.layers();
  ASSERT_EQ(layers.size(), 7U);
  EXPECT_EQ(layers[0].out_height(), 112);
  EXPECT_EQ(layers[1].out_channels, 32);
  EXPECT_EQ(layers[2].out_channels, 128);
  EXPECT_EQ(layers[2].out_height(), 56);
  EXPECT_EQ(layers[3].out_height(), 56);
  EXPECT_EQ(layers[4].type, LayerType::fully_connected);  // the kernel covers the input: 128 rows
  EXPECT_EQ(layers[4].rows, 128);
  EXPECT_EQ(layers[5].name, "GR.2");
  EXPECT_EQ(layers[6].heads, 10);
  EXPECT_EQ(imported.network.totals().macs, 118013952 + 110.0 * 110 * 9 * 32 + 3136.0 * 9 * 4 * 128 +
                                                784.0 * 1024 * 512 * 4 + 128.0 * 1536 * 512 + 120 + 1200);
  EXPECT_THAT(imported.without_macs, ElementsAre(OperatorCount{.name = "POOL", .count = 1}));
}

TEST_F(ImportText, BadMaestro) {
  const auto layer = [](const std::string& inside) { return "Network N {\nLayer A { " + inside + " }\n}\n"; };
  EXPECT_THAT(message("n.m", layer("Type: CONV Dimensions { K: 4, R: 3 }")),
              HasSubstr("n.m:2:7: layer 'A': the dimension C is missing. Add it: Dimensions { C: SIZE }"));
  EXPECT_THAT(message("n.m", layer("Type: CONV Dimensions { K: Size, C: 3 }")),
              HasSubstr("n.m:2:38: 'Size' is no size in 1..2147483648 and no constant"));
  EXPECT_THAT(message("n.m", layer("Type: CNOV Dimensions { K: 4, C: 3 }")), HasSubstr("Did you mean 'CONV'?"));
  EXPECT_THAT(message("n.m", layer("Type: LSTM")), HasSubstr("LSTM"));
  EXPECT_THAT(message("n.m", "Network N {\nLayer A { Type: CONV Dimensions { K: 4"), HasSubstr("a '}' is missing"));
  EXPECT_THAT(message("n.m", "Network N {\nLayer A { Dataflow { { { "), HasSubstr("a '}' is missing"));
  EXPECT_THAT(message("n.m", layer("Type: CONV Dimensions { K: 4, K: 4 }")), HasSubstr("'K' is given twice"));
  EXPECT_THAT(message("n.m", layer("Type: DSCONV Dimensions { C: 2000000000, K: 2000000000 }")), HasSubstr("counted"));
  EXPECT_THAT(message("n.m", "Network N { Layer \x01 }"), HasSubstr("n.m:1:19: a control character"));
}

/// What a file of Timeloop includes is taken from the problem beside it, and no file is opened for it.
TEST_F(ImportText, TimeloopOpensNothingThatItIsToldToInclude) {
  const std::filesystem::path secret = folder_.write("secret.yaml", kShapeV4);
  const hindsight::test::FileWatch watch({secret});
  const std::string own = kShapeV4 + "  instance: {C: 3, M: 64, R: 7, S: 7, N: 1, P: 112, Q: 112, G: 1}\n";
  for (const std::string& location : {std::string("../secret.yaml"), secret.string()}) {
    const std::filesystem::path file = folder_.write("in/p.yaml", "{{include_text('" + location + "')}}\n" + own);
    EXPECT_EQ(import_network(file).network.layers().size(), 1U);
    EXPECT_FALSE(watch.any_opened()) << location;
  }
  static_cast<void>(std::ifstream(secret));
  EXPECT_TRUE(watch.any_opened()) << "it would have been seen";
}

/// A brace too few or too many never takes a layer away, nor what stands in it, without a word.
TEST_F(ImportText, UnbalancedMaestro) {
  const std::string whole =
      "Network N {\nLayer A {\nType: CONV\nDimensions { K: 64, C: 3, R: 7, S: 7, Y: 224, X: 224 }\n"
      "Stride { X: 2, Y: 2 }\n}\nLayer B {\nType: CONV\nDimensions { K: 8, C: 64, Y: 9, X: 9 }\n}\n}";
  const ImportedNetwork sound = read("n.m", whole);
  ASSERT_EQ(sound.network.layers().size(), 2U);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(message("n.m", whole.substr(0, size)), HasSubstr("n.m")) << "the first " << size << " bytes";
  }
  for (std::size_t at = whole.find_first_of("{}"); at != std::string::npos; at = whole.find_first_of("{}", at + 1)) {
    std::string without = whole, twice = whole;
    EXPECT_THAT(message("n.m", without.erase(at, 1)), HasSubstr("n.m")) << "without the brace " << at;
    twice.insert(at, 1, whole[at]);
    try {  // behind the last layer nothing is lost
      const ImportedNetwork read_all = read("n.m", twice);
      EXPECT_EQ(read_all.network.definition_hash(), sound.network.definition_hash()) << "with two braces " << at;
      EXPECT_THAT(read_all.remarks, Contains(HasSubstr("closes nothing"))) << "with two braces " << at;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("n.m"));
    }
  }
  EXPECT_THAT(message("n.m", "Network N { Layer A { Type: FC Dimensions { K: 4, C: 3 } } }\n Layer B { Type: FC }"),
              HasSubstr("n.m:2:2: a layer outside of a network. Is there a '}' too many before it?"));
  EXPECT_THAT(message("n.m", "Network N { Layer A { Type: FC Dimensions { K: 4, C: 3 } } Stride { X: 2 } }"),
              HasSubstr("n.m:1:60: Stride outside of a layer. Is there a '}' too many before it?"));
  EXPECT_THAT(message("n.m", "Network N { { Layer A { Type: FC Dimensions { K: 4, C: 3 } } }"),
              HasSubstr("n.m:1:13: a '{' without a name before it. Is it one too many?"));
  EXPECT_THAT(read("n.m", whole + "\n}\n}").remarks, Contains(HasSubstr("n.m:12:1: a '}' that closes nothing")));
}

TEST_F(ImportText, NestsThatAreNoProductAreRefused) {
  const std::string sizes = "  instance: {C: 3, M: 64, R: 7, S: 7, N: 1, P: 112, Q: 112, G: 1}\n";
  const auto shape_with = [&](const std::string& from, const std::string& to) {
    std::string text = kShapeV4;
    return message("p.yaml", text.replace(text.find(from), from.size(), to) + sizes);
  };
  EXPECT_THAT(shape_with("[P, Wstride]", "[P, Wstrid]"), HasSubstr("the coefficient 'Wstrid' is not declared"));
  EXPECT_THAT(shape_with("[P, Wstride]", "[S, Wstride]"), HasSubstr("no sum of an output loop and a kernel loop"));
  const auto product = [](const std::string& outputs, const std::string& instance) {
    return "problem:\n  shape:\n    dimensions: [M, N, K, Z]\n    data_spaces:\n"
           "      - {name: A, projection: [[[M]], [[K]]]}\n"
           "      - {name: Weights, projection: [[[K]], [[N]]" +
           std::string(outputs.empty() ? ", [[Z]]" : "") +
           "]}\n"
           "      - {name: Outputs, read_write: true, projection: [[[M]], [[N]], [[Z]]]}\n"
           "  instance: {" +
           instance + "}\n";
  };
  EXPECT_THAT(message("p.yaml", product("alone", "M: 2, N: 3, K: 4, Z: 5")),
              HasSubstr("'Z' selects in one tensor only, so it is no loop of a product"));
  EXPECT_THAT(message("p.yaml", product("", "M: 2, N: 2147483648, K: 4, Z: 2147483648")),
              HasSubstr("2147483648 times 2147483648 is more than 2147483648"));
  const auto zigzag = [&](const std::string& from, const std::string& to) {
    std::string text = kZigZag;
    return message("n.yaml", text.replace(text.find(from), from.size(), to));
  };
  EXPECT_THAT(zigzag("{I: 0, W: 0}", "{I: 0, W: 9}"), HasSubstr("windows over weights that another layer gives"));
  EXPECT_THAT(zigzag("ix=2*ox+1*fx", "ix=2*ox+1*oy"),
              HasSubstr("n.yaml:5:25: a relation adds one loop of the outputs"));
}

TEST_F(ImportText, MaestroFilesThatEndTooEarly) {
  EXPECT_THAT(message("n.m", "Network N [ }"),
              HasSubstr("n.m:1:11: '{' is expected behind the name of a network, but there is '['. Write '{' there?"));
  EXPECT_THAT(message("n.m", "Network N"), HasSubstr("but there is 'the end of the file'"));
  EXPECT_THAT(message("n.m", "Network N {"), HasSubstr("the file ends within a network: a '}' is missing"));
  EXPECT_THAT(message("n.m", "Network N { Layer A { Type: CONV"),
              HasSubstr("the file ends within a layer: a '}' is missing. Was it cut off?"));
  EXPECT_THAT(message("n.m", "Network N { }\nAccelerator { PE {"),
              HasSubstr("the file ends within a block: a '}' is missing"));
  EXPECT_THAT(
      read("n.m", "Network N { Layer A { Type: GEMM Cache { Size: 3; } Dimensions { M: 4, N: 5, K: 6 } } }\n").remarks,
      Contains("ignored in layers: Cache"));
}

TEST_F(ImportText, ImagesOfConvolutionsMustAgree) {
  const auto layers = [](const std::string& a, const std::string& b) {
    return "Network N {\nLayer A { Type: CONV Dimensions { N: " + a + ", K: 4, C: 3, R: 3, S: 3, Y: 8, X: 8 } }\n" +
           "Layer B { Type: CONV Dimensions { N: " + b + ", K: 4, C: 4, R: 3, S: 3, Y: 6, X: 6 } }\n" +
           "Layer C { Type: CONV Dimensions { N: 2, K: 4, C: 4, R: 1, S: 1, Y: 4, X: 4 } }\n}\n";
  };
  EXPECT_EQ(read("n.m", layers("2", "2")).network.batch(), 2);
  EXPECT_THAT(message("n.m", layers("2", "3")),
              HasSubstr("n.m:3:7: layer 'B': 3 images, but layer 'A' has 2 (a network has one batch)"));
  // A pointwise convolution of other images is the same product, all pixels below each other.
  const ImportedNetwork mixed = read("n.m", layers("1", "1"));
  EXPECT_EQ(mixed.network.batch(), 1);
  EXPECT_EQ(mixed.network.layers()[2].rows, 32);
}

TEST_F(ImportText, NestsOfTooManyPartsAreRefused) {
  const auto listed = [](int count, const std::string& before, const std::string& behind) {
    std::string text;
    for (int i = 0; i < count; ++i) text += (i > 0 ? "," : "") + before + std::to_string(i) + behind;
    return text;
  };
  const auto zigzag = [&](int loops, int indices) {
    std::string sizes = "8", names = "B", text;
    for (int i = 1; i < loops; ++i) {
      sizes += ",1";
      names += ",L" + std::to_string(i);
    }
    for (int i = 0; i < indices; ++i) text += "[b]";
    return "- {id: 1, operator_type: Gemm, equation: 'O" + text + "[k]+=W[k][c]*I[b][c]', loop_dims: [" + names +
           ",K,C], loop_sizes: [" + sizes + ",8,8]}\n";
  };
  EXPECT_EQ(read("few.yaml", zigzag(62, 63)).network.layers().size(), 1U);
  EXPECT_THAT(message("loops.yaml", zigzag(63, 1)), HasSubstr("65 parts of one layer (at most 64)"));
  EXPECT_THAT(message("indices.yaml", zigzag(1, 64)), HasSubstr("more than 64 indices"));
  const std::string timeloop =
      "problem:\n  shape:\n    dimensions: [" + listed(65, "L", "") + "]\n    data-spaces: []\n  instance: {L0: 1}\n";
  EXPECT_THAT(message("timeloop.yaml", timeloop), HasSubstr("65 parts of one layer"));
}

}  // namespace
}  // namespace hindsight::workload
