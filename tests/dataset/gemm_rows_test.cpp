/// Are tables of measured GEMMs read as meant, and refused with the place and the expected columns?
#include "hindsight/dataset/gemm_rows.h"

#include <gmock/gmock.h>

#include "hindsight/core/error.h"

namespace hindsight::dataset {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<gpu::GemmMeasurement> rows(const std::string& text, const std::string& columns = "",
                                       const std::vector<RowFilter>& filters = {}) {
  return read_gemm_rows(parse_csv(text, "t.csv"), columns.empty() ? GemmColumns{} : parse_gemm_columns(columns),
                        filters, std::nullopt);
}

std::string message(const std::string& text, const std::string& columns = "") {
  try {
    static_cast<void>(rows(text, columns));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

TEST(GemmRows, FindsTheUsualColumnsAndUnits) {
  const auto read = rows("m,n,k,lat_ms_median,batch\n1,2,3,0.5,1\n4,5,6,2,8\n");
  ASSERT_EQ(read.size(), 2);
  EXPECT_EQ(read[0].gemm.n, 2);
  EXPECT_DOUBLE_EQ(read[0].latency_s, 0.5e-3);
  EXPECT_EQ(read[0].gemm.layout, gpu::Layout::nt) << "a single product multiplies by weights";
  EXPECT_EQ(read[1].gemm.layout, gpu::Layout::nn) << "batched products are stored by rows";
  EXPECT_DOUBLE_EQ(rows("m,n,k,latency_us\n1,2,3,7\n")[0].latency_s, 7e-6);
}

TEST(GemmRows, MapsColumnsAndKeepsTheRowsAskedFor) {
  const auto read = rows("M,N,K,ms,gpu\n1,2,3,4,a\n5,6,7,8,b\n", "m=M,n=K,k=N,latency_ms=ms", {{"gpu", "b"}});
  ASSERT_EQ(read.size(), 1);
  EXPECT_EQ(read[0].gemm.n, 7);
  EXPECT_EQ(read[0].gemm.k, 6);
}

TEST(GemmRows, SaysWhereACellIsWrong) {
  EXPECT_THAT(message("m,n,k,latency_us\n1,2,3,4\n1,x,3,4\n"), StartsWith("t.csv:3:3: 'x' is no size"));
  EXPECT_THAT(message("m,n,k,latency_us\n1,0,3,4\n"), HasSubstr("Expected: m, n, k"));
  EXPECT_THAT(message("m,n,k,latency_us\n1,2,3,-4\n"), StartsWith("t.csv:2:7: '-4' is no runtime"));
  EXPECT_THAT(message("m,n,latency_us\n1,2,3\n"), HasSubstr("no column 'k'"));
  EXPECT_THAT(message("m,n,k\n1,2,3\n"), HasSubstr("no column of runtimes"));
  EXPECT_THAT(message("m,n,k,latency_us\n1,2,3,4\n", "q=m"), HasSubstr("'q=m' is no ROLE=COLUMN"));
  EXPECT_THAT(message("m,n,k,t\n1,2,3,4\n", "latency=t"), HasSubstr("Did you mean"));
}

}  // namespace
}  // namespace hindsight::dataset
