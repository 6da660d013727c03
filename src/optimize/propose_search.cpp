/// The search for the best designs within the limits, and what gives way where it finds none.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/optimize/baselines.h"
#include "optimize/feasibility_threshold.h"
#include "optimize/level_space.h"
#include "optimize/proposer.h"

namespace hindsight::optimize {
namespace {

/// [chosen] What a limit that is named in place of one that no design meets must leave: as likely to be feasible as
/// not.
constexpr double kLeastBeyondLimits = 0.5;

constexpr const char* kInfeasibility = "1 - p_feasible";

}  // namespace

std::function<Learned(const LevelMatrix&)> Proposer::asking(Forecast::Question question) const {
  return [this, question = std::move(question)](const LevelMatrix& levels) {
    Learned learned = forecast_->ask(levels, question);
    if (question.front && logged_front_ && logged_front_->correction() != nullptr) {
      correct(levels, learned, question.scored);
    }
    return learned;
  };
}

Problem Proposer::with_p_feasible(double threshold) const {
  Problem problem = problem_;
  if (threshold <= 0) return problem;
  problem.constraints.push_back({.name = kInfeasibility, .limit = 1 - threshold, .text = worth_allowing(threshold)});
  Forecast::Question question = question_;
  question.limits.push_back(1 - threshold);
  question.limits_infeasibility = true;
  problem.model = asking(std::move(question));
  return problem;
}

SearchOptions Proposer::by_chance() const {
  SearchOptions options = search_;
  if (!proves_) return options;
  options.kind = SearchKind::mixed;
  options.threads = 1;
  return options;
}

void Proposer::require_new_left(const Solution& solution) const {
  if (!bars_ || solution.smallest_constraint_value.at(options_.constraints.size()) <= 0) return;
  if (!excludes()) {
    throw Error(ErrorKind::no_feasible,
                fmt::format("the log knows every design that was tried ({}) to be infeasible. Allow more values?",
                            with_commas(solution.evaluations)));
  }
  throw Error(ErrorKind::no_feasible,
              fmt::format("no new design is left: the log has all {} that were tried. Allow more values, or propose "
                          "logged designs too?",
                          with_commas(solution.evaluations)));
}

bool Proposer::finds(const Loosened& loosened) const {
  ProposeOptions options = options_;
  options.explains = false;
  if (!loosened.allowed.empty()) options.allowed = loosened.allowed;
  for (const Loosened::Limit& limit : loosened.limits) {
    if (limit.constraint < options.constraints.size()) {
      Constraint& constraint = options.constraints[limit.constraint];
      constraint.limit = std::min(limit.value, constraint.most);
    } else {
      options.min_p_feasible = parse_double(as_threshold(limit.value)).value_or(0);
    }
  }
  Proposer again(model_, options);
  if (!options.front.empty()) again.take_logged_front();
  double threshold = options.min_p_feasible;
  try {
    (void)(options.front.empty() ? again.search_feasible(threshold) : again.search_ends(threshold));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::no_feasible) throw;
    return false;
  }
  return true;
}

Advice Proposer::advice(const std::string& remedy) const {
  return {.is_asked = options_.explains, .remedy = remedy, .finds = [this](const Loosened& loosened) {
            return finds(loosened);
          }};
}

Solution Proposer::search_feasible(double& threshold) {
  threshold = options_.min_p_feasible;
  problem_used_ = with_p_feasible(threshold);
  Solution solution = search(problem_used_, search_);
  if (found(solution)) return solution;
  require_uninterrupted(solution);
  require_new_left(solution);
  if (threshold <= 0) return search_on(problem_used_, solution, search_, advice());

  Problem likeliest = problem_;
  Forecast::Question question = question_;
  question.score = Forecast::Question::Score::infeasibility;
  likeliest.model = asking(std::move(question));
  SearchOptions options = by_chance();
  for (const Candidate& candidate : solution.best) {
    if (options.start.size() < 2 * search_.population) options.start.push_back(candidate.design);
  }
  const Solution best = search(likeliest, options);
  require_uninterrupted(best);
  if (!found(best)) {
    solution.evaluations += best.evaluations;
    return search_beyond_limits(solution, threshold);
  }
  const double reachable = 1 - best.best.front().score;
  if (reachable < threshold) {
    const auto step = relaxed_threshold(reachable, threshold);
    if (!step) return search_unlikely(best, threshold, solution);
    threshold = *step;
  }
  options.start.clear();
  for (const Candidate& candidate : best.best) {
    if (options.start.size() < search_.population) options.start.push_back(candidate.design);
  }
  const std::uint64_t spent = solution.evaluations + best.evaluations;
  problem_used_ = with_p_feasible(threshold);
  options.kind = search_.kind;
  options.threads = search_.threads;
  solution = search(problem_used_, options);
  solution.evaluations += spent;
  if (!found(solution)) {
    require_uninterrupted(solution);
    return search_on(problem_used_, solution, search_, advice());
  }
  return solution;
}

