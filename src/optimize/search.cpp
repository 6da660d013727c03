/// search(): checks the question, runs the algorithm, and finds out what is unsatisfiable when nothing is feasible.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "optimize/algorithms.h"
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

/// The smallest value of constraint `c`: alone, or while the others are met.
Solution minimise_constraint(const Problem& problem, std::size_t c, Others others, const SearchOptions& options,
                             const std::vector<Candidate>& start) {
  Problem smallest{
      .space = problem.space, .allowed = problem.allowed, .among = problem.among, .constraints = {}, .model = {}};
  for (std::size_t i = 0; others == Others::kept && i < problem.constraints.size(); ++i) {
    if (i != c) smallest.constraints.push_back(problem.constraints[i]);
  }
  smallest.model = [&problem, c, others](const LevelMatrix& levels) { return only(problem, c, others, levels); };
  SearchOptions refine = options;
  refine.kind = options.kind == SearchKind::enumeration ? SearchKind::enumeration : SearchKind::evolutionary;
  refine.evaluations = std::max(kLeastRefinement, options.evaluations / kRefineShare);
  refine.keep = 1;
  refine.start.clear();
  for (const Candidate& candidate : start) {
    if (refine.start.size() < options.population) refine.start.push_back(candidate.design);
  }
  return run(smallest, LevelSpace(*problem.space, problem.allowed), refine);
}

/// A number of six digits that is not below `value`, so that it works as a limit.
std::string as_limit(double value) {
  if (value == 0 || !std::isfinite(value)) return shortest(value);
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 5);
  return fmt::format("{:.6g}", std::ceil(value / unit - 1e-9) * unit);
}

std::string extent(const Solution& solution) {
  return solution.termination == Termination::enumerated
             ? fmt::format("of all {} allowed designs",
                           with_commas(solution.proof ? solution.proof->designs : solution.evaluations))
             : fmt::format("met among {} designs", with_commas(solution.evaluations));
}

}  // namespace

SearchKind parse_search(const std::string& name) { return parse_enum("search", name, kSearches); }

std::string to_string(SearchKind kind) { return std::string(name_in(kSearches, kind)); }

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

std::string explain_infeasible(const Problem& problem, const Solution& solution, const SearchOptions& options) {
  std::vector<std::string> parts;
  for (std::size_t c = 0; c < problem.constraints.size(); ++c) {
    const Constraint& constraint = problem.constraints[c];
    const double smallest = solution.smallest_constraint_value[c];
    if (smallest <= constraint.limit || !std::isfinite(smallest)) continue;
    parts.push_back(fmt::format("no design meets {} <= {}: the smallest value {} is {}. Allow {} <= {}?",
                                constraint.name, shortest(constraint.limit), extent(solution), as_limit(smallest),
                                constraint.name, as_limit(smallest)));
  }
  if (!parts.empty()) return join(parts, " ");
  for (std::size_t c = 0; c < problem.constraints.size(); ++c) {
    const Constraint& constraint = problem.constraints[c];
    const Solution others = minimise_constraint(problem, c, Others::kept, options, solution.best);
    if (!is_feasible(others)) continue;
    if (others.best.front().score <= constraint.limit) {
      return fmt::format(
          "the search found no design that meets every constraint, but there is one: a search that minimised {} met "
          "it. Search longer, or with another seed?",
          constraint.name);
    }
    parts.push_back(fmt::format("{} goes down to {} (limit {})", constraint.name, as_limit(others.best.front().score),
                                shortest(constraint.limit)));
  }
  if (parts.empty()) {
    return fmt::format(
        "no design meets all {} constraints together ({} designs tried), nor all but one of them. "
        "Relax several?",
        problem.constraints.size(), with_commas(solution.evaluations));
  }
  return fmt::format(
      "every constraint can be met, but no design found meets all together ({} tried). With the others "
      "met, {}. Relax one of them?",
      with_commas(solution.evaluations), join(parts, "; "));
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
