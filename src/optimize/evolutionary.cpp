/// Evolutionary search: tournaments, uniform crossover, mutation by steps or uniformly, elitism.
#include <algorithm>
#include <numeric>
#include <set>

#include "optimize/algorithms.h"
#include "optimize/operators.h"

namespace hindsight::optimize {
namespace {

constexpr std::size_t kTournament = 2;        // [chosen] the weakest pressure, as survival is by truncation already
constexpr std::uint64_t kStagnation = 40;     // [chosen] generations without a better design before a restart
constexpr std::uint64_t kImmigrantShare = 8;  // [chosen] one child in 8 of a generation without news is random

struct Population {
  std::vector<Point> points;
  std::vector<Fitness> fitness;
};

/// The best `count` distinct members, best first; the earlier one where two are equal.
Population survivors(const Population& all, std::size_t count) {
  std::vector<std::size_t> order(all.points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return better(all.fitness[a], all.fitness[b]); });
  Population kept;
  std::set<Point> seen;
  for (const std::size_t i : order) {
    if (kept.points.size() == count) break;
    if (!seen.insert(all.points[i]).second) continue;
    kept.points.push_back(all.points[i]);
    kept.fitness.push_back(all.fitness[i]);
  }
  return kept;
}

std::vector<Point> children_of(const Population& parents, const LevelSpace& space, std::size_t count, bool immigrants,
                               Random& random) {
  const double rate = usual_mutation_rate(space);
  std::vector<Point> children;
  children.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (immigrants && i % kImmigrantShare == 0) {
      children.push_back(random_point(space, random));
      continue;
    }
    Point child = parents.points[tournament(parents.fitness, kTournament, random)];
    if (random.chance(kCrossover)) {
      child = crossover(child, parents.points[tournament(parents.fitness, kTournament, random)], space, random);
    }
    mutate(child, space, rate, random);
    children.push_back(std::move(child));
  }
  return children;
}

}  // namespace

/// One population after the other: each runs until it stagnates, the next starts from random designs. The first one
/// also has the given designs, every second one the best design so far.
void search_evolutionary(SearchState& state, const SearchOptions& options) {
  const LevelSpace& space = state.space();
  const auto size = std::max<std::size_t>(options.population, 2);
  Random random(options.seed, "optimize/evolutionary");
  Point best;
  Fitness best_fitness;
  for (std::uint64_t epoch = 0; !state.finished(); ++epoch) {
    Population population;
    SearchOptions start = options;
    if (epoch > 0) start.start.clear();
    population.points = first_points(start, space, size, random);
    if (epoch % 2 == 1) population.points.front() = best;
    population.fitness = state.evaluate(population.points);
    population = survivors(population, size);
    Fitness epoch_best = population.fitness.front();
    for (std::uint64_t stagnant = 0; stagnant < kStagnation && !state.finished();) {
      const std::uint64_t before = state.evaluations();
      std::vector<Point> children = children_of(population, space, size, stagnant > 0, random);
      const std::vector<Fitness> fitness = state.evaluate(children);
      population.points.insert(population.points.end(), children.begin(), children.end());
      population.fitness.insert(population.fitness.end(), fitness.begin(), fitness.end());
      population = survivors(population, size);
      const bool progress = better(population.fitness.front(), epoch_best);
      epoch_best = population.fitness.front();
      stagnant = progress ? 0 : stagnant + (state.evaluations() == before ? kStagnation / 4 : 1);
    }
    if (epoch == 0 || better(population.fitness.front(), best_fitness)) {
      best = population.points.front();
      best_fitness = population.fitness.front();
    }
  }
}

}  // namespace hindsight::optimize
