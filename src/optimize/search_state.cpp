/// Judging designs in batches.
#include "optimize/search_state.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"

namespace hindsight::optimize {
namespace {

/// [chosen] Rows of one call of the problem's functions: a fraction of a second between two looks at Ctrl-C.
constexpr std::size_t kBlockRows = 4096;
/// [chosen] Judged designs that a search remembers: 4 million need about 200 MB. Later ones may be judged twice.
constexpr std::size_t kMostRemembered = std::size_t{1} << 22U;

/// Equation: excess = max(0, value - limit) / |limit|, or the difference itself for a limit of 0.
double relative_excess(double value, double limit) {
  if (std::isnan(value)) return std::numeric_limits<double>::infinity();
  if (value <= limit) return 0;
  return (value - limit) / (limit == 0 ? 1 : std::abs(limit));
}

Eigen::VectorXd values_of(const std::function<Eigen::VectorXd(const LevelMatrix&)>& function,
                          const LevelMatrix& levels) {
  Eigen::VectorXd values = function(levels);
  HINDSIGHT_EXPECT(values.size() == levels.rows());
  return values;
}

/// Adds the excess of constraint `c` to the fitness of the rows `rows` of the whole batch.
void add_excess(const Constraint& constraint, const LevelMatrix& levels, const std::vector<std::size_t>& rows,
                std::vector<Fitness>& fitness, double& smallest) {
  const Eigen::VectorXd values = values_of(constraint.value, levels);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double value = values[static_cast<Eigen::Index>(i)];
    fitness[rows[i]].violation += relative_excess(value, constraint.limit);
    if (value < smallest) smallest = value;
  }
}

}  // namespace

bool better(const Fitness& a, const Fitness& b) {
  if (a.feasible() != b.feasible()) return a.feasible();
  return a.feasible() ? a.score < b.score : a.violation < b.violation;
}

std::vector<Fitness> judge(const Problem& problem, const LevelMatrix& levels, std::vector<double>& smallest) {
  HINDSIGHT_EXPECT(smallest.size() == problem.constraints.size());
  const auto n = static_cast<std::size_t>(levels.rows());
  std::vector<Fitness> fitness(n, Fitness{.violation = 0});
  std::vector<std::size_t> rows(n);
  for (std::size_t i = 0; i < n; ++i) rows[i] = i;
  double learned_count = 0;
  for (std::size_t c = 0; c < problem.constraints.size(); ++c) {
    if (problem.constraints[c].learned) {
      learned_count += 1;
    } else {
      add_excess(problem.constraints[c], levels, rows, fitness, smallest[c]);
    }
  }
  std::erase_if(rows, [&](std::size_t row) { return !fitness[row].feasible(); });
  for (Fitness& entry : fitness) {
    if (!entry.feasible()) entry.violation += learned_count;
  }
  if (rows.empty()) return fitness;
  LevelMatrix within;
  if (rows.size() < n) {
    within.resize(static_cast<Eigen::Index>(rows.size()), levels.cols());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      within.row(static_cast<Eigen::Index>(i)) = levels.row(static_cast<Eigen::Index>(rows[i]));
    }
  }
  const LevelMatrix& scored = rows.size() < n ? within : levels;
  for (std::size_t c = 0; c < problem.constraints.size(); ++c) {
    if (problem.constraints[c].learned) add_excess(problem.constraints[c], scored, rows, fitness, smallest[c]);
  }
  const Eigen::VectorXd scores = values_of(problem.score, scored);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double score = scores[static_cast<Eigen::Index>(i)];
    if (!std::isnan(score)) fitness[rows[i]].score = score;
  }
  return fitness;
}

bool BestDesigns::Entry::operator<(const Entry& other) const {
  if (better(fitness, other.fitness)) return true;
  if (better(other.fitness, fitness)) return false;
  return levels < other.levels;
}

void BestDesigns::offer(const std::uint16_t* levels, std::size_t count, const Fitness& fitness) {
  const bool full = entries_.size() >= keep_;
  if (keep_ == 0 || (full && better(std::prev(entries_.end())->fitness, fitness))) return;
  entries_.insert(Entry{fitness, std::vector<std::uint16_t>(levels, levels + count)});
  if (entries_.size() > keep_) entries_.erase(std::prev(entries_.end()));
}

void BestDesigns::merge(const BestDesigns& other) {
  for (const Entry& entry : other.entries_) offer(entry.levels.data(), entry.levels.size(), entry.fitness);
}

std::vector<Candidate> BestDesigns::candidates() const {
  std::vector<Candidate> list;
  list.reserve(entries_.size());
  for (const Entry& entry : entries_) {
    list.push_back({.design = {entry.levels}, .score = entry.fitness.score, .violation = entry.fitness.violation});
  }
  return list;
}

SearchState::SearchState(const Problem& problem, const LevelSpace& space, const SearchOptions& options)
    : problem_(problem),
      space_(space),
      budget_(options.evaluations),
      archive_(options.keep),
      smallest_(problem.constraints.size(), std::numeric_limits<double>::infinity()) {}

bool SearchState::finished() const {
  return interrupted_ || evaluations_ >= budget_ || (space_.size() && memory_.size() >= *space_.size());
}

void SearchState::judge_new(const std::vector<Point>& points, const std::vector<std::uint64_t>& keys) {
  for (std::size_t begin = 0; begin < points.size(); begin += kBlockRows) {
    interrupted_ = interrupted_ || interrupt_requested();
    if (interrupted_) return;
    const std::size_t end = std::min(points.size(), begin + kBlockRows);
    const std::vector<Point> block(points.begin() + static_cast<std::ptrdiff_t>(begin),
                                   points.begin() + static_cast<std::ptrdiff_t>(end));
    const LevelMatrix levels = space_.levels_of(block);
    const std::vector<Fitness> fitness = judge(problem_, levels, smallest_);
    evaluations_ += block.size();
    for (std::size_t i = 0; i < block.size(); ++i) {
      archive_.offer(levels.data() + i * space_.dimensions(), space_.dimensions(), fitness[i]);
      if (better(fitness[i], best_)) best_ = fitness[i];
      memory_[keys[begin + i]] = fitness[i];
    }
  }
}

std::vector<Fitness> SearchState::evaluate(const std::vector<Point>& points) {
  if (memory_.size() >= kMostRemembered) memory_.clear();
  std::vector<std::uint64_t> keys(points.size());
  std::vector<Point> fresh;
  std::vector<std::uint64_t> fresh_keys;
  const std::uint64_t left = budget_ - std::min(budget_, evaluations_);
  for (std::size_t i = 0; i < points.size(); ++i) {
    keys[i] = space_.key(points[i]);
    if (fresh.size() < left && memory_.try_emplace(keys[i]).second) {
      fresh.push_back(points[i]);
      fresh_keys.push_back(keys[i]);
    }
  }
  judge_new(fresh, fresh_keys);
  std::vector<Fitness> fitness(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto found = memory_.find(keys[i]);
    if (found != memory_.end()) fitness[i] = found->second;
  }
  return fitness;
}

Solution SearchState::solution() const {
  const bool complete = space_.size() && evaluations_ >= *space_.size();
  return {.best = archive_.candidates(),
          .evaluations = evaluations_,
          .termination = interrupted_ ? Termination::interrupted
                         : complete   ? Termination::enumerated
                                      : Termination::evaluations_used,
          .smallest_constraint_value = smallest_};
}

}  // namespace hindsight::optimize
