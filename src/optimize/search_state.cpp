/// Budget, memory and the best designs of a search.
#include "optimize/search_state.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"

namespace hindsight::optimize {
namespace {

/// [chosen] Rows of one call of the problem's functions: a fraction of a second between two looks at Ctrl-C.
constexpr std::size_t kBlockRows = 4096;
/// [chosen] Judged designs that a search remembers: 4 million need about 300 MB. Later ones may be judged twice.
constexpr std::size_t kMostRemembered = std::size_t{1} << 22U;
/// [chosen] Batches in a row without a new design in a space with constraints, whose legal designs may not be counted:
/// then all within reach are judged.
constexpr std::uint64_t kMostFruitless = 1000;

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

double BestDesigns::cutoff() const {
  if (keep_ == 0 || entries_.size() < keep_ || !entries_.rbegin()->fitness.feasible()) {
    return std::numeric_limits<double>::infinity();
  }
  return entries_.rbegin()->fitness.score;
}

bool FrontArchive::offer(const std::uint16_t* levels, std::size_t count, const Fitness& fitness) {
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!fitness.feasible() || !std::all_of(fitness.metrics.begin(), fitness.metrics.end(), finite)) return false;
  const std::vector<std::uint16_t> own(levels, levels + count);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const bool equal = members_[i].metrics == fitness.metrics;
    if (equal && own < members_[i].design.levels) {
      members_[i].design.levels = own;
      return false;  // the front itself is what it was
    }
    if (!equal && !dominates(members_[i].metrics, fitness.metrics)) continue;
    std::swap(members_[i], members_[i / 2]);  // what rejects often is asked early
    return false;
  }
  std::erase_if(members_, [&](const FrontMember& other) { return dominates(fitness.metrics, other.metrics); });
  members_.push_back({.design = {own}, .metrics = fitness.metrics});
  return true;
}

void FrontArchive::merge(const FrontArchive& other) {
  for (const FrontMember& member : other.members_) {
    offer(member.design.levels.data(), member.design.levels.size(), {.violation = 0, .metrics = member.metrics});
  }
}

std::vector<FrontMember> FrontArchive::members() const {
  std::vector<FrontMember> sorted = members_;
  std::sort(sorted.begin(), sorted.end(),
            [](const FrontMember& a, const FrontMember& b) { return a.metrics < b.metrics; });
  return sorted;
}

SearchState::SearchState(const Problem& problem, const LevelSpace& space, const SearchOptions& options, bool front)
    : judge_(problem),
      space_(space),
      budget_(options.evaluations),
      archive_(options.keep),
      keeps_front_(front),
      smallest_(problem.constraints.size(), std::numeric_limits<double>::infinity()) {}

bool SearchState::finished() const {
  return interrupted_ || evaluations_ >= budget_ || (space_.numbers() && memory_.size() >= *space_.numbers()) ||
         fruitless_ >= kMostFruitless;
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
      const std::uint16_t* design = levels.data() + i * space_.dimensions();
      archive_.offer(design, space_.dimensions(), fitness[i]);
      if (keeps_front_ && front_.offer(design, space_.dimensions(), fitness[i])) ++front_entries_;
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
  fruitless_ = fresh.empty() && space_.is_constrained() ? fruitless_ + 1 : 0;
  judge_new(fresh, fresh_keys);
  std::vector<Fitness> fitness(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto found = memory_.find(keys[i]);
    if (found != memory_.end()) fitness[i] = found->second;
  }
  return fitness;
}

Termination SearchState::termination() const {
  if (interrupted_) return Termination::interrupted;
  const bool complete = space_.numbers() && evaluations_ >= *space_.numbers();
  return complete ? Termination::enumerated : Termination::evaluations_used;
}

Solution SearchState::solution() const {
  return {.best = archive_.candidates(),
          .evaluations = evaluations_,
          .termination = termination(),
          .smallest_constraint_value = smallest_};
}

Front SearchState::front() const {
  return {.members = front_.members(), .evaluations = evaluations_, .termination = termination()};
}

}  // namespace hindsight::optimize
