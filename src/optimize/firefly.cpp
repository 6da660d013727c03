/// Firefly search on a discrete space.
#include <algorithm>

#include "optimize/algorithms.h"
#include "optimize/operators.h"

namespace hindsight::optimize {
namespace {

constexpr double kCooling = 0.97;               // [chosen] the random walk shrinks per generation, to settle
constexpr double kLeastRandomness = 0.05;       // [chosen] of the span: below, short lists would not move at all
constexpr std::uint64_t kSwarmStagnation = 60;  // [chosen] generations without a better design before a new swarm
constexpr std::uint64_t kWorsening = 5;         // [chosen] every 5th firefly keeps a move that made it darker

std::size_t brightest(const std::vector<Fitness>& fitness) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < fitness.size(); ++i) {
    if (better(fitness[i], fitness[best])) best = i;
  }
  return best;
}

}  // namespace

/// Per generation every firefly moves once, towards one brighter firefly drawn in proportion to its attraction; the
/// brightest walks at random. All moves of a generation are judged in one batch.
///
/// Source: [paper: firefly-2009].
/// Differs: one move per generation instead of one per brighter firefly (a batch instead of n^2 single evaluations);
/// four in five fireflies refuse a move that makes them darker; the swarm starts anew when it stagnates.
void search_firefly(SearchState& state, const SearchOptions& options) {
  const LevelSpace& space = state.space();
  const auto size = std::max<std::size_t>(options.population, 2);
  Random random(options.seed, "optimize/firefly");
  for (std::uint64_t epoch = 0; !state.finished(); ++epoch) {
    SearchOptions start = options;
    if (epoch > 0) start.start.clear();
    std::vector<Point> swarm = first_points(start, space, size, random);
    std::vector<Fitness> fitness = state.evaluate(swarm);
    FireflyMove move;
    Fitness epoch_best = fitness[brightest(fitness)];
    for (std::uint64_t stagnant = 0; stagnant < kSwarmStagnation && !state.finished();) {
      const std::uint64_t before = state.evaluations();
      std::vector<Point> moved;
      moved.reserve(size);
      for (std::size_t i = 0; i < size; ++i) {
        const std::size_t target = choose_brighter(i, swarm, fitness, space, move, random);
        Point point = move_towards(swarm[i], swarm[target], space, move, random);
        if (point == swarm[i]) mutate(point, space, usual_mutation_rate(space), random);
        moved.push_back(std::move(point));
      }
      const std::vector<Fitness> moved_fitness = state.evaluate(moved);
      const std::size_t leader = brightest(fitness);
      for (std::size_t i = 0; i < size; ++i) {
        const bool darker = better(fitness[i], moved_fitness[i]);
        if (darker && (i == leader || i % kWorsening != 0)) continue;
        swarm[i] = std::move(moved[i]);
        fitness[i] = moved_fitness[i];
      }
      const Fitness now = fitness[brightest(fitness)];
      const bool progress = better(now, epoch_best);
      if (progress) epoch_best = now;
      move.randomness = std::max(kLeastRandomness, move.randomness * kCooling);
      stagnant = progress ? 0 : stagnant + (state.evaluations() == before ? kSwarmStagnation / 4 : 1);
    }
  }
}

}  // namespace hindsight::optimize
