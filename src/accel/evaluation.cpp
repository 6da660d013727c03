#include "hindsight/accel/evaluation.h"

#include <fmt/format.h>

#include <algorithm>

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

std::string_view to_string(Bound bound) {
  constexpr std::array<std::string_view, 5> kNames{"compute", "core_memory", "pe_memory", "noc", "dram"};
  return kNames[static_cast<std::size_t>(bound)];
}

std::string_view to_string(Dataflow dataflow) {
  return dataflow == Dataflow::output_stationary ? "output_stationary" : "weight_stationary";
}

}  // namespace hindsight::accel
