/// Search of a front: non-dominated sorting with crowding distance, and local search from the front found so far.
///
/// Source: [paper: deb-2002] sections III and VI: fronts, crowding distance, constraint domination; the local search
/// is that of [paper: paquete-2004].
/// Differs: of designs with equal metrics all but one go to later fronts, because on a discrete space they would crowd
/// out the rest; a population that finds nothing new is replaced; the archive keeps every non-dominated design, not a
/// population of them.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "hindsight/core/error.h"
#include "optimize/algorithms.h"
#include "optimize/operators.h"

namespace hindsight::optimize {
namespace {

constexpr std::uint64_t kFrontStagnation =
    40;  // [chosen] generations without a new member of the front before a restart
/// [chosen] Part of the evaluations that local search from the front gets, in 1 / this.
constexpr std::uint64_t kLocalShare = 20;
constexpr std::size_t kLeastPopulation = 4;  // [chosen] two parents that differ, and two more
constexpr int kLocalRadius = 1;  // [chosen] the nearest levels: the front of a discrete space hangs together by them

struct FrontPopulation {
  std::vector<Point> points;
  std::vector<Fitness> fitness;
};

/// Sum over the metrics of the gap between the neighbours of each point of a front, in shares of the front's range;
/// infinite at its ends.
std::vector<double> crowding_distances(const std::vector<MetricValues>& front) {
  std::vector<double> distance(front.size(), 0);
  std::vector<std::size_t> order(front.size());
  for (std::size_t m = 0; m < kMostMetrics; ++m) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return front[a][m] < front[b][m]; });
    const double range = front[order.back()][m] - front[order.front()][m];
    if (!(range > 0)) continue;
    distance[order.front()] = distance[order.back()] = std::numeric_limits<double>::infinity();
    for (std::size_t i = 1; i + 1 < order.size(); ++i) {
      distance[order[i]] += (front[order[i + 1]][m] - front[order[i - 1]][m]) / range;
    }
  }
  return distance;
}

/// `left` without the positions in `taken`.
void remove_all(std::vector<std::size_t>& left, const std::vector<std::size_t>& taken) {
  const std::set<std::size_t> gone(taken.begin(), taken.end());
  std::erase_if(left, [&](std::size_t i) { return gone.contains(i); });
}

/// At most `count` feasible members of `all`, front after front, the least crowded of each first.
std::vector<std::size_t> best_fronts(const FrontPopulation& all, std::vector<std::size_t> left, std::size_t count) {
  std::vector<std::size_t> kept;
  while (!left.empty() && kept.size() < count) {
    std::vector<MetricValues> points;
    for (const std::size_t i : left) points.push_back(all.fitness[i].metrics);
    std::vector<std::size_t> front = non_dominated(points);
    std::vector<MetricValues> metrics;
    for (std::size_t& i : front) {
      metrics.push_back(points[i]);
      i = left[i];
    }
    const std::vector<double> distance = crowding_distances(metrics);
    std::vector<std::size_t> order(front.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return distance[a] > distance[b]; });
    for (const std::size_t i : order) {
      if (kept.size() < count) kept.push_back(front[i]);
    }
    remove_all(left, front);
  }
  return kept;
}

/// The best `count` distinct members, best first: feasible ones by front and crowding, then the others by violation.
FrontPopulation survivors(const FrontPopulation& all, std::size_t count) {
  std::vector<std::size_t> feasible, infeasible;
  std::set<Point> seen;
  for (std::size_t i = 0; i < all.points.size(); ++i) {
    if (seen.insert(all.points[i]).second) (all.fitness[i].feasible() ? feasible : infeasible).push_back(i);
  }
  std::vector<std::size_t> order = best_fronts(all, std::move(feasible), count);
  std::stable_sort(infeasible.begin(), infeasible.end(),
                   [&](std::size_t a, std::size_t b) { return all.fitness[a].violation < all.fitness[b].violation; });
  for (const std::size_t i : infeasible) {
    if (order.size() < count) order.push_back(i);
  }
  FrontPopulation kept;
  for (const std::size_t i : order) {
    kept.points.push_back(all.points[i]);
    kept.fitness.push_back(all.fitness[i]);
  }
  return kept;
}

