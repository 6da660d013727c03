/// Counts what rules leave, and draws designs to see whether derived quantities have values.
#include "hindsight/space/space_check.h"

#include <algorithm>
#include <limits>

#include "hindsight/core/error.h"
#include "hindsight/core/patience.h"
#include "hindsight/space/rules.h"
#include "hindsight/space/sampling.h"

namespace hindsight::space {
namespace {

constexpr std::uint64_t kDrawn = 10'000;            // [chosen] legal designs: some 10 ms
constexpr std::uint64_t kShareBudget = 40'000'000;  // [chosen] steps for the share of one rule: 0.4 s

double combinations_of(const DesignSpace& space) {
  double all = 1;
  for (const Parameter& parameter : space.parameters()) all *= static_cast<double>(parameter.level_count());
  return all;
}

RuleShare share_of(const Rules& rules, std::size_t i, double combinations) {
  const Rules::Check& check = rules.checks()[i];
  RuleShare share{.text = check.text, .where = {}, .alone = {}};
  if (!check.origin.file.empty()) share.where = check.origin.at(0);
  try {
    share.alone = count_legal(rules, {}, std::vector<std::size_t>{i}, kShareBudget);
    share.share = share.alone->designs / combinations;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    // It has no value somewhere; with all rules together that was no error, so that others leave these designs out.
  }
  return share;
}

std::vector<DerivedSpread> spreads_of(const DesignSpace& space, std::uint64_t drawn) {
  const Rules& rules = *space.rules();
  std::vector<DerivedSpread> spreads;
  for (const Rules::Derived& derived : rules.derived()) {
    spreads.push_back({.name = derived.name,
                       .expression = derived.expression.shown(),
                       .smallest = std::numeric_limits<double>::infinity(),
                       .largest = -std::numeric_limits<double>::infinity()});
  }
  const auto sampler = make_sampler(SamplerKind::uniform, space, 0, drawn, 0);
  std::vector<std::uint16_t> levels(space.parameters().size());
  std::vector<double> values(spreads.size());
  const Steps steps("drawing designs for derived quantities", drawn);
  for (std::uint64_t i = 0; i < drawn; ++i) {
    steps.at(i);
    sampler->sample(i, levels);
    rules.derive(levels, values);
    for (std::size_t k = 0; k < values.size(); ++k) {
      spreads[k].smallest = std::min(spreads[k].smallest, values[k]);
      spreads[k].largest = std::max(spreads[k].largest, values[k]);
    }
  }
  return spreads;
}

}  // namespace

LegalCount count_designs(const DesignSpace& space) {
  if (!space.is_constrained()) return {.designs = combinations_of(space), .exact = space.size(), .error = 0};
  return count_legal(*space.rules(), {}, kCountBudget);
}

SpaceCheck check_space(const DesignSpace& space) {
  SpaceCheck result{.combinations = combinations_of(space), .legal = count_designs(space), .rules = {}, .derived = {}};
  if (space.rules() == nullptr) return result;
  if (space.is_constrained()) {  // fails where none is legal, or none can be found
    std::vector<std::uint16_t> levels(space.parameters().size());
    make_sampler(SamplerKind::uniform, space, 0, 1, 0)->sample(0, levels);
  }
  const Steps steps("looking at what each constraint leaves", space.rules()->checks().size());
  for (std::size_t i = 0; i < space.rules()->checks().size(); ++i) {
    steps.at(i);
    result.rules.push_back(share_of(*space.rules(), i, result.combinations));
  }
  if (space.rules()->derived().empty()) return result;
  result.drawn = kDrawn;
  result.derived = spreads_of(space, result.drawn);
  return result;
}

}  // namespace hindsight::space
