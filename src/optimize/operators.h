/// Moves of one design, shared by the searches on a surrogate and those on a simulator.
#pragma once

#include <vector>

#include "optimize/level_space.h"
#include "optimize/search_state.h"

namespace hindsight::optimize {

// In a space with constraints every move of a legal point gives a legal one.

[[nodiscard]] Point random_point(const LevelSpace& space, Random& random);

/// Index of the best of `size` entrants drawn with replacement.
[[nodiscard]] std::size_t tournament(const std::vector<Fitness>& fitness, std::size_t size, Random& random);

/// Share of children that have two parents; the others are mutated copies. [chosen] the usual rate
inline constexpr double kCrossover = 0.9;
/// Uniform crossover: every parameter from either parent with equal probability; parameters that constraints tie
/// together from the same one.
[[nodiscard]] Point crossover(const Point& a, const Point& b, const LevelSpace& space, Random& random);

/// Changes every free parameter with probability `rate`, and at least one: half of the changes of ordinal parameters
/// are steps of +-1 or +-2 positions, all others draw another position uniformly. Where constraints allow none of
/// several such changes, the parameters that are tied to one are drawn again.
void mutate(Point& point, const LevelSpace& space, double rate, Random& random);

/// [chosen] One changed parameter per child on average, the usual rate of evolutionary algorithms.
[[nodiscard]] double usual_mutation_rate(const LevelSpace& space);

/// The firefly move on a discrete space.
///
/// Equation: x' = x_i + beta (x_j - x_i) + alpha w (u - 1/2), beta = beta0 exp(-gamma r^2), per ordinal parameter in
/// positions, rounded up or down at random in proportion; a categorical parameter takes x_j's position with
/// probability beta and a random one with probability alpha / 2.
/// Symbols: w span of the positions, u uniform in [0, 1), r^2 mean over the free parameters of the squared distance in
/// units of w (categorical: 0 or 1).
/// Source: [paper: firefly-2009], attractiveness and movement of fireflies.
/// Differs: r^2 is a mean, so that gamma does not depend on the number of parameters; positions are integers.
struct FireflyMove {
  double attractiveness = 1;  ///< beta0 [chosen] the largest that does not overshoot
  double absorption = 1;      ///< gamma [chosen] opposite corners still attract, with e^-1
  double randomness = 0.2;    ///< alpha [chosen] a tenth of the span either way; shrinks in the offline search
};
/// beta of two fireflies.
[[nodiscard]] double attraction(const Point& a, const Point& b, const LevelSpace& space, const FireflyMove& move);
/// Firefly `from` after its move towards `to`; the random walk alone when both are equal. Where a constraint refuses
/// the move, `from` itself.
[[nodiscard]] Point move_towards(const Point& from, const Point& to, const LevelSpace& space, const FireflyMove& move,
                                 Random& random);
/// The brighter firefly that `self` flies to, drawn in proportion to its attraction; `self` when none is brighter.
[[nodiscard]] std::size_t choose_brighter(std::size_t self, const std::vector<Point>& swarm,
                                          const std::vector<Fitness>& fitness, const LevelSpace& space,
                                          const FireflyMove& move, Random& random);

/// Points that differ in one parameter: ordinal by at most `radius` positions, categorical by any.
[[nodiscard]] std::vector<Point> neighbours(const Point& point, const LevelSpace& space, int radius);
/// Points that differ in two parameters, each as in neighbours() with radius 1: the moves along a constraint, one
/// parameter paying for the other.
[[nodiscard]] std::vector<Point> pair_neighbours(const Point& point, const LevelSpace& space);

}  // namespace hindsight::optimize
