/// What a comparison comes to, in one sentence, and what that rests on.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "hindsight/check/caches.h"
#include "hindsight/check/design_memory.h"
#include "hindsight/check/gpus.h"

namespace hindsight::check {
namespace {

/// "2.1", "40", "1300": two digits, and no more than a reader needs.
std::string factor_text(double factor) {
  if (factor >= 100) return fmt::format("{:.0f}", std::round(factor / 10) * 10);
  return factor >= 10 ? fmt::format("{:.0f}", factor) : fmt::format("{:.2g}", factor);
}

/// What neither side wins by: both are estimates. [chosen] "1x lower" would say nothing.
constexpr double kAlike = 1.05;
bool alike(double ours, double theirs) { return ours <= kAlike * theirs && theirs <= kAlike * ours; }

/// "2.1x lower latency than", "3x higher latency than" or "as fast as".
std::string latency_words(double ours_s, double theirs_s) {
  if (alike(ours_s, theirs_s)) return "as fast as";
  return ours_s <= theirs_s ? factor_text(theirs_s / ours_s) + "x lower latency than"
                            : factor_text(ours_s / theirs_s) + "x higher latency than";
}

/// "1/8 of the energy", "2.5 times the energy" or, where they are alike, `same`.
std::string energy_words(double ours, double theirs, std::string_view whose, std::string_view same) {
  if (alike(ours, theirs)) return std::string(same);
  return ours <= theirs ? fmt::format("1/{} of {}", factor_text(theirs / ours), whose)
                        : fmt::format("{} times {}", factor_text(ours / theirs), whose);
}
constexpr std::string_view kTheEnergy = "the energy", kSameEnergy = "about the same energy";
constexpr std::string_view kThisEnergy = "this design's energy", kAboutThisEnergy = "about this design's energy";

/// "7.9x the throughput at batch 64", "the same throughput at batch 64": of a GPU over the design.
std::string throughput_words(const BatchRun& theirs, const BatchRun& ours) {
  if (alike(theirs.inferences_per_s(), ours.inferences_per_s())) {
    return fmt::format("the same throughput at batch {}", theirs.batch);
  }
  return fmt::format("{}x the throughput at batch {}", factor_text(theirs.inferences_per_s() / ours.inferences_per_s()),
                     theirs.batch);
}

/// What an inference costs a GPU of the design's energy: as energy_words().
std::string cost_words(const BatchRun& theirs, const BatchRun& ours, std::string_view whose, std::string_view same) {
  return energy_words(theirs.energy_per_inference_j(), ours.energy_per_inference_j(), whose, same);
}

/// The GPU that finishes the most in the design's time; null where none is as fast.
const GpuRuns* strongest_in_time(const NetworkComparison& comparison) {
  const GpuRuns* strongest = nullptr;
  for (const GpuRuns& gpu : comparison.gpus) {
    if (!gpu.at_equal_latency) continue;
    const bool first = strongest == nullptr;
    if (first || gpu.at_equal_latency->inferences_per_s() > strongest->at_equal_latency->inferences_per_s()) {
      strongest = &gpu;
    }
  }
  return strongest;
}

/// Whether any run of any GPU is so.
template <class Is>
bool any_run(const NetworkComparison& comparison, const Is& is) {
  return std::any_of(comparison.gpus.begin(), comparison.gpus.end(),
                     [&](const GpuRuns& gpu) { return is(gpu.single) || is(gpu.saturated); });
}

}  // namespace

bool counts_products_alone(const NetworkComparison& comparison) {
  return comparison.accelerator && !comparison.counts_vector_work &&
         any_run(comparison, [](const BatchRun& run) { return run.beyond_products; });
}

std::vector<std::string> estimates(const NetworkComparison& comparison) {
  const bool other_work = any_run(comparison, [](const BatchRun& run) { return run.other_frac > 0; });
  const bool exceeds_gpu = std::any_of(comparison.gpus.begin(), comparison.gpus.end(),
                                       [](const GpuRuns& gpu) { return gpu.exceeds_memory; });
  const bool exceeds_limit = std::any_of(comparison.gpus.begin(), comparison.gpus.end(),
                                         [](const GpuRuns& gpu) { return gpu.least_limit_w > 0; });
  std::vector<std::string> found;
  for (const auto& [code, holds] : {std::pair("fp8", comparison.precision == accel::Precision::fp8),
                                    {"non_gemm_work", comparison.counts_vector_work || other_work},
                                    {"products_alone", counts_products_alone(comparison)},
                                    {"exceeds_gpu_memory", exceeds_gpu},
                                    {"exceeds_power_limit", exceeds_limit},
                                    {kUnknownDesignMemory, comparison.unknown_memory},
                                    {kCachesOnChip, comparison.spared_caches},
                                    {kExpertsOfOneToken, comparison.more_experts},
                                    {"die_area", comparison.dies.chips > 0},
                                    {"chip_power", comparison.power.chips > 0}}) {
    if (holds) found.emplace_back(code);
  }
  return found;
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
  const GpuRuns* const in_time = strongest_in_time(comparison);
  const bool same = in_time == &strongest && in_time->at_equal_latency->batch == strongest.saturated.batch;
  std::string between;
  if (in_time == nullptr && alike(ours.latency_s, closest.single.latency_s)) {
    between.clear();  // the closest is as fast, as far as anybody can tell
  } else if (in_time == nullptr) {
    between = "; no GPU here is as fast at that batch";
  } else if (!same) {
    between = fmt::format("; in this design's time {} has {}, each for {}", in_time->gpu,
                          throughput_words(*in_time->at_equal_latency, ours),
                          cost_words(*in_time->at_equal_latency, ours, kTheEnergy, kSameEnergy));
  }
  return fmt::format(
      "{}{} {} at batch {}, at {}{}; {} has {}{}, where an inference costs it {}",
      estimates(comparison).empty() ? "" : "estimate: ", latency_words(ours.latency_s, closest.single.latency_s),
      closest.gpu, ours.batch, energy_words(ours.energy_j, closest.single.energy_j, kTheEnergy, kSameEnergy), between,
      strongest.gpu, throughput_words(strongest.saturated, ours), same ? ", in no more time" : "",
      cost_words(strongest.saturated, ours, kThisEnergy, kAboutThisEnergy));
}

}  // namespace hindsight::check
