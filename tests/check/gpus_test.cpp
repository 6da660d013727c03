/// Do designs and GPUs meet on equal terms: same network, same batch, energy = power x time, best batch found?
#include "hindsight/check/gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hindsight/accel/evaluation.h"
#include "tolerances.h"

namespace hindsight::check {
namespace {

using hindsight::test::kRounding;
using hindsight::test::relative_error;
using ::testing::HasSubstr;
using ::testing::Not;

const workload::Network& mobilenet() {
  static const workload::Network network = workload::load_network("mobilenet_v2");
  return network;
}

/// A GPU with numbers that are easy to compare with.
GpuRuns round_gpu(const std::string& name, double latency_s, double energy_j, std::int64_t batch, double batch_s,
                  double batch_j) {
  return {.gpu = name,
          .dtype = gpu::DType::int8,
          .calibrated = true,
          .die_mm2 = 300,
          .node_nm = 5,
          .node = "TSMC 4N",
          .single = {.batch = 1, .latency_s = latency_s, .energy_j = energy_j},
          .saturated = {.batch = batch, .latency_s = batch_s, .energy_j = batch_j}};
}

TEST(GpuCheck, Int8WhereTheGpuHasIt) {
  EXPECT_EQ(contender(gpu::load_gpu("l4")).dtype, gpu::DType::int8);
  EXPECT_EQ(contender(gpu::load_gpu("h100-sxm5")).dtype, gpu::DType::int8);
  EXPECT_EQ(contender(gpu::load_gpu("v100-sxm2-16gb")).dtype, gpu::DType::fp16);
}

TEST(GpuCheck, NetworksHoldRealWeightsWhateverTheCalibrationsRowsHeld) {
  const gpu::GpuSpec h200 = gpu::load_gpu("h200");
  const gpu::Gemm recorded_as_zero{.m = 4096, .n = 4096, .k = 65536, .dtype = gpu::DType::bf16};
  const gpu::Calibration recorded = gpu::load_calibration(h200, gpu::DType::bf16);
  const auto settled = gpu::RunMode::sustained;
  ASSERT_EQ(gpu::predict(h200, recorded, recorded_as_zero, settled).operands, gpu::Operands::partly_zero_weights);
  EXPECT_EQ(gpu::predict(h200, contender(h200).calibration, recorded_as_zero, settled).operands, gpu::Operands::random);
}

TEST(GpuCheck, NoFrameworkLaunchesTheKernelsOfANetwork) {
  gpu::GpuSpec fp32_only = gpu::load_gpu("t4");
  for (const gpu::DType dtype : gpu::kAllDTypes) {
    if (dtype != gpu::DType::fp32) fp32_only.math[static_cast<std::size_t>(dtype)].reset();
  }
  const GpuContender t4 = contender(fp32_only);
  ASSERT_EQ(t4.dtype, gpu::DType::fp32);
  ASSERT_TRUE(gpu::launched_by_framework(gpu::load_calibration(fp32_only, gpu::DType::fp32)));
  EXPECT_FALSE(gpu::launched_by_framework(t4.calibration));
}

TEST(GpuCheck, SaturationNeverLosesThroughputAndLeavesNothingOnTheTable) {
  const GpuContender l4 = contender(gpu::load_gpu("l4"));
  const GpuRuns runs = run_on_gpu(l4, mobilenet());
  EXPECT_EQ(runs.single.batch, 1);
  EXPECT_GE(runs.saturated.inferences_per_s(), runs.single.inferences_per_s());
  EXPECT_GT(runs.saturated.batch, 1);  // 300 million MACs do not fill a GPU
  const workload::Network doubled = mobilenet().with_batch(2 * runs.saturated.batch);
  const gpu::NetworkPrediction next = gpu::predict_network(l4.spec, l4.calibration, doubled, l4.dtype);
  const double next_rate = static_cast<double>(doubled.batch()) / next.latency_s;
  EXPECT_LT(next_rate, runs.saturated.inferences_per_s() * (1 + kSaturationGain));
  EXPECT_FALSE(runs.memory_bound_batch);
}

TEST(GpuCheck, RunsRespectThePowerLimitAndSayWhatIsNoGemm) {
  for (const char* name : {"l4", "h200"}) {
    const GpuContender contender_ = contender(gpu::load_gpu(name));
    const GpuRuns runs = run_on_gpu(contender_, mobilenet());
    for (const BatchRun* run : {&runs.single, &runs.saturated}) {
      EXPECT_LE(run->power_w(), contender_.spec.tdp_w) << name;
      EXPECT_GT(run->power_w(), contender_.spec.idle.front().power_w) << name;
      EXPECT_LT(relative_error(run->power_w() * run->latency_s, run->energy_j), kRounding);
    }
    EXPECT_GT(runs.single.other_frac, 0);  // depthwise layers
    EXPECT_LT(runs.single.other_frac, 0.5);
    EXPECT_GT(runs.saturated.other_frac, 0);
  }
}

/// The rule of `hindsight gemm --workload`: no row is in int8 or a settled run, and no design was ever measured.
TEST(GpuCheck, FiguresThatNoMeasurementCoversAreMarked) {
  for (const char* name : {"h100-sxm5", "l4", "v100-sxm2-16gb"}) {
    const GpuContender gpu = contender(gpu::load_gpu(name));
    const GpuRuns runs = run_on_gpu(gpu, mobilenet());
    const gpu::NetworkPrediction prediction =
        gpu::predict_network(gpu.spec, gpu.calibration, mobilenet().with_batch(1), gpu.dtype);
    EXPECT_EQ(runs.single.validated, prediction.in_validated_range) << name;
    EXPECT_FALSE(runs.single.validated) << name;
    EXPECT_FALSE(runs.single.energy_validated) << name;
  }
  const accel::ReferenceChip chip = accel::load_reference_chip("edge_tpu_v1");
  const NetworkComparison comparison = compare(chip.config, accel::load_technology("22nm"), mobilenet(), {});
  EXPECT_FALSE(comparison.accelerator->single.validated);
}

TEST(GpuCheck, ASmallMemoryEndsTheDoubling) {
  GpuContender small = contender(gpu::load_gpu("l4"));
  small.spec.dram_bytes = 4e6 + 3e6;  // 3.4 MB of weights and the activations of one or two images
  const GpuRuns runs = run_on_gpu(small, mobilenet());
  EXPECT_TRUE(runs.memory_bound_batch);
  EXPECT_LT(runs.saturated.batch, 8);
}

TEST(GpuCheck, TheDesignIsWhatTheAcceleratorModelSays) {
  const accel::ReferenceChip chip = accel::load_reference_chip("edge_tpu_v1");
  const accel::Technology technology = accel::load_technology("22nm");
  const NetworkComparison comparison = compare(chip.config, technology, mobilenet(), {});
  ASSERT_TRUE(comparison.accelerator);
  const accel::Evaluation evaluation =
      accel::evaluate(accel::chip_facts(chip.config, technology), mobilenet().gemms(), accel::Depth::stop_at_hardware);
  EXPECT_EQ(comparison.accelerator->single.latency_s, evaluation.metrics->latency_s);
  EXPECT_EQ(comparison.accelerator->single.energy_j, evaluation.metrics->energy_j);
  // At 5 nm: smaller and thriftier, by less than the logic alone, because DRAM and its PHY stay.
  EXPECT_LT(comparison.accelerator->scaled_area_mm2, comparison.accelerator->area_mm2);
  EXPECT_GT(comparison.accelerator->scaled_area_mm2, evaluation.area.dram_phy_mm2);
  EXPECT_LT(comparison.accelerator->scaled_energy_j, evaluation.metrics->energy_j);
  EXPECT_GT(comparison.accelerator->scaled_energy_j, evaluation.metrics->energy.dram_j);
}

TEST(GpuCheck, TheVerdictNamesTheClosestAndTheStrongest) {
  NetworkComparison comparison{.network = "net", .accelerator = AcceleratorRun{}};
  comparison.accelerator->single = {.batch = 1, .latency_s = 1e-3, .energy_j = 2e-3};
  comparison.gpus = {round_gpu("small", 2.1e-3, 16e-3, 8, 8e-3, 64e-3),
                     round_gpu("large", 0.5e-3, 90e-3, 64, 1.6e-3, 320e-3)};
  // 2.1 ms against 1 ms, 16 mJ against 2 mJ; 64 in 1.6 ms are 40,000 against 1,000 per second; 5 mJ against 2 mJ.
  EXPECT_EQ(verdict_line(comparison),
            "2.1x lower latency than small at batch 1, at 1/8 of the energy; large has 40x the throughput at batch 64, "
            "where an inference costs it 2.5 times this design's energy");
  comparison.gpus.front().single.latency_s = 0.25e-3;
  EXPECT_THAT(verdict_line(comparison), HasSubstr("4x higher latency than small"));
  comparison.accelerator.reset();
  EXPECT_EQ(verdict_line(comparison), "");
}

TEST(GpuCheck, AnInfeasibleDesignHasReasonsAndNoFigures) {
  accel::AcceleratorConfig config = accel::load_reference_chip("edge_tpu_v1").config;
  config.instruction_memory_entries = 1;
  const NetworkComparison comparison = compare(config, accel::load_technology("22nm"), mobilenet(), {});
  EXPECT_FALSE(comparison.accelerator);
  EXPECT_THAT(comparison.reasons, ::testing::Contains("instruction_memory"));
}

}  // namespace
}  // namespace hindsight::check
