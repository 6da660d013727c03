/// Names and sentences of an evaluation's parts, and hints in the values of a space.
#include "hindsight/accel/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::accel {

namespace {

/// Where the values of a violation's parameter that pass lie.
enum class Passing : std::uint8_t { at_least, at_most };

struct ReasonText {
  std::string_view code;
  std::string_view quantity;
  Passing passing;            ///< relative to Violation::nearest_passing
  std::string_view sentence;  ///< {value}, {limit}: the quantity and its limit with units
};

constexpr std::array<ReasonText, kReasonCount> kReasons{{
    {"accumulators", "accumulators_needed_per_pe", Passing::at_least,
     "the lanes of one PE need {value} accumulators, there are {limit}"},
    {"sram_bandwidth", "weight_bytes_per_cycle", Passing::at_least,
     "a core's lanes need {value} weight bytes per cycle, its memory port gives {limit}"},
    {"noc_timing", "multicast_delay_ns", Passing::at_most,
     "a multicast takes {value} ns to the far corner of the grid, the clock period is {limit} ns"},
    {"power_density", "peak_power_density_w_per_mm2", Passing::at_most,
     "the PE array's peak power density is {value} W/mm2, passive cooling removes {limit} W/mm2"},
    {"reticle", "area_mm2", Passing::at_most, "the die is {value} mm2, one exposure field {limit} mm2"},
    {"no_mapping", "smallest_tile_bytes", Passing::at_least,
     "no mapping fits: the smallest tile needs {value} bytes, the buffer has {limit}"},
    {"parameter_memory", "channel_constants_per_pe", Passing::at_least,
     "two consecutive layers keep {value} channel constants per PE, there is room for {limit}"},
    {"instruction_memory", "program_instructions", Passing::at_least,
     "the program has {value} instructions, the instruction memory holds {limit}"},
    {"cooling", "peak_power_w", Passing::at_most,
     "the chip's peak power is {value} W, its cooling class removes {limit} W"},
    {"clock", "clock_mhz", Passing::at_most, "the clock is {value} MHz, the node reaches {limit} MHz"},
    {"dram_capacity", "stored_bytes", Passing::at_least,
     "parameters, keys and values are {value} bytes, the DRAM holds {limit}"},
}};

/// Where a layer has half of the memory; {half}: of the quantity.
constexpr std::string_view kHalvedSentence =
    "a PE keeps {half} channel constants in half of its parameter memory: {value} entries, there are {limit}";

const ReasonText& text(Reason reason) { return kReasons[static_cast<std::size_t>(reason)]; }

}  // namespace

std::string_view code(Reason reason) { return text(reason).code; }
bool has_reason(const Technology& technology, Reason reason) {
  switch (reason) {
    case Reason::noc_timing:
    case Reason::power_density:
    case Reason::instruction_memory:
      return technology.is_version_1();
    case Reason::cooling:
    case Reason::clock:
    case Reason::dram_capacity:
      return !technology.is_version_1();
    case Reason::accumulators:
    case Reason::sram_bandwidth:
    case Reason::reticle:
    case Reason::no_mapping:
    case Reason::parameter_memory:
      return true;
  }
  HINDSIGHT_EXPECT(false);
  return false;
}
std::string_view quantity(Reason reason) { return text(reason).quantity; }

std::string message(const Violation& violation, std::string_view layer_name) {
  std::string sentence = fmt::format(fmt::runtime(violation.halved ? kHalvedSentence : text(violation.reason).sentence),
                                     fmt::arg("value", fmt::format("{:.6g}", violation.value)),
                                     fmt::arg("half", fmt::format("{:.6g}", violation.value / 2)),
                                     fmt::arg("limit", fmt::format("{:.6g}", violation.limit)));
  if (!layer_name.empty()) sentence = fmt::format("layer {}: {}", layer_name, sentence);
  if (violation.nearest_passing) {
    return fmt::format("{}; {} = {} would pass{}", sentence, violation.parameter, shortest(*violation.nearest_passing),
                       violation.of_space ? "" : " (a number: the design is of no space with values to choose from)");
  }
  return fmt::format("{}; no value of {}{} alone would pass", sentence,
                     violation.of_any_parameter ? "any parameter" : violation.parameter,
                     violation.of_space ? " in the design space" : "");
}

void name_levels(ViolationList& violations, const space::DesignSpace& space, std::span<const std::uint16_t> levels) {
  std::vector<std::uint16_t> changed;
  for (std::size_t i = 0; i < violations.count; ++i) {
    Violation& violation = violations.items[i];
    violation.of_space = true;
    if (!violation.nearest_passing) continue;
    const double threshold = *violation.nearest_passing;
    violation.nearest_passing = std::nullopt;
    const std::optional<std::size_t> parameter = space.find(violation.parameter);
    if (!parameter) continue;
    const std::vector<double>& values = space.parameters()[*parameter].values;  // ascending
    const auto is_legal = [&](double value) {
      if (!space.is_constrained()) return true;
      changed.assign(levels.begin(), levels.end());
      changed[*parameter] =
          static_cast<std::uint16_t>(std::lower_bound(values.begin(), values.end(), value) - values.begin());
      return space.is_legal(changed);
    };
    if (text(violation.reason).passing == Passing::at_least) {
      const auto level =
          std::find_if(std::lower_bound(values.begin(), values.end(), threshold), values.end(), is_legal);
      if (level != values.end()) violation.nearest_passing = *level;
    } else {
      const auto above = std::make_reverse_iterator(std::upper_bound(values.begin(), values.end(), threshold));
      const auto level = std::find_if(above, values.rend(), is_legal);
      if (level != values.rend()) violation.nearest_passing = *level;
    }
  }
}

std::string_view to_string(Bound bound) {
  constexpr std::array<std::string_view, 5> kNames{"compute", "core_memory", "pe_memory", "noc", "dram"};
  return kNames[static_cast<std::size_t>(bound)];
}

std::string_view to_string(Dataflow dataflow) {
  return dataflow == Dataflow::output_stationary ? "output_stationary" : "weight_stationary";
}

}  // namespace hindsight::accel
