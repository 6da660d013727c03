/// Accelerators against GPUs: the best GPU batch, energy, the design at the GPUs' node.
#include "hindsight/check/gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hindsight/accel/evaluation.h"
#include "hindsight/check/caches.h"
#include "hindsight/check/design_memory.h"
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
          .other_frac = prediction.other_latency_s / prediction.latency_s,
          .beyond_products = std::any_of(prediction.others.begin(), prediction.others.end(),
                                         [](const gpu::OtherLayer& other) {
                                           return other.kind != gpu::OtherKind::depthwise &&
                                                  other.kind != gpu::OtherKind::grouped;
                                         }),
          .least_limit_w = prediction.least_limit_w};
}

/// kCommonTechnology for a design of `technology`: with its cooling class, and with as many registers on a hop, so that
/// the design takes as many cycles.
accel::Technology common_technology(const accel::Technology& technology) {
  static const accel::Technology shipped = accel::load_technology(kCommonTechnology);  // read once
  accel::Technology common = shipped;
  common.cooling_class = technology.cooling_class;
  common.noc_hop_cycles = technology.noc_hop_cycles;
  return common;
}

/// Codes of what refuses a design.
std::vector<std::string> codes(const accel::ViolationList& violations) {
  std::vector<std::string> found;
  for (const accel::Violation& violation : violations.view()) found.emplace_back(accel::code(violation.reason));
  return found;
}

accel::Evaluation evaluation_of(const accel::AcceleratorConfig& config, const accel::Technology& technology,
                                const workload::Network& network) {
  return accel::evaluate(accel::chip_facts(config, technology, accel::Remedies::left_out), network,
                         accel::Depth::stop_at_hardware);
}

/// The design at the common node, into `run`. Version 1 of the model has no technology there: area of the DRAM PHY and
/// energy of the DRAM stay as they are, and everything else scales.
void bring_to_common_node(AcceleratorRun& run, const accel::Evaluation& evaluation,
                          const accel::AcceleratorConfig& config, const accel::Technology& technology,
                          const workload::Network& network) {
  if (technology.node_nm <= kCommonNodeNm) {
    run.at_common_node = {.energy_j = run.single.energy_j, .area_mm2 = run.area_mm2};
    return;
  }
  if (technology.is_version_1()) {
    const NodeScaling scaling = node_scaling(technology.node_nm, kCommonNodeNm);
    const double dram_j = evaluation.metrics->energy.dram_j, phy_mm2 = evaluation.area.dram_phy_mm2;
    run.basis = NodeBasis::scaled;
    run.at_common_node = {.energy_j = dram_j + (run.single.energy_j - dram_j) * scaling.energy,
                          .area_mm2 = phy_mm2 + (run.area_mm2 - phy_mm2) * scaling.area};
    return;
  }
  const accel::Evaluation there = evaluation_of(config, common_technology(technology), network);
  run.basis = NodeBasis::evaluated;
  run.reasons_there = codes(there.violations);
  if (there.feasible()) {
    run.at_common_node = {.energy_j = there.metrics->energy_j, .area_mm2 = there.area.total_mm2()};
  }
}

/// No chip of the design space was measured, so that nothing of it lies in a validated range.
AcceleratorRun accelerator_run(const accel::Evaluation& evaluation, std::int64_t batch) {
  const accel::Metrics& metrics = evaluation.metrics.value();
  return {.single = {.batch = batch,
                     .latency_s = metrics.latency_s,
                     .energy_j = metrics.energy_j,
                     .validated = false,
                     .energy_validated = false,
                     .other_frac = 0},
          .area_mm2 = evaluation.area.total_mm2()};
}

/// Of passes of a half of the batch, a quarter, ... those with the most throughput; nothing where one pass of all has
/// as much.
std::optional<BatchRun> faster_pass(const BatchRun& whole, const accel::AcceleratorConfig& config,
                                    const accel::Technology& technology, const workload::Network& network) {
  std::optional<BatchRun> best;
  double most_per_s = whole.inferences_per_s() * (1 + kSaturationGain);
  for (std::int64_t batch = whole.batch; batch % 2 == 0;) {
    batch /= 2;
    const accel::Evaluation part = evaluation_of(config, technology, network.with_batch(batch));
    if (!part.feasible()) continue;
    const BatchRun run = accelerator_run(part, batch).single;
    if (run.inferences_per_s() <= most_per_s) continue;
    best = run;
    most_per_s = run.inferences_per_s();
  }
  return best;
}

