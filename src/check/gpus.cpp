/// Accelerators against GPUs: the best GPU batch, energy and what the GEMMs leave out.
#include "hindsight/check/gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hindsight/accel/evaluation.h"
#include "hindsight/check/node_scaling.h"
#include "hindsight/core/error.h"
#include "hindsight/gpu/tensor_parallel.h"

namespace hindsight::check {
namespace {

/// Largest batch that is tried [chosen] far above where any of the shipped networks saturates a GPU.
constexpr std::int64_t kLargestBatch = std::int64_t{1} << 16;

/// What a GPU computes in beside a design, the first that it has.
std::span<const gpu::DType> formats(accel::Precision precision) {
  static constexpr std::array kForInt8 = {gpu::DType::int8, gpu::DType::fp16};
  static constexpr std::array kForFp8 = {gpu::DType::fp8, gpu::DType::bf16, gpu::DType::fp16};
  static constexpr std::array kForBf16 = {gpu::DType::bf16, gpu::DType::fp16};
  if (precision == accel::Precision::int8) return kForInt8;
  if (precision == accel::Precision::fp8) return kForFp8;
  return kForBf16;
}

/// Nothing when the GPU's memory or the model's number range is too small for the batch.
std::optional<workload::Network> at_batch(const workload::Network& network, std::int64_t batch,
                                          const GpuContender& contender) {
  try {
    workload::Network larger = network.with_batch(batch);
    if (gpu::resident_bytes(larger, contender.dtype) > contender.spec.dram_bytes) return std::nullopt;
    return larger;
  } catch (const Error&) {
    return std::nullopt;
  }
}

BatchRun run_batch(const GpuContender& contender, const workload::Network& network) {
  const gpu::NetworkPrediction prediction =
      gpu::predict_network(contender.spec, contender.calibration, network, contender.dtype);
  return {.batch = network.batch(),
          .latency_s = prediction.latency_s,
          .energy_j = prediction.energy_j,
          .validated = prediction.in_validated_range,
          .energy_validated = prediction.in_validated_range && prediction.power_in_validated_range,
          .other_frac = prediction.other_latency_s / prediction.latency_s};
}

/// Area of the DRAM PHY and energy of the DRAM stay as they are; everything else scales. No chip of the design space
/// was measured, so that nothing of it lies in a validated range.
AcceleratorRun accelerator_run(const accel::Evaluation& evaluation, const accel::Technology& technology,
                               std::int64_t batch) {
  const NodeScaling scaling = node_scaling(technology.node_nm, kCommonNodeNm);
  const accel::Metrics& metrics = evaluation.metrics.value();
  const double dram_j = metrics.energy.dram_j, phy_mm2 = evaluation.area.dram_phy_mm2;
  AcceleratorRun run;
  run.single = {.batch = batch,
                .latency_s = metrics.latency_s,
                .energy_j = metrics.energy_j,
                .validated = false,
                .energy_validated = false,
                .other_frac = 0};
  run.area_mm2 = evaluation.area.total_mm2();
  run.scaled_energy_j = dram_j + (metrics.energy_j - dram_j) * scaling.energy;
  run.scaled_area_mm2 = phy_mm2 + (run.area_mm2 - phy_mm2) * scaling.area;
  return run;
}

/// "2.1", "40", "1300": two digits, and no more than a reader needs.
std::string factor_text(double factor) {
  if (factor >= 100) return fmt::format("{:.0f}", std::round(factor / 10) * 10);
  return factor >= 10 ? fmt::format("{:.0f}", factor) : fmt::format("{:.2g}", factor);
}

/// "2.1x lower latency than" or "3x higher latency than".
std::string latency_words(double ours_s, double theirs_s) {
  return ours_s <= theirs_s ? factor_text(theirs_s / ours_s) + "x lower latency than"
                            : factor_text(ours_s / theirs_s) + "x higher latency than";
}

/// "1/8 of" or "2.5 times".
std::string share_words(double ours, double theirs) {
  return ours <= theirs ? "1/" + factor_text(theirs / ours) + " of" : factor_text(ours / theirs) + " times";
}

/// What the model's dies are worth; read once.
const accel::PublishedDies& published_dies() {
  static const accel::PublishedDies dies = accel::published_dies(accel::load_silicon_figures());
  return dies;
}

}  // namespace

GpuContender contender(const gpu::GpuSpec& spec, std::span<const gpu::Calibration> given, accel::Precision precision) {
  const std::span<const gpu::DType> preferred = formats(precision);
  const auto found =
      std::find_if(preferred.begin(), preferred.end(), [&](gpu::DType dtype) { return spec.has(dtype); });
  const gpu::DType dtype = found == preferred.end() ? gpu::DType::fp32 : *found;
  gpu::Calibration calibration = gpu::with_kernel_launch(gpu::load_calibration(spec, dtype, given), spec, given);
  calibration.unwritten = {};  // a network's weights are real data, whatever the calibration's rows held
  return {.spec = spec, .dtype = dtype, .calibration = std::move(calibration)};
}

GpuRuns run_on_gpu(const GpuContender& contender, const workload::Network& network) {
  GpuRuns runs{.gpu = contender.spec.name,
               .dtype = contender.dtype,
               .calibrated = contender.calibration.source == gpu::CalibrationSource::own,
               .roofline_estimate = !gpu::has_kernel_model(contender.spec),
               .die_mm2 = contender.spec.die_mm2.value_or(0),
               .node_nm = node_class_nm(contender.spec.node).value_or(0),
               .node = contender.spec.node,
               .single = run_batch(contender, network)};
  runs.exceeds_memory = gpu::resident_bytes(network, contender.dtype) > contender.spec.dram_bytes;
  runs.saturated = runs.single;
  for (std::int64_t batch = 2 * network.batch(); batch <= kLargestBatch; batch *= 2) {
    const std::optional<workload::Network> larger = at_batch(network, batch, contender);
    runs.memory_bound_batch = !larger;
    if (!larger) break;
    const BatchRun run = run_batch(contender, *larger);
    const double gain = run.inferences_per_s() / runs.saturated.inferences_per_s() - 1;
    if (gain > 0) runs.saturated = run;
    if (gain < kSaturationGain) break;
  }
  return runs;
}

NetworkComparison compare(const accel::AcceleratorConfig& config, const accel::Technology& technology,
                          const workload::Network& network, std::vector<GpuRuns> gpus) {
  NetworkComparison comparison{.network = network.name(),
                               .precision = config.precision,
                               .tokens = workload::tokens_of(network) / static_cast<double>(network.batch()),
                               .counts_vector_work = config.vector_lanes > 0,
                               .gpus = std::move(gpus)};
  const accel::ChipFacts chip = accel::chip_facts(config, technology, accel::Remedies::left_out);
  const accel::Evaluation evaluation = accel::evaluate(chip, network.gemms(), accel::Depth::stop_at_hardware);
  if (evaluation.feasible()) comparison.accelerator = accelerator_run(evaluation, technology, network.batch());
  if (evaluation.feasible() && chip.area.interfaces_mm2 > 0) comparison.dies = published_dies();
  for (const accel::Violation& violation : evaluation.violations.view()) {
    comparison.reasons.emplace_back(accel::code(violation.reason));
  }
  return comparison;
}

std::string verdict_line(const NetworkComparison& comparison) {
  if (!comparison.accelerator || comparison.gpus.empty()) return "";
  const BatchRun& ours = comparison.accelerator->single;
  // The closest rival draws the least energy for one inference; the strongest finishes the most of them.
  const GpuRuns& closest =
      *std::min_element(comparison.gpus.begin(), comparison.gpus.end(),
                        [](const GpuRuns& a, const GpuRuns& b) { return a.single.energy_j < b.single.energy_j; });
  const GpuRuns& strongest =
      *std::max_element(comparison.gpus.begin(), comparison.gpus.end(), [](const GpuRuns& a, const GpuRuns& b) {
        return a.saturated.inferences_per_s() < b.saturated.inferences_per_s();
      });
  const double throughput = strongest.saturated.inferences_per_s() / ours.inferences_per_s();
  const double energy_there = ours.energy_per_inference_j() / strongest.saturated.energy_per_inference_j();
  return fmt::format(
      "{} {} at batch {}, at {} the energy; {} has {}x the throughput at batch {}, where an inference "
      "costs it {} this design's energy",
      latency_words(ours.latency_s, closest.single.latency_s), closest.gpu, ours.batch,
      share_words(ours.energy_j, closest.single.energy_j), strongest.gpu, factor_text(throughput),
      strongest.saturated.batch, share_words(1, energy_there));
}

}  // namespace hindsight::check
