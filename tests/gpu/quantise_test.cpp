/// Do 8-bit products run with the kernel that quantises their activations, and only these?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <span>

#include "edited_yaml.h"
#include "hindsight/gpu/predict.h"
#include "tolerances.h"

namespace hindsight::gpu {
namespace {

using hindsight::test::kRounding;
using hindsight::test::relative_error;
using ::testing::HasSubstr;

/// Round constants: a kernel that quantises starts in 1 us on an H100 (1980 MHz), the DRAM reaches its peak.
Calibration round_constants(const GpuSpec& spec) {
  Calibration calibration = load_calibration(spec, DType::fp8);
  calibration.constants.quantise_cycles = 1980;
  calibration.constants.dram_efficiency = 1;
  calibration.constants.l2_efficiency = 1;
  return calibration;
}

Gemm quantised(Gemm gemm, Quantisation quantisation) {
  gemm.dtype = DType::fp8;
  gemm.quantisation = quantisation;
  return gemm;
}

/// 264 rows on 132 SMs are 2 rounds of 500 cycles; 3 x 264 x 65536 bytes at 0.6 x 3352 GB/s from DRAM, because the
/// weights of 2 GiB pass through the L2 in between; in block form 528 rows fit at a time: 1 round of 500 cycles and 0.4
/// per element, and the start is 0.6 us.
TEST(Quantise, KernelByHand) {
  const GpuSpec spec = load_gpu("h100-sxm5");
  const Predictor predictor(spec, round_constants(spec), DType::fp8);
  const Gemm gemm{.m = 264, .n = 32768, .k = 65536};
  const double bytes = 3.0 * 264 * 65536, dram_s = bytes / (0.6 * 3352e9);
  const double l2_s = bytes / (spec.l2_bytes_per_s * (spec.boost_hz / spec.l2_clock_hz));
  const auto with_rows = [&](double rows_s) {
    return std::cbrt(std::pow(rows_s, 3) + std::pow(l2_s, 3) + std::pow(dram_s, 3));
  };
  const GemmPrediction dynamic = predictor.predict(quantised(gemm, Quantisation::dynamic));
  EXPECT_EQ(dynamic.quantise_bytes, bytes);
  EXPECT_LT(relative_error(dynamic.terms.quantise_s, 1e-6 + with_rows(2 * 500 / 1.98e9)), kRounding);
  const GemmPrediction block = predictor.predict(quantised(gemm, Quantisation::block));
  EXPECT_LT(relative_error(block.terms.quantise_s, 0.6e-6 + with_rows((500 + 0.4 * 65536) / 1.98e9)), kRounding);
}

/// An image of a ninth of its windows is quantised once.
TEST(Quantise, AnImageOnceAndNotItsWindows) {
  const GpuSpec spec = load_gpu("h100-sxm5");
  const Predictor predictor(spec, load_calibration(spec, DType::fp8), DType::fp8);
  Gemm gemm = quantised({.m = 9000, .n = 64, .k = 576}, Quantisation::dynamic);
  gemm.activation_bytes = 9000.0 * 64;
  const GemmPrediction image = predictor.predict(gemm);
  EXPECT_LE(relative_error(image.quantise_bytes, 3.0 * 9000 * 64), kRounding);
  gemm.activation_bytes = 0;
  EXPECT_LT(image.terms.quantise_s, predictor.predict(gemm).terms.quantise_s);
}

/// Where no limit binds, the kernel's time, traffic and the product's add up, of the same library.
TEST(Quantise, AddsItsKernelToTheProduct) {
  const GpuSpec spec = load_gpu("h100-sxm5");
  Calibration calibration = load_calibration(spec, DType::fp8);
  calibration.library = nullptr;  // products alone come from the frameworks' kernels, too
  const Predictor predictor(spec, calibration, DType::fp8);
  const Gemm gemm{.m = 4096, .n = 256, .k = 1024};
  const GemmPrediction plain = predictor.predict(quantised(gemm, Quantisation::none));
  EXPECT_EQ(plain.terms.quantise_s, 0);
  EXPECT_EQ(plain.quantise_bytes, 0);
  const GemmPrediction dynamic = predictor.predict(quantised(gemm, Quantisation::dynamic));
  ASSERT_EQ(dynamic.terms.slowdown, 1);
  EXPECT_LT(relative_error(dynamic.latency_s, plain.latency_s + dynamic.terms.quantise_s), kRounding);
  EXPECT_EQ(dynamic.bound, Bound::quantise);
  EXPECT_EQ(dynamic.l2_bytes, plain.l2_bytes + 3.0 * 4096 * 1024);
  EXPECT_GT(dynamic.dram_bytes, plain.dram_bytes);
  EXPECT_GT(dynamic.energy_j, plain.energy_j);
}

/// Products that nothing quantises are the vendor library's: the kernels of 16 bits on half of k, byte by byte.
TEST(Quantise, NothingLeavesTheProductToTheLibrary) {
  const GpuSpec spec = load_gpu("h100-sxm5");
  const Calibration eight = load_calibration(spec, DType::fp8, {}, Residuals::none),
                    sixteen = load_calibration(spec, DType::bf16, {}, Residuals::none);
  ASSERT_NE(eight.library, nullptr);
  EXPECT_EQ(&serving(eight, quantised({.m = 1, .n = 1, .k = 1}, Quantisation::none)), eight.library.get());
  EXPECT_EQ(&serving(eight, quantised({.m = 1, .n = 1, .k = 1}, Quantisation::block)), &eight);
  for (const auto& [m, n, k] : {std::array{1, 8192, 8192}, {256, 1024, 1024}, {2048, 4096, 14336}, {96, 96, 32768}}) {
    const Gemm fp8 = quantised({.m = m, .n = n, .k = k}, Quantisation::none);
    const Gemm bf16{.m = m, .n = n, .k = k / 2, .dtype = DType::bf16};
    const GemmPrediction one = Predictor(spec, eight, DType::fp8).predict(fp8),
                         other = Predictor(spec, sixteen, DType::bf16).predict(bf16);
    EXPECT_EQ(one.tile.m * one.tile.n * one.tile.split_k, other.tile.m * other.tile.n * other.tile.split_k);
    EXPECT_EQ(one.tile.k, 2 * other.tile.k);
    for (double GemmTerms::*term : {&GemmTerms::launch_s, &GemmTerms::fill_s, &GemmTerms::chain_s, &GemmTerms::math_s,
                                    &GemmTerms::l2_s, &GemmTerms::dram_s, &GemmTerms::reduction_s}) {
      EXPECT_LE(std::abs(one.terms.*term - other.terms.*term), kRounding * other.latency_s)
          << m << " " << n << " " << k;
    }
    EXPECT_FALSE(one.in_validated_range);
    EXPECT_EQ(Predictor(spec, eight, DType::fp8).latency_s(fp8), one.latency_s);
    EXPECT_EQ(Predictor(spec, eight, DType::fp8).rank(fp8).front().latency_s, one.latency_s);
  }
  // Of int8 and of Ada nothing was measured that says so.
  EXPECT_EQ(load_calibration(spec, DType::int8).library, nullptr);
  EXPECT_EQ(load_calibration(load_gpu("l40s"), DType::fp8).library, nullptr);
  // Constants of one's own for products alone serve them.
  Calibration own = load_calibration(spec, DType::fp8);
  own.library = nullptr;
  own.range.quantisations[static_cast<std::size_t>(Quantisation::none)] = true;
  EXPECT_EQ(load_calibration(spec, DType::fp8, std::span(&own, 1)).library, nullptr);
}

/// The activations are the input that is not the weights, whichever way the product is written.
TEST(Quantise, TakesTheInputThatIsNotTheWeights) {
  const GpuSpec spec = load_gpu("h200");
  const Predictor predictor(spec, load_calibration(spec, DType::fp8), DType::fp8);
  const Gemm gemm = quantised({.m = 512, .n = 8192, .k = 4096, .batch = 3}, Quantisation::block);
  EXPECT_EQ(predictor.predict(gemm).quantise_bytes, 3.0 * 3 * 512 * 4096);
  EXPECT_EQ(predictor.predict(transposed(gemm)).quantise_bytes, 3.0 * 3 * 512 * 4096);
  Gemm other = gemm;
  other.weights = Operand::a;
  EXPECT_EQ(predictor.predict(other).quantise_bytes, 3.0 * 3 * 8192 * 4096);
  EXPECT_EQ(transposed(gemm).quantisation, Quantisation::block);
}

/// Scales inside k cost arithmetic: 1.27 times as long where arithmetic is all.
TEST(Quantise, BlocksSlowTheArithmeticOfTheProduct) {
  const GpuSpec spec = load_gpu("h100-sxm5");
  const Predictor predictor(spec, load_calibration(spec, DType::fp8), DType::fp8);
  const Gemm gemm{.m = 8192, .n = 8192, .k = 8192};
  const double plain_s = predictor.predict(quantised(gemm, Quantisation::dynamic)).terms.math_s;
  EXPECT_LT(relative_error(predictor.predict(quantised(gemm, Quantisation::block)).terms.math_s, 1.27 * plain_s),
            kRounding);
}

/// The host's calls are those of a recorded product; a stream that is kept busy has none of them, nor has another kind.
TEST(Quantise, SmallBlocksAreLaunchedAsRecordedOrByTheKernelAlone) {
  const GpuSpec spec = load_gpu("h100-sxm5");
  const Calibration recorded = load_calibration(spec, DType::fp8);
  const Calibration kernels = with_kernel_launch(recorded, spec);
  const Gemm small{.m = 16, .n = 32, .k = 4096};
  const auto latency_s = [&](const Calibration& calibration, const Gemm& gemm) {
    return Predictor(spec, calibration, DType::fp8).latency_s(gemm);
  };
  const Gemm block = quantised(small, Quantisation::block);
  constexpr double kGiven_s = 0.01e-6;  // the figure is given to a hundredth of a microsecond
  EXPECT_NEAR(latency_s(recorded, block), 178e-6, kGiven_s);
  EXPECT_EQ(latency_s(recorded, transposed(block)), latency_s(recorded, block));
  EXPECT_LT(latency_s(kernels, block), 20e-6);
  EXPECT_EQ(latency_s(recorded, quantised(small, Quantisation::dynamic)),
            latency_s(kernels, quantised(small, Quantisation::dynamic)));
  Gemm whole = block;
  whole.n = 128;
  EXPECT_EQ(latency_s(recorded, whole), latency_s(kernels, whole));
  EXPECT_EQ(predict(spec, recorded, block).bound, Bound::launch);
}

TEST(Quantise, IsRefusedForWiderFormats) {
  for (const DType dtype : kAllDTypes) {
    for (const Quantisation quantisation : kAllQuantisations) {
      const Gemm gemm{.dtype = dtype, .quantisation = quantisation};
      const bool refused = quantisation != Quantisation::none && !is_8bit(dtype);
      EXPECT_EQ(quantisation_problem(gemm).empty(), !refused) << to_string(dtype) << to_string(quantisation);
    }
  }
  test::expect_usage_error([] { require_valid({.dtype = DType::bf16, .quantisation = Quantisation::dynamic}); },
                           {"bf16 activations are not quantised"});
}

TEST(Quantise, FormatsMaySayHow) {
  EXPECT_EQ(parse_format("fp8").dtype, DType::fp8);
  EXPECT_EQ(parse_format("fp8").quantisation, std::nullopt);
  EXPECT_EQ(parse_format("FP8_block").dtype, DType::fp8);
  EXPECT_EQ(parse_format("FP8_block").quantisation, Quantisation::block);
  EXPECT_EQ(parse_format("fp8_static").quantisation, Quantisation::static_scale);
  EXPECT_EQ(parse_format("int8_dynamic").dtype, DType::int8);
  EXPECT_EQ(parse_format("bfloat16").dtype, DType::bf16);
  test::expect_usage_error([] { static_cast<void>(parse_format("bf16_block")); }, {"bf16_block"});
  test::expect_usage_error([] { static_cast<void>(parse_format("fp8_blok")); }, {"fp8_blok"});
}

/// Rows that were measured count; the product alone, other kinds and int8 were not measured on an H100.
TEST(Quantise, OnlyWhatWasMeasuredIsValidated) {
  const GpuSpec spec = load_gpu("h100-sxm5");
  for (const DType dtype : {DType::fp8, DType::int8}) {
    const Predictor predictor(spec, load_calibration(spec, dtype), dtype);
    for (const Quantisation quantisation : kAllQuantisations) {
      const Gemm gemm{.m = 1024, .n = 4096, .k = 4096, .dtype = dtype, .quantisation = quantisation};
      const bool measured =
          dtype == DType::fp8 && (quantisation == Quantisation::dynamic || quantisation == Quantisation::block);
      EXPECT_EQ(predictor.predict(gemm).in_validated_range, measured) << to_string(dtype) << to_string(quantisation);
    }
  }
  const GpuSpec sibling = load_gpu("h200");
  EXPECT_FALSE(Predictor(sibling, load_calibration(sibling, DType::fp8), DType::fp8)
                   .predict(quantised({.m = 1024, .n = 4096, .k = 4096}, Quantisation::dynamic))
                   .in_validated_range);
}

}  // namespace
}  // namespace hindsight::gpu
