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

TEST(GemmRows, TwoColumnsOfRuntimesAreOneTooMany) {
  const std::string table = "m,n,k,latency_us,latency_ms\n1,2,3,7,9\n";
  EXPECT_EQ(
      message(table),
      "t.csv:1: 'latency_us' and 'latency_ms' are both columns of runtimes (a fit takes one). Choose by --columns, "
      "e.g. latency_us=latency_us");
  EXPECT_THAT(message("m,n,k,lat_ms_median,time_s\n1,2,3,7,9\n"), HasSubstr("e.g. latency_ms=lat_ms_median"));
  EXPECT_DOUBLE_EQ(rows(table, "latency_ms=latency_ms")[0].latency_s, 9e-3);
  EXPECT_DOUBLE_EQ(rows(table, "latency_us=latency_us")[0].latency_s, 7e-6);
}

TEST(GemmRows, MapsColumnsAndKeepsTheRowsAskedFor) {
  const auto read = rows("M,N,K,ms,gpu\n1,2,3,4,a\n5,6,7,8,b\n", "m=M,n=K,k=N,latency_ms=ms", {{"gpu", "b"}});
  ASSERT_EQ(read.size(), 1);
  EXPECT_EQ(read[0].gemm.n, 7);
  EXPECT_EQ(read[0].gemm.k, 6);
}

/// Formats of frameworks name how activations were quantised; the argument counts where they do not, for 8 bits alone.
TEST(GemmRows, FormatsSayHowActivationsWereQuantised) {
  const CsvTable table = parse_csv("m,n,k,latency_us,dtype\n1,2,3,4,fp8\n1,2,3,4,fp8_block\n1,2,3,4,bf16\n", "t.csv");
  const auto read = read_gemm_rows(table, {}, {}, std::nullopt, gpu::Quantisation::dynamic);
  ASSERT_EQ(read.size(), 3);
  EXPECT_EQ(read[0].gemm.quantisation, gpu::Quantisation::dynamic);
  EXPECT_EQ(read[1].gemm.quantisation, gpu::Quantisation::block);
  EXPECT_EQ(read[1].gemm.dtype, gpu::DType::fp8);
  EXPECT_EQ(read[2].gemm.quantisation, gpu::Quantisation::none);
  EXPECT_EQ(read_gemm_rows(table, {}, {}, gpu::DType::fp8).size(), 2) << "fp8_block is fp8";
}

/// 1 x 2 x 3 took 4, 10 and 6 us, in block form 8; 4 x 2 x 3 took 1 and 2 us.
TEST(GemmRows, MediansAreOnePerProduct) {
  const auto read = rows(
      "m,n,k,latency_us,dtype\n1,2,3,4,fp8\n4,2,3,1,fp8\n1,2,3,8,fp8_block\n1,2,3,10,fp8\n1,2,3,6,fp8\n4,2,3,2,fp8\n");
  const auto all = medians(read, 1);
  ASSERT_EQ(all.size(), 3);
  EXPECT_DOUBLE_EQ(all[0].latency_s, 6e-6);
  EXPECT_DOUBLE_EQ(all[1].latency_s, 1.5e-6) << "of two rows the mean";
  EXPECT_EQ(all[2].gemm.quantisation, gpu::Quantisation::block);
  EXPECT_EQ(medians(read, 2).size(), 2) << "one row in block form is too few";
  EXPECT_EQ(medians(read, 3).size(), 1);
  EXPECT_THROW(static_cast<void>(medians(read, 4)), Error);
}

