/// Are sizes, formats and layouts of a GEMM checked, named and counted right?
#include "hindsight/gpu/gemm.h"

#include <gmock/gmock.h>

#include "hindsight/core/error.h"
#include "hindsight/gpu/spec.h"

namespace hindsight::gpu {
namespace {

using ::testing::HasSubstr;

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

TEST(Gemm, CountsWorkAndLeastBytes) {
  const Gemm gemm{.m = 3, .n = 5, .k = 7, .batch = 2, .dtype = DType::bf16};
  EXPECT_EQ(macs(gemm), 2 * 3 * 5 * 7);
  EXPECT_EQ(ops(gemm), 2 * macs(gemm));
  EXPECT_EQ(compulsory_bytes(gemm), 2 * 2 * (3 * 7 + 7 * 5 + 3 * 5));
  // fp8 inputs of one byte leave as bf16
  EXPECT_EQ(compulsory_bytes({.m = 3, .n = 5, .k = 7, .dtype = DType::fp8}), 3 * 7 + 7 * 5 + 2 * 3 * 5);
}

TEST(Gemm, OutputsHaveTheBytesOfTheirFormat) {
  EXPECT_EQ(output_bytes({.dtype = DType::int8}), 4) << "the library's int32";
  EXPECT_EQ(output_bytes({.dtype = DType::int8, .output = DType::int8}), 1);
  EXPECT_EQ(output_bytes({.dtype = DType::fp8, .output = DType::bf16}), output_bytes(DType::fp8));
  EXPECT_EQ(compulsory_bytes({.m = 3, .n = 5, .k = 7, .dtype = DType::int8, .output = DType::int8}),
            3 * 7 + 7 * 5 + 3 * 5);
}

/// 12 windows of 9 pixels over an image of 20, twice.
TEST(Gemm, OverlappingWindowsAreHeldOnce) {
  const Gemm gemm{.m = 12, .n = 5, .k = 9, .batch = 2, .dtype = DType::bf16, .activation_bytes = 2.0 * 2 * 20};
  EXPECT_EQ(repeated_bytes(gemm), 2 * 2 * (12 * 9 - 20));
  EXPECT_EQ(compulsory_bytes(gemm), 2 * 2 * (20 + 5 * 9 + 12 * 5));
  EXPECT_EQ(repeated_bytes(transposed(gemm)), repeated_bytes(gemm));
  EXPECT_EQ(compulsory_bytes(transposed(gemm)), compulsory_bytes(gemm));
  Gemm larger = gemm;  // as the holes of a dilated kernel make an image
  larger.activation_bytes = 1e6;
  EXPECT_EQ(repeated_bytes(larger), 0);
  larger.activation_bytes = 0;
  EXPECT_EQ(repeated_bytes(larger), 0);
  EXPECT_TRUE(is_plain_product(larger));
  EXPECT_FALSE(is_plain_product(gemm));
  EXPECT_FALSE(is_plain_product({.dtype = DType::fp8, .output = DType::fp8}));
  EXPECT_TRUE(is_plain_product({.dtype = DType::bf16, .output = DType::bf16}));
}

/// 12 x 5 outputs, twice, that are added up to 35 in all.
TEST(Gemm, OverlappingOutputsAreWrittenOnce) {
  const Gemm gemm{.m = 12, .n = 5, .k = 9, .batch = 2, .dtype = DType::bf16, .result_elements = 35};
  EXPECT_EQ(output_elements(gemm), 2 * 12 * 5);
  EXPECT_EQ(compulsory_bytes(gemm), 2 * 2 * (12 * 9 + 5 * 9) + 2 * 35);
  EXPECT_EQ(compulsory_bytes(transposed(gemm)), compulsory_bytes(gemm));
  EXPECT_FALSE(is_plain_product(gemm));
}

TEST(Gemm, RefusesSizesThatAreNone) {
  EXPECT_THAT(message_of([] { require_valid({.m = 0, .n = 1, .k = 1}); }), HasSubstr("m is 0"));
  EXPECT_THAT(message_of([] { require_valid({.m = 1, .n = -4, .k = 1}); }), HasSubstr("n is -4"));
  EXPECT_THAT(message_of([] { require_valid({.m = 1, .n = 1, .k = kLargestDimension + 1}); }), HasSubstr("k is"));
  EXPECT_THAT(message_of([] { require_valid({.m = 1, .n = 1, .k = 1, .batch = 0}); }), HasSubstr("batch is 0"));
  const std::int64_t large = std::int64_t{1} << 30;
  EXPECT_THAT(message_of([&] { require_valid({.m = large, .n = large, .k = large}); }), HasSubstr("multiply"));
  EXPECT_EQ(size_problem({.m = kLargestDimension, .n = 1, .k = 1}), "");
}

TEST(Gemm, NamesGoBothWays) {
  for (const DType dtype : kAllDTypes) EXPECT_EQ(parse_dtype(to_string(dtype)), dtype);
  for (const Layout layout : {Layout::nn, Layout::nt, Layout::tn, Layout::tt}) {
    EXPECT_EQ(parse_layout(to_string(layout)), layout);
  }
  EXPECT_EQ(parse_dtype("BFloat16"), DType::bf16);
  EXPECT_THAT(message_of([] { static_cast<void>(parse_dtype("bf61")); }), HasSubstr("Did you mean 'bf16'?"));
  EXPECT_THAT(message_of([] { static_cast<void>(parse_layout("xy")); }), HasSubstr("unknown layout 'xy'"));
}

TEST(Gemm, TransposedTwiceIsItself) {
  const Gemm gemm{.m = 3, .n = 5, .k = 7, .dtype = DType::fp16, .layout = Layout::nn};
  const Gemm other = transposed(gemm);
  EXPECT_EQ(other.m, 5);
  EXPECT_EQ(other.layout, Layout::tt);
  EXPECT_EQ(other.weights, Operand::a);
  const Gemm back = transposed(other);
  EXPECT_EQ(back.m, gemm.m);
  EXPECT_EQ(back.layout, gemm.layout);
  EXPECT_EQ(back.weights, gemm.weights);
}

TEST(Gemm, AGpuWithoutTheFormatSaysWhichItHas) {
  const GpuSpec a100 = load_gpu("a100-sxm-80gb");
  EXPECT_THAT(message_of([&] { static_cast<void>(a100.rate(DType::fp8)); }), HasSubstr("bf16"));
}

}  // namespace
}  // namespace hindsight::gpu
