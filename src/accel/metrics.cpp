/// The table of the model's metrics.
#include "hindsight/accel/metrics.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "hindsight/accel/area.h"
#include "hindsight/core/error.h"

namespace hindsight::accel {
namespace {

constexpr std::array<Metric, 11> kMetrics{{
    {"latency_s", "s", [](const Evaluation& e) { return e.metrics.value().latency_s; }, nullptr, nullptr},
    {"latency_cycles", "cycles", [](const Evaluation& e) { return e.metrics.value().latency_cycles; }, nullptr,
     nullptr},
    {"energy_j", "j", [](const Evaluation& e) { return e.metrics.value().energy_j; }, nullptr, nullptr},
    {"average_power_w", "w", [](const Evaluation& e) { return e.metrics.value().average_power_w; }, nullptr, nullptr},
    {"area_mm2", "mm2", [](const Evaluation& e) { return e.area.total_mm2(); },
     [](const AcceleratorConfig& config, const Technology& technology) {
       // Version 1 needs no power for it: a tenth of the work.
       return (technology.is_version_1() ? area(config, technology) : unchecked_chip_facts(config, technology).area)
           .total_mm2();
     },
     [](const ChipFacts& chip) { return chip.area.total_mm2(); }},
    {"utilisation_frac", "frac", [](const Evaluation& e) { return e.metrics.value().utilisation_frac; }, nullptr,
     nullptr},
    {"dram_read_bytes", "bytes",
     [](const Evaluation& e) { return e.metrics.value().traffic.dram_read_bytes() + e.metrics->program_bytes; },
     nullptr, nullptr},
    {"dram_write_bytes", "bytes", [](const Evaluation& e) { return e.metrics.value().traffic.dram_write_output_bytes; },
     nullptr, nullptr},
    {"weights_cached_frac", "frac", [](const Evaluation& e) { return e.metrics.value().weights_cached_frac; }, nullptr,
     nullptr},
    {"instructions", "", [](const Evaluation& e) { return e.metrics.value().instructions; }, nullptr, nullptr},
    {"peak_power_w", "w", [](const Evaluation& e) { return e.peak_power_w; },
     [](const AcceleratorConfig& config, const Technology& technology) {
       return unchecked_chip_facts(config, technology).peak_power_w;
     },
     [](const ChipFacts& chip) { return chip.peak_power_w; }},
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

namespace {

/// Levels of parameter `p` in a box.
std::vector<std::uint16_t> levels_in(const space::DesignSpace& space, std::size_t p,
                                     const std::vector<std::vector<std::uint16_t>>& box) {
  if (!box[p].empty()) return box[p];
  std::vector<std::uint16_t> all(space.parameters()[p].level_count());
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  return all;
}

/// The least and the most that a metric is at the ends of a box: with the smallest and with the largest number of every
/// parameter, and with every name of those that have names.
std::pair<double, double> ends_of(const Metric& metric, const ConfigBinding& binding, const space::DesignSpace& space,
                                  const std::vector<std::vector<std::uint16_t>>& box, const Technology& technology) {
  const auto& parameters = space.parameters();
  HINDSIGHT_EXPECT(metric.known_before_evaluation() && box.size() == parameters.size());
  std::vector<double> smallest(box.size()), largest(box.size());
  std::vector<std::vector<std::uint16_t>> names(1);  // combinations of names, in the order of `named`
  std::vector<std::size_t> named;
  for (std::size_t p = 0; p < box.size(); ++p) {
    const std::vector<std::uint16_t> levels = levels_in(space, p, box);
    if (parameters[p].kind == space::ParameterKind::ordinal) {  // values ascend
      smallest[p] = parameters[p].values[std::ranges::min(levels)];
      largest[p] = parameters[p].values[std::ranges::max(levels)];
      continue;
    }
    named.push_back(p);
    std::vector<std::vector<std::uint16_t>> longer;
    for (const std::vector<std::uint16_t>& combination : names) {
      for (const std::uint16_t level : levels) {
        longer.push_back(combination);
        longer.back().push_back(level);
      }
    }
    names = std::move(longer);
  }
  std::pair<double, double> ends{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const std::vector<std::uint16_t>& combination : names) {
    for (std::size_t i = 0; i < named.size(); ++i) smallest[named[i]] = largest[named[i]] = combination[i];
    ends.first = std::min(ends.first, metric.of_design(binding.bind(smallest), technology));
    ends.second = std::max(ends.second, metric.of_design(binding.bind(largest), technology));
  }
  return ends;
}

}  // namespace

double smallest_value(const Metric& metric, const space::DesignSpace& space, const Technology& technology) {
  HINDSIGHT_EXPECT(metric.known_before_evaluation());
  const std::vector<std::vector<std::uint16_t>> everything(space.parameters().size());
  return ends_of(metric, ConfigBinding(space), space, everything, technology).first;
}

std::pair<double, double> value_range(const Metric& metric, const ConfigBinding& binding,
                                      const space::DesignSpace& space,
                                      const std::vector<std::vector<std::uint16_t>>& box,
                                      const Technology& technology) {
  constexpr double kRounding = 1e-12;
  const auto [smallest, largest] = ends_of(metric, binding, space, box, technology);
  return {smallest * (1 - kRounding), largest * (1 + kRounding)};
}

}  // namespace hindsight::accel
