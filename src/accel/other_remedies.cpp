/// Lower values of every parameter, one at a time, until the chip is cooled.
#include "hindsight/accel/other_remedies.h"

#include <cmath>
#include <optional>

#include "hindsight/accel/config.h"

namespace hindsight::accel {
namespace {

/// The violation of cooling that nothing mends so far; null where there is none.
Violation* hopeless_heat(ViolationList& violations) {
  for (std::size_t i = 0; i < violations.count; ++i) {
    Violation& violation = violations.items[i];
    if (violation.reason == Reason::cooling) return violation.nearest_passing ? nullptr : &violation;
  }
  return nullptr;
}

bool lacks_cooling(const ChipFacts& chip) {
  for (const Violation& violation : chip.violations.view()) {
    if (violation.reason == Reason::cooling) return true;
  }
  return false;
}

ChipFacts checked_facts(const AcceleratorConfig& config, const Technology& technology) {
  return chip_facts(config, technology, Remedies::left_out);
}

/// One parameter's nearest lower value that cools the chip.
struct CoolerValue {
  const char* parameter = "";
  double value = 0;
  std::size_t steps = 0;  ///< values of the space below the design's own
  double peak_w = 0;
  [[nodiscard]] bool is_nearer_than(const CoolerValue& other) const {
    return steps != other.steps ? steps < other.steps : peak_w > other.peak_w;
  }
};

/// Lowers one parameter of a design at a time.
class CoolerDesigns {
 public:
  CoolerDesigns(const space::DesignSpace& space, const space::Design& design, const Technology& technology)
      : space_(space),
        binding_(space),
        design_(design),
        technology_(technology),
        refusals_(checked_facts(binding_.bind(space, design), technology).violations.count) {}

  [[nodiscard]] std::optional<CoolerValue> nearest(const char* parameter) const {
    const std::optional<std::size_t> place = space_.find(parameter);
    if (!place) return std::nullopt;
    space::Design lower = design_;
    while (lower.levels[*place] > 0) {
      --lower.levels[*place];
      if (!space_.is_legal(lower.levels)) continue;
      const ChipFacts chip = checked_facts(binding_.bind(space_, lower), technology_);
      if (lacks_cooling(chip) || chip.violations.count >= refusals_) continue;
      return CoolerValue{.parameter = parameter,
                         .value = space_.value(lower, *place),
                         .steps = static_cast<std::size_t>(design_.levels[*place] - lower.levels[*place]),
                         .peak_w = chip.peak_power_w};
    }
    return std::nullopt;
  }

 private:
  const space::DesignSpace& space_;
  ConfigBinding binding_;
  const space::Design& design_;
  const Technology& technology_;
  std::size_t refusals_;  ///< of the hardware, as the design is
};

}  // namespace

void name_other_parameter(ViolationList& violations, const space::DesignSpace& space, const space::Design& design,
                          const Technology& technology) {
  Violation* const hot = hopeless_heat(violations);
  if (hot == nullptr) return;
  const CoolerDesigns designs(space, design, technology);
  std::optional<CoolerValue> best;
  for (const ConfigField& field : config_fields()) {
    const std::optional<CoolerValue> found = designs.nearest(field.name);
    if (found && (!best || found->is_nearer_than(*best))) best = found;
  }
  hot->of_any_parameter = true;
  if (!best) return;
  hot->parameter = best->parameter;
  hot->nearest_passing = best->value;
}

void name_slower_clock(ViolationList& violations, const AcceleratorConfig& config, const Technology& technology) {
  Violation* const hot = hopeless_heat(violations);
  if (hot == nullptr) return;
  const auto passes = [&](double clock_mhz) {
    AcceleratorConfig slower = config;
    slower.clock_mhz = clock_mhz;
    return !lacks_cooling(checked_facts(slower, technology));
  };
  // Watts grow with the clock.
  double cool = 0, hot_mhz = std::ceil(config.clock_mhz);
  while (hot_mhz - cool > 1.0) {
    const double middle = std::floor((cool + hot_mhz) / 2.0);
    (passes(middle) ? cool : hot_mhz) = middle;
  }
  if (cool < 1.0) return;
  hot->parameter = "clock_mhz";
  hot->nearest_passing = cool;
}

}  // namespace hindsight::accel
