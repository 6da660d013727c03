/// Are tables of measured kernels read as what was run, and refused where they are none?
#include "hindsight/dataset/kernel_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "temporary_folder.h"

namespace hindsight::dataset {
namespace {

using ::testing::HasSubstr;

constexpr const char* kHeader =
    "kernel,backend,dtype,batch,heads,kv_heads,queries,keys,length,causal,rows,n,k,groups,bytes,sets,latency_us,"
    "spread_pct,samples,sm_clock_mhz,status\n";

std::vector<KernelRow> read(const std::string& lines) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder.path() / "kernels.csv", kHeader + lines);
  return read_kernel_rows(read_csv(folder.path() / "kernels.csv"));
}

std::string problem_of(const std::string& lines) {
  try {
    read(lines);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "none";
}

TEST(KernelRows, AreWhatWasRun) {
  const std::vector<KernelRow> rows = read(
      "attention,cudnn,bf16,2,32,8,1,4096,128,0,,,,,1000,3,20.5,0.1,9,1980,ok\n"
      "grouped,torch,bf16,,,,,,,,,512,64,3 0 5,9999999999,1,7,0.1,9,1980,ok\n"
      "gate,triton,bf16,,,,,,,,16,,100,,9600,32,1.5,0.1,9,1980,ok\n"
      "fp8_dynamic,torch,bf16,,,,,,,,16,32,64,,100,1,4,0.1,9,1980,ok\n"
      "depthwise,cudnn,bf16,2,,,,,,,7,10,3,2,100,1,4,0.1,9,1980,ok\n"
      "softmax,torch,bf16,,,,,,,,1,,1,,1,1,,,,,No such kernel\n");
  ASSERT_EQ(rows.size(), 5U) << "what the library does not offer is left out";
  const auto& attention = std::get<gpu::Attention>(rows[0].work);
  EXPECT_EQ(attention.heads, 16) << "times the batch";
  EXPECT_EQ(attention.rows, 4) << "queries that share keys are stacked";
  EXPECT_TRUE(attention.cached);
  EXPECT_EQ(rows[0].kind, "attention, decoding");
  EXPECT_EQ(rows[0].backend, "cudnn");
  EXPECT_DOUBLE_EQ(rows[0].latency_s, 20.5e-6);
  EXPECT_TRUE(rows[0].rotated);
  EXPECT_EQ(rows[0].rotated_bytes, 3000);
  EXPECT_THAT(std::get<gpu::GroupedGemm>(rows[1].work).rows, ::testing::ElementsAre(3, 0, 5));
  EXPECT_FALSE(rows[1].rotated);
  EXPECT_EQ(std::get<gpu::Streaming>(rows[2].work).read_bytes, 2 * 2.0 * 16 * 100);
  EXPECT_EQ(std::get<gpu::Streaming>(rows[2].work).written_bytes, 2.0 * 16 * 100);
  EXPECT_EQ(std::get<gpu::Gemm>(rows[3].work).quantisation, gpu::Quantisation::dynamic);
  const auto& filter = std::get<gpu::Streaming>(rows[4].work);
  EXPECT_EQ(filter.ops, 2.0 * 2 * 10 * 4 * 4 * 9) << "7 x 7 at a stride of 2 are 4 x 4";
  EXPECT_EQ(filter.read_bytes, 2.0 * (2 * 10 * 7 * 7 + 10 * 9));
}

TEST(KernelRows, RefusesWhatIsNone) {
  EXPECT_THAT(problem_of("atention,cudnn,bf16,2,32,8,1,4096,128,0,,,,,1000,3,20.5,0.1,9,1980,ok\n"),
              ::testing::AllOf(HasSubstr("kernels.csv:2:1: 'atention'"), HasSubstr("attention")));
  EXPECT_THAT(problem_of("attention,cudnn,bf16,2,32,5,1,4096,128,0,,,,,1000,3,20.5,0.1,9,1980,ok\n"),
              HasSubstr("'32' is no multiple"));
  EXPECT_THAT(problem_of("gate,triton,bf16,,,,,,,,0,,100,,9600,32,1.5,0.1,9,1980,ok\n"), HasSubstr("'0' is no size"));
  EXPECT_THAT(problem_of("gate,triton,bf16,,,,,,,,4,,100,,9600,32,-1,0.1,9,1980,ok\n"),
              HasSubstr("'-1' is no runtime"));
  EXPECT_THAT(problem_of("grouped,torch,bf16,,,,,,,,,512,64,0 0,99,1,7,0.1,9,1980,ok\n"),
              HasSubstr("no group has a row"));
  EXPECT_THAT(problem_of("gate,triton,bf16,,,,,,,,4,,100,,9600,32,,,,,out of memory\n"),
              HasSubstr("no kernel was measured in its 1 rows"));
}

}  // namespace
}  // namespace hindsight::dataset
