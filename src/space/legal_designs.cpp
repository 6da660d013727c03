/// Groups of parameters that constraints tie together, and draws from them.
#include "hindsight/space/legal_designs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "hindsight/core/error.h"
#include "hindsight/core/patience.h"
#include "hindsight/core/random.h"
#include "hindsight/core/text.h"
#include "space/group_search.h"
#include "space/overdue.h"
#include "space/validation.h"

namespace hindsight::space {
namespace {

constexpr std::uint64_t kLargestCount = std::numeric_limits<std::int64_t>::max();
constexpr double kFewCombinations = 65'536;         // [chosen] listed without a look at the share: 10 ms
constexpr std::uint64_t kLookedAt = 4096;           // [chosen] draws that estimate the share of legal combinations
constexpr std::uint64_t kGoodShare = 16;            // [chosen] one legal in 16: drawing again costs 16 checks, 1 us
constexpr std::uint64_t kListBudget = 100'000'000;  // [chosen] steps: about 1 s
constexpr std::uint64_t kCompleteBudget = 500'000'000;
constexpr std::size_t kMostBeginnings = 1U << 18U;  // [chosen] 2 MiB
constexpr std::uint64_t kFindBudget = 10'000'000;   // [chosen] steps of the search for one combination: 0.1 s
constexpr std::uint64_t kEstimateDraws = 200'000;   // [chosen] the error of a share of 1 in 100 is 4.4 %
constexpr double kTwoSigma = 1.96;                  // of 95 of 100
constexpr double kNoneSeen = 3;                     // none of n seen: the share is below 3 / n in 95 of 100

AllowedLevels all_allowed(const Rules& rules, const AllowedLevels& allowed) {
  const std::vector<Parameter>& parameters = rules.parameters();
  HINDSIGHT_EXPECT(allowed.empty() || allowed.size() == parameters.size());
  AllowedLevels full(parameters.size());
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (!allowed.empty()) full[p] = allowed[p];
    if (!full[p].empty()) continue;
    full[p].resize(parameters[p].level_count());
    std::iota(full[p].begin(), full[p].end(), std::uint16_t{0});
  }
  return full;
}

/// The groups that some checks make of all parameters: for each its parameters and its checks, ascending, by the first
/// parameter.
struct Tied {
  std::vector<std::size_t> parameters, checks;
};
std::vector<Tied> tie(const Rules& rules, std::span<const std::size_t> checks) {
  std::vector<std::size_t> root(rules.parameters().size());
  std::iota(root.begin(), root.end(), std::size_t{0});
  const auto find = [&](std::size_t p) {
    while (root[p] != p) p = root[p] = root[root[p]];
    return p;
  };
  for (const std::size_t c : checks) {
    const std::vector<std::size_t>& deciding = rules.checks()[c].parameters;
    for (const std::size_t p : deciding) {
      const std::size_t a = find(deciding.front()), b = find(p);
      root[std::max(a, b)] = std::min(a, b);
    }
  }
  std::vector<Tied> groups(root.size());
  for (std::size_t p = 0; p < root.size(); ++p) groups[find(p)].parameters.push_back(p);
  for (const std::size_t c : checks) groups[find(rules.checks()[c].parameters.front())].checks.push_back(c);
  std::erase_if(groups, [](const Tied& group) { return group.parameters.empty(); });
  return groups;
}

std::vector<std::size_t> all_checks(const Rules& rules) {
  std::vector<std::size_t> all(rules.checks().size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

/// Error{no_feasible}: the first check that leaves nothing, alone or with those before it.
[[noreturn]] void fail_empty(const Rules& rules, const AllowedLevels& allowed, bool restricted) {
  const auto refuse = [&](const Rules::Check& check, const char* together) {
    const std::string place = check.origin.file.empty() ? "" : fmt::format(" ({})", check.origin.at(0));
    throw Error(ErrorKind::no_feasible,
                fmt::format("no design of space {}{} meets its constraints: '{}'{} leaves none{}. Relax it{}?",
                            in_quotes(rules.space()), restricted ? " with the values that are allowed" : "",
                            printable(check.text, 200), place, together, restricted ? ", or allow more values" : ""));
  };
  const std::vector<std::size_t> all = all_checks(rules);
  for (const std::size_t i : all) {
    if (count_legal(rules, allowed, std::span(all).subspan(i, 1), kFindBudget).exact == 0)
      refuse(rules.checks()[i], "");
  }
  for (std::size_t n = 2; n < all.size(); ++n) {
    if (count_legal(rules, allowed, std::span(all).first(n), kFindBudget).exact == 0) {
      refuse(rules.checks()[n - 1], " together with those before it");
    }
  }
  refuse(rules.checks().back(), " together with those before it");
  throw;  // not reached
}

/// Legal combinations of a group that is too large to visit: the share of draws from its beginnings.
LegalCount estimate(const Rules& rules, const AllowedLevels& allowed, const Tied& group) {
  GroupSearch search(rules, allowed, group.parameters, group.checks);
  std::size_t length = 0;
  const std::vector<std::uint64_t> beginnings = search.list_beginnings(kMostBeginnings, length);
  const double all = static_cast<double>(beginnings.size()) * search.combinations_from(length);
  if (beginnings.empty()) return {.designs = 0, .exact = 0};
  const RandomStream stream(0, "space/legal/estimate");
  std::vector<std::uint16_t> levels(allowed.size());
  for (std::size_t p = 0; p < levels.size(); ++p) levels[p] = allowed[p].front();
  std::uint64_t word = 0, legal = 0;
  const Steps steps("estimating legal designs by draws", kEstimateDraws);
  for (std::uint64_t i = 0; i < kEstimateDraws; ++i) {
    steps.at(i);
    std::uint64_t rest = beginnings[stream.below(word++, beginnings.size())];
    for (std::size_t k = group.parameters.size(); k-- > 0;) {
      const std::vector<std::uint16_t>& own = allowed[group.parameters[k]];
      const std::uint64_t position = k < length ? rest % own.size() : stream.below(word++, own.size());
      if (k < length) rest /= own.size();
      levels[group.parameters[k]] = own[position];
    }
    legal += rules.meets(levels, group.checks) ? 1 : 0;
  }
  const double n = kEstimateDraws, share = static_cast<double>(legal) / n;
  const double error = legal == 0 ? kNoneSeen / n : kTwoSigma * std::sqrt(share * (1 - share) / n);
  return {.designs = all * share, .exact = std::nullopt, .error = all * error};
}

}  // namespace

LegalDesigns::LegalDesigns(const Rules& rules, const AllowedLevels& allowed, Listing listing)
    : rules_(rules), allowed_(all_allowed(rules, allowed)), group_of_(rules.parameters().size()) {
  find_groups();
  for (Group& group : groups_) {
    if (!group.checks.empty()) list_group(group, listing);
    if (group.listed > 0 && group.ranks.empty()) fail_empty(rules_, allowed_, !allowed.empty());
    complete_ = complete_ && group.complete;
    add_slots(group);
  }
}

void LegalDesigns::find_groups() {
  for (Tied& tied : tie(rules_, all_checks(rules_))) {
    for (const std::size_t p : tied.parameters) group_of_[p] = groups_.size();
    groups_.push_back({.parameters = std::move(tied.parameters), .checks = std::move(tied.checks), .ranks = {}});
  }
}

void LegalDesigns::list_group(Group& group, Listing listing) {
  GroupSearch search(rules_, allowed_, group.parameters, group.checks);
  const bool few = search.combinations() <= kFewCombinations;
  group.complete = false;
  if (listing == Listing::for_drawing && !few) {
    const RandomStream stream(0, "space/legal/share");
    std::uint64_t word = 0, legal = 0;
    std::vector<std::uint16_t> levels(allowed_.size());
    for (std::size_t p = 0; p < levels.size(); ++p) levels[p] = allowed_[p].front();
    const Steps steps("looking at draws of parameters that constraints tie together", kLookedAt);
    for (std::uint64_t i = 0; i < kLookedAt; ++i) {
      steps.at(i);
      for (const std::size_t p : group.parameters) levels[p] = allowed_[p][stream.below(word++, allowed_[p].size())];
      legal += rules_.meets(levels, group.checks) ? 1 : 0;
    }
    if (legal * kGoodShare >= kLookedAt) return;
  }
  auto ranks = search.list(kMostListed, listing == Listing::complete ? kCompleteBudget : kListBudget);
  if (ranks) {
    group.ranks = std::move(*ranks);
    group.listed = group.parameters.size();
    group.complete = true;
    return;
  }
  GroupSearch again(rules_, allowed_, group.parameters, group.checks);
  group.ranks = again.list_beginnings(kMostBeginnings, group.listed);
  if (group.listed == 0) group.ranks.clear();
}

void LegalDesigns::add_slots(Group& group) {
  group.first_slot = slots_.size();
  if (group.listed > 0) slots_.push_back(group.ranks.size());
  for (std::size_t k = group.listed; k < group.parameters.size(); ++k) {
    slots_.push_back(allowed_[group.parameters[k]].size());
  }
}

std::optional<std::uint64_t> LegalDesigns::count() const {
  HINDSIGHT_EXPECT(complete_);
  std::uint64_t count = 1;
  for (const std::uint64_t positions : slots_) {
    if (count > kLargestCount / positions) return std::nullopt;
    count *= positions;
  }
  return count;
}

std::vector<std::string> LegalDesigns::unlisted() const {
  std::vector<std::string> names;
  for (const Group& group : groups_) {
    for (const std::size_t p : group.parameters) {
      if (!group.complete) names.push_back(rules_.parameters()[p].name);
    }
  }
  return names;
}

void LegalDesigns::decode(const Group& group, std::span<const std::uint64_t> positions,
                          std::span<std::uint16_t> levels) const {
  std::size_t slot = group.first_slot;
  if (group.listed > 0) {
    std::uint64_t rest = group.ranks[positions[slot++]];
    for (std::size_t k = group.listed; k-- > 0;) {
      const std::vector<std::uint16_t>& own = allowed_[group.parameters[k]];
      levels[group.parameters[k]] = own[rest % own.size()];
      rest /= own.size();
    }
  }
  for (std::size_t k = group.listed; k < group.parameters.size(); ++k) {
    levels[group.parameters[k]] = allowed_[group.parameters[k]][positions[slot++]];
  }
}

void LegalDesigns::decode(std::span<const std::uint64_t> positions, std::span<std::uint16_t> levels) const {
  HINDSIGHT_EXPECT(positions.size() == slots_.size() && levels.size() == allowed_.size());
  for (const Group& group : groups_) decode(group, positions, levels);
}

void LegalDesigns::decode(std::uint64_t index, std::span<std::uint16_t> levels) const {
  std::vector<std::uint64_t> positions(slots_.size());
  for (std::size_t slot = slots_.size(); slot-- > 0;) {
    positions[slot] = index % slots_[slot];
    index /= slots_[slot];
  }
  decode(positions, levels);
}

void LegalDesigns::draw(const Group& group, std::span<std::uint16_t> levels, const Below& below) const {
  for (std::uint64_t attempt = 0; attempt < kMostTries; ++attempt) {
    stop_draws_if_overdue();
    if (group.listed > 0) {
      std::uint64_t rest = group.ranks[below(group.ranks.size())];
      for (std::size_t k = group.listed; k-- > 0;) {
        const std::vector<std::uint16_t>& own = allowed_[group.parameters[k]];
        levels[group.parameters[k]] = own[rest % own.size()];
        rest /= own.size();
      }
    }
    for (std::size_t k = group.listed; k < group.parameters.size(); ++k) {
      const std::vector<std::uint16_t>& own = allowed_[group.parameters[k]];
      levels[group.parameters[k]] = own[below(own.size())];
    }
    if (group.complete || rules_.meets(levels, group.checks)) return;
  }
  GroupSearch search(rules_, allowed_, group.parameters, group.checks);
  const std::optional<bool> found = search.find(levels, below, kFindBudget);
  if (found == true) return;
  if (found == false) fail_empty(rules_, allowed_, false);
  std::vector<std::string> names;
  for (const std::size_t p : group.parameters) names.push_back(rules_.parameters()[p].name);
  throw Error(ErrorKind::failure,
              fmt::format("space {}: no design that meets its constraints was found in {} draws and a search of {} "
                          "steps; they tie {} together. State them so that fewer parameters decide each?",
                          in_quotes(rules_.space()), with_commas(kMostTries), with_commas(kFindBudget),
                          printable(join(names, ", "), 200)));
}

void LegalDesigns::mend(std::span<std::uint16_t> levels, const Below& below) const {
  stop_draws_if_overdue();
  for (const Group& group : groups_) {
    if (!group.complete && !rules_.meets(levels, group.checks)) draw(group, levels, below);
  }
}

void LegalDesigns::draw(std::span<std::uint16_t> levels, const Below& below) const {
  for (std::size_t p = 0; p < levels.size(); ++p) levels[p] = allowed_[p].front();
  for (const Group& group : groups_) draw(group, levels, below);
}

void LegalDesigns::draw_group(std::size_t parameter, std::span<std::uint16_t> levels, const Below& below) const {
  draw(groups_[group_of_[parameter]], levels, below);
}

bool has_legal(const Rules& rules, const AllowedLevels& allowed) {
  const AllowedLevels full = all_allowed(rules, allowed);
  const std::vector<Tied> groups = tie(rules, all_checks(rules));
  std::vector<std::uint16_t> levels(full.size());
  return std::ranges::all_of(groups, [&](const Tied& group) {
    GroupSearch search(rules, full, group.parameters, group.checks);
    return search.find(
               levels, [](std::uint64_t /*bound*/) { return std::uint64_t{0}; }, kListBudget) != false;
  });
}

LegalCount count_legal(const Rules& rules, const AllowedLevels& allowed, std::span<const std::size_t> checks,
                       std::uint64_t budget) {
  const AllowedLevels full = all_allowed(rules, allowed);
  LegalCount all{.designs = 1, .exact = 1, .error = 0};
  double relative_squares = 0;
  for (const Tied& group : tie(rules, checks)) {
    GroupSearch search(rules, full, group.parameters, group.checks);
    const std::optional<std::uint64_t> counted = search.count(budget);
    LegalCount own = counted ? LegalCount{.designs = static_cast<double>(*counted), .exact = counted, .error = 0}
                             : estimate(rules, full, group);
    if (own.exact == 0) return {.designs = 0, .exact = 0, .error = 0};
    if (own.designs == 0) {  // an upper end is all that is known
      all.error = (all.error + all.designs) * own.error;
    } else {
      all.error *= own.designs;
      relative_squares += std::pow(own.error / own.designs, 2);
    }
    all.designs *= own.designs;
    const bool fits = all.exact && own.exact && *own.exact <= kLargestCount / std::max<std::uint64_t>(*all.exact, 1);
    all.exact = fits ? std::optional(*all.exact * *own.exact) : std::nullopt;
  }
  all.error += all.designs * std::sqrt(relative_squares);
  return all;
}

LegalCount count_legal(const Rules& rules, const AllowedLevels& allowed, std::uint64_t budget) {
  return count_legal(rules, allowed, all_checks(rules), budget);
}

}  // namespace hindsight::space
