/// Walks from a centre, and how many designs they reach.
#include "hindsight/space/around.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/random.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/space/rules.h"
#include "space/overdue.h"
#include "space/validation.h"

namespace hindsight::space {
namespace {

constexpr std::uint64_t kMostCounted = std::numeric_limits<std::int64_t>::max();

/// A parameter that a step can move.
struct Axis {
  std::size_t parameter = 0;
  std::uint16_t levels = 0;
  bool ordinal = true;
  [[nodiscard]] std::uint64_t most_directions() const {
    const std::uint64_t others = levels - std::uint64_t{1};
    return ordinal ? std::min<std::uint64_t>(others, 2) : others;
  }
};

std::vector<Axis> axes_of(const DesignSpace& space) {
  std::vector<Axis> axes;
  for (std::size_t p = 0; p < space.parameters().size(); ++p) {
    const Parameter& parameter = space.parameters()[p];
    if (parameter.level_count() < 2) continue;
    axes.push_back({.parameter = p,
                    .levels = static_cast<std::uint16_t>(parameter.level_count()),
                    .ordinal = parameter.kind == ParameterKind::ordinal});
  }
  return axes;
}

/// [chosen] Walks of one design that may end where a constraint is broken.
constexpr std::uint64_t kMostWalks = 4096;

class AroundSampler final : public Sampler {
 public:
  AroundSampler(const DesignSpace& space, const Neighbourhood& around, std::uint64_t seed)
      : around_(around), axes_(axes_of(space)), seed_(seed), stream_(seed, "space/around") {
    if (space.is_constrained()) rules_ = space.rules();
  }

  void sample(std::uint64_t i, std::span<std::uint16_t> levels) const override {
    HINDSIGHT_EXPECT(levels.size() == around_.centre.levels.size());
    walk(stream_, i * words_of_walk(), levels);
    if (rules_ == nullptr || settles(levels)) return;
    const RandomStream again(mix64(seed_ ^ mix64(i)), "space/around/again");
    for (std::uint64_t attempt = 0; attempt < kMostWalks; ++attempt) {
      stop_draws_if_overdue();
      walk(again, attempt * words_of_walk(), levels);
      if (settles(levels)) return;
    }
    std::copy(around_.centre.levels.begin(), around_.centre.levels.end(), levels.begin());
  }
  [[nodiscard]] std::uint64_t length() const override { return kMostCounted / (1 + 2 * kMostSteps); }

 private:
  /// The length of the walk, then a parameter and a direction each.
  [[nodiscard]] std::uint64_t words_of_walk() const { return 1 + 2 * around_.steps; }
  void walk(const RandomStream& stream, std::uint64_t word, std::span<std::uint16_t> levels) const {
    std::copy(around_.centre.levels.begin(), around_.centre.levels.end(), levels.begin());
    const std::uint64_t length = 1 + stream.below(word++, around_.steps);
    for (std::uint64_t step = 0; step < length; ++step) {
      const Axis& axis = axes_[stream.below(word++, axes_.size())];
      move(levels[axis.parameter], axis, stream, word++);
    }
  }
  [[nodiscard]] bool settles(std::span<std::uint16_t> levels) const {
    rules_->settle(levels);
    return rules_->is_legal(levels);
  }
  static void move(std::uint16_t& level, const Axis& axis, const RandomStream& stream, std::uint64_t word) {
    const std::uint16_t last = static_cast<std::uint16_t>(axis.levels - 1);
    if (!axis.ordinal) {
      const auto other = static_cast<std::uint16_t>(stream.below(word, last));
      level = static_cast<std::uint16_t>(other < level ? other : other + 1);
    } else if (level == 0 || (level < last && stream.below(word, 2) == 1)) {
      ++level;
    } else {
      --level;
    }
  }

  Neighbourhood around_;
  std::vector<Axis> axes_;
  std::shared_ptr<const Rules> rules_;  ///< of a space with constraints
  std::uint64_t seed_;
  RandomStream stream_;
};

/// How many levels of the axis are `distance` steps from level `centre`.
std::uint64_t levels_at(const Axis& axis, std::uint16_t centre, std::uint64_t distance) {
  if (distance == 0) return 1;
  if (!axis.ordinal) return distance == 1 ? axis.levels - std::uint64_t{1} : 0;
  return (distance <= centre ? 1U : 0U) + (centre + distance < axis.levels ? 1U : 0U);
}

/// Designs at each distance from the centre, `steps` at most: the product of the axes' polynomials of levels_at(). As
/// doubles, which say beyond 2^53 only that there are very many.
std::vector<double> designs_at_distance(const DesignSpace& space, const Neighbourhood& around) {
  std::vector<double> designs(around.steps + 1, 0);
  designs[0] = 1;
  for (const Axis& axis : axes_of(space)) {
    std::vector<double> with_axis(designs.size(), 0);
    const std::uint64_t most_moved = std::min<std::uint64_t>(around.steps, axis.levels - std::uint64_t{1});
    for (std::uint64_t moved = 0; moved <= most_moved; ++moved) {
      const auto levels = static_cast<double>(levels_at(axis, around.centre.levels[axis.parameter], moved));
      for (std::size_t d = moved; d < designs.size() && levels > 0; ++d) with_axis[d] += designs[d - moved] * levels;
    }
    designs = std::move(with_axis);
  }
  return designs;
}

}  // namespace

std::unique_ptr<Sampler> make_around_sampler(const DesignSpace& space, const Neighbourhood& around,
                                             std::uint64_t seed) {
  HINDSIGHT_EXPECT(around.centre.levels.size() == space.parameters().size());
  if (around.steps < 1 || around.steps > kMostSteps) {
    throw Error(ErrorKind::usage, fmt::format("{} steps around a design: it takes 1 to {}. Use --sampler uniform for "
                                              "designs of the whole space?",
                                              with_commas(around.steps), with_commas(kMostSteps)));
  }
  if (axes_of(space).empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("space {} has a single design, which has no neighbours. Give a parameter a second value?",
                            in_quotes(space.name())));
  }
  return std::make_unique<AroundSampler>(space, around, seed);
}

std::optional<std::uint64_t> reachable_count(const DesignSpace& space, const Neighbourhood& around) {
  if (space.is_constrained()) return std::nullopt;
  double all = 0;
  for (const double designs : designs_at_distance(space, around)) all += designs;
  if (all > kLargestExactInteger) return std::nullopt;
  const bool comes_back = around.steps >= 2;  // one step leaves the centre, the second returns
  return static_cast<std::uint64_t>(all) - (comes_back ? 0 : 1);
}

double smallest_share(const DesignSpace& space, const Neighbourhood& around) {
  const std::vector<Axis> axes = axes_of(space);
  std::uint64_t directions = 1;
  for (const Axis& axis : axes) directions = std::max(directions, axis.most_directions());
  const double one_step = 1.0 / (static_cast<double>(axes.size()) * static_cast<double>(directions));
  const auto steps = static_cast<double>(around.steps);
  return std::pow(one_step, steps) / steps;  // a walk of exactly its length, along one of the ways
}

}  // namespace hindsight::space
