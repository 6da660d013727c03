/// Do layer tables and SCALE-Sim topologies become the layers that they mean, and is what is wrong in them named?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "hindsight/core/error.h"
#include "hindsight/workload/import.h"
#include "temporary_folder.h"

namespace hindsight::workload {
namespace {

using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class ImportTables : public ::testing::Test {
 protected:
  ImportedNetwork read(const std::string& name, const std::string& content, const ImportOptions& options = {}) const {
    return import_network(folder_.write(name, content), options);
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

const std::string kTableHeader = "name,type,count,H,W,C,K,R,S,stride,pad,groups,P,Q,M,N,Kd,macs,params\n";

TEST_F(ImportTables, EveryTypeOfALayerTable) {
  const ImportedNetwork imported =
      read("net.csv", kTableHeader +
                          "stem,conv,1,224,224,3,64,7,7,2,3,1,112,112,12544,64,147,118013952,9536\n"
                          "dw,dwconv,2,112,112,32,32,3,3,1,same,32,112,112,12544,1,9,3612672,352\n"
                          "up,trconv,1,16,16,256,128,2,2,2,0,1,32,32,256,512,256,33554432,131200\n"
                          "time,conv1d,1,1,3000,80,512,1,3,2,1,1,1,1500,1500,512,240,184320000,123392\n"
                          "\"q,v\",gemm,3,,,,,,,,,1,,,128,768,768,75497472,590592\n"
                          "scores,attn,144,,,,,,,,,1,,,128,128,64,1048576,0\n");
  EXPECT_EQ(imported.format, ImportFormat::layer_table);
  EXPECT_EQ(imported.network.name(), "net");
  const std::vector<Layer>& layers = imported.network.layers();
  ASSERT_EQ(layers.size(), 6U);
  EXPECT_TRUE(layers[0].batch_norm);
  EXPECT_EQ(layers[1].type, LayerType::depthwise_convolution);
  EXPECT_EQ(layers[1].repeat, 2);
  EXPECT_EQ(layers[2].type, LayerType::transposed_convolution);
  EXPECT_EQ(layers[3].out_height(), 1);
  EXPECT_EQ(layers[3].out_width(), 1500);
  EXPECT_EQ(layers[4].name, "q,v");
  EXPECT_TRUE(layers[4].has_bias);
  EXPECT_EQ(layers[5].type, LayerType::matmul);
  // By hand: 118013952 + 2 * 3612672 + 33554432 + 184320000 + 3 * 75497472 + 144 * 1048576.
  EXPECT_EQ(imported.network.totals().macs, 720601088);
  EXPECT_EQ(imported.network.totals().parameters, 9536 + 2 * 352 + 131200 + 123392 + 3 * 590592);
}

TEST_F(ImportTables, AWorkloadFileIsSaidToBeOne) {
  const std::string yaml = "name: net\nlayers:\n  - {name: a, type: fully_connected, reduction: 8, columns: 4}\n";
  EXPECT_THAT(message("net.yaml", yaml), HasSubstr("net.yaml: a workload file already (nothing to import)"));
  EXPECT_THAT(message("net.yaml", "# of a problem\n" + yaml), HasSubstr("hindsight workload show "));
}

TEST_F(ImportTables, LayerTablesThatContradictThemselvesAreRefused) {
  EXPECT_THAT(message("t.csv", kTableHeader + "a,gemm,1,,,,,,,,,1,,,2,3,4,25,12\n"),
              HasSubstr("t.csv:2:28: macs is 25, but the layer has 24"));
  EXPECT_THAT(message("t.csv", kTableHeader + "a,gemm,1,,,,,,,,,1,,,2,3,4,24,14\n"), HasSubstr("params is 14"));
  EXPECT_THAT(message("t.csv", kTableHeader + "a,gemmm,1,,,,,,,,,1,,,2,3,4,24,12\n"),
              HasSubstr("t.csv:2:3: unknown layer type 'gemmm'. Did you mean 'gemm'?"));
  EXPECT_THAT(message("t.csv", kTableHeader + "a,gemm,1,,,,,,,,,1,,,-2,3,4,24,12\n"), HasSubstr("M is '-2'"));
  EXPECT_THAT(message("t.csv", kTableHeader + "a,gemm,1,,,,,,,,,1,,,99999999999,3,4,24,12\n"), HasSubstr("M is '9999"));
  EXPECT_THAT(message("t.csv", kTableHeader + "a,conv,1,4,4,1,1,7,7,1,1,1,0,0,0,0,0,0,0\n"),
              HasSubstr("t.csv:2:1: layer 'a': kernel height 7"));
  EXPECT_THAT(message("t.csv", kTableHeader + "\"a,gemm\n"), HasSubstr("t.csv:2:1: a quote that does not close"));
  EXPECT_THAT(message("t.csv", "name,type,count,H\na,gemm,1,3\n"), HasSubstr("the column 'W' is missing"));
  EXPECT_THAT(message("t.csv", kTableHeader), HasSubstr("no layer multiplies anything"));
}

TEST_F(ImportTables, SharedWeightsAreCountedAndSaid) {
  const ImportedNetwork imported = read("t.csv", kTableHeader + "head,gemm,1,,,,,,,,,1,,,2,30,4,240,0\n");
  EXPECT_EQ(imported.network.totals().parameters, 120);
  EXPECT_THAT(imported.remarks, Contains(HasSubstr("'head' (another layer's); counted here: 120")));
}

const std::string kConvHeader =
    "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,\n";

TEST_F(ImportTables, ScaleSimConvolutions) {
  const ImportedNetwork imported = read("net.csv", kConvHeader +
                                                       "Conv1, 224, 224, 7, 7, 3, 64, 2,\n"
                                                       "Conv2 DP, 114, 114, 3, 3, 32, 1, 1,\n"
                                                       "FC, 1, 1, 1, 1, 512, 1000, 1,\n");
  EXPECT_EQ(imported.format, ImportFormat::scale_sim);
  const std::vector<Layer>& layers = imported.network.layers();
  ASSERT_EQ(layers.size(), 3U);
  // ceil((224 - 7 + 2) / 2) = 110 where floor division gives 109: a window hangs over the edge.
  EXPECT_EQ(layers[0].out_height(), 110);
  EXPECT_EQ(layers[1].type, LayerType::depthwise_convolution);
  EXPECT_EQ(layers[1].out_channels, 32);
  EXPECT_EQ(layers[2].type, LayerType::fully_connected);
  EXPECT_EQ(imported.network.totals().macs, 110.0 * 110 * 147 * 64 + 112.0 * 112 * 9 * 32 + 512000);
  EXPECT_THAT(imported.remarks, Contains(HasSubstr("1 row whose last window hangs over")));
}

TEST_F(ImportTables, ScaleSimFilesFromTheWild) {
  // Byte order mark, CRLF, tabs, a blank line, no comma at the end, a stride of the width, a sparsity.
  const ImportedNetwork imported = read("net.csv", "\xef\xbb\xbf" + kConvHeader.substr(0, kConvHeader.size() - 1) +
                                                       "\r\n"
                                                       "a\t8\t8\t3\t3\t4\t5\t1\t\r\n"
                                                       "\r\n"
                                                       "b, 8, 8, 2, 2, 4, 5, 2, 3,\r\n"
                                                       "c, 8, 8, 3, 3, 4, 5, 1, 2:4,\r\n"
                                                       "a, 8, 8, 3, 3, 4, 1, 1");
  const std::vector<Layer>& layers = imported.network.layers();
  ASSERT_EQ(layers.size(), 4U);
  EXPECT_EQ(layers[1].stride_height, 2);
  EXPECT_EQ(layers[1].stride_width, 3);
  EXPECT_EQ(layers[1].out_width(), 3);
  EXPECT_EQ(layers[3].name, "a.2");
  EXPECT_THAT(imported.remarks, Contains(HasSubstr("1 row without the comma at the end")));
  EXPECT_THAT(imported.remarks, Contains(HasSubstr("1 row with a sparsity N:M")));
  EXPECT_THAT(imported.remarks, Contains(HasSubstr("1 row with a stride of its own")));
  EXPECT_THAT(imported.remarks, Contains(HasSubstr("1 row with one filter over many channels")));
  EXPECT_THAT(imported.remarks, Contains(HasSubstr("'a' is 'a.2' now")));
}

TEST_F(ImportTables, ScaleSimProducts) {
  const ImportedNetwork imported =
      read("gemm.csv", "Layer, M, N, K, Batch Size\nQKV, 128, 2304, 768,\nQK, 128, 128, 64, 12,\nFF, 128, 4, 768, 2:4");
  EXPECT_EQ(imported.format, ImportFormat::scale_gemm);
  EXPECT_EQ(imported.network.totals().macs, 128.0 * 2304 * 768 + 128 * 128 * 64 + 128 * 4 * 768);
  EXPECT_EQ(imported.network.totals().parameters, 2304.0 * 768 + 128 * 64 + 4 * 768);
  EXPECT_THAT(imported.remarks, Contains(HasSubstr("1 row with a fifth cell that is no sparsity")));
}

TEST_F(ImportTables, BadScaleSimRowsAreNamed) {
  EXPECT_THAT(message("t.csv", kConvHeader + "LSTM, W, 4, 3, 3, 4, 5, 1,\n"),
              HasSubstr("t.csv:2:7: IFMAP Height is 'W', but takes a whole number in 1..2147483648"));
  EXPECT_THAT(message("t.csv", kConvHeader + "a, 8, 8, 3, 3, 4, 5\n"),
              HasSubstr("t.csv:2:19: Strides is missing. Write a whole number in 1.."));
  EXPECT_THAT(message("t.csv", kConvHeader + "a, 8, 8, 9, 3, 4, 5, 1,\n"), HasSubstr("layer 'a': kernel height 9"));
  EXPECT_THAT(message("t.csv", kConvHeader + "a, 8, 8, 3, 3, 4, -5, 1,\n"), HasSubstr("Num Filter is '-5'"));
  EXPECT_THAT(message("t.csv", kConvHeader), HasSubstr("no layers"));
  EXPECT_THAT(message("t.csv", "Layer, M, N, K,\na, 2147483648, 2147483648, 2147483648,\n"), HasSubstr("2^53"));
  EXPECT_THAT(message("t.csv", "something,else\n1,2\n"), HasSubstr("--format"));
  EXPECT_THAT(message("t.csv", std::string("Layer, M, N, K,\na,\0,1,1,\n", 24)), HasSubstr("t.csv:2:3: a control"));
}

TEST_F(ImportTables, NamesOfNetworksFitIntoLists) {
  const std::string content = "Layer, M, N, K,\na, 2, 3, 4,\n";
  EXPECT_EQ(read("my net, v2.csv", content).network.name(), "my_net__v2");
  EXPECT_EQ(read("x.csv", content, {.format = {}, .name = "mine", .dimensions = {}}).network.name(), "mine");
  EXPECT_EQ(read("x.csv", content, {.format = {}, .name = "a,b", .dimensions = {}}).network.name(), "a,b");
  EXPECT_THROW(static_cast<void>(read("x.csv", content, {.format = {}, .name = "a\x1b", .dimensions = {}})), Error);
  EXPECT_THROW(static_cast<void>(read("x.csv", content, {.format = {}, .name = "", .dimensions = {{"n", 1}}})), Error);
  EXPECT_THAT(read("x.csv", content).network.source(), EndsWith("x.csv"));
}

}  // namespace
}  // namespace hindsight::workload
