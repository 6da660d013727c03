/// A spread list of proposals: the best design, and others that were asked to be otherwise.
///
/// A mistake of the model about a parameter spoils a list of the best designs as a whole, so every second one is asked
/// to have another value of one. About switches, parameters of few values, a log may mislead a model together (a memory
/// that helps where most designs are, and is in the way of the best): their settings take turns, which changing one
/// parameter of the best design does not find. Of a hedged list the last places go to what others than the score
/// choose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "hindsight/optimize/problem.h"
#include "hindsight/optimize/propose.h"
#include "hindsight/optimize/search.h"

namespace hindsight::optimize {

/// [chosen] Values that a switch has at most: names, numbers.
inline constexpr std::size_t kMostNames = 3, kMostNumbers = 2;
/// [chosen] Settings that are searched for one list.
inline constexpr std::size_t kMostSettings = 64;
/// [chosen] Scores closer than this (0.01 % of the objective) are ties, decided by p_feasible.
inline constexpr double kScoreTie = 1e-4;
/// [chosen] What is predicted worse than the best by more than this, in logarithms, is no use as another try.
inline constexpr double kFarWorse = 0.5;

/// Parameters with at least two allowed values and at most kMostNames or kMostNumbers, in the space's order; where they
/// have more than `most_settings` settings, those of fewest values, the earlier of equal ones. None where there is but
/// one: nothing misleads about it together with another. `allowed`: empty, or per parameter, empty for all.
[[nodiscard]] std::vector<std::size_t> switches_of(const space::DesignSpace& space, const AllowedLevels& allowed,
                                                   std::size_t most_settings = kMostSettings);

/// All settings of `switches`, each a level per switch, in the order of the levels; of no switches one that sets
/// nothing.
[[nodiscard]] std::vector<std::vector<std::uint16_t>> settings_of(const std::vector<std::size_t>& switches,
                                                                  const space::DesignSpace& space,
                                                                  const AllowedLevels& allowed);

/// The levels of a parameter that may be used.
[[nodiscard]] std::vector<std::uint16_t> allowed_levels(std::size_t parameter, const space::DesignSpace& space,
                                                        const AllowedLevels& allowed);

/// A design of the list, and the parameters that it was asked for by: one that has another value than in the best of
/// the pool, or all switches, some or none of them otherwise; none: by rank, or by what `hedge` says.
struct Asked {
  Candidate candidate;
  std::vector<std::size_t> parameters = {};
  std::optional<Hedge> hedge = {};
};

struct SpreadQuestion {
  const space::DesignSpace& space;
  const AllowedLevels& allowed;
  std::size_t count = 0;          ///< designs of the list
  std::size_t diversity = 0;      ///< smallest Hamming distance between two
  double unit = 1;                ///< what a score grows by where the objective grows by a factor of e
  std::uint64_t evaluations = 0;  ///< of the whole search; those below take shares of it
  /// Best first, the designs of these levels that so many evaluations find, or a whole population where that is more.
  std::function<std::vector<Candidate>(const AllowedLevels&, std::uint64_t evaluations)> best_among;
  /// Score of the best design of these levels that is known (logged); nothing where none is.
  std::function<std::optional<double>(const AllowedLevels&)> best_logged;
};
/// The best of `pool` (best first), then in turn the next one that was asked for otherwise, and the next best. Where
/// there are switches two are asked for before one is taken by rank, and all behind the sixteenth. Asked for are the
/// best design with another value of each parameter that is no switch (a tenth of the evaluations each, one and a half
/// times all of them together at most), and with every other setting of the switches, by score, far enough from the
/// first; then, setting by setting, the next best of each. None that is hopeless: a score that is worse than that of
/// the first by half a unit (a factor of 1.65 of an objective on a logarithmic scale). Another setting may be worse by
/// up to two units (7.4) where a log does not speak against it: it has no design of the setting, or one that is not
/// that much worse than its best. About settings a log misleads more.
[[nodiscard]] std::vector<Asked> spread_out(const std::vector<Candidate>& pool, const SpreadQuestion& question);

/// Places of a list that judges other than the score fill in turn, each with what it ranks best.
struct HedgePlaces {
  std::size_t count = 0;
  std::vector<std::vector<Asked>> judges = {};  ///< what each prefers, best first
};
/// `spread`, a list of `count` designs in the order in which they were chosen, with hedges for the last of them. A
/// hedge is at least `diversity` from every other design; places that no judge has one for stay as they were, where
/// these are far enough from the hedges. The first stays.
[[nodiscard]] std::vector<Asked> with_hedges(const std::vector<Asked>& spread, const std::vector<HedgePlaces>& hedges,
                                             std::size_t count, std::size_t diversity);

}  // namespace hindsight::optimize
