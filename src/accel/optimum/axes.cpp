/// Finds the axes of a space by the fields of the template.
#include "accel/optimum/axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "hindsight/accel/optimum/floor.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::accel::optimum {
namespace {

constexpr std::array<double AcceleratorConfig::*, kRoles> kMembers{
    &AcceleratorConfig::clock_mhz,
    &AcceleratorConfig::macs_per_lane,
    &AcceleratorConfig::pes_x,
    &AcceleratorConfig::pes_y,
    &AcceleratorConfig::cores_per_pe,
    &AcceleratorConfig::compute_lanes,
    &AcceleratorConfig::pe_memory_bytes,
    &AcceleratorConfig::core_memory_bytes,
    &AcceleratorConfig::activation_memory_entries,
    &AcceleratorConfig::dram_bandwidth_gb_per_s,
    &AcceleratorConfig::parameter_memory_entries,
    &AcceleratorConfig::instruction_memory_entries,
};

Axis make_axis(const Question& question, double AcceleratorConfig::*member) {
  Axis axis{.member = member, .parameter = std::nullopt, .values = {}, .levels = {}};
  for (const ConfigField& field : config_fields()) {
    if (field.member == member) axis.parameter = question.space->find(field.name);
  }
  if (!axis.parameter) {
    axis.values = {AcceleratorConfig{}.*member};
    axis.levels = {0};
    return axis;
  }
  const space::Parameter& parameter = question.space->parameters()[*axis.parameter];
  if (!question.allowed.empty()) axis.levels = question.allowed[*axis.parameter];
  if (axis.levels.empty()) {
    axis.levels.resize(parameter.level_count());
    std::iota(axis.levels.begin(), axis.levels.end(), std::uint16_t{0});
  }
  for (const std::uint16_t level : axis.levels) axis.values.push_back(parameter.values[level]);
  return axis;
}

[[noreturn]] void refuse_size(const space::DesignSpace& space) {
  throw Error(
      ErrorKind::usage,
      fmt::format("space '{}' has {} designs in more than {} groups of PEs, cores and lanes (their bounds alone "
                  "would not fit in memory). Fix parameters with --set, or search it with `hindsight search`",
                  space.name(), space.size() ? with_commas(*space.size()) : "more than 2^63",
                  with_commas(kMostGroups)));
}

/// The first parameter that no bound of the exact search was proved for; empty when there is none.
std::string_view unproved_parameter(const space::DesignSpace& space) {
  constexpr std::array<std::string_view, 6> kUnproved{"precision",      "dram_type",    "dram_devices",
                                                      "noc_link_bytes", "vector_lanes", "shared_memory_bytes"};
  const auto* const found =
      std::ranges::find_if(kUnproved, [&](std::string_view name) { return space.find(name).has_value(); });
  return found == kUnproved.end() ? std::string_view() : *found;
}

void require_known(const space::DesignSpace& space) {
  const std::string_view name = unproved_parameter(space);
  if (name.empty()) return;
  throw Error(
      ErrorKind::usage,
      fmt::format("space '{}': fronts, landscapes, ranks and objectives other than latency_s need bounds for its "
                  "parameter '{}', and there are none. `hindsight optimum` with --objective latency_s gives the "
                  "best design of a search and a gap; `hindsight search` takes any objective",
                  space.name(), name));
}

}  // namespace

bool has_exact_bounds(const space::DesignSpace& space) { return unproved_parameter(space).empty(); }

Axes::Axes(const Question& question) : space_(question.space), rules_(template_rules(*question.technology)) {
  HINDSIGHT_EXPECT(question.allowed.empty() || question.allowed.size() == question.space->parameters().size());
  [[maybe_unused]] const ConfigBinding described(*question.space);
  require_known(*question.space);
  for (std::size_t role = 0; role < kRoles; ++role) {
    axes_[role] = make_axis(question, kMembers[role]);
    const std::uint64_t size = axes_[role].size();
    if (role < kGroupRoles && (groups_ *= size) > kMostGroups) refuse_size(*space_);
    if (__builtin_mul_overflow(designs_, size, &designs_)) refuse_size(*space_);
  }
}

Point Axes::group_point(std::uint64_t group) const {
  Point point{};
  for (std::size_t role = kGroupRoles; role-- > 0;) {
    point[role] = static_cast<std::uint16_t>(group % axes_[role].size());
    group /= axes_[role].size();
  }
  return point;
}

AcceleratorConfig Axes::config(const Point& point) const {
  AcceleratorConfig config;
  config.rules = rules_;
  for (std::size_t role = 0; role < kRoles; ++role) config.*axes_[role].member = axes_[role].values[point[role]];
  return config;
}

space::Design Axes::design(const Point& point) const {
  space::Design design;
  design.levels.resize(space_->parameters().size());
  for (std::size_t role = 0; role < kRoles; ++role) {
    if (axes_[role].parameter) design.levels[*axes_[role].parameter] = axes_[role].levels[point[role]];
  }
  return design;
}

std::optional<Point> Axes::point_of(const space::Design& design) const {
  Point point{};
  for (std::size_t role = 0; role < kRoles; ++role) {
    const Axis& axis = axes_[role];
    if (!axis.parameter) continue;
    const auto found = std::find(axis.levels.begin(), axis.levels.end(), design.levels[*axis.parameter]);
    if (found == axis.levels.end()) return std::nullopt;
    point[role] = static_cast<std::uint16_t>(found - axis.levels.begin());
  }
  return point;
}

}  // namespace hindsight::accel::optimum
