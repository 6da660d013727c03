/// Which parameters are switches, their settings, and who is asked for in which turn.
#include "optimize/portfolio.h"

#include <algorithm>
#include <utility>

#include "hindsight/core/error.h"
#include "optimize/level_space.h"

namespace hindsight::optimize {

std::vector<std::uint16_t> allowed_levels(std::size_t parameter, const space::DesignSpace& space,
                                          const AllowedLevels& allowed) {
  const bool has_list = parameter < allowed.size();
  return usable_levels(space.parameters()[parameter], has_list ? allowed[parameter] : std::vector<std::uint16_t>{});
}

std::vector<std::size_t> switches_of(const space::DesignSpace& space, const AllowedLevels& allowed,
                                     std::size_t most_settings) {
  std::vector<std::size_t> switches;
  const auto values = [&](std::size_t p) { return allowed_levels(p, space, allowed).size(); };
  for (std::size_t p = 0; p < space.parameters().size(); ++p) {
    const bool has_names = space.parameters()[p].kind == space::ParameterKind::categorical;
    if (values(p) > 1 && values(p) <= (has_names ? kMostNames : kMostNumbers)) switches.push_back(p);
  }
  std::stable_sort(switches.begin(), switches.end(),
                   [&](std::size_t a, std::size_t b) { return values(a) < values(b); });
  std::size_t settings = 1, kept = 0;
  while (kept < switches.size() && settings * values(switches[kept]) <= most_settings) {
    settings *= values(switches[kept++]);
  }
  switches.resize(kept < 2 ? 0 : kept);
  std::sort(switches.begin(), switches.end());
  return switches;
}

std::vector<std::vector<std::uint16_t>> settings_of(const std::vector<std::size_t>& switches,
                                                    const space::DesignSpace& space, const AllowedLevels& allowed) {
  std::vector<std::vector<std::uint16_t>> settings{{}};
  for (const std::size_t p : switches) {
    std::vector<std::vector<std::uint16_t>> longer;
    for (const std::vector<std::uint16_t>& setting : settings) {
      for (const std::uint16_t level : allowed_levels(p, space, allowed)) {
        longer.push_back(setting);
        longer.back().push_back(level);
      }
    }
    settings = std::move(longer);
  }
  return settings;
}

namespace {

/// [chosen] Share of the budget of a search for the best design with another value of one parameter.
constexpr std::uint64_t kOtherShare = 10;
/// [chosen] All of these searches take no more than so many of that share: one and a half times the budget, which no
/// shipped space needs; a space of a hundred parameters would take ten times.
constexpr std::size_t kMostOtherShares = 15;
/// [chosen] As kFarWorse, of another setting of the switches.
constexpr double kFarWorseSetting = 2;
/// [chosen] Designs of a setting that are looked at, for each that is asked for: neighbours are alike.
constexpr std::size_t kDeepest = 8;
/// [chosen] Evaluations that a setting or another value is searched with at least; fewer where there are not so many.
constexpr std::uint64_t kLeastEvaluations = 100;
/// [chosen] Proposals among which some are taken by rank, where there are switches.
constexpr std::size_t kRankedAmong = 16;

bool by_score(const Asked& a, const Asked& b) { return a.candidate.score < b.candidate.score; }

/// What a parameter may have instead of what `first` has.
struct OtherLevels {
  std::size_t parameter = 0;
  std::vector<std::uint16_t> levels;
};

/// Of each parameter that is no switch and has any. Of more than kMostOtherShares parameters as many as can be searched
/// with kLeastEvaluations each, in equal steps through the space's order.
std::vector<OtherLevels> searched_others(const Candidate& first, const std::vector<std::size_t>& switches,
                                         const AllowedLevels& any, const SpreadQuestion& question) {
  std::vector<OtherLevels> others;
  for (std::size_t p = 0; p < any.size(); ++p) {
    if (std::find(switches.begin(), switches.end(), p) != switches.end()) continue;
    std::vector<std::uint16_t> levels = allowed_levels(p, question.space, any);
    std::erase(levels, first.design.levels[p]);
    if (!levels.empty()) others.push_back({.parameter = p, .levels = std::move(levels)});
  }
  const std::size_t most = std::max<std::size_t>(
      kMostOtherShares, kMostOtherShares * (question.evaluations / kOtherShare) / kLeastEvaluations);
  if (others.size() <= most) return others;
  std::vector<OtherLevels> kept;
  for (std::size_t i = 0; i < most; ++i) kept.push_back(std::move(others[i * others.size() / most]));
  return kept;
}

/// The best design with another value than `first` has of each parameter that is no switch.
std::vector<Asked> other_values(const Candidate& first, const std::vector<std::size_t>& switches,
                                const AllowedLevels& any, const SpreadQuestion& question) {
  const std::vector<OtherLevels> searched = searched_others(first, switches, any, question);
  const std::uint64_t share = question.evaluations / kOtherShare;
  const std::uint64_t evaluations =
      searched.size() <= kMostOtherShares ? share : kMostOtherShares * share / searched.size();
  std::vector<Asked> others;
  for (const auto& [p, levels] : searched) {
    AllowedLevels allowed = any;
    allowed[p] = levels;
    const std::vector<Candidate> best = question.best_among(allowed, evaluations);
    const auto distant = std::find_if(best.begin(), best.end(), [&](const Candidate& candidate) {
      return hamming(candidate.design, first.design) >= question.diversity;
    });
    if (distant == best.end() || distant->score > first.score + kFarWorse * question.unit) continue;
    others.push_back({*distant, {p}});
  }
  return others;
}

/// What is best, best first, of every setting of the switches that has a design, the best setting first.
std::vector<std::vector<Asked>> best_of_settings(const Candidate& first, const std::vector<std::size_t>& switches,
                                                 const AllowedLevels& any, const SpreadQuestion& question) {
  const auto all = settings_of(switches, question.space, any);
  const std::uint64_t evaluations = question.evaluations / std::max<std::uint64_t>(kOtherShare, all.size());
  const std::optional<double> best_logged = question.best_logged(any);
  const auto most_score = [&](const AllowedLevels& allowed) {
    if (!best_logged) return first.score + kFarWorse * question.unit;
    const std::optional<double> own = question.best_logged(allowed);
    const bool is_open = !own || *own <= *best_logged + kFarWorse * question.unit;
    return first.score + (is_open ? kFarWorseSetting : kFarWorse) * question.unit;
  };
  std::vector<std::vector<Asked>> settings;
  for (const std::vector<std::uint16_t>& setting : all) {
    AllowedLevels allowed = any;
    for (std::size_t s = 0; s < switches.size(); ++s) allowed[switches[s]] = {setting[s]};
    const double most = most_score(allowed);
    std::vector<Asked> best;
    for (Candidate& candidate : question.best_among(allowed, evaluations)) {
      if (candidate.score > most) break;
      if (hamming(candidate.design, first.design) < question.diversity) continue;
      best.push_back({std::move(candidate), switches});
      if (best.size() == kDeepest * question.count) break;
    }
    if (!best.empty()) settings.push_back(std::move(best));
  }
  std::stable_sort(settings.begin(), settings.end(),
                   [](const auto& a, const auto& b) { return by_score(a.front(), b.front()); });
  return settings;
}

/// In the order in which they are tried.
std::vector<Asked> asked_otherwise(const Candidate& first, const std::vector<std::size_t>& switches,
                                   const SpreadQuestion& question) {
  AllowedLevels any = question.allowed;
  any.resize(question.space.parameters().size());
  std::vector<Asked> others = other_values(first, switches, any, question);
  std::vector<std::vector<Asked>> settings;
  if (!switches.empty()) settings = best_of_settings(first, switches, any, question);
  const auto has_firsts = [&](const std::vector<Asked>& setting) {
    const std::vector<std::uint16_t>& levels = setting.front().candidate.design.levels;
    return std::all_of(switches.begin(), switches.end(),
                       [&](std::size_t p) { return levels[p] == first.design.levels[p]; });
  };
  std::size_t longest = 0;
  for (const auto& setting : settings) {
    if (!has_firsts(setting)) others.push_back(setting.front());
    longest = std::max(longest, setting.size());
  }
  std::stable_sort(others.begin(), others.end(), by_score);
  for (std::size_t depth = 0; depth < longest; ++depth) {
    for (auto& setting : settings) {
      if (depth >= setting.size() || (depth == 0 && !has_firsts(setting))) continue;
      others.push_back(std::move(setting[depth]));
    }
  }
  return others;
}

/// A list that grows by designs that are far enough from all of it.
class GrowingList {
 public:
  GrowingList(Asked first, std::size_t diversity)
      : chosen_{std::move(first)}, distance_(std::max<std::size_t>(diversity, 1)) {}
  /// Adds the next of `from` that is far enough, from `next` on; false when there is none.
  bool add_next(const std::vector<Asked>& from, std::size_t& next) {
    while (next < from.size()) {
      const Asked& asked = from[next++];
      const bool distant = std::all_of(chosen_.begin(), chosen_.end(), [&](const Asked& other) {
        return hamming(other.candidate.design, asked.candidate.design) >= distance_;
      });
      if (!distant) continue;
      chosen_.push_back(asked);
      return true;
    }
    return false;
  }
  /// Adds to `count` designs at most, for each place of `places` that of the next judge who has one.
  void add_in_turn(const HedgePlaces& places, std::size_t count) {
    std::vector<std::size_t> next(places.judges.size(), 0);
    const std::size_t wanted = std::min(count, size() + places.count);
    for (std::size_t turn = 0, idle = 0; size() < wanted && idle < next.size(); ++turn) {
      const std::size_t judge = turn % next.size();
      idle = add_next(places.judges[judge], next[judge]) ? 0 : idle + 1;
    }
  }
  [[nodiscard]] std::size_t size() const { return chosen_.size(); }
  [[nodiscard]] std::vector<Asked> take() && { return std::move(chosen_); }

