/// Name-and-value views of the model's plain structs, so that text and JSON list the same fields.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hindsight/accel/evaluation.h"

namespace hindsight::report {

using NamedValues = std::vector<std::pair<std::string_view, double>>;

[[nodiscard]] inline NamedValues fields(const accel::AreaBreakdown& area) {
  return {{"mac_mm2", area.mac_mm2},
          {"register_mm2", area.register_mm2},
          {"pe_memory_mm2", area.pe_memory_mm2},
          {"core_memory_mm2", area.core_memory_mm2},
          {"activation_memory_mm2", area.activation_memory_mm2},
          {"parameter_memory_mm2", area.parameter_memory_mm2},
          {"instruction_memory_mm2", area.instruction_memory_mm2},
          {"noc_mm2", area.noc_mm2},
          {"control_mm2", area.control_mm2},
          {"dram_phy_mm2", area.dram_phy_mm2}};
}

[[nodiscard]] inline NamedValues fields(const accel::EnergyBreakdown& energy) {
  return {{"mac_j", energy.mac_j},
          {"register_j", energy.register_j},
          {"pe_memory_j", energy.pe_memory_j},
          {"core_memory_j", energy.core_memory_j},
          {"activation_memory_j", energy.activation_memory_j},
          {"parameter_memory_j", energy.parameter_memory_j},
          {"instruction_memory_j", energy.instruction_memory_j},
          {"noc_j", energy.noc_j},
          {"dram_j", energy.dram_j},
          {"leakage_j", energy.leakage_j}};
}

[[nodiscard]] inline NamedValues fields(const accel::Traffic& traffic) {
  return {{"dram_read_weight_bytes", traffic.dram_read_weight_bytes},
          {"dram_read_input_bytes", traffic.dram_read_input_bytes},
          {"dram_write_output_bytes", traffic.dram_write_output_bytes},
          {"noc_weight_bytes", traffic.noc_weight_bytes},
          {"noc_input_bytes", traffic.noc_input_bytes},
          {"noc_output_bytes", traffic.noc_output_bytes},
          {"noc_hop_bytes", traffic.noc_hop_bytes},
          {"core_memory_read_bytes", traffic.core_memory_read_bytes},
          {"core_memory_write_bytes", traffic.core_memory_write_bytes},
          {"pe_memory_read_bytes", traffic.pe_memory_read_bytes},
          {"pe_memory_write_bytes", traffic.pe_memory_write_bytes},
          {"accumulator_read_bytes", traffic.accumulator_read_bytes},
          {"accumulator_write_bytes", traffic.accumulator_write_bytes}};
}

/// A logged metric for a person, by its unit suffix: 1.62e-4 of latency_s is "162 µs", 12.5 of area_mm2 "12.5 mm2".
[[nodiscard]] std::string metric_text(std::string_view metric, double value);

/// Reasons of one workload with their shares of all evaluations.
struct WorkloadReasons {
  std::string workload;
  std::vector<std::pair<std::string, double>> shares;  ///< code, 0..1
};
/// One wrapped line for the reasons that hit all workloads alike (those of the hardware), then one per workload.
[[nodiscard]] std::string reasons_text(const std::vector<WorkloadReasons>& workloads, int columns);

/// "dram_read_weight_bytes" -> "dram read weight": the name for a person, its unit suffix left to the column.
[[nodiscard]] std::string label(std::string_view field);
/// "lpddr4", ...
[[nodiscard]] std::string_view dram_name(accel::DramType type);
/// A share as "12.3 %".
[[nodiscard]] std::string percent(double fraction);
/// `prefix` and `text`, broken at blanks into lines of at most `columns` cells (`columns` <= 0: one line); lines
/// after the first are indented by `indent` cells; ends in a newline.
[[nodiscard]] std::string wrapped(std::string_view prefix, std::string_view text, int columns, int indent);
/// The same for a design's text id, broken only after its commas, so that it can be read and copied.
[[nodiscard]] std::string wrapped_design(std::string_view prefix, std::string_view text_id, int columns, int indent);

}  // namespace hindsight::report
