/// Designs within the constraints that need no simulator.
#include "optimize/cheap_designs.h"

#include <algorithm>
#include <limits>

#include "hindsight/core/error.h"
#include "optimize/algorithms.h"
#include "optimize/judge.h"
#include "optimize/operators.h"

namespace hindsight::optimize {
namespace {

constexpr std::uint64_t kMostListed = 200'000;      // [chosen] designs whose constraints are judged beforehand
constexpr std::uint64_t kListBlock = 4096;          // [chosen] rows per call of the constraints
constexpr std::size_t kDrawBlock = 256;             // [chosen] rows per call of the constraints
constexpr std::size_t kFruitlessDraws = 50'000;     // [chosen] then less than one design in 10,000 is within them
constexpr std::size_t kFruitlessSteps = 20'000;     // [chosen] of the walk, then nothing new is within reach
constexpr std::uint64_t kSeedEvaluations = 50'000;  // [chosen] of the search for a first design within them
constexpr std::size_t kMostKnown = 4096;            // [chosen] designs that the walk can start from

}  // namespace

CheapDesigns::CheapDesigns(const Problem& problem, const LevelSpace& space, std::uint64_t seed)
    : problem_(problem), space_(space), random_(seed, "optimize/online/designs") {
  problem_.model = [](const LevelMatrix& levels) {  // every constraint has a function: online.h
    return Learned{.score = Eigen::VectorXd::Zero(levels.rows()), .values = {}};
  };
  if (space_.numbers() && *space_.numbers() <= kMostListed) {
    list_all();
  } else if (const auto first = draw()) {
    drawn_.push_back(*first);
  } else {
    seed_walk(seed);
  }
}

void CheapDesigns::list_all() {
  listed_ = true;
  std::vector<double> smallest(problem_.constraints.size(), std::numeric_limits<double>::infinity());
  Candidate nearest{.design = {}, .violation = std::numeric_limits<double>::infinity()};
  for (std::uint64_t begin = 0; begin < *space_.numbers(); begin += kListBlock) {
    const std::uint64_t end = std::min(*space_.numbers(), begin + kListBlock);
    LevelMatrix levels(static_cast<Eigen::Index>(end - begin), static_cast<Eigen::Index>(space_.dimensions()));
    for (std::uint64_t i = begin; i < end; ++i) {
      space_.levels_of(i, levels.data() + (i - begin) * space_.dimensions());
    }
    const std::vector<Fitness> fitness = Judge(problem_).fitness(levels, smallest);
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint16_t* design = levels.data() + (i - begin) * space_.dimensions();
      if (!space_.is_legal(design)) continue;
      if (fitness[i - begin].feasible()) list_.push_back(i);
      if (fitness[i - begin].violation >= nearest.violation) continue;
      nearest.violation = fitness[i - begin].violation;
      nearest.design.levels.assign(design, design + space_.dimensions());
    }
  }
  if (!list_.empty()) return;
  std::vector<Candidate> best;
  if (!nearest.design.levels.empty()) best.push_back(nearest);
  const Solution solution{.best = best,
                          .evaluations = *space_.numbers(),
                          .termination = Termination::enumerated,
                          .smallest_constraint_value = smallest};
  throw Error(ErrorKind::no_feasible, explain_infeasible(problem_, solution, {.start = {}}));
}

void CheapDesigns::seed_walk(std::uint64_t seed) {
  const SearchOptions options{
      .kind = SearchKind::evolutionary, .evaluations = kSeedEvaluations, .seed = seed, .start = {}};
  Solution solution = search(problem_, options);
  const auto is_found = [&] { return !solution.best.empty() && solution.best.front().violation <= 0; };
  if (!is_found() && solution.termination != Termination::interrupted)
    solution = search_on(problem_, solution, options);
  for (const Candidate& candidate : solution.best) {
    if (candidate.violation <= 0) known_.push_back(space_.nearest_point(candidate.design));
  }
  if (!known_.empty()) {
    walking_ = true;
    return;
  }
  fail_interrupted();
}

std::vector<Point> CheapDesigns::open(const std::vector<Point>& points) const {
  std::vector<Point> fresh;
  for (const Point& point : points) {
    if (!taken_.contains(space_.key(point))) fresh.push_back(point);
  }
  if (problem_.constraints.empty() || fresh.empty()) return fresh;
  std::vector<double> smallest(problem_.constraints.size(), std::numeric_limits<double>::infinity());
  const std::vector<Fitness> fitness = Judge(problem_).fitness(space_.levels_of(fresh), smallest);
  std::vector<Point> within;
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    if (fitness[i].feasible()) within.push_back(std::move(fresh[i]));
  }
  return within;
}

std::optional<Point> CheapDesigns::random() {
  while (listed_ && !list_.empty()) {
    const std::size_t i = random_.below(list_.size());
    Point point = space_.point_of(list_[i]);
    if (!taken_.contains(space_.key(point))) return point;
    list_[i] = list_.back();
    list_.pop_back();
  }
  if (listed_) return std::nullopt;
  if (!walking_) {
    if (auto point = draw()) return point;
    walking_ = true;
  }
  return walk();
}

std::optional<Point> CheapDesigns::draw() {
  for (std::size_t draws = 0; draws <= kFruitlessDraws; draws += kDrawBlock) {
    while (!drawn_.empty()) {
      Point point = std::move(drawn_.back());
      drawn_.pop_back();
      if (!taken_.contains(space_.key(point))) return point;
    }
    std::vector<Point> block;
    for (std::size_t i = 0; i < kDrawBlock; ++i) block.push_back(random_point(space_, random_));
    drawn_ = open(block);
  }
  return std::nullopt;
}

std::optional<Point> CheapDesigns::walk() {
  if (known_.empty()) return std::nullopt;
  for (std::size_t steps = 0; steps < kFruitlessSteps; steps += kDrawBlock) {
    std::vector<Point> block;
    for (std::size_t i = 0; i < kDrawBlock; ++i) {
      block.push_back(known_[random_.below(known_.size())]);
      if (steps > 0 || i > 0) mutate(block.back(), space_, 2 * usual_mutation_rate(space_), random_);
    }
    const std::vector<Point> within = open(block);
    if (within.empty()) continue;
    const Point& chosen = within[random_.below(within.size())];
    if (known_.size() < kMostKnown) known_.push_back(chosen);
    return chosen;
  }
  return std::nullopt;
}

void CheapDesigns::take(const Point& point) {
  taken_.insert(space_.key(point));
  if (!listed_ && known_.size() < kMostKnown) known_.push_back(point);
}

}  // namespace hindsight::optimize
