/// Backtracking over the parameters of a group, with intervals.
#include "space/group_search.h"

#include <algorithm>
#include <limits>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "space/overdue.h"

namespace hindsight::space {
namespace {
constexpr std::uint64_t kTooMany = std::numeric_limits<std::uint64_t>::max();
constexpr double kLargestRank = 9e18;  // below 2^63
}  // namespace

GroupSearch::GroupSearch(const Rules& rules, const AllowedLevels& allowed, std::span<const std::size_t> parameters,
                         std::span<const std::size_t> checks)
    : rules_(rules),
      allowed_(allowed),
      parameters_(parameters),
      checks_(checks),
      checks_of_(parameters.size()),
      suffix_(parameters.size() + 1, 1),
      levels_(allowed.size()),
      met_(checks.size(), false) {
  for (const std::vector<std::uint16_t>& levels : allowed) box_.emplace_back(levels);
  for (std::size_t p = 0; p < allowed.size(); ++p) levels_[p] = allowed[p].front();
  for (std::size_t depth = parameters.size(); depth-- > 0;) {
    suffix_[depth] = suffix_[depth + 1] * static_cast<double>(allowed[parameters[depth]].size());
  }
  std::vector<std::size_t> depth_of(allowed.size(), parameters.size());
  for (std::size_t depth = 0; depth < parameters.size(); ++depth) depth_of[parameters[depth]] = depth;
  for (std::size_t c = 0; c < checks.size(); ++c) {
    for (const std::size_t p : rules.checks()[checks[c]].parameters) {
      if (depth_of[p] < parameters.size()) checks_of_[depth_of[p]].push_back(c);
    }
  }
}

void GroupSearch::start(Purpose purpose, std::uint64_t budget) {
  purpose_ = purpose;
  visits_ = 0;
  budget_ = budget;
  out_of_budget_ = false;
  ranks_.clear();
  counted_ = 0;
}

bool GroupSearch::fix(std::size_t depth, std::size_t position) {
  const std::size_t p = parameters_[depth];
  box_[p] = std::span(allowed_[p]).subspan(position, 1);
  levels_[p] = allowed_[p][position];
  for (const std::size_t c : checks_of_[depth]) {
    if (met_[c]) continue;
    stop_if_asked();
    visits_ += rules_.checks()[checks_[c]].expression.operations();
    switch (rules_.on_box(rules_.checks()[checks_[c]], box_)) {
      case Rules::OnBox::all_break:
        return false;
      case Rules::OnBox::all_meet:
        met_[c] = true;
        decided_.push_back(c);
        break;
      case Rules::OnBox::mixed:
        break;
    }
  }
  return true;
}

void GroupSearch::release(std::size_t depth, std::size_t decided_before) {
  box_[parameters_[depth]] = allowed_[parameters_[depth]];
  for (; decided_.size() > decided_before; decided_.pop_back()) met_[decided_.back()] = false;
}

/// Of rules with thousands of operations a step takes milliseconds.
void GroupSearch::stop_if_asked() const {
  if (purpose_ == Purpose::find) return stop_draws_if_overdue();
  if (interrupt_requested()) throw Error(ErrorKind::interrupted, "interrupted while legal designs were counted");
}

bool GroupSearch::arrive(std::uint64_t rank) {
  stop_if_asked();
  const bool legal = decided_.size() == checks_.size() || rules_.meets(levels_, checks_);
  if (!legal) return true;
  switch (purpose_) {
    case Purpose::list:
      ranks_.push_back(rank);
      return ranks_.size() <= room_;
    case Purpose::count:
      if (counted_ < kTooMany) ++counted_;
      return true;
    case Purpose::find:
      break;
  }
  counted_ = 1;
  return false;
}

bool GroupSearch::walk(std::size_t depth, std::uint64_t rank) {
  if (depth == parameters_.size()) return arrive(rank);
  if (purpose_ == Purpose::count && decided_.size() == checks_.size()) {
    const double all = static_cast<double>(counted_) + suffix_[depth];
    counted_ = all < kLargestRank ? counted_ + static_cast<std::uint64_t>(suffix_[depth]) : kTooMany;
    return true;
  }
  const std::size_t count = allowed_[parameters_[depth]].size();
  const std::size_t first = below_ != nullptr ? (*below_)(count) : 0;
  const std::size_t decided_before = decided_.size();
  bool goes_on = true;
  for (std::size_t i = 0; i < count && goes_on; ++i) {
    if (visits_++ > budget_) {
      out_of_budget_ = true;
      goes_on = false;
      break;
    }
    const std::size_t position = (first + i) % count;
    if (fix(depth, position)) goes_on = walk(depth + 1, rank * count + position);
    release(depth, decided_before);
  }
  return goes_on;
}

std::optional<std::vector<std::uint64_t>> GroupSearch::list(std::size_t room, std::uint64_t budget) {
  if (suffix_.front() > kLargestRank) return std::nullopt;  // no rank would fit
  start(Purpose::list, budget);
  room_ = room;
  walk(0, 0);
  if (out_of_budget_ || ranks_.size() > room) return std::nullopt;
  return std::move(ranks_);
}

std::optional<std::uint64_t> GroupSearch::count(std::uint64_t budget) {
  start(Purpose::count, budget);
  walk(0, 0);
  if (out_of_budget_) return std::nullopt;
  return counted_;
}

std::optional<bool> GroupSearch::find(std::span<std::uint16_t> levels, const Below& below, std::uint64_t budget) {
  start(Purpose::find, budget);
  below_ = &below;
  walk(0, 0);
  below_ = nullptr;
  if (out_of_budget_) return std::nullopt;
  if (counted_ == 0) return false;
  for (const std::size_t p : parameters_) levels[p] = levels_[p];
  return true;
}

std::vector<std::uint64_t> GroupSearch::list_beginnings(std::size_t room, std::size_t& length) {
  std::vector<std::uint64_t> ranks = {0};
  length = 0;
  for (std::size_t depth = 0; depth < parameters_.size(); ++depth) {
    const std::size_t count = allowed_[parameters_[depth]].size();
    if (static_cast<double>(ranks.back() + 1) * static_cast<double>(count) > kLargestRank) return ranks;
    std::vector<std::uint64_t> longer;
    for (const std::uint64_t rank : ranks) {
      std::uint64_t rest = rank;
      for (std::size_t before = depth; before-- > 0;) {
        const std::size_t p = parameters_[before];
        box_[p] = std::span(allowed_[p]).subspan(rest % allowed_[p].size(), 1);
        rest /= allowed_[p].size();
      }
      for (std::size_t position = 0; position < count; ++position) {
        if (fix(depth, position)) longer.push_back(rank * count + position);
        release(depth, 0);
      }
      if (longer.size() > room) break;
    }
    for (std::size_t before = 0; before < depth; ++before) release(before, 0);
    if (longer.size() > room) return ranks;
    ranks = std::move(longer);
    length = depth + 1;
    if (ranks.empty()) return ranks;
  }
  return ranks;
}

}  // namespace hindsight::space
