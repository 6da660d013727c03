/// propose(): from a question about applications and constraints to a ranked, diverse list of designs.
#include "hindsight/optimize/propose.h"

#include <algorithm>
#include <utility>

#include "hindsight/core/thread_pool.h"
#include "hindsight/optimize/baselines.h"
#include "optimize/level_space.h"
#include "optimize/logged.h"
#include "optimize/propose_options.h"
#include "optimize/proposer.h"
#include "optimize/score_bounds.h"

namespace hindsight::optimize {
namespace {

/// [chosen] Designs kept per proposal asked for: the best ones are neighbours of each other.
constexpr std::uint64_t kPoolPerProposal = 100;
/// [chosen] Extra searches, each with a quarter of the budget, when the pool is not diverse enough.
constexpr int kMostExtraSearches = 8;
/// [chosen] At most half of a population starts from the log, so that the search does not only repeat the past.
constexpr std::uint64_t kStartShare = 2;

}  // namespace

Proposer::Proposer(const surrogate::Model& model, const ProposeOptions& options)
    : model_(model), options_(options), search_(options.search) {
  problem_.space = &model.parts().space;
  problem_.allowed = options.allowed;
  problem_.among = options.among;
  const auto size = allowed_count(problem_);
  proves_ = search_.kind == SearchKind::exact && options.among == nullptr;
  const bool exact = search_.kind == SearchKind::enumeration || options.among != nullptr ||
                     (!proves_ && size && *size <= options.search.evaluations);
  const unsigned threads = resolve_threads(options.threads);
  // An enumeration runs whole blocks side by side; the other searches split the rows of one batch.
  search_.threads = exact || proves_ ? threads : 1;
  search_.keep = std::max<std::uint64_t>(search_.keep, kPoolPerProposal * options.count);
  forecast_ = std::make_shared<const Forecast>(model, options, exact || proves_ ? 1 : threads);
  problem_.constraints = options.constraints;
  for (const Constraint& constraint : problem_.constraints) {
    if (!constraint.learned()) continue;
    question_.limited.push_back(quantity_of(model_, constraint.name));
    question_.limits.push_back(constraint.limit);
  }
  question_.front = !options.front.empty();
  problem_.model = asking(question_);
  if (proves_) {
    problem_.score_bounds = [this](const LevelMatrix& sample, double cutoff) {
      return score_bounds(model_, options_, forecast_, sample, cutoff);
    };
  }
  exact_ = exact;
  if (options.logged != nullptr) {
    const std::size_t count = std::max<std::uint64_t>(search_.population / kStartShare, 1);
    const auto starts = logged_starts(*options.logged, problem_, options.contexts, count);
    search_.start.insert(search_.start.end(), starts.begin(), starts.end());
    known_ = problem_;
  }
  // An exact search proves what the model says, and a front has facts of its own.
  const bool by_facts = !proves_ && options.front.empty() && options.bars_infeasible;
  auto barred = not_proposed(options, by_facts);
  bars_ = barred.has_value();
  if (barred) problem_.constraints.push_back(std::move(*barred));
}

ProposeResult Proposer::run() {
  ProposeResult result;
  result.solution = search_feasible(result.min_p_feasible_used);
  result.relaxed_by_log = relax_by_log(result.solution, result.min_p_feasible_used);
  std::vector<Candidate> pool = ranked(result.solution.best);
  std::vector<Candidate> chosen = options_.portfolio == Portfolio::alike
                                      ? diverse(pool, options_.count, options_.diversity)
                                      : spread_list(pool, result.min_p_feasible_used, result.solution);
  for (int extra = 0; extra < kMostExtraSearches && chosen.size() < options_.count; ++extra) {
    if (result.solution.termination == Termination::interrupted || !add_distant(chosen, result.solution)) break;
  }
  std::vector<Candidate> listed = ranked(chosen);
  if (surest_) put_surest_first(listed);
  result.proposals = describe(listed);
  if (surest_) result.proposals.front().from_log = true;
  return result;
}

std::vector<std::size_t> Proposer::asked_otherwise(const space::Design& first, const space::Design& design) const {
  const auto asked = asked_.find(design.levels);
  if (asked == asked_.end()) return {};
  std::vector<std::size_t> otherwise = asked->second.parameters;
  std::erase_if(otherwise, [&](std::size_t p) { return design.levels[p] == first.levels[p]; });
  return otherwise;
}

std::vector<Proposal> Proposer::describe(const std::vector<Candidate>& candidates) const {
  const LevelMatrix levels = levels_of(candidates, *problem_.space);
  const ForecastBatch batch = forecast_->predict(levels);
  const Eigen::VectorXd spread = forecast_->spread(batch), relative_spread = forecast_->relative_spread(batch);
  std::vector<Eigen::VectorXd> values, cautious;
  for (const Constraint& constraint : options_.constraints) {
    if (!constraint.learned()) {
      cautious.push_back(values.emplace_back(constraint.value(levels)));
      continue;
    }
    const LearnedQuantity quantity = quantity_of(model_, constraint.name);
    values.push_back(forecast_->largest(batch, quantity, 0));
    cautious.push_back(forecast_->largest(batch, quantity, options_.pessimism));
  }
  const Eigen::VectorXd scores = forecast_->score(batch);
  const std::vector<bool> lifted = forecast_->lifted(levels);
  std::vector<Proposal> proposals(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    Proposal& proposal = proposals[i];
    const auto row = static_cast<Eigen::Index>(i);
    proposal.design = candidates[i].design;
    proposal.score = options_.front.empty() ? candidates[i].score : scores[row];
    proposal.lifted = lifted[i];
    proposal.cautious = forecast_->in_units(proposal.score);
    proposal.spread = spread[row];
    proposal.relative_spread = relative_spread[row];
    for (const auto& prediction : batch) {
      proposal.objective.push_back(prediction.objective[row]);
      proposal.p_feasible.push_back(prediction.p_feasible[row]);
      proposal.extrapolated = proposal.extrapolated || prediction.extrapolated;
    }
    for (const Eigen::VectorXd& value : values) proposal.constraint_values.push_back(value[row]);
    proposal.other_parameters = asked_otherwise(candidates.front().design, proposal.design);
    const auto asked = asked_.find(proposal.design.levels);
    if (asked != asked_.end()) proposal.hedge = asked->second.hedge;
    for (const Eigen::VectorXd& value : cautious) proposal.cautious_constraint_values.push_back(value[row]);
    if (options_.logged != nullptr) {
      proposal.nearest_logged_distance = nearest_logged_distance(*options_.logged, proposal.design);
    }
  }
  add_metrics(batch, levels, proposals);
  return proposals;
}

ProposeResult propose(const surrogate::Model& model, const ProposeOptions& options) {
  require_valid(model, options);
  Proposer proposer(model, options);
  return options.front.empty() ? proposer.run() : proposer.run_front();
}

}  // namespace hindsight::optimize
