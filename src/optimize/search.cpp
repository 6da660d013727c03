/// search(): checks the question, runs the algorithm, and finds out what is unsatisfiable when nothing is feasible.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"
#include "optimize/algorithms.h"
#include "optimize/go_on.h"
#include "optimize/judge.h"
#include "optimize/offers.h"
#include "optimize/operators.h"

namespace hindsight::optimize {
namespace {

constexpr EnumNames<SearchKind, 6> kSearches{{{SearchKind::mixed, "mixed"},
                                              {SearchKind::firefly, "firefly"},
                                              {SearchKind::evolutionary, "evolutionary"},
                                              {SearchKind::local, "local"},
                                              {SearchKind::enumeration, "enumeration"},
                                              {SearchKind::exact, "exact"}}};

/// [chosen] Share of the budget, and its least size, that a search for the smallest value of one constraint gets.
constexpr std::uint64_t kRefineShare = 10;
constexpr std::uint64_t kLeastRefinement = 2000;

bool is_feasible(const Solution& solution) { return !solution.best.empty() && solution.best.front().violation <= 0; }

Solution run(const Problem& problem, const LevelSpace& space, const SearchOptions& options) {
  const auto size = size_of(problem, space);
  if (options.kind == SearchKind::exact && problem.among == nullptr) {
    if (!size) {
      throw Error(ErrorKind::usage,
                  "an exact search of more than 9e18 designs has no end. Fix parameters with --set, or "
                  "use --search mixed");
    }
    return search_exact(problem, space, options);
  }
  const bool small = size && *size <= options.evaluations;
  if (options.kind == SearchKind::enumeration || small || problem.among != nullptr)
    return enumerate(problem, space, options);
  SearchState state(problem, space, options);
  switch (options.kind) {
    case SearchKind::firefly:
      search_firefly(state, options);
      break;
    case SearchKind::mixed:
      search_mixed(state, options);
      break;
    case SearchKind::evolutionary:
      search_evolutionary(state, options);
      break;
    case SearchKind::local:
      search_local(state, options);
      break;
    case SearchKind::enumeration:
    case SearchKind::exact:
      break;
  }
  return state.solution();
}

enum class Others { ignored, kept };

/// The value of constraint `c` as the score, and the other learned ones where they are kept.
Learned only(const Problem& problem, std::size_t c, Others others, const LevelMatrix& levels) {
  const Constraint& constraint = problem.constraints[c];
  const auto is_learned = [](const Constraint& one) { return one.learned(); };
  const auto begin = problem.constraints.begin();
  const Eigen::Index before = std::count_if(begin, begin + static_cast<std::ptrdiff_t>(c), is_learned);
  const Eigen::Index count = std::count_if(begin, problem.constraints.end(), is_learned);
  const bool asked = constraint.learned() || (others == Others::kept && count > 0);
  Learned all{.score = {}, .values = Eigen::MatrixXd(levels.rows(), 0)};
  if (asked) all = problem.model(levels);
  Learned result{.score = constraint.learned() ? all.values.col(before).eval() : constraint.value(levels),
                 .values = Eigen::MatrixXd(levels.rows(), 0)};
  if (others == Others::ignored) return result;
  if (!constraint.learned()) {
    result.values = std::move(all.values);
    return result;
  }
  const Eigen::Index after = count - before - 1;
  result.values.resize(levels.rows(), count - 1);
  result.values.leftCols(before) = all.values.leftCols(before);
  result.values.rightCols(after) = all.values.rightCols(after);
  return result;
}

/// A short search for one design, from those that a search ended with.
SearchOptions refining(const SearchOptions& options, const std::vector<Candidate>& start) {
  SearchOptions refine = options;
  refine.kind = options.kind == SearchKind::enumeration ? SearchKind::enumeration : SearchKind::evolutionary;
  refine.evaluations = std::max(kLeastRefinement, options.evaluations / kRefineShare);
  refine.keep = 1;
  refine.start.clear();
  for (const Candidate& candidate : start) {
    if (refine.start.size() < options.population) refine.start.push_back(candidate.design);
  }
  return refine;
}

/// The smallest value of constraint `c`: alone, or while the others are met.
Solution minimise_constraint(const Problem& problem, std::size_t c, Others others, const SearchOptions& options,
                             const std::vector<Candidate>& start) {
  Problem smallest{
      .space = problem.space, .allowed = problem.allowed, .among = problem.among, .constraints = {}, .model = {}};
  for (std::size_t i = 0; others == Others::kept && i < problem.constraints.size(); ++i) {
    if (i != c) smallest.constraints.push_back(problem.constraints[i]);
  }
  smallest.model = [&problem, c, others](const LevelMatrix& levels) { return only(problem, c, others, levels); };
  return run(smallest, LevelSpace(*problem.space, problem.allowed), refining(options, start));
}

/// Per constraint the smallest value that a search met with the others kept. The search that is named does not know
/// the constraint's own limit, so that it finds the same when that is set; only where it meets none, one from the
/// designs that `solution` ended with is.
std::vector<Solution> minimise_each(const Problem& problem, const Solution& solution, const SearchOptions& options) {
  std::vector<Candidate> start;
  for (const space::Design& design : options.start) start.push_back({.design = design});
  std::vector<Solution> each;
  for (std::size_t c = 0; c < problem.constraints.size(); ++c) {
    each.push_back(minimise_constraint(problem, c, Others::kept, options, start));
    if (is_feasible(each.back())) continue;
    const std::uint64_t spent = each.back().evaluations;
    each.back() = minimise_constraint(problem, c, Others::kept, options, solution.best);
    each.back().evaluations += spent;
  }
  return each;
}

/// [chosen] Digits of a smallest value that is told.
constexpr int kToldDigits = 6;

std::string extent(const Problem& problem, const Solution& solution) {
  if (solution.termination != Termination::enumerated) {
    return fmt::format("met among {} designs", with_commas(solution.evaluations));
  }
  const auto count = solution.proof ? solution.proof->designs : allowed_count(problem).value_or(solution.evaluations);
  return count == 1 ? "of the only allowed design" : fmt::format("of all {} allowed designs", with_commas(count));
}

void require_uninterrupted() {
  if (interrupt_requested()) fail_interrupted();
}

/// The sum of the relative excesses over the limits of `loosened` as the score, and the other constraints kept.
Problem loosened_problem(const Problem& problem, const std::vector<bool>& loosened) {
  Problem result{
      .space = problem.space, .allowed = problem.allowed, .among = problem.among, .constraints = {}, .model = {}};
  for (std::size_t c = 0; c < loosened.size(); ++c) {
    if (!loosened[c]) result.constraints.push_back(problem.constraints[c]);
  }
  result.model = [&problem, loosened](const LevelMatrix& levels) {
    Learned all{.score = {}, .values = {}};
    if (std::ranges::any_of(problem.constraints, &Constraint::learned)) all = problem.model(levels);
    Learned learned{.score = Eigen::VectorXd::Zero(levels.rows()), .values = Eigen::MatrixXd(levels.rows(), 0)};
    Eigen::Index column = 0;
    for (std::size_t c = 0; c < loosened.size(); ++c) {
      const Constraint& constraint = problem.constraints[c];
      if (!loosened[c] && !constraint.learned()) continue;
      const Eigen::VectorXd values = constraint.learned() ? all.values.col(column++).eval() : constraint.value(levels);
      if (loosened[c]) {
        learned.score += values.unaryExpr([&](double value) { return relative_excess(value, constraint.limit); });
      } else {
        learned.values.conservativeResize(Eigen::NoChange, learned.values.cols() + 1);
        learned.values.rightCols(1) = values;
      }
    }
    return learned;
  };
  return result;
}

/// What a design needs that misses limits.
struct Needs {
  std::vector<std::string> missed;
  std::vector<Loosened::Limit> needed;
  bool out_of_reach = false;               ///< a limit that nobody would set to what is met
  std::optional<std::size_t> stated = {};  ///< one of these that says who states it
};
Needs needs_of(const Problem& problem, const space::Design& design) {
  Needs needs;
  LevelMatrix levels(1, std::ssize(design.levels));
  std::copy(design.levels.begin(), design.levels.end(), levels.data());
  for (std::size_t c = 0; c < problem.constraints.size(); ++c) {
    const double value = only(problem, c, Others::ignored, levels).score[0];
    if (value <= problem.constraints[c].limit) continue;
    if (met_by(problem.constraints[c], value).empty()) {
      needs.out_of_reach = needs.out_of_reach || !limit_of(problem.constraints[c]).empty();
      if (!needs.stated && !problem.constraints[c].stated_by.empty()) needs.stated = c;
      continue;
    }
    needs.missed.push_back(limit_of(problem.constraints[c]));
    needs.needed.push_back({.constraint = c, .value = value});
  }
  return needs;
}

/// "compute_lanes = 16": values outside those that are allowed with which a design meets all limits, of one parameter
/// where that is enough, else of several. Empty where none was found.
std::string values_to_allow(const Problem& problem, const Solution& solution, const SearchOptions& options,
                            const Offers& offers) {
  if (problem.among != nullptr) return "";
  std::vector<std::size_t> restricted;
  for (std::size_t p = 0; p < problem.allowed.size(); ++p) {
    if (!problem.allowed[p].empty()) restricted.push_back(p);
  }
  std::vector<std::vector<std::size_t>> choices;
  for (const std::size_t p : restricted) choices.push_back({p});
  if (restricted.size() > 1) choices.push_back(restricted);
  SearchOptions by_chance = refining(options, solution.best);
  // What is small enough is enumerated all the same, and what is too large to be is no error of who asked for a slice.
  if (by_chance.kind == SearchKind::enumeration) by_chance.kind = SearchKind::evolutionary;
  for (const std::vector<std::size_t>& freed : choices) {
    Problem wider = problem;
    for (const std::size_t p : freed) wider.allowed[p].clear();
    const Solution found = run(wider, LevelSpace(*problem.space, wider.allowed), by_chance);
    if (!is_feasible(found)) continue;
    std::vector<std::string> values;
    AllowedLevels allowed = problem.allowed;
    for (const std::size_t p : freed) {
      const std::uint16_t level = found.best.front().design.levels[p];
      allowed[p] = {level};
      if (std::ranges::find(problem.allowed[p], level) != problem.allowed[p].end()) continue;
      const space::Parameter& parameter = problem.space->parameters()[p];
      values.push_back(fmt::format("{} = {}", parameter.name, parameter.labels[level]));
    }
    if (offers.holds({.limits = {}, .allowed = allowed})) return join(values, " and ");
  }
  return "";
}

/// Why no design was found.
struct Explanation {
  std::string text;
  bool names_limits = true;  ///< and what they would have to be
};

/// Where nothing was found that works when it is followed.
Explanation explain_nothing(const Solution& solution, const std::string& remedy) {
  return {
      .text = fmt::format("no design found meets all limits together ({} tried). {}", with_commas(solution.evaluations),
                          remedy.empty() ? "Allow more values, or relax several?" : remedy),
      .names_limits = false};
}

/// Where a limit that nobody can loosen is in the way and no other one alone: what can be allowed in its place.
Explanation explain_stated(const Problem& problem, const Solution& solution, std::size_t c,
                           const SearchOptions& options, const Offers& offers, const std::string& remedy) {
  const Constraint& constraint = problem.constraints[c];
  const double smallest = solution.smallest_constraint_value[c];
  const bool alone = smallest > constraint.limit && std::isfinite(smallest);
  const std::string text =
      alone ? fmt::format("no design meets {}: the smallest value {} is {}", limit_of(constraint),
                          extent(problem, solution), rounded_up(smallest, kToldDigits))
            : fmt::format("no design found meets {} and all else ({} tried), nor with one other limit relaxed",
                          limit_of(constraint), with_commas(solution.evaluations));
  if (!remedy.empty()) return {.text = fmt::format("{}. {}", text, remedy), .names_limits = false};
  if (const std::string values = values_to_allow(problem, solution, options, offers); !values.empty()) {
    return {.text = fmt::format("{}. Allow {}?", text, values), .names_limits = false};
  }
  std::vector<bool> loosened;
  for (const Constraint& one : problem.constraints) loosened.push_back(one.stated_by.empty() && !one.text);
  const Solution nearest = run(loosened_problem(problem, loosened), LevelSpace(*problem.space, problem.allowed),
                               refining(options, solution.best));
  if (is_feasible(nearest)) {
    const Needs needs = needs_of(problem, nearest.best.front().design);
    const std::vector<std::string> needed = needs.out_of_reach ? std::vector<std::string>{} : offers.of(needs.needed);
    if (!needed.empty()) return {.text = fmt::format("{}. Allow {}?", text, join(needed, " and "))};
  }
  return {.text = text + ", nor with other values or limits that were tried", .names_limits = false};
}

/// What may be offered of each limit alone, with the others kept; empty where nothing can be.
std::vector<std::string> offered_of(const std::vector<Solution>& each, const Offers& offers) {
  std::vector<std::string> offered(each.size());
  for (std::size_t c = 0; c < each.size(); ++c) {
    if (!is_feasible(each[c])) continue;
    const std::vector<std::string> texts = offers.of({{.constraint = c, .value = each[c].best.front().score}});
    if (!texts.empty()) offered[c] = texts.front();
  }
  return offered;
}

/// What was found out about the limits of a question that has no answer.
struct Inquiry {
  const std::vector<Solution>& each;        ///< per constraint: its smallest value with the others kept
  const std::vector<std::string>& offered;  ///< what may be offered of it
  const Offers& offers;
  const std::string& remedy;
};

/// Of limits that some designs meet with the others kept: which, one of them being enough.
Explanation explain_kept(const Problem& problem, const Solution& solution, const Inquiry& inquiry,
                         const SearchOptions& options) {
  const auto& [each, offered, offers, remedy] = inquiry;
  std::vector<std::string> can_be;
  bool is_found_again = true;
  std::string alone, out_of_reach, among_others;
  std::optional<std::size_t> stated;
  for (std::size_t c = 0; c < each.size(); ++c) {
    const Constraint& constraint = problem.constraints[c];
    if (!is_feasible(each[c])) continue;
    const std::string met = met_by(constraint, each[c].best.front().score);
    if (met.empty()) {  // nothing that a user sets, or not to that value
      if (out_of_reach.empty()) out_of_reach = limit_of(constraint);
      if (!stated && !constraint.stated_by.empty()) {
        stated = c;
        among_others = fmt::format(", {} among them,", limit_of(constraint));
      }
      continue;
    }
    if (offered[c].empty()) {
      is_found_again = false;
      continue;
    }
    can_be.push_back(offered[c]);
    const double smallest = solution.smallest_constraint_value[c];
    if (smallest <= constraint.limit || !std::isfinite(smallest)) continue;
    const bool same = met_by(constraint, smallest) == met;
    const std::string value = constraint.text ? ""
                                              : fmt::format(": the smallest value {} is {}", extent(problem, solution),
                                                            rounded_up(smallest, kToldDigits));
    alone = fmt::format("no design meets {}{}{}. Allow {}?", limit_of(constraint), value,
                        same || value.empty() ? "" : ", and more with the other limits kept", can_be.back());
  }
  if (!alone.empty()) return {.text = alone};
  if (can_be.empty() && stated) return explain_stated(problem, solution, *stated, options, offers, remedy);
  if (can_be.empty() && !out_of_reach.empty()) {
    return {.text = fmt::format(
                "no design found meets {} and all else ({} tried), nor with one other limit relaxed. {}", out_of_reach,
                with_commas(solution.evaluations), remedy.empty() ? "Relax several, or allow more values?" : remedy),
            .names_limits = false};
  }
  if (can_be.empty() && !is_found_again) return explain_nothing(solution, remedy);
  if (can_be.empty()) {
    return {.text = fmt::format("no new design found meets all limits, only known ones ({} tried). Allow more values?",
                                with_commas(solution.evaluations)),
            .names_limits = false};
  }
  return {.text = fmt::format("no design found meets all together ({} tried), though each limit alone can be met. "
                              "With the others kept{} one meets {}. Allow {}?",
                              with_commas(solution.evaluations), among_others.empty() ? "," : among_others,
                              join(can_be, ", or "), can_be.size() > 1 ? "one of these" : "that")};
}

/// Where no limit alone is in the way: the design that comes nearest to those that no design meets, and what it needs.
Explanation explain_nearest(const Problem& problem, const Solution& solution, const SearchOptions& options,
                            const Offers& offers, const std::string& remedy) {
  std::vector<bool> loosened;
  for (std::size_t c = 0; c < problem.constraints.size(); ++c) {
    loosened.push_back(solution.smallest_constraint_value[c] > problem.constraints[c].limit);
  }
  const Problem problem_without = loosened_problem(problem, loosened);
  const Solution nearest =
      run(problem_without, LevelSpace(*problem.space, problem.allowed), refining(options, solution.best));
  const Solution& found = is_feasible(nearest) ? nearest : solution;  // else the one that misses all of them least
  const Needs needs = found.best.empty() ? Needs{} : needs_of(problem, found.best.front().design);
  const std::vector<std::string>& missed = needs.missed;
  if (needs.stated) return explain_stated(problem, solution, *needs.stated, options, offers, remedy);
  if (missed.empty() || needs.out_of_reach) return explain_nothing(solution, remedy);
  const std::vector<std::string> needed = offers.of(needs.needed);
  if (needed.empty()) return explain_nothing(solution, remedy);
  if (missed.size() == 1) {
    return {.text = fmt::format("no design found meets {} and all else ({} tried). The nearest needs {}. Allow that?",
                                missed.front(), with_commas(solution.evaluations), needed.front())};
  }
  return {.text = fmt::format("no design found meets {}, nor all but one of them ({} tried). The nearest would need "
                              "{}. Allow {}?",
                              join(missed, " and "), with_commas(solution.evaluations), join(needed, " and "),
                              missed.size() == 2 ? "both" : "these")};
}

Explanation explain(const Problem& problem, const Solution& solution, const Inquiry& inquiry,
                    const SearchOptions& options) {
  Explanation explanation = std::ranges::any_of(inquiry.each, is_feasible)
                                ? explain_kept(problem, solution, inquiry, options)
                                : explain_nearest(problem, solution, options, inquiry.offers, inquiry.remedy);
  require_uninterrupted();
  return explanation;
}

/// Whether search() and search_on() find a design once something is loosened.
bool finds_again(const Problem& problem, const SearchOptions& options, const Loosened& loosened) {
  Problem looser = problem;
  for (const Loosened::Limit& limit : loosened.limits) looser.constraints[limit.constraint].limit = limit.value;
  if (!loosened.allowed.empty()) looser.allowed = loosened.allowed;
  const Solution solution = search(looser, options);
  if (is_feasible(solution)) return true;
  require_uninterrupted();
  return go_on(looser, solution, options, {.is_asked = false}).why.empty();
}

/// Where all designs are judged, or a search is exact, what one design meets needs no trial.
Offers offers_for(const Problem& problem, const Solution& solution, const SearchOptions& options, const Finds& finds) {
  if (solution.termination == Termination::enumerated || options.kind == SearchKind::exact) return {problem, nullptr};
  if (finds) return {problem, finds};
  return {problem, [&problem, &options](const Loosened& loosened) { return finds_again(problem, options, loosened); }};
}

}  // namespace

SearchKind parse_search(const std::string& name) { return parse_enum("search", name, kSearches); }

std::string to_string(SearchKind kind) { return std::string(name_in(kSearches, kind)); }

void fail_interrupted() {
  throw Error(ErrorKind::interrupted, "interrupted before a design that meets the constraints was found");
}

std::vector<Point> first_points(const SearchOptions& options, const LevelSpace& space, std::size_t count,
                                Random& random) {
  std::vector<Point> points;
  for (const space::Design& design : options.start) {
    if (points.size() < (count + 1) / 2) points.push_back(space.nearest_point(design));
  }
  while (points.size() < count) points.push_back(random_point(space, random));
  return points;
}

std::optional<std::uint64_t> allowed_count(const Problem& problem) {
  HINDSIGHT_EXPECT(problem.space != nullptr);
  return size_of(problem, LevelSpace(*problem.space, problem.allowed));
}

Solution search(const Problem& problem, const SearchOptions& options) {
  HINDSIGHT_EXPECT(problem.space != nullptr && problem.model);
  if (options.evaluations == 0) throw Error(ErrorKind::usage, "a search needs at least one evaluation");
  const LevelSpace space(*problem.space, problem.allowed);
  Solution solution = run(problem, space, options);
  const bool complete =
      solution.termination == Termination::enumerated || solution.termination == Termination::interrupted;
  if (is_feasible(solution) || complete) return solution;
  for (std::size_t c = 0; c < problem.constraints.size(); ++c) {
    double& smallest = solution.smallest_constraint_value[c];
    if (smallest <= problem.constraints[c].limit) continue;
    const Solution refined = minimise_constraint(problem, c, Others::ignored, options, solution.best);
    solution.evaluations += refined.evaluations;
    if (!refined.best.empty()) smallest = std::min(smallest, refined.best.front().score);
    if (refined.termination == Termination::interrupted) solution.termination = Termination::interrupted;
  }
  return solution;
}

std::string explain_infeasible(const Problem& problem, const Solution& solution, const SearchOptions& options,
                               const Advice& advice) {
  const std::vector<Solution> each = minimise_each(problem, solution, options);
  const Offers offers = offers_for(problem, solution, options, advice.finds);
  const std::vector<std::string> offered = offered_of(each, offers);
  return explain(problem, solution, {each, offered, offers, advice.remedy}, options).text;
}

GoneOn go_on(const Problem& problem, const Solution& solution, const SearchOptions& options, const Advice& advice) {
  const std::vector<Solution> each = minimise_each(problem, solution, options);
  std::uint64_t spent = solution.evaluations;
  SearchOptions again = options;
  GoneOn end{.solution = {}, .why = {}, .needed = std::vector<NeededLimit>(each.size())};
  for (std::size_t c = 0; c < each.size(); ++c) {
    spent += each[c].evaluations;
    if (!is_feasible(each[c])) continue;
    const Candidate& smallest = each[c].best.front();
    end.needed[c] = {.value = smallest.score, .design = smallest.design};
    if (smallest.score <= problem.constraints[c].limit) again.start.insert(again.start.begin(), smallest.design);
  }
  require_uninterrupted();
  if (again.start.size() > options.start.size()) {
    end.solution = run(problem, LevelSpace(*problem.space, problem.allowed), again);
    spent += end.solution.evaluations;
  }
  end.solution.evaluations = spent;
  if (is_feasible(end.solution)) return end;
  // interrupted, or a model whose numbers depend on the batch, at the limit itself; else nothing to begin again at
  require_uninterrupted();
  end.why = "no design found meets all limits";
  if (!advice.is_asked) return end;
  const Offers offers = offers_for(problem, solution, options, advice.finds);
  const std::vector<std::string> offered = offered_of(each, offers);
  for (std::size_t c = 0; c < each.size(); ++c) end.needed[c].text = offered[c];
  Explanation explanation = explain(problem, solution, {each, offered, offers, advice.remedy}, options);
  end.why = std::move(explanation.text);
  end.names_limits = explanation.names_limits;
  return end;
}

Solution search_on(const Problem& problem, const Solution& solution, const SearchOptions& options,
                   const Advice& advice) {
  GoneOn end = go_on(problem, solution, options, advice);
  if (!end.why.empty()) throw Error(ErrorKind::no_feasible, end.why);
  return std::move(end.solution);
}

std::vector<Candidate> diverse(const std::vector<Candidate>& pool, std::size_t count, std::size_t distance) {
  std::vector<Candidate> chosen;
  for (const Candidate& candidate : pool) {
    if (chosen.size() == count) break;
    const bool apart = std::all_of(chosen.begin(), chosen.end(), [&](const Candidate& other) {
      return hamming(candidate.design, other.design) >= distance;
    });
    if (apart) chosen.push_back(candidate);
  }
  return chosen;
}

std::size_t hamming(const space::Design& a, const space::Design& b) {
  HINDSIGHT_EXPECT(a.levels.size() == b.levels.size());
  std::size_t different = 0;
  for (std::size_t p = 0; p < a.levels.size(); ++p) different += a.levels[p] == b.levels[p] ? 0 : 1;
  return different;
}

}  // namespace hindsight::optimize
