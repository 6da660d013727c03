#include "hindsight/accel/evaluation.h"

#include <fmt/format.h>

#include <algorithm>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::accel {

namespace {

struct ReasonText {
  std::string_view code;
  std::string_view quantity;
  std::string_view sentence;  ///< {value}, {limit}: the quantity and its limit with units
};

constexpr std::array<ReasonText, kReasonCount> kReasons{{
    {"accumulators", "accumulators_needed_per_pe", "the lanes of one PE need {value} accumulators, there are {limit}"},
    {"sram_bandwidth", "weight_bytes_per_cycle",
     "a core's lanes need {value} weight bytes per cycle, its memory port gives {limit}"},
    {"noc_timing", "multicast_delay_ns",
     "a multicast takes {value} ns to the far corner of the grid, the clock period is {limit} ns"},
    {"power_density", "peak_power_density_w_per_mm2",
     "the PE array's peak power density is {value} W/mm2, passive cooling removes {limit} W/mm2"},
    {"reticle", "area_mm2", "the die is {value} mm2, one exposure field {limit} mm2"},
    {"no_mapping", "smallest_tile_bytes",
     "no mapping fits: the smallest tile needs {value} bytes, the buffer has {limit}"},
    {"parameter_memory", "channel_constants_per_pe",
     "two consecutive layers keep {value} channel constants per PE, there is room for {limit}"},
    {"instruction_memory", "program_instructions",
     "the program has {value} instructions, the instruction memory holds {limit}"},
}};

const ReasonText& text(Reason reason) { return kReasons[static_cast<std::size_t>(reason)]; }

}  // namespace

std::string_view code(Reason reason) { return text(reason).code; }
std::string_view quantity(Reason reason) { return text(reason).quantity; }

std::string message(const Violation& violation, std::string_view layer_name) {
  std::string sentence = fmt::format(fmt::runtime(text(violation.reason).sentence),
                                     fmt::arg("value", fmt::format("{:.6g}", violation.value)),
                                     fmt::arg("limit", fmt::format("{:.6g}", violation.limit)));
  if (!layer_name.empty()) sentence = fmt::format("layer {}: {}", layer_name, sentence);
  if (violation.nearest_passing > 0) {
    return fmt::format("{}; {} = {:.6g} would pass", sentence, violation.parameter, violation.nearest_passing);
  }
  return fmt::format("{}; no value of {} alone would pass", sentence, violation.parameter);
}

void ViolationList::add(const Violation& violation) {
  for (std::size_t i = 0; i < count; ++i) {
    if (items[i].reason != violation.reason) continue;
    if (violation.value - violation.limit > items[i].value - items[i].limit) items[i] = violation;
    return;
  }
  HINDSIGHT_EXPECT(count < items.size());
  items[count++] = violation;
}

std::string_view to_string(Bound bound) {
  constexpr std::array<std::string_view, 5> kNames{"compute", "core_memory", "pe_memory", "noc", "dram"};
  return kNames[static_cast<std::size_t>(bound)];
}

std::string_view to_string(Dataflow dataflow) {
  return dataflow == Dataflow::output_stationary ? "output_stationary" : "weight_stationary";
}

void Traffic::add_scaled(const Traffic& other, double factor) {
  dram_read_weight_bytes += factor * other.dram_read_weight_bytes;
  dram_read_input_bytes += factor * other.dram_read_input_bytes;
  dram_write_output_bytes += factor * other.dram_write_output_bytes;
  noc_weight_bytes += factor * other.noc_weight_bytes;
  noc_input_bytes += factor * other.noc_input_bytes;
  noc_output_bytes += factor * other.noc_output_bytes;
  noc_hop_bytes += factor * other.noc_hop_bytes;
  core_memory_read_bytes += factor * other.core_memory_read_bytes;
  core_memory_write_bytes += factor * other.core_memory_write_bytes;
  pe_memory_read_bytes += factor * other.pe_memory_read_bytes;
  pe_memory_write_bytes += factor * other.pe_memory_write_bytes;
  accumulator_read_bytes += factor * other.accumulator_read_bytes;
  accumulator_write_bytes += factor * other.accumulator_write_bytes;
}

}  // namespace hindsight::accel