 private:
  std::vector<Asked> chosen_;
  std::size_t distance_;
};

}  // namespace

std::vector<Asked> spread_out(const std::vector<Candidate>& pool, const SpreadQuestion& question) {
  HINDSIGHT_EXPECT(!pool.empty());
  GrowingList list({pool.front()}, question.diversity);
  if (question.count < 2) return std::move(list).take();
  const std::vector<std::size_t> switches =
      switches_of(question.space, question.allowed,
                  std::min<std::uint64_t>(kMostSettings, question.evaluations / kLeastEvaluations));
  const std::vector<Asked> others = asked_otherwise(pool.front(), switches, question);
  std::vector<Asked> by_rank;
  for (const Candidate& candidate : pool) by_rank.push_back({candidate});
  std::size_t next_other = 0, next_best = 0;
  for (std::size_t step = 0; list.size() < question.count; ++step) {
    const bool ranked_turn = switches.empty() ? step % 2 == 1 : step % 3 == 2 && list.size() < kRankedAmong;
    const bool added = ranked_turn ? list.add_next(by_rank, next_best) || list.add_next(others, next_other)
                                   : list.add_next(others, next_other) || list.add_next(by_rank, next_best);
    if (!added) break;
  }
  return std::move(list).take();
}

std::vector<Asked> with_hedges(const std::vector<Asked>& spread, const std::vector<HedgePlaces>& hedges,
                               std::size_t count, std::size_t diversity) {
  HINDSIGHT_EXPECT(!spread.empty());
  std::size_t places = 0, next = 1;
  for (const HedgePlaces& some : hedges) places += some.count;
  GrowingList list(spread.front(), diversity);
  const auto grow = [&](std::size_t size) {
    while (list.size() < size && list.add_next(spread, next)) {
    }
  };
  grow(count - std::min(count, places));
  for (const HedgePlaces& some : hedges) list.add_in_turn(some, count);
  grow(count);
  return std::move(list).take();
}

}  // namespace hindsight::optimize
