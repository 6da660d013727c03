/// Name-and-value views of the model's plain structs, so that text and JSON list the same fields.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hindsight/accel/area.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/technology.h"
#include "hindsight/core/direction.h"

namespace hindsight::report {

/// Columns by which the lines below a heading are moved in.
inline constexpr int kIndent = 2;

using NamedValues = std::vector<std::pair<std::string_view, double>>;

[[nodiscard]] inline NamedValues fields(const accel::AreaBreakdown& area) {
  NamedValues values;
  for_each_area_field([&](const char* name, double value) { values.emplace_back(name, value); }, area);
  return values;
}
/// Of what flows whether the chip works or not, leakage_j is what leaks, and idle_j, last, what chips of its class do
/// not switch off besides.
///
/// Equation: leakage_j = E * leakage_w / idle_w of the chip, idle_j = E - leakage_j, E the breakdown's leakage_j.
[[nodiscard]] inline NamedValues fields(const accel::EnergyBreakdown& energy, const accel::ChipFacts& chip) {
  accel::EnergyBreakdown told = energy;
  if (chip.idle_w > 0) told.leakage_j *= chip.leakage_w / chip.idle_w;
  NamedValues values;
  for_each_energy_field([&](const char* name, double value) { values.emplace_back(name, value); }, told);
  values.emplace_back("idle_j", energy.leakage_j - told.leakage_j);
  return values;
}
[[nodiscard]] inline NamedValues fields(const accel::Traffic& traffic) {
  NamedValues values;
  for_each_traffic_field([&](const char* name, double value) { values.emplace_back(name, value); }, traffic);
  return values;
}

/// A logged metric for a person, by its unit suffix: 1.62e-4 of latency_s is "162 µs", 12.5 of area_mm2 "12.5 mm2".
[[nodiscard]] std::string metric_text(std::string_view metric, double value);

/// " (more is better)"; " (less is better)" of a metric whose name does not say that it is a cost; else "".
[[nodiscard]] std::string direction_note(const std::string& metric, Direction direction);

/// Reasons of one workload with their shares of all evaluations.
struct WorkloadReasons {
  std::string workload;
  std::vector<std::pair<std::string, double>> shares;  ///< code, 0..1
};
/// One wrapped line for the reasons that hit all workloads alike (those of the hardware), then one per workload.
[[nodiscard]] std::string reasons_text(const std::vector<WorkloadReasons>& workloads, int columns);

/// "dram_read_weight_bytes" -> "dram read weight": the name for a person, its unit suffix left to the column.
[[nodiscard]] std::string label(std::string_view field);
/// "7nm-silicon (the chip's node)"; the name alone without a reason.
[[nodiscard]] std::string with_reason(std::string_view name, std::string_view why);
/// " (published: 180)", " (published: at most 400)", " (cells 3.6, published 3.3)", in mm2; "" where none is.
[[nodiscard]] std::string published_text(const std::optional<accel::ComparedArea>& area);
/// "7nm-silicon", "7nm-silicon (./mine.yaml)": with its file where that is not the one that ships under the name.
[[nodiscard]] std::string technology_text(const accel::Technology& technology);
/// A share as "12.3 %".
[[nodiscard]] std::string percent(double fraction);
/// `prefix` and `text`, broken at blanks into lines of at most `columns` cells (`columns` <= 0: one line); lines
/// after the first are indented by `indent` cells; ends in a newline.
[[nodiscard]] std::string wrapped(std::string_view prefix, std::string_view text, int columns, int indent);
/// The same for a design's text id, broken only after its commas, so that it can be read and copied.
[[nodiscard]] std::string wrapped_design(std::string_view prefix, std::string_view text_id, int columns, int indent);

}  // namespace hindsight::report