/// Of two members drawn the one that stands first.
const Point& parent_of(const FrontPopulation& parents, Random& random) {
  const std::uint64_t a = random.below(parents.points.size()), b = random.below(parents.points.size());
  return parents.points[std::min(a, b)];
}

std::vector<Point> children_of(const FrontPopulation& parents, const LevelSpace& space, std::size_t count,
                               Random& random) {
  std::vector<Point> children;
  for (std::size_t i = 0; i < count; ++i) {
    Point child = parent_of(parents, random);
    if (random.chance(kCrossover)) child = crossover(child, parent_of(parents, random), space, random);
    mutate(child, space, usual_mutation_rate(space), random);
    children.push_back(std::move(child));
  }
  return children;
}

void judge(SearchState& state, FrontPopulation& population, std::vector<Point> points, std::size_t keep) {
  const std::vector<Fitness> fitness = state.evaluate(points);
  population.points.insert(population.points.end(), points.begin(), points.end());
  population.fitness.insert(population.fitness.end(), fitness.begin(), fitness.end());
  population = survivors(population, keep);
}

std::vector<Point> front_points(const SearchState& state) {
  std::vector<Point> points;
  for (const FrontMember& member : state.front().members) points.push_back(state.space().nearest_point(member.design));
  return points;
}

/// One population after the other, each until it finds no new member of the front; every second one starts from the
/// front found so far.
void evolve(SearchState& state, std::size_t size, std::uint64_t until, Random& random) {
  const LevelSpace& space = state.space();
  for (std::uint64_t epoch = 0; !state.finished() && state.evaluations() < until; ++epoch) {
    std::vector<Point> first;
    if (epoch % 2 == 0) first = front_points(state);
    for (std::size_t i = 0; i < size; ++i) first.push_back(random_point(space, random));
    FrontPopulation population;
    judge(state, population, std::move(first), size);
    for (std::uint64_t stagnant = 0; stagnant < kFrontStagnation && !state.finished() && state.evaluations() < until;) {
      const std::uint64_t entries = state.front_entries(), judged = state.evaluations();
      judge(state, population, children_of(population, space, size, random), size);
      if (state.front_entries() > entries) {
        stagnant = 0;
      } else {
        stagnant += state.evaluations() == judged ? kFrontStagnation / 4 : 1;
      }
    }
  }
}

/// Judges the neighbours of the front's members until all of them are judged or the evaluations are used.
void search_neighbours(SearchState& state) {
  std::set<Point> expanded;
  while (!state.finished()) {
    std::vector<Point> points;
    for (const Point& point : front_points(state)) {
      if (!expanded.insert(point).second) continue;
      for (Point& neighbour : neighbours(point, state.space(), kLocalRadius)) points.push_back(std::move(neighbour));
    }
    if (points.empty()) return;
    state.evaluate(points);
  }
}

}  // namespace

void search_nondominated(SearchState& state, const SearchOptions& options) {
  const auto size = std::max<std::size_t>(options.population, kLeastPopulation);
  Random random(options.seed, "optimize/nondominated");
  std::vector<Point> starts;
  for (const space::Design& design : options.start) starts.push_back(state.space().nearest_point(design));
  state.evaluate(starts);
  evolve(state, size, options.evaluations - options.evaluations / kLocalShare, random);
  search_neighbours(state);
  evolve(state, size, options.evaluations, random);
}

Front search_front(const Problem& problem, std::size_t metrics, const SearchOptions& options) {
  HINDSIGHT_EXPECT(problem.space != nullptr && problem.model);
  HINDSIGHT_EXPECT(metrics >= 2 && metrics <= kMostMetrics);
  if (options.evaluations == 0) throw Error(ErrorKind::usage, "a search needs at least one evaluation");
  const bool enumerated = options.kind == SearchKind::enumeration;
  if (!enumerated && options.kind != SearchKind::evolutionary && options.kind != SearchKind::mixed) {
    throw Error(ErrorKind::usage, fmt::format("--search {} minimises one number; a front is found by evolutionary, or "
                                              "exactly by enumeration",
                                              to_string(options.kind)));
  }
  const LevelSpace space(*problem.space, problem.allowed);
  if (const auto size = size_of(problem, space); enumerated || (size && *size <= options.evaluations)) {
    return enumerate_front(problem, space, options);
  }
  SearchState state(problem, space, options, true);
  search_nondominated(state, options);
  return state.front();
}

}  // namespace hindsight::optimize
