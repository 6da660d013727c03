/// The table of the model's metrics.
#include "hindsight/accel/metrics.h"

#include <algorithm>
#include <array>

#include "hindsight/accel/area.h"
#include "hindsight/core/error.h"

namespace hindsight::accel {
namespace {

constexpr std::array<Metric, 11> kMetrics{{
    {"latency_s", "s", [](const Evaluation& e) { return e.metrics.value().latency_s; }, nullptr},
    {"latency_cycles", "cycles", [](const Evaluation& e) { return e.metrics.value().latency_cycles; }, nullptr},
    {"energy_j", "j", [](const Evaluation& e) { return e.metrics.value().energy_j; }, nullptr},
    {"average_power_w", "w", [](const Evaluation& e) { return e.metrics.value().average_power_w; }, nullptr},
    {"area_mm2", "mm2", [](const Evaluation& e) { return e.area.total_mm2(); },
     [](const AcceleratorConfig& config, const Technology& technology) {
       // Version 1 needs no power for it: a tenth of the work.
       return (technology.is_version_1() ? area(config, technology) : unchecked_chip_facts(config, technology).area)
           .total_mm2();
     }},
    {"utilisation_frac", "frac", [](const Evaluation& e) { return e.metrics.value().utilisation_frac; }, nullptr},
    {"dram_read_bytes", "bytes",
     [](const Evaluation& e) { return e.metrics.value().traffic.dram_read_bytes() + e.metrics->program_bytes; },
     nullptr},
    {"dram_write_bytes", "bytes", [](const Evaluation& e) { return e.metrics.value().traffic.dram_write_output_bytes; },
     nullptr},
    {"weights_cached_frac", "frac", [](const Evaluation& e) { return e.metrics.value().weights_cached_frac; }, nullptr},
    {"instructions", "", [](const Evaluation& e) { return e.metrics.value().instructions; }, nullptr},
    {"peak_power_w", "w", [](const Evaluation& e) { return e.peak_power_w; },
     [](const AcceleratorConfig& config, const Technology& technology) {
       return unchecked_chip_facts(config, technology).peak_power_w;
     }},
}};

}  // namespace

std::span<const Metric> metrics() { return kMetrics; }

const Metric* find_metric(std::string_view name) {
  const auto* found =
      std::find_if(kMetrics.begin(), kMetrics.end(), [&](const Metric& metric) { return metric.name == name; });
  return found == kMetrics.end() ? nullptr : found;
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const Metric& metric : kMetrics) names.emplace_back(metric.name);
  return names;
}

std::vector<std::string> metric_names_known_before_evaluation() {
  std::vector<std::string> names;
  for (const Metric& metric : kMetrics) {
    if (metric.known_before_evaluation()) names.emplace_back(metric.name);
  }
  return names;
}

double smallest_value(const Metric& metric, const space::DesignSpace& space, const Technology& technology) {
  HINDSIGHT_EXPECT(metric.known_before_evaluation());
  std::vector<double> values;
  for (const space::Parameter& parameter : space.parameters()) values.push_back(parameter.values.front());
  return metric.of_design(ConfigBinding(space).bind(values), technology);
}

std::pair<double, double> value_range(const Metric& metric, const ConfigBinding& binding,
                                      const space::DesignSpace& space,
                                      const std::vector<std::vector<std::uint16_t>>& box,
                                      const Technology& technology) {
  constexpr double kRounding = 1e-12;
  const auto& parameters = space.parameters();
  HINDSIGHT_EXPECT(metric.known_before_evaluation() && box.size() == parameters.size());
  std::vector<double> smallest, largest;
  for (std::size_t p = 0; p < box.size(); ++p) {
    const std::vector<double>& values = parameters[p].values;
    if (box[p].empty()) {
      smallest.push_back(std::ranges::min(values));
      largest.push_back(std::ranges::max(values));
      continue;
    }
    const auto by_value = [&](std::uint16_t a, std::uint16_t b) { return values[a] < values[b]; };
    smallest.push_back(values[*std::ranges::min_element(box[p], by_value)]);
    largest.push_back(values[*std::ranges::max_element(box[p], by_value)]);
  }
  return {metric.of_design(binding.bind(smallest), technology) * (1 - kRounding),
          metric.of_design(binding.bind(largest), technology) * (1 + kRounding)};
}

}  // namespace hindsight::accel
