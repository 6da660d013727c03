/// Local search: steepest descent with restarts.
#include <algorithm>

#include "optimize/algorithms.h"
#include "optimize/operators.h"

namespace hindsight::optimize {
namespace {

constexpr std::size_t kWalkers = 8;  // [chosen] descents side by side: one batch holds the neighbours of all
constexpr double kKickRate = 0.3;    // [chosen] share of the parameters that a restart near the best design changes

/// Neighbourhoods in the order they are tried; the next one only where the one before has nothing better.
enum class Reach { one_level, two_levels, two_parameters, exhausted };

std::vector<Point> within_reach(const Point& point, const LevelSpace& space, Reach reach) {
  switch (reach) {
    case Reach::one_level:
      return neighbours(point, space, 1);
    case Reach::two_levels:
      return neighbours(point, space, 2);
    case Reach::two_parameters:
      return pair_neighbours(point, space);
    case Reach::exhausted:
      break;
  }
  return {};
}

struct Walker {
  Point point;
  Fitness fitness;
  Reach reach = Reach::one_level;

  /// Moves to the best of `candidates`, or looks further when none is better.
  void advance(const std::vector<Point>& candidates, const Fitness* candidate_fitness) {
    std::size_t best = candidates.size();
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const Fitness& limit = best == candidates.size() ? fitness : candidate_fitness[best];
      if (better(candidate_fitness[i], limit)) best = i;
    }
    if (best == candidates.size()) {
      reach = static_cast<Reach>(static_cast<int>(reach) + 1);
      return;
    }
    point = candidates[best];
    fitness = candidate_fitness[best];
    reach = Reach::one_level;
  }
};

/// Where the next descents begin.
class Restarts {
 public:
  Restarts(const LevelSpace& space, const SearchOptions& options)
      : space_(space), random_(options.seed, "optimize/local") {
    for (auto design = options.start.rbegin(); design != options.start.rend(); ++design) {
      given_.push_back(space.nearest_point(*design));
    }
  }
  /// The given designs in their order, then in turn a random design and the best one with a few parameters changed.
  Point next() {
    if (!given_.empty()) {
      Point point = given_.back();
      given_.pop_back();
      return point;
    }
    ++restarts_;
    if (best_.point.empty() || restarts_ % 2 == 1) return random_point(space_, random_);
    Point point = best_.point;
    mutate(point, space_, kKickRate, random_);
    return point;
  }
  void note(const Walker& walker) {
    if (best_.point.empty() || better(walker.fitness, best_.fitness)) best_ = walker;
  }

 private:
  const LevelSpace& space_;
  Random random_;
  std::vector<Point> given_;
  Walker best_;
  std::uint64_t restarts_ = 0;
};

}  // namespace

void search_local(SearchState& state, const SearchOptions& options) {
  const LevelSpace& space = state.space();
  Restarts restarts(space, options);
  std::vector<Walker> walkers(kWalkers);
  for (Walker& walker : walkers) walker.reach = Reach::exhausted;
  while (!state.finished()) {
    std::vector<std::size_t> idle;
    std::vector<Point> begin;
    for (std::size_t w = 0; w < walkers.size(); ++w) {
      if (walkers[w].reach != Reach::exhausted) continue;
      if (!walkers[w].point.empty()) restarts.note(walkers[w]);
      idle.push_back(w);
      begin.push_back(restarts.next());
    }
    const std::vector<Fitness> begin_fitness = state.evaluate(begin);
    for (std::size_t i = 0; i < idle.size(); ++i) walkers[idle[i]] = {.point = begin[i], .fitness = begin_fitness[i]};

    std::vector<std::vector<Point>> reachable;
    std::vector<Point> batch;
    for (const Walker& walker : walkers) {
      reachable.push_back(within_reach(walker.point, space, walker.reach));
      batch.insert(batch.end(), reachable.back().begin(), reachable.back().end());
    }
    const std::vector<Fitness> fitness = state.evaluate(batch);
    std::size_t offset = 0;
    for (std::size_t w = 0; w < walkers.size(); ++w) {
      walkers[w].advance(reachable[w], fitness.data() + offset);
      offset += reachable[w].size();
    }
  }
}

}  // namespace hindsight::optimize
