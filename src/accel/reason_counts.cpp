/// Reasons of uniform random designs.
#include "hindsight/accel/reason_counts.h"

#include <fmt/format.h>

#include <optional>

#include "hindsight/core/error.h"
#include "hindsight/core/random.h"
#include "hindsight/space/rules.h"

namespace hindsight::accel {
namespace {

void count_pair(ReasonCounts::Pairs& pairs, const Evaluation& evaluation) {
  ++pairs.all;
  pairs.infeasible += evaluation.feasible() ? 0 : 1;
  for (const Violation& violation : evaluation.violations.view()) {
    ++pairs.with[static_cast<std::size_t>(violation.reason)];
  }
}

bool is_too_hot(const ChipFacts& chip) {
  for (const Violation& violation : chip.violations.view()) {
    if (violation.reason == Reason::cooling) return true;
  }
  return false;
}

}  // namespace

ReasonCounts count_reasons(const space::DesignSpace& space, const Technology& technology, double area_mm2,
                           std::span<const workload::Network> networks, std::uint64_t designs) {
  constexpr std::uint64_t kSeed = 14;
  const std::uint64_t most_draws = kMostDrawsPerDesign * designs;
  const ConfigBinding binding(space);
  const RandomStream stream(kSeed, "reasons");
  const std::optional<std::uint64_t> size = space.size();
  if (!size) {
    throw Error(ErrorKind::usage,
                fmt::format("'{}' has more designs than can be numbered. Bound its parameters", space.name()));
  }
  ReasonCounts counts;
  for (std::uint64_t i = 0; counts.designs < designs && i < most_draws; ++i) {
    const space::Design design = space.design(stream.below(i, *size));
    if (space.is_constrained() && !space.rules()->is_legal(design.levels)) continue;
    const ChipFacts chip = chip_facts(binding.bind(space, design), technology, Remedies::left_out);
    if (chip.area.total_mm2() > area_mm2) continue;
    ++counts.designs;
    for (const workload::Network& network : networks) {
      const Evaluation evaluation = evaluate(chip, network, Depth::all_checks);
      count_pair(counts.within_area, evaluation);
      if (!is_too_hot(chip)) count_pair(counts.within_watts, evaluation);
    }
  }
  if (counts.designs == 0) {
    throw Error(ErrorKind::no_feasible, fmt::format("none of {} random designs of '{}' has at most {:g} mm2 at {}",
                                                    most_draws, space.name(), area_mm2, technology.name));
  }
  return counts;
}

}  // namespace hindsight::accel
