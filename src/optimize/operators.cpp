/// Moves of one design.
#include "optimize/operators.h"

#include <algorithm>
#include <cmath>

namespace hindsight::optimize {
namespace {

/// [chosen] Longest step of a local mutation, in positions.
constexpr std::uint64_t kLongestStep = 2;
/// [chosen] Changes of a design that may break a constraint before its parameters are drawn again.
constexpr int kMutationTries = 8;

/// A position of `parameter` other than `position`, uniformly; at least two must exist.
std::uint16_t other_position(std::uint16_t position, std::size_t count, Random& random) {
  const auto drawn = static_cast<std::uint16_t>(random.below(count - 1));
  return static_cast<std::uint16_t>(drawn + (drawn >= position ? 1 : 0));
}

void mutate_parameter(Point& point, std::size_t p, const LevelSpace& space, Random& random) {
  const std::size_t count = space.count(p);
  if (space.is_ordinal(p) && random.chance(0.5)) {
    const int step = 1 + static_cast<int>(random.below(kLongestStep));
    const int moved = point[p] + (random.chance(0.5) ? step : -step);
    const int last = static_cast<int>(count) - 1;
    const int clamped = std::clamp(moved, 0, last);
    if (clamped != point[p]) {
      point[p] = static_cast<std::uint16_t>(clamped);
      return;
    }
  }
  point[p] = other_position(point[p], count, random);
}

void mutate_freely(Point& point, const LevelSpace& space, double rate, Random& random) {
  const auto& free = space.free_parameters();
  bool changed = false;
  for (const std::size_t p : free) {
    if (!random.chance(rate)) continue;
    mutate_parameter(point, p, space, random);
    changed = true;
  }
  if (!changed) mutate_parameter(point, free[random.below(free.size())], space, random);
}

/// Keeps those of `points` that are legal, and others than `from`, once their inactive parameters are settled.
void keep_legal(std::vector<Point>& points, const Point& from, const LevelSpace& space) {
  if (!space.is_constrained()) return;
  std::erase_if(points, [&](Point& point) { return !space.settle(point) || point == from; });
}

std::vector<Point> all_neighbours(const Point& point, const LevelSpace& space, int radius) {
  std::vector<Point> list;
  for (const std::size_t p : space.free_parameters()) {
    const int last = static_cast<int>(space.count(p)) - 1;
    const int low = space.is_ordinal(p) ? std::max(0, point[p] - radius) : 0;
    const int high = space.is_ordinal(p) ? std::min(last, point[p] + radius) : last;
    for (int position = low; position <= high; ++position) {
      if (position == point[p]) continue;
      list.push_back(point);
      list.back()[p] = static_cast<std::uint16_t>(position);
    }
  }
  return list;
}

}  // namespace

Point random_point(const LevelSpace& space, Random& random) {
  if (space.is_constrained()) return space.legal_point(random);
  Point point(space.dimensions(), 0);
  for (const std::size_t p : space.free_parameters()) {
    point[p] = static_cast<std::uint16_t>(random.below(space.count(p)));
  }
  return point;
}

std::size_t tournament(const std::vector<Fitness>& fitness, std::size_t size, Random& random) {
  std::size_t winner = random.below(fitness.size());
  for (std::size_t i = 1; i < size; ++i) {
    const std::size_t entrant = random.below(fitness.size());
    if (better(fitness[entrant], fitness[winner])) winner = entrant;
  }
  return winner;
}

Point crossover(const Point& a, const Point& b, const LevelSpace& space, Random& random) {
  Point child = a;
  if (space.is_constrained()) {
    std::vector<bool> from_b(child.size());  // per group, of which there are no more
    for (std::size_t group = 0; group < from_b.size(); ++group) from_b[group] = random.chance(0.5);
    for (std::size_t p = 0; p < child.size(); ++p) {
      if (from_b[space.group_of(p)]) child[p] = b[p];
    }
    return child;
  }
  for (std::size_t p = 0; p < child.size(); ++p) {
    if (random.chance(0.5)) child[p] = b[p];
  }
  return child;
}

void mutate(Point& point, const LevelSpace& space, double rate, Random& random) {
  const auto& free = space.free_parameters();
  if (free.empty()) return;
  if (!space.is_constrained()) {
    mutate_freely(point, space, rate, random);
    return;
  }
  for (int attempt = 0; attempt < kMutationTries; ++attempt) {
    Point mutated = point;
    mutate_freely(mutated, space, rate, random);
    if (!space.settle(mutated) || mutated == point) continue;
    point = std::move(mutated);
    return;
  }
  space.draw_group(point, free[random.below(free.size())], random);
}

double usual_mutation_rate(const LevelSpace& space) {
  return 1.0 / static_cast<double>(std::max<std::size_t>(space.free_parameters().size(), 1));
}

double attraction(const Point& a, const Point& b, const LevelSpace& space, const FireflyMove& move) {
  double sum = 0;
  for (const std::size_t p : space.free_parameters()) {
    const double span = space.is_ordinal(p) ? static_cast<double>(space.count(p) - 1) : 1;
    const double difference = space.is_ordinal(p) ? (a[p] - b[p]) / span : (a[p] == b[p] ? 0.0 : 1.0);
    sum += difference * difference;
  }
  const auto free = static_cast<double>(std::max<std::size_t>(space.free_parameters().size(), 1));
  return move.attractiveness * std::exp(-move.absorption * sum / free);
}

Point move_towards(const Point& from, const Point& to, const LevelSpace& space, const FireflyMove& move,
                   Random& random) {
  const double beta = attraction(from, to, space, move);
  Point moved = from;
  for (const std::size_t p : space.free_parameters()) {
    const std::size_t count = space.count(p);
    if (space.is_ordinal(p)) {
      const auto last = static_cast<double>(count - 1);
      const double target = from[p] + beta * (to[p] - from[p]) + move.randomness * last * (random.uniform() - 0.5);
      const double rounded = std::floor(target + random.uniform());
      moved[p] = static_cast<std::uint16_t>(std::clamp(rounded, 0.0, last));
    } else {
      if (random.chance(beta)) moved[p] = to[p];
      if (random.chance(move.randomness / 2)) moved[p] = static_cast<std::uint16_t>(random.below(count));
    }
  }
  return space.settle(moved) ? moved : from;
}

std::size_t choose_brighter(std::size_t self, const std::vector<Point>& swarm, const std::vector<Fitness>& fitness,
                            const LevelSpace& space, const FireflyMove& move, Random& random) {
  double total = 0;
  std::size_t chosen = self;
  for (std::size_t j = 0; j < swarm.size(); ++j) {
    if (!better(fitness[j], fitness[self])) continue;
    const double weight = attraction(swarm[self], swarm[j], space, move);
    total += weight;
    if (random.uniform() * total < weight) chosen = j;  // reservoir sampling by weight
  }
  return chosen;
}

std::vector<Point> neighbours(const Point& point, const LevelSpace& space, int radius) {
  std::vector<Point> list = all_neighbours(point, space, radius);
  keep_legal(list, point, space);
  return list;
}

std::vector<Point> pair_neighbours(const Point& point, const LevelSpace& space) {
  const std::vector<Point> single = all_neighbours(point, space, 1);  // the first of two moves may break a constraint
  std::vector<std::size_t> changed(single.size());
  for (std::size_t i = 0; i < single.size(); ++i) {
    const auto difference = std::mismatch(single[i].begin(), single[i].end(), point.begin());
    changed[i] = static_cast<std::size_t>(difference.first - single[i].begin());
  }
  std::vector<Point> list;
  for (std::size_t i = 0; i < single.size(); ++i) {
    for (std::size_t j = i + 1; j < single.size(); ++j) {
      if (changed[i] == changed[j]) continue;
      list.push_back(single[i]);
      list.back()[changed[j]] = single[j][changed[j]];
    }
  }
  keep_legal(list, point, space);
  return list;
}

}  // namespace hindsight::optimize
