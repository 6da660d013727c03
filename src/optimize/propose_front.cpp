/// Proposals of a front: its ends, the search between them, and what a log has of the same metrics.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "optimize/level_space.h"
#include "optimize/proposer.h"

namespace hindsight::optimize {
namespace {

/// [chosen] Share of the evaluations for the smallest value of each metric of a front, in 1 / this.
constexpr std::uint64_t kEndShare = 10;

/// Marks predicted values that no logged design comes near. Facts are exact wherever they lie.
void mark_values_beyond_log(const std::vector<FrontMetric>& metrics, ProposeResult& result) {
  if (!result.log_beside) return;
  const LogBesideFront& log = *result.log_beside;
  for (Proposal& proposal : result.proposals) {
    for (std::size_t m = 0; m < proposal.front.size(); ++m) {
      FrontValue& value = proposal.front[m];
      const bool is_predicted = !proposal.from_log && !metrics[m].value;
      value.beyond_log = is_predicted && value.score < log.least_scores[m] - log.margins[m];
    }
  }
}

}  // namespace

void Proposer::take_logged_front() {
  if (options_.logged != nullptr) logged_front_ = LoggedFront::of(model_, options_, *forecast_);
}

ProposeResult Proposer::run_front() {
  ProposeResult result;
  result.min_p_feasible_used = options_.min_p_feasible;
  problem_used_ = with_p_feasible(result.min_p_feasible_used);
  const SearchOptions whole = search_;
  take_logged_front();
  Front front;
  if (exact_) front = front_with_log(whole);
  if (front.members.empty() && front.termination != Termination::interrupted) {
    result.solution = search_ends(result.min_p_feasible_used);
    SearchOptions rest = search_;
    rest.evaluations = whole.evaluations - std::min(whole.evaluations - 1, result.solution.evaluations);
    if (exact_) rest = whole;
    front = front_with_log(rest);
  }
  if (front.members.empty()) throw Error(ErrorKind::interrupted, "interrupted before a front was found");
  result.solution.evaluations += front.evaluations;
  result.solution.termination = front.termination;
  std::vector<FrontMember> members = std::move(front.members);
  if (logged_front_) members = beside_log(members, result);
  result.front_size = members.size();
  std::vector<MetricValues> points;
  for (const FrontMember& member : members) points.push_back(member.metrics);
  std::vector<Candidate> chosen;
  for (const std::size_t i : representatives(points, options_.count)) {
    chosen.push_back({.design = members[i].design, .score = points[i].front(), .violation = 0});
  }
  result.proposals = describe(chosen);
  if (logged_front_) take_logged_values(result.proposals);
  mark_values_beyond_log(options_.front, result);
  return result;
}

Front Proposer::front_with_log(SearchOptions options) {
  const bool twice = logged_front_ && logged_front_->correction() != nullptr;
  if (twice && !exact_) options.evaluations = std::max<std::uint64_t>(options.evaluations / 2, 1);
  Front front = search_front(problem_used_, options_.front.size(), options);
  if (!twice || front.members.empty() || front.termination == Termination::interrupted) return front;
  logged_front_->refine(front.members);
  options.start.clear();
  for (const FrontMember& member : front.members) options.start.push_back(member.design);
  Front again = search_front(problem_used_, options_.front.size(), options);
  front.evaluations += again.evaluations;
  front.termination = again.termination;
  if (!again.members.empty()) front.members = std::move(again.members);  // interrupted at once: the first ones stand
  return front;
}

Eigen::MatrixXd Proposer::corrected(const LevelMatrix& levels, const Eigen::MatrixXd& metrics) const {
  Eigen::MatrixXd all = metrics + logged_front_->cautious_correction(levels, metrics);
  for (std::size_t m = 0; m < options_.front.size(); ++m) {
    const auto bounds = forecast_->metric_bounds(levels, m);
    if (!bounds) continue;
    const auto column = static_cast<Eigen::Index>(m);
    all.col(column) = all.col(column).cwiseMax(forecast_->metric_score_of(*bounds, levels, m)).eval();
  }
  return all;
}

void Proposer::correct(const LevelMatrix& levels, Learned& learned, std::size_t scored) const {
  std::vector<Eigen::Index> known;
  for (Eigen::Index i = 0; i < levels.rows(); ++i) {
    if (learned.metrics.row(i).allFinite()) known.push_back(i);
  }
  if (known.empty()) return;
  learned.metrics(known, Eigen::all) = corrected(levels(known, Eigen::all), learned.metrics(known, Eigen::all));
  learned.score = learned.metrics.col(static_cast<Eigen::Index>(scored));
}

std::vector<FrontMember> Proposer::beside_log(const std::vector<FrontMember>& predicted, ProposeResult& result) const {
  const LoggedFront& logged = *logged_front_;
  result.log_beside = logged.summary();
  std::vector<FrontMember> all;
  for (const FrontMember& member : predicted) {
    if (logged.knows(member.design)) continue;  // it stands among the logged ones, or the log says why not
    if (logged.may_beat(member.metrics)) {
      ++result.log_beside->beaten;
    } else {
      all.push_back(member);
    }
  }
  for (const FrontMember& member : logged.members()) {
    const auto& never = options_.never;
    const bool excluded = std::any_of(
        never.begin(), never.end(), [&](const space::Design& design) { return design.levels == member.design.levels; });
    if (!options_.only_new && !excluded) all.push_back(member);
  }
  if (all.empty()) refuse_beaten(*result.log_beside);
  std::vector<MetricValues> points;
  for (const FrontMember& member : all) points.push_back(member.metrics);
  std::vector<FrontMember> front;
  for (const std::size_t i : non_dominated(points)) front.push_back(all[i]);
  return front;
}

void Proposer::refuse_beaten(const LogBesideFront& log) const {
  throw Error(ErrorKind::no_feasible,
              fmt::format("a logged design may dominate every one that was found ({}; {} on the log's own front). "
                          "{}earch longer (--evaluations)?",
                          with_commas(log.beaten), with_commas(log.designs),
                          options_.only_new ? "Leave out --new to see those, or s" : "S"));
}

void Proposer::take_logged_values(std::vector<Proposal>& proposals) const {
  for (Proposal& proposal : proposals) {
    const LoggedFront::Known* known = logged_front_->find(proposal.design);
    if (known == nullptr) continue;
    proposal.from_log = true;
    for (std::size_t m = 0; m < proposal.front.size(); ++m) {
      FrontValue& value = proposal.front[m];
      value.score = known->metrics[m];
      value.cautious = forecast_->metric_in_units(value.score, m);
      value.by_context = known->by_context[m];
      value.predicted = options_.front[m].value
                            ? value.score
                            : aggregate_value(value.by_context, options_.aggregate, options_.weights);
      take_objective(proposal, m);
    }
  }
}

void Proposer::take_objective(Proposal& proposal, std::size_t m) const {
  const auto& metric = options_.front[m];
  if (metric.value || !learned_quantity(model_, metric.name)->is_objective) return;
  proposal.objective = proposal.front[m].by_context;
  proposal.score = proposal.front[m].score;
  proposal.cautious = proposal.front[m].cautious;
}

Solution Proposer::search_ends(double& threshold) {
  const SearchOptions whole = search_;
  if (!exact_) search_.evaluations = std::max<std::uint64_t>(whole.evaluations / kEndShare, 1);
  search_.keep = search_.population;
  Solution ends = search_feasible(threshold);
  std::vector<Candidate> found = ends.best;
  for (std::size_t m = 1; !exact_ && m < options_.front.size(); ++m) {
    question_.scored = m;
    const Solution end = search(with_p_feasible(threshold), search_);
    found.insert(found.end(), end.best.begin(), end.best.end());
    ends.evaluations += end.evaluations;
  }
  question_.scored = 0;
  search_ = whole;
  for (const Candidate& candidate : found) {
    if (candidate.violation <= 0) search_.start.push_back(candidate.design);
  }
  return ends;
}

void Proposer::add_metrics(const ForecastBatch& batch, const LevelMatrix& levels,
                           std::vector<Proposal>& proposals) const {
  const auto count = static_cast<Eigen::Index>(options_.front.size());
  Eigen::MatrixXd scores(levels.rows(), count);
  for (Eigen::Index m = 0; m < count; ++m) {
    scores.col(m) = forecast_->metric_score(batch, levels, static_cast<std::size_t>(m));
  }
  const LogCorrection* correction = logged_front_ ? logged_front_->correction() : nullptr;
  Eigen::MatrixXd more;
  if (correction != nullptr) {
    more = correction->mean(levels, scores);
    scores = corrected(levels, scores);
  }
  for (std::size_t m = 0; m < options_.front.size(); ++m) {
    const auto column = static_cast<Eigen::Index>(m);
    Eigen::MatrixXd values = forecast_->metric_values(batch, levels, m);
    if (correction != nullptr) values = forecast_->shifted_metric(values, more.col(column), levels, m);
    add_metric(scores.col(column), values, m, proposals);
  }
}

void Proposer::add_metric(const Eigen::VectorXd& scores, const Eigen::MatrixXd& values, std::size_t m,
                          std::vector<Proposal>& proposals) const {
  const bool fact = static_cast<bool>(options_.front[m].value);
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    FrontValue& value = proposals[i].front.emplace_back();
    value.score = scores[row];
    value.cautious = forecast_->metric_in_units(value.score, m);
    for (Eigen::Index c = 0; c < values.cols(); ++c) value.by_context.push_back(values(row, c));
    value.predicted = fact ? scores[row] : aggregate_value(value.by_context, options_.aggregate, options_.weights);
    take_objective(proposals[i], m);
  }
}

}  // namespace hindsight::optimize