Solution Proposer::search_beyond_limits(const Solution& solution, double& threshold) {
  const GoneOn kept = go_on(problem_used_, solution, search_, advice());
  if (kept.why.empty()) return kept.solution;
  if (threshold <= kLeastBeyondLimits) throw Error(ErrorKind::no_feasible, kept.why);
  threshold = kLeastBeyondLimits;
  problem_used_ = with_p_feasible(threshold);
  GoneOn lowered = go_on(problem_used_, solution, search_, advice());
  lowered.solution.evaluations += kept.solution.evaluations - solution.evaluations;
  if (lowered.why.empty()) return std::move(lowered.solution);
  throw Error(ErrorKind::no_feasible, nearer_remedy(kept, lowered));
}

std::string Proposer::nearer_remedy(const GoneOn& kept, const GoneOn& lowered) const {
  bool is_nearer = false, is_less_likely = false;
  std::vector<std::string> to_keep;
  for (std::size_t c = 0; c < options_.constraints.size(); ++c) {
    const NeededLimit &now = lowered.needed[c], &before = kept.needed[c];
    if (!before.text.empty()) to_keep.push_back(before.text);
    if (now.text.empty() || now.text == before.text || now.value >= before.value) continue;
    is_nearer = true;
    const LevelMatrix levels = levels_of({{.design = now.design}}, *problem_.space);
    const ForecastBatch batch = forecast_->predict(levels, {.objective = false, .constraints = false});
    is_less_likely = is_less_likely || forecast_->least_p_feasible(batch)[0] < options_.min_p_feasible;
  }
  const bool says_more = is_nearer || (to_keep.empty() && lowered.names_limits && lowered.why != kept.why);
  if (!says_more) return kept.why;
  if (is_nearer && !is_less_likely) return lowered.why;
  return fmt::format("{} (p_feasible >= {} is lowered for that, to {} at least{})", lowered.why,
                     readable(options_.min_p_feasible), readable(kLeastBeyondLimits),
                     to_keep.empty() ? "" : "; to keep it, allow " + join(to_keep, ", or "));
}

bool Proposer::relax_by_log(Solution& solution, double& threshold) {
  const auto& constraints = options_.constraints;
  const bool is_asked = options_.trust_log && known_ && !excludes() && !proves_ && found(solution) &&
                        solution.termination != Termination::interrupted &&
                        std::ranges::none_of(constraints, &Constraint::learned);  // which the log may contradict
  if (!is_asked) return false;
  LoggedQuestion question{.applications = {},
                          .aggregate = options_.aggregate,
                          .weights = options_.weights,
                          .constraints = known_->constraints,
                          .allowed = known_->allowed};
  for (const dataset::Context& context : options_.contexts) question.applications.push_back(context.name);
  const auto best = best_in_log(*options_.logged, question);
  if (!best) return false;
  const LevelMatrix levels = levels_of({{.design = best->design}}, *problem_.space);
  const double score = problem_.model(levels).score[0];
  if (score > solution.best.front().score - kScoreTie * forecast_->unit()) return false;
  const double likely =
      forecast_->least_p_feasible(forecast_->predict(levels, {.objective = false, .constraints = false}))[0];
  const auto step = relaxed_threshold(likely, threshold);
  if (likely >= threshold || !step) return false;
  Solution again = search(with_p_feasible(*step), search_);
  again.evaluations += solution.evaluations;
  if (!found(again) || again.termination == Termination::interrupted) {
    solution.evaluations = again.evaluations;
    solution.termination = again.termination;
    return false;
  }
  threshold = *step;
  problem_used_ = with_p_feasible(threshold);
  solution = std::move(again);
  surest_ = Candidate{.design = best->design, .score = score, .violation = 0};
  return true;
}

std::optional<Solution> Proposer::search_likely(const Solution& solution, std::uint64_t& spent, double& threshold) {
  // In the order, and at the thresholds, of search_beyond_limits(): what that names is met here.
  double before = std::numeric_limits<double>::infinity();
  for (const double kept : {options_.min_p_feasible, kLeastBeyondLimits}) {
    if (kept >= before || kept <= kRelaxed.back()) continue;
    before = kept;
    problem_used_ = with_p_feasible(kept);
    GoneOn end = go_on(problem_used_, solution, search_, {.is_asked = false});
    spent += end.solution.evaluations - solution.evaluations;
    if (!end.why.empty()) continue;
    threshold = kept;
    return std::move(end.solution);
  }
  return std::nullopt;
}

Solution Proposer::search_unlikely(const Solution& likeliest, double& threshold, const Solution& solution) {
  std::uint64_t spent = solution.evaluations + likeliest.evaluations;
  if (auto likely = search_likely(solution, spent, threshold)) {
    likely->evaluations = spent;
    return std::move(*likely);
  }
  threshold = std::min(kRelaxed.back(), options_.min_p_feasible);
  const std::string remedy = options_.explains && options_.unlikely_remedy ? options_.unlikely_remedy() : "";
  problem_used_ = with_p_feasible(threshold);
  if (!remedy.empty()) problem_used_.constraints.back().text = never_worth_allowing(threshold);
  try {
    Solution found = search_on(problem_used_, solution, search_, advice(remedy));
    found.evaluations += spent - solution.evaluations;
    return found;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::no_feasible) throw;
    throw Error(ErrorKind::no_feasible,
                fmt::format("no design within the limits that was found is likely to be feasible: p_feasible reaches "
                            "{}, at least {} is needed: {}",
                            as_threshold(likeliest.best.front().score), readable(threshold), error.what()));
  }
}

}  // namespace hindsight::optimize
