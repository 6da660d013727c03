/// Budget, memory and the best designs of a search.
#include "optimize/search_state.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"

namespace hindsight::optimize {
namespace {

/// [chosen] Rows of one call of the problem's functions: a fraction of a second between two looks at Ctrl-C.
constexpr std::size_t kBlockRows = 4096;
/// [chosen] Judged designs that a search remembers: 4 million need about 200 MB. Later ones may be judged twice.
constexpr std::size_t kMostRemembered = std::size_t{1} << 22U;

}  // namespace

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
    : judge_(problem),
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
    const std::vector<Fitness> fitness = judge_.fitness(levels, smallest_);
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
