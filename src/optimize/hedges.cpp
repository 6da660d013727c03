/// How single networks, a surer and an optimistic judgement rank what the searches have kept.
#include "optimize/hedges.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "hindsight/core/thread_pool.h"
#include "optimize/level_space.h"

namespace hindsight::optimize {
namespace {

/// [chosen] One place of ten for a surer design, one for an optimistic one.
constexpr std::size_t kJudgedEvery = 10;
/// [chosen] A surer design is a tenth as likely to be infeasible as may be: p_feasible of 0.99 where 0.9 is asked for.
constexpr double kSurerShare = 0.1;
/// [chosen] An optimist takes a prediction to be better by a spread, whatever the pessimism of the score.
constexpr double kOptimism = 1;
/// [chosen] Candidates that are judged, best first: as many as eleven searches keep for ten proposals.
constexpr std::size_t kMostJudged = 11'000;

/// The first, and behind it the candidates that can be hedges, best first, each once.
std::vector<Candidate> worth_judging(const Candidate& first, std::vector<Candidate> candidates, double unit) {
  const double tie = kScoreTie * unit, most = first.score + kFarWorse * unit;
  const auto rank = [tie](const Candidate& candidate) { return std::round(candidate.score / tie); };
  std::erase_if(candidates,
                [&](const Candidate& candidate) { return candidate.score > most || rank(candidate) <= rank(first); });
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.score != b.score ? a.score < b.score : a.design.levels < b.design.levels;
  });
  // The same design has the same score wherever it was found, but for the rounding of another batch.
  std::vector<Candidate> judged{first};
  std::set<std::vector<std::uint16_t>> known{first.design.levels};
  for (Candidate& candidate : candidates) {
    if (judged.size() > kMostJudged) break;
    if (known.insert(candidate.design.levels).second) judged.push_back(std::move(candidate));
  }
  return judged;
}

/// Those of `judged` that `values` puts before the first, best first.
std::vector<Asked> preferred_to_first(const std::vector<Candidate>& judged, const Eigen::VectorXd& values,
                                      const Hedge& hedge) {
  std::vector<Eigen::Index> rows;
  for (Eigen::Index i = 1; i < values.size(); ++i) {
    if (values[i] < values[0]) rows.push_back(i);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](Eigen::Index a, Eigen::Index b) { return values[a] < values[b]; });
  std::vector<Asked> preferred;
  for (const Eigen::Index i : rows) {
    preferred.push_back({.candidate = judged[static_cast<std::size_t>(i)], .hedge = hedge});
  }
  return preferred;
}

surrogate::Model network_alone(const surrogate::Model& model, std::size_t member) {
  surrogate::Model::Parts parts = model.parts();
  parts.members = {model.parts().members[member]};
  return surrogate::Model(std::move(parts));
}

HedgePlaces by_members(const std::vector<Candidate>& judged, const LevelMatrix& levels, const HedgeQuestion& question) {
  const ProposeOptions& options = question.options;
  const std::size_t members = question.model.parts().members.size();
  if (members < 2 || options.member_every == 0) return {};
  Forecast::Question own;
  if (question.threshold > 0) {
    own.limits = {1 - question.threshold};
    own.limits_infeasibility = true;
  }
  HedgePlaces places{.count = options.count / options.member_every};
  if (places.count == 0) return places;
  for (std::size_t m = 0; m < members; ++m) {
    const surrogate::Model alone = network_alone(question.model, m);
    const Eigen::VectorXd score = Forecast(alone, options, resolve_threads(options.threads)).ask(levels, own).score;
    places.judges.push_back(
        preferred_to_first(judged, score, {.judgement = Hedge::Judgement::member, .member = m, .p_feasible = 0}));
  }
  return places;
}

HedgePlaces by_surer(const std::vector<Candidate>& judged, const ForecastBatch& batch, const HedgeQuestion& question) {
  const double wanted = 1 - kSurerShare * (1 - question.threshold);
  const Eigen::VectorXd p_feasible = question.forecast.least_p_feasible(batch);
  if (p_feasible[0] >= wanted) return {};
  std::vector<Asked> surer;
  for (std::size_t i = 1; i < judged.size(); ++i) {
    if (p_feasible[static_cast<Eigen::Index>(i)] < wanted) continue;
    surer.push_back({.candidate = judged[i],
                     .hedge = Hedge{.judgement = Hedge::Judgement::surer, .member = 0, .p_feasible = wanted}});
  }
  return {.count = question.options.count / kJudgedEvery, .judges = {std::move(surer)}};
}

HedgePlaces by_optimist(const std::vector<Candidate>& judged, const LevelMatrix& levels, const ForecastBatch& batch,
                        const HedgeQuestion& question) {
  ProposeOptions hopeful = question.options;
  hopeful.pessimism = -kOptimism;
  Eigen::VectorXd score = Forecast(question.model, hopeful, resolve_threads(hopeful.threads)).score(batch);
  if (const auto bound = question.forecast.score_of_bounds(levels)) score = score.cwiseMax(*bound).eval();
  std::vector<Asked> preferred =
      preferred_to_first(judged, score, {.judgement = Hedge::Judgement::optimistic, .member = 0, .p_feasible = 0});
  return {.count = question.options.count / kJudgedEvery, .judges = {std::move(preferred)}};
}

}  // namespace

std::vector<HedgePlaces> hedge_places(const Candidate& first, std::vector<Candidate> candidates,
                                      const HedgeQuestion& question) {
  const std::vector<Candidate> judged = worth_judging(first, std::move(candidates), question.forecast.unit());
  if (judged.size() < 2) return {};
  const LevelMatrix levels = levels_of(judged, question.model.parts().space);
  const ForecastBatch batch = question.forecast.predict(levels, {.constraints = false});
  return {by_members(judged, levels, question), by_surer(judged, batch, question),
          by_optimist(judged, levels, batch, question)};
}

}  // namespace hindsight::optimize
