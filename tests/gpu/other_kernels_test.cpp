/// Do attention and streaming kernels follow their equations, published rates and physics?
#include "hindsight/gpu/other_kernels.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "hindsight/core/error.h"
#include "tolerances.h"

namespace hindsight::gpu {
namespace {

using test::kRounding;
using test::relative_error;
using ::testing::HasSubstr;

OtherKernels kernels_of(const GpuSpec& spec, DType dtype = DType::bf16) {
  return {spec, load_calibration(spec, dtype, {}, Residuals::none), dtype};
}

/// Forward passes of FlashAttention-3 on an H100 SXM5, TFLOP/s as its authors count them: 4 x queries x keys x length,
/// half of that behind a causal mask [paper: flashattention-3, Figure 5].
struct Published {
  std::int64_t length;
  bool causal;
  std::array<double, 6> tflops;  ///< 512 to 16,384 queries and keys
};
constexpr std::array kPublished{
    Published{64, false, {333, 392, 460, 476, 496, 497}},  Published{128, false, {467, 565, 625, 638, 646, 648}},
    Published{256, false, {482, 639, 707, 736, 746, 756}}, Published{64, true, {197, 265, 371, 420, 460, 473}},
    Published{128, true, {292, 423, 521, 579, 602, 616}},  Published{256, true, {286, 427, 537, 612, 628, 642}}};

TEST(Attention, FollowsPublishedRatesOfAnH100) {
  const OtherKernels h100 = kernels_of(load_gpu("h100-sxm5"));
  double sum = 0, worst = 0, roof = 0;
  int count = 0;
  for (const Published& published : kPublished) {
    for (std::size_t i = 0; i < published.tflops.size(); ++i) {
      const std::int64_t tokens = std::int64_t{512} << i;
      const Attention attention{.heads = 16384 / tokens * (2048 / published.length),
                                .rows = tokens,
                                .context = tokens,
                                .key_length = published.length,
                                .value_length = published.length,
                                .causal = published.causal};
      const double ops = 2.0 * static_cast<double>(attention.heads) * static_cast<double>(tokens * tokens) *
                         static_cast<double>(2 * published.length) * (published.causal ? 0.5 : 1.0);
      const double measured_s = ops / (published.tflops[i] * 1e12);
      const double error = relative_error(h100.predict(attention, RunMode::sustained).latency_s, measured_s);
      sum += error;
      worst = std::max(worst, error);
      roof += relative_error(roofline_s(load_gpu("h100-sxm5"), attention), measured_s);
      ++count;
    }
  }
  RecordProperty("mean_error_percent", std::to_string(100 * sum / count));
  EXPECT_LE(sum / count, 0.055) << "worst " << worst;
  EXPECT_LE(worst, 0.2);
  EXPECT_GE(roof / count, 0.3) << "the roofline would do as well";
}

/// A sheet with round numbers: 10 SMs, 1 GHz, 1000 FMA per clock, 1 TB/s DRAM, 10 TB/s L2 of 1 MB.
struct RoundGpu : ::testing::Test {
  GpuSpec spec = load_gpu("h100-sxm5");
  Calibration calibration = load_calibration(spec, DType::bf16, {}, Residuals::none);
  RoundGpu() {
    spec.sms = 10;
    spec.boost_hz = spec.l2_clock_hz = 1e9;
    spec.math[static_cast<std::size_t>(DType::bf16)]->fma_per_clock_per_sm = 1000;
    spec.math[static_cast<std::size_t>(DType::fp32)]->fma_per_clock_per_sm = 100;
    spec.dram_bytes_per_s = 1e12;
    spec.l2_bytes_per_s = 10e12;
    spec.l2_bytes = 1e6;
    spec.tdp_w = 1e6;
    calibration.constants.launch_cycles = 2000;
    calibration.constants.reduction_cycles = 3000;
    calibration.constants.dram_efficiency = calibration.constants.l2_efficiency = 1;
    calibration.constants.l2_resident_frac = 0.5;
  }
  [[nodiscard]] OtherPrediction predict(const Attention& attention) const {
    return OtherKernels(spec, calibration, DType::bf16).predict(attention, RunMode::burst);
  }
};

/// 40 heads x 256 rows are 80 CTAs, 8 per SM; each walks along 1024 keys: 128 x 1024 pairs of 256 multiply-adds (0.256
/// cycles) and an exponential (1/16 cycle), at 93 %, after 6500 cycles.
TEST_F(RoundGpu, PrefillByHand) {
  const OtherPrediction p = predict({.heads = 40, .rows = 256, .context = 1024});
  const double cta_cycles = 6500 + 128 * 1024 * (0.256 + 1.0 / 16) / 0.93;
  EXPECT_LE(relative_error(p.terms.arithmetic_s, 8 * cta_cycles * 1e-9), kRounding);
  EXPECT_EQ(p.ops, 2.0 * 40 * 256 * 1024 * 256);
  const double keys = 40.0 * 1024 * 256 * 2, rows = 40.0 * 256 * 256 * 2;
  EXPECT_LE(relative_error(p.l2_bytes, keys + rows), kRounding) << "two CTAs of a head, a quarter each: at least once";
  EXPECT_LE(relative_error(p.dram_bytes, keys + rows), 1e-6) << "26 MB do not stay in 1 MB";
  EXPECT_EQ(p.terms.reduction_s, 0);
  const auto fourth = [](double x) { return x * x * x * x; };  // the overlap of Hopper's kernels
  EXPECT_LE(relative_error(p.terms.l2_s, (0.25 * 2 * keys + rows) / 10e12), kRounding);
  EXPECT_LE(relative_error(
                p.latency_s,
                2e-6 + std::pow(fourth(p.terms.arithmetic_s) + fourth(p.terms.l2_s) + fourth(p.terms.dram_s), 0.25)),
            kRounding);
  EXPECT_EQ(p.bound, Bound::math);
}

/// Two key/value heads, four queries each: two CTAs on ten SMs. Keys are shared out among five CTAs each where that
/// gains more than the second kernel costs.
TEST_F(RoundGpu, DecodingSharesKeysOutWhereItPays) {
  const OtherPrediction shorter = predict({.heads = 2, .rows = 4, .context = 256, .cached = true});
  EXPECT_EQ(shorter.terms.reduction_s, 0);
  const OtherPrediction longer = predict({.heads = 2, .rows = 4, .context = 65536, .cached = true});
  // Half of five partial results of 2 x 4 x 128 fp32 numbers at the L2's 10 TB/s.
  EXPECT_LE(relative_error(longer.terms.reduction_s, 3e-6 + 0.5 * 5 * 2 * 4 * 128 * 4 / 10e12), kRounding);
  const double cta_cycles = 3250 + 64 * 65536 / 5.0 * (0.256 + 1.0 / 16) / 0.93;
  EXPECT_LE(relative_error(longer.terms.arithmetic_s, cta_cycles * 1e-9), kRounding) << "rows padded to 64";
  EXPECT_GE(longer.dram_bytes, 2.0 * 65536 * 256 * 2);
}

/// Round shares of a GEMM's: launch 0.548 of 2 us, L2 0.944 of 10 TB/s, DRAM no more than its peak, 0.63 of 1 MB stays.
TEST_F(RoundGpu, StreamingByHand) {
  const OtherKernels kernels(spec, calibration, DType::bf16);
  const auto predict = [&](const Streaming& kernel) { return kernels.predict(kernel, RunMode::burst); };
  const auto fourth = [](double x) { return x * x * x * x; };  // the overlap of Hopper's kernels
  const double launch_s = 0.548 * 2e-6;
  // 3 MB from DRAM, whose first access takes 0.38 us: nothing of it fits.
  const OtherPrediction large = predict({.read_bytes = 2e6, .written_bytes = 1e6, .ops = 1e6});
  const double dram_s = 3e6 / 1e12 + 0.38e-6, l2_s = 3e6 / (0.944 * 10e12), ops_s = 1e6 / (2 * 100 * 10 * 1e9);
  EXPECT_LE(relative_error(large.latency_s, launch_s + std::pow(fourth(dram_s) + fourth(l2_s) + fourth(ops_s), 0.25)),
            1e-4);
  EXPECT_LE(relative_error(large.dram_bytes, 3e6), 1e-4);
  // 30 KB are still in the L2, unless nothing was.
  const Streaming small{.read_bytes = 2e4, .written_bytes = 1e4};
  EXPECT_LE(predict(small).dram_bytes, 1);
  Streaming cold = small;
  cold.cold = true;
  EXPECT_EQ(predict(cold).dram_bytes, 3e4);
  EXPECT_GT(predict(cold).latency_s, predict(small).latency_s);
  // A row of 1000 elements waits 0.242 cycles for each, a filter of 9 taps 305 for each and gets 0.15 of the cores.
  EXPECT_EQ(normalisation(8, 1000, 2).waiting_cycles, 242);
  const Streaming filter = depthwise(9e6, 9, 1e3, 1e3);
  EXPECT_LE(relative_error(predict(filter).terms.arithmetic_s, 9 * 305e-9 + 18e6 / (0.15 * 2 * 100 * 10 * 1e9)),
            kRounding);
}

TEST_F(RoundGpu, KeysOfACacheComeFromDram) {
  const Attention fresh{.heads = 4, .rows = 8, .context = 128};
  Attention cached = fresh;
  cached.cached = true;
  EXPECT_LE(predict(fresh).dram_bytes, 0.05 * predict(cached).dram_bytes);
  EXPECT_GE(predict(cached).dram_bytes, 4.0 * 128 * 256 * 2);
}

TEST(Attention, MasksHalfOfThePairs) {
  EXPECT_EQ(attended_pairs({.heads = 2, .rows = 4, .context = 4, .causal = true}), 2 * (1 + 2 + 3 + 4));
  EXPECT_EQ(attended_pairs({.heads = 2, .rows = 2, .context = 4, .causal = true}), 2 * (3 + 4));
  EXPECT_EQ(attended_pairs({.heads = 2, .rows = 8, .context = 4, .causal = true, .queries = 4}), 2 * 2 * 10);
  EXPECT_EQ(attended_pairs({.heads = 2, .rows = 1, .context = 7, .causal = true}), 14) << "one token sees all";
  const OtherKernels h100 = kernels_of(load_gpu("h100-sxm5"));
  const auto latency_s = [&](bool causal) {
    return h100.predict({.heads = 32, .rows = 8192, .context = 8192, .causal = causal}, RunMode::burst).latency_s;
  };
  EXPECT_LE(relative_error(latency_s(true), latency_s(false) / 2), 0.1);
}

/// Never slower behind a mask, and more queries never faster.
TEST(Attention, AMaskOnlyTakesWorkAway) {
  const OtherKernels h100 = kernels_of(load_gpu("h100-sxm5"));
  const auto latency_s = [&](std::int64_t queries, bool causal) {
    return h100
        .predict({.heads = 8, .rows = 4 * queries, .context = 4096, .causal = causal, .queries = queries},
                 RunMode::burst)
        .latency_s;
  };
  EXPECT_EQ(latency_s(1, true), latency_s(1, false));
  double before_s = 0;
  for (std::int64_t queries = 1; queries <= 4096; queries += queries < 600 ? 7 : 500) {
    EXPECT_LE(latency_s(queries, true), latency_s(queries, false) * (1 + kRounding)) << queries;
    EXPECT_GE(latency_s(queries, true), before_s * (1 - 1e-3)) << queries;
    before_s = latency_s(queries, true);
  }
}

/// Decoding waits for its cache: within 10 % of the bytes at the bandwidth that GEMMs reach, and 5 % more.
TEST(Attention, DecodingALongContextIsBoundByDram) {
  for (const char* name : {"h100-sxm5", "a100-sxm-80gb", "l40s"}) {
    const GpuSpec spec = load_gpu(name);
    const Calibration calibration = load_calibration(spec, DType::bf16, {}, Residuals::none);
    const Attention attention{.heads = 64 * 8, .rows = 8, .context = 8192, .cached = true};
    const OtherPrediction p = OtherKernels(spec, calibration, DType::bf16).predict(attention, RunMode::burst);
    EXPECT_EQ(p.bound, Bound::dram) << name;
    const double bytes = 64.0 * 8 * 8192 * 256 * 2;
    EXPECT_LE(relative_error(p.latency_s, bytes / (spec.dram_bytes_per_s * calibration.constants.dram_efficiency)), 0.1)
        << name;
  }
}

/// On every GPU: not below the roofline, and better hardware is not slower.
TEST(OtherKernels, ObeyPhysics) {
  for (const std::string& name : gpu_names()) {
    const GpuSpec spec = load_gpu(name);
    const DType dtype = spec.has(DType::bf16) ? DType::bf16 : DType::fp16;
    const Calibration calibration = load_calibration(spec, dtype, {}, Residuals::none);
    std::vector<GpuSpec> better(5, spec);
    better[0].sms *= 1.5;
    better[1].dram_bytes_per_s *= 1.5;
    better[2].l2_bytes_per_s *= 1.5;
    better[3].l2_bytes *= 1.5;
    better[4].tdp_w *= 1.5;
    for (const std::int64_t rows : {1, 5, 100, 2000}) {
      for (const std::int64_t context : {1, 77, 2048, 30000}) {
        for (const bool causal : {false, true}) {
          if (causal && rows > context) continue;
          const Attention attention{
              .heads = 24, .rows = rows, .context = context, .key_length = 96, .causal = causal, .dtype = dtype};
          const double latency_s = OtherKernels(spec, calibration, dtype).predict(attention, RunMode::burst).latency_s;
          ASSERT_GE(latency_s, roofline_s(spec, attention)) << name << " " << rows << " " << context;
          for (std::size_t i = 0; i < better.size(); ++i) {
            ASSERT_LE(OtherKernels(better[i], calibration, dtype).predict(attention, RunMode::burst).latency_s,
                      latency_s * (1 + kRounding))
                << name << " " << rows << " " << context << " change " << i;
          }
        }
      }
    }
  }
}

TEST_F(RoundGpu, StreamingReadsAndWritesOnce) {
  const OtherKernels kernels(spec, calibration, DType::bf16);
  const OtherPrediction p =
      kernels.predict(Streaming{.read_bytes = 6e6, .written_bytes = 4e6, .ops = 0}, RunMode::burst);
  EXPECT_LE(relative_error(p.dram_bytes, 1e7), 1e-6);
  EXPECT_LE(relative_error(p.terms.dram_s, 1e7 / 1e12 + 0.38e-6), 1e-6);
  EXPECT_EQ(p.bound, Bound::dram);
  const OtherPrediction small =
      kernels.predict(Streaming{.read_bytes = 6e4, .written_bytes = 4e4, .ops = 0}, RunMode::burst);
  EXPECT_LE(small.dram_bytes, 10) << "still in L2";
  EXPECT_EQ(small.bound, Bound::launch);
  const OtherPrediction busy =
      kernels.predict(Streaming{.read_bytes = 1, .written_bytes = 1, .ops = 2e9}, RunMode::burst);
  EXPECT_LE(relative_error(busy.terms.arithmetic_s, 2e9 / (2 * 100 * 10 * 1e9)), kRounding);
  const Streaming norm = normalisation(128, 4096, 2);
  EXPECT_EQ(norm.read_bytes, 2.0 * 128 * 4096 * 2);
  EXPECT_EQ(norm.written_bytes, norm.read_bytes);
}

/// The parts of the power add up, and a low limit slows down what draws more.
TEST(OtherKernels, KeepToThePowerLimit) {
  GpuSpec spec = load_gpu("h100-sxm5");
  const Attention attention{.heads = 64, .rows = 8192, .context = 8192};
  spec.tdp_w = 1000;
  const OtherPrediction free = kernels_of(spec).predict(attention, RunMode::sustained);
  spec.tdp_w = 300;
  const OtherKernels capped = kernels_of(spec);
  const OtherPrediction slow = capped.predict(attention, RunMode::sustained);
  EXPECT_EQ(free.terms.slowdown, 1);
  EXPECT_GT(slow.terms.slowdown, 1.05);
  EXPECT_EQ(slow.bound, Bound::power);
  EXPECT_LE(slow.average_power_w, 300);
  const PowerTerms t = capped.power_terms(slow);
  EXPECT_LE(relative_error(t.idle_w + t.active_w + t.operations_w + t.l2_w + t.dram_w, slow.average_power_w), 1e-6);
  EXPECT_LE(relative_error(slow.energy_j, slow.average_power_w * slow.latency_s), kRounding);
}

/// A burst's power is that of its clock; where no limit binds, a lower locked clock is never faster and never draws
/// more.
TEST(OtherKernels, FollowTheClock) {
  GpuSpec spec = load_gpu("h100-sxm5");
  spec.tdp_w = 300;
  const Attention attention{.heads = 64, .rows = 8192, .context = 8192};
  const OtherPrediction burst = kernels_of(spec).predict(attention, RunMode::burst);
  EXPECT_GT(burst.average_power_w, kernels_of(spec).predict(attention, RunMode::sustained).average_power_w);
  const Streaming streaming{.read_bytes = 1e9, .written_bytes = 1e9, .ops = 1e9};
  const GroupedGemm grouped{.rows = {100, 7, 900}, .n = 4096, .k = 4096};
  for (const RunMode mode : {RunMode::burst, RunMode::sustained}) {
    const auto run = [&](const GpuSpec& gpu) {
      const OtherKernels kernels = kernels_of(gpu);
      return std::vector<OtherPrediction>{kernels.predict(attention, mode), kernels.predict(streaming, mode),
                                          kernels.predict(grouped, mode)};
    };
    GpuSpec locked = spec;
    locked.tdp_w = 5000;
    std::vector<OtherPrediction> before = run(locked);
    locked.unlocked_hz = spec.boost_hz;
    for (locked.boost_hz *= 0.95; locked.boost_hz > 210e6; locked.boost_hz *= 0.8) {
      const std::vector<OtherPrediction> now = run(locked);
      for (std::size_t i = 0; i < now.size(); ++i) {
        ASSERT_GE(now[i].latency_s, before[i].latency_s * (1 - kRounding)) << i << " at " << locked.boost_hz;
        ASSERT_LE(now[i].average_power_w, before[i].average_power_w * (1 + kRounding))
            << i << " at " << locked.boost_hz;
      }
      before = now;
    }
  }
}

/// At a locked clock a limit that does not bind changes nothing, a lower one is never faster, and one that cannot be
/// met comes with the lowest that can.
TEST(OtherKernels, KeepToTheLimitAtALockedClock) {
  GpuSpec locked = load_gpu("h100-sxm5");
  locked.unlocked_hz = locked.boost_hz;
  locked.boost_hz = 1000e6;
  const Streaming streaming{.read_bytes = 1e9, .written_bytes = 1e9, .ops = 1e9};
  const Attention attention{.heads = 64, .rows = 8192, .context = 8192};
  const GroupedGemm grouped{.rows = {100, 7, 900}, .n = 4096, .k = 4096};
  const auto run = [&](double limit_w) {
    locked.tdp_w = limit_w;
    const OtherKernels kernels = kernels_of(locked);
    constexpr RunMode kMode = RunMode::sustained;
    return std::vector<OtherPrediction>{kernels.predict(streaming, kMode), kernels.predict(attention, kMode),
                                        kernels.predict(grouped, kMode)};
  };
  const std::vector<OtherPrediction> free = run(5000), own = run(700), low = run(150), unmet = run(50);
  for (std::size_t i = 0; i < free.size(); ++i) {
    EXPECT_EQ(own[i].latency_s, free[i].latency_s) << i;
    EXPECT_EQ(own[i].energy_j, free[i].energy_j) << i;
    EXPECT_LE(relative_error(run(1.02 * free[i].average_power_w)[i].latency_s, free[i].latency_s), kRounding) << i;
    EXPECT_GT(low[i].latency_s, free[i].latency_s) << i;
    EXPECT_LE(low[i].average_power_w, 150) << i;
    EXPECT_EQ(low[i].least_limit_w, 0) << i;
    EXPECT_GT(unmet[i].least_limit_w, 50) << i;
    EXPECT_EQ(run(unmet[i].least_limit_w)[i].least_limit_w, 0) << i;
  }
}

/// Equal groups are the batched product; a group without rows counts as none.
TEST(GroupedGemm, OfEqualGroupsIsTheBatchedGemm) {
  for (const char* name : {"h100-sxm5", "a100-sxm-80gb", "l40s"}) {
    const GpuSpec spec = load_gpu(name);
    const Calibration calibration = load_calibration(spec, DType::bf16, {}, Residuals::none);
    const OtherKernels kernels(spec, calibration, DType::bf16);
    for (const std::int64_t rows : {1, 60, 700}) {
      const Gemm batched{.m = rows, .n = 2048, .k = 1024, .batch = 8, .layout = Layout::nt};
      GroupedGemm grouped{.rows = std::vector<std::int64_t>(8, rows), .n = 2048, .k = 1024};
      for (const RunMode mode : {RunMode::sustained, RunMode::burst}) {
        EXPECT_LE(relative_error(kernels.predict(grouped, mode).latency_s,
                                 predict(spec, calibration, batched, mode).latency_s),
                  1e-6)
            << name << " " << rows << " " << to_string(mode);
      }
      const OtherPrediction p = kernels.predict(grouped, RunMode::burst);
      EXPECT_EQ(p.ops, ops(batched));
      grouped.rows.push_back(0);
      EXPECT_EQ(kernels.predict(grouped, RunMode::burst).latency_s, p.latency_s);
      EXPECT_LE(roofline_s(spec, grouped), p.latency_s);
    }
  }
}

/// As many rows, one group with most of them: never faster than the equal groups, and less work than padding every
/// group to the largest.
TEST(GroupedGemm, UnequalGroupsCostTheirTiles) {
  const GpuSpec spec = load_gpu("h100-sxm5");
  const OtherKernels kernels = kernels_of(spec);
  const auto latency_s = [&](std::vector<std::int64_t> rows) {
    return kernels.predict(GroupedGemm{.rows = std::move(rows), .n = 4096, .k = 4096}, RunMode::burst).latency_s;
  };
  const double equal_s = latency_s({512, 512, 512, 512});
  EXPECT_LE(relative_error(latency_s({256, 768, 512, 512}), equal_s), 0.05) << "whole tiles all the same";
  EXPECT_GT(latency_s({1, 1, 1, 2045}), equal_s);
  EXPECT_LT(latency_s({1, 1, 1, 2045}), 0.5 * latency_s({2045, 2045, 2045, 2045}));
}

/// A row more, with which the mean of the groups passes a tile, changes little: 511 rows beside one once took an A100
/// 1.37 times as long as 512.
TEST(GroupedGemm, ARowMoreIsHardlyFaster) {
  for (const char* name : {"h100-sxm5", "a100-sxm-80gb"}) {
    const OtherKernels kernels = kernels_of(load_gpu(name));
    for (const std::size_t groups : {2, 4, 8}) {
      for (const std::int64_t mean : {64, 128, 192, 256}) {
        std::vector<std::int64_t> rows(groups, 1);
        rows.back() += static_cast<std::int64_t>(groups) * (mean - 1);
        const auto latency_s = [&] {
          return kernels.predict(GroupedGemm{.rows = rows, .n = 4096, .k = 4096}, RunMode::burst).latency_s;
        };
        const double before_s = latency_s();
        ++rows.back();
        EXPECT_GE(latency_s(), 0.95 * before_s) << name << ": " << groups << " groups of " << mean << " in the mean";
      }
    }
  }
}

/// 5 rows of 7 elements, the weights of the two groups that have rows, 5 x 3 outputs.
TEST(GroupedGemm, LeastBytesByHand) {
  GroupedGemm grouped{.rows = {2, 0, 3}, .n = 3, .k = 7, .dtype = DType::int8};
  EXPECT_EQ(compulsory_bytes(grouped), 5 * 7 + 2 * 3 * 7 + 4 * 5 * 3);
  grouped.output = DType::int8;
  EXPECT_EQ(compulsory_bytes(grouped), 5 * 7 + 2 * 3 * 7 + 5 * 3);
}

/// The weights of a network's experts have left the L2 since; results of one byte are fewer bytes.
TEST(GroupedGemm, TakesReuseAndOutputsAsAGemmDoes) {
  const GpuSpec spec = load_gpu("h200");
  const OtherKernels kernels = kernels_of(spec, DType::fp8);
  GroupedGemm grouped{.rows = {8, 8, 8, 8}, .n = 1024, .k = 1024, .dtype = DType::fp8};
  const OtherPrediction kept = kernels.predict(grouped, RunMode::sustained);
  grouped.reuse_bytes = 2 * spec.l2_bytes;
  const OtherPrediction gone = kernels.predict(grouped, RunMode::sustained);
  EXPECT_GE(gone.dram_bytes, 4.0 * 1024 * 1024);
  EXPECT_LT(kept.dram_bytes, gone.dram_bytes);
  grouped.rows = {8192, 8192, 8192, 8192};
  const OtherPrediction wide = kernels.predict(grouped, RunMode::sustained);
  grouped.output = DType::fp8;
  const OtherPrediction narrow = kernels.predict(grouped, RunMode::sustained);
  EXPECT_LE(relative_error(wide.dram_bytes - narrow.dram_bytes, 4.0 * 8192 * 1024), 1e-6);
  EXPECT_LT(narrow.latency_s, wide.latency_s);
}

TEST(GroupedGemm, NamesWhatIsWrong) {
  EXPECT_EQ(grouped_problem({.rows = {0, 3}}), "");
  EXPECT_THAT(grouped_problem({.rows = {}}), HasSubstr("groups"));
  EXPECT_THAT(grouped_problem({.rows = {0, 0}}), HasSubstr("no group has a row"));
  EXPECT_THAT(grouped_problem({.rows = {1, -2}}), HasSubstr("not -2"));
  EXPECT_THAT(grouped_problem({.rows = {1}, .n = 0}), HasSubstr("n"));
}

TEST(Attention, NamesWhatIsWrong) {
  EXPECT_EQ(attention_problem({}), "");
  EXPECT_THAT(attention_problem({.heads = 0}), HasSubstr("heads x batch must be 1"));
  EXPECT_THAT(attention_problem({.rows = 8, .context = 4, .causal = true}), HasSubstr("at least as many keys"));
  EXPECT_THAT(attention_problem({.rows = 7, .context = 8, .causal = true, .queries = 2}), HasSubstr("no multiple"));
  EXPECT_EQ(attention_problem({.rows = 8, .context = 4, .causal = true, .queries = 4}), "");
  EXPECT_THAT(attention_problem({.heads = 1 << 30, .rows = 1 << 30, .context = 1 << 30}), HasSubstr("2^62"));
}

}  // namespace
}  // namespace hindsight::gpu