/// The message where rows of an H100's bursts are wanted; "no error" where they are taken.
std::string refusal(const std::string& text, gpu::RunMode mode = gpu::RunMode::burst) {
  try {
    static_cast<void>(read_gemm_rows(parse_csv(text, "t.csv"), {}, {}, std::nullopt, gpu::Quantisation::none,
                                     RowOrigin{.gpu = gpu::load_gpu("h100-sxm5"), .mode = mode}));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

TEST(RowOrigin, RowsOfAnotherGpuAreRefused) {
  const auto of = [](const std::string& first, const std::string& second) {
    return refusal("gpu,m,n,k,latency_us\n" + first + ",1,2,3,4\n" + second + ",1,2,3,4\n");
  };
  EXPECT_THAT(
      of("NVIDIA H200", "NVIDIA H200"),
      StartsWith("t.csv:2:1: gpu 'NVIDIA H200' is another GPU than h100-sxm5 of --gpu (NVIDIA H100 SXM5 80 GB)"));
  EXPECT_THAT(of("NVIDIA H100 80GB HBM3", "NVIDIA H100 PCIe"),
              ::testing::AllOf(StartsWith("t.csv:3:1: gpu 'NVIDIA H100 PCIe' stands beside rows of"),
                               HasSubstr("--where 'gpu=NVIDIA H100 80GB HBM3'; --force takes all rows")));
  EXPECT_EQ(of("NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3"), "no error");
  EXPECT_EQ(of("h100-sxm5", "h100-sxm5"), "no error");
  EXPECT_EQ(of("board in the rack", "board in the rack"), "no error") << "it names no model";
  EXPECT_EQ(of("", ""), "no error");
  EXPECT_THAT(of("GeForce RTX 4090", ""), HasSubstr("another GPU"));
}

/// 6000 is the number of several boards, 4090 of two more.
TEST(RowOrigin, BoardsOfOneNumberAreToldApart) {
  const auto of = [](const std::string& board, const std::string& sheet) -> std::string {
    try {
      static_cast<void>(read_gemm_rows(parse_csv("gpu,m,n,k,latency_us\n" + board + ",1,2,3,4\n", "t.csv"), {}, {},
                                       std::nullopt, gpu::Quantisation::none,
                                       RowOrigin{.gpu = gpu::load_gpu(sheet), .mode = gpu::RunMode::burst}));
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(of("NVIDIA RTX 6000 Ada Generation", "rtx-6000-ada"), "no error");
  EXPECT_EQ(of("RTX 6000", "rtx-6000-ada"), "no error") << "it does not say of which line";
  EXPECT_THAT(of("NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-6000-ada"), HasSubstr("is another GPU"));
  EXPECT_THAT(of("Quadro RTX 6000", "rtx-6000-ada"), HasSubstr("is another GPU"));
  EXPECT_THAT(of("NVIDIA RTX 6000 Ada Generation", "rtx-pro-6000"), HasSubstr("is another GPU"));
  EXPECT_EQ(of("NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000"), "no error");
  EXPECT_EQ(of("NVIDIA GeForce RTX 4090", "rtx-4090"), "no error");
  EXPECT_THAT(of("NVIDIA GeForce RTX 4090 Laptop GPU", "rtx-4090"), HasSubstr("is another GPU"));
}

TEST(RowOrigin, NumbersOfBoardsNameNoModel) {
  EXPECT_EQ(refusal("gpu,m,n,k,latency_us\n0,1,2,3,4\n1,1,2,3,4\n"), "no error") << "two equal boards of a host";
  EXPECT_EQ(refusal("gpu,m,n,k,latency_us\nNVIDIA H100 80GB HBM3,1,2,3,4\n1,1,2,3,4\n"), "no error");
}

/// Tables of others call the column otherwise; what tells the boards of a host apart names no model.
TEST(RowOrigin, ADeviceIsAGpu) {
  EXPECT_THAT(refusal("Device,m,n,k,latency_us\nTesla T4,1,2,3,4\n"),
              StartsWith("t.csv:2:1: Device 'Tesla T4' is another GPU than h100-sxm5 of --gpu"));
  EXPECT_THAT(refusal("gpu_name,m,n,k,latency_us\nNVIDIA H100 PCIe,1,2,3,4\nNVIDIA H200,1,2,3,4\n"),
              HasSubstr("--where 'gpu_name=NVIDIA H100 PCIe'"));
  EXPECT_EQ(refusal("device,m,n,k,latency_us\ncuda:0,1,2,3,4\ncuda1,1,2,3,4\ngpu2,1,2,3,4\n"), "no error");
}

TEST(RowOrigin, RowsOfTheOtherModeAreRefused) {
  const std::string both = "m,n,k,latency_us,mode\n1,2,3,4,burst\n1,2,3,4,sustained\n";
  EXPECT_THAT(refusal(both), ::testing::AllOf(StartsWith("t.csv:3:9: mode 'sustained' is not how"),
                                              HasSubstr("--where mode=burst, or fit the others: --mode sustained")));
  EXPECT_THAT(refusal(both, gpu::RunMode::sustained),
              ::testing::AllOf(StartsWith("t.csv:2:9: mode 'burst' is not how"), HasSubstr("--where mode=sustained")));
  EXPECT_EQ(refusal("m,n,k,latency_us,mode\n1,2,3,4,eager\n"), "no error") << "another tool's word";
}

TEST(RowOrigin, FurtherAlgorithmsAndThePlainKernelAreRefused) {
  EXPECT_THAT(
      refusal("m,n,k,latency_us,rank\n1,2,3,4,0\n1,2,3,5,1\n"),
      ::testing::AllOf(StartsWith("t.csv:3:9: rank '1' stands beside rows of rank '0'"), HasSubstr("--where rank=0")));
  EXPECT_THAT(refusal("m,n,k,latency_us,kernel\n1,2,3,4,cublaslt\n1,2,3,5,tiled\n"),
              ::testing::AllOf(StartsWith("t.csv:3:9: kernel 'tiled' is the plain kernel"),
                               HasSubstr("--where kernel=cublaslt")));
  EXPECT_EQ(refusal("m,n,k,latency_us,kernel\n1,2,3,4,ampere_sgemm_128x128_nn\n1,2,3,5,sgemm_64\n"), "no error");
}

/// What was not measured has no runtime, whoever asks.
TEST(GemmRows, RowsThatFailedDoNotCount) {
  const auto read = rows("m,n,k,latency_us,status\n1,2,3,4,ok\n1,2,3,,failed\n1,2,3,,unsupported\n");
  EXPECT_EQ(read.size(), 1);
  EXPECT_THAT(message("m,n,k,latency_us,status\n1,2,3,,failed\n"), HasSubstr("no row is left (of 1)"));
}

/// An H100 draws 120 W idle at its highest clock, and 700 W at the limit: 108 to 770 W are plausible.
TEST(RowOrigin, PowersThatTheBoardCannotDrawAreRefused) {
  const auto of = [](const std::string& power) -> std::string {
    try {
      static_cast<void>(read_power_rows(parse_csv("m,n,k,latency_us,power_w\n1,2,3,4," + power + "\n", "t.csv"), {}, {},
                                        std::nullopt, gpu::Quantisation::none,
                                        RowOrigin{gpu::load_gpu("h100-sxm5"), gpu::RunMode::sustained}));
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(of("1400"), StartsWith("t.csv:2:9: power_w '1400' is no power of h100-sxm5, which draws 108 to 770 W"));
  EXPECT_THAT(of("100"), HasSubstr("Look at the column, its unit and --gpu"));
  EXPECT_THAT(of("0.4"), HasSubstr("They are kW: write them in W"));
  EXPECT_THAT(of("400000"), HasSubstr("They are mW: write them in W"));
  EXPECT_EQ(of("108.1"), "no error");
  EXPECT_EQ(of("769.9"), "no error");
}

/// The power of a short kernel is read near idle, which is why it is left out.
TEST(RowOrigin, PowersOfKernelsThatAreLeftOutAreNotLookedAt) {
  const auto read = [](double shortest_s) {
    return read_power_rows(parse_csv("m,n,k,latency_us,power_w\n1,2,3,3,60\n1,2,3,30,400\n", "t.csv"), {}, {},
                           std::nullopt, gpu::Quantisation::none,
                           RowOrigin{gpu::load_gpu("h100-sxm5"), gpu::RunMode::sustained}, shortest_s);
  };
  EXPECT_EQ(read(10e-6).size(), 1U);
  EXPECT_THROW(static_cast<void>(read(0)), Error);
  EXPECT_THROW(static_cast<void>(read(1)), Error) << "none is left";
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