/// Of the GPU's batches the largest that takes no longer.
std::optional<BatchRun> largest_within(const GpuRuns& gpu, double latency_s) {
  std::optional<BatchRun> found;
  for (const BatchRun& run : gpu.batches) {
    if (run.latency_s <= latency_s) found = run;
  }
  return found;
}

/// What the model's dies and watts are worth; read once.
struct PublishedChips {
  accel::PublishedRatios dies, power;
};
const PublishedChips& published_chips() {
  static const PublishedChips chips = [] {
    const std::vector<accel::SiliconFigure> figures = accel::load_silicon_figures();
    return PublishedChips{.dies = accel::published_dies(figures), .power = accel::published_power(figures)};
  }();
  return chips;
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
  runs.batches = {runs.single};
  runs.least_limit_w = runs.single.least_limit_w;
  double weight_bytes = network.totals().weight_bytes;
  for (std::int64_t batch = 2 * network.batch(); batch <= kLargestBatch; batch *= 2) {
    const std::optional<workload::Network> larger = at_batch(network, batch, contender);
    runs.memory_bound_batch = !larger;
    if (!larger) break;
    const BatchRun run = run_batch(contender, *larger);
    const double gain = run.inferences_per_s() / runs.saturated.inferences_per_s() - 1;
    if (gain > 0) {
      runs.saturated = run;
      runs.batches.push_back(run);
      runs.least_limit_w = std::max(runs.least_limit_w, run.least_limit_w);
    }
    // A mixture may gain nothing while doubled batches ask twice the experts, and much once they ask all.
    const bool asks_more = larger->totals().weight_bytes > weight_bytes;
    weight_bytes = larger->totals().weight_bytes;
    if (gain < kSaturationGain && !asks_more) break;
  }
  return runs;
}

NetworkComparison compare(const accel::AcceleratorConfig& config, const accel::Technology& technology,
                          const workload::Network& network, std::vector<GpuRuns> gpus,
                          const std::optional<accel::PublishedArea>& published) {
  NetworkComparison comparison{.network = network.name(),
                               .precision = config.precision,
                               .tokens = workload::tokens_of(network) / static_cast<double>(network.batch()),
                               .counts_vector_work = config.vector_lanes > 0,
                               .gpus = std::move(gpus)};
  for (const GpuRuns& gpu : comparison.gpus) {
    comparison.more_experts = comparison.more_experts || asks_more_experts(network, gpu.saturated.batch);
  }
  comparison.more_experts = comparison.more_experts || asks_more_experts(network, network.batch());
  const accel::Evaluation evaluation = evaluation_of(config, technology, network);
  comparison.reasons = codes(evaluation.violations);
  if (!evaluation.feasible()) return comparison;
  AcceleratorRun& own = comparison.accelerator.emplace(accelerator_run(evaluation, network.batch()));
  own.faster_pass = faster_pass(own.single, config, technology, network);
  bring_to_common_node(own, evaluation, config, technology, network);
  for (GpuRuns& gpu : comparison.gpus) gpu.at_equal_latency = largest_within(gpu, own.single.latency_s);
  accel::AcceleratorConfig ruled = config;
  ruled.rules = accel::template_rules(technology);
  comparison.unknown_memory = may_exceed_memory(ruled, network);
  comparison.spared_caches = spares_caches(ruled, network);
  if (evaluation.area.interfaces_mm2 > 0) {
    comparison.dies = published_chips().dies;
    comparison.power = published_chips().power;
  }
  if (published) {
    const double ratio =
        comparison.published_area.emplace(accel::compared(*published, evaluation.area)).published_over_modelled();
    comparison.dies = {.chips = 1, .least_ratio = ratio, .most_ratio = ratio};
  }
  return comparison;
}

}  // namespace hindsight::check
