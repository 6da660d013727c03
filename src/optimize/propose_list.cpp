/// Which of the designs that a search kept make a list: by rank, apart from each other, spread or hedged.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <tuple>
#include <utility>

#include "hindsight/space/legal_designs.h"
#include "optimize/hedges.h"
#include "optimize/level_space.h"
#include "optimize/logged.h"
#include "optimize/proposer.h"

namespace hindsight::optimize {
namespace {

/// [chosen] Share of the budget that each extra search gets when the pool is not diverse enough, in 1 / this.
constexpr std::uint64_t kExtraShare = 4;

}  // namespace

std::vector<Candidate> Proposer::ranked(const std::vector<Candidate>& pool) const {
  std::vector<Candidate> feasible;
  std::copy_if(pool.begin(), pool.end(), std::back_inserter(feasible),
               [](const Candidate& candidate) { return candidate.violation <= 0; });
  const Eigen::VectorXd p_feasible = forecast_->least_p_feasible(
      forecast_->predict(levels_of(feasible, *problem_.space), {.objective = false, .constraints = false}));
  std::vector<std::size_t> order(feasible.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const double tie = kScoreTie * forecast_->unit();
  const auto rank = [&](std::size_t i) {
    return std::tuple(std::round(feasible[i].score / tie), -p_feasible[static_cast<Eigen::Index>(i)], feasible[i].score,
                      std::cref(feasible[i].design.levels));
  };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto left = rank(a);
    const auto right = rank(b);
    if (std::get<0>(left) != std::get<0>(right)) return std::get<0>(left) < std::get<0>(right);
    if (std::get<1>(left) != std::get<1>(right)) return std::get<1>(left) < std::get<1>(right);
    if (std::get<2>(left) != std::get<2>(right)) return std::get<2>(left) < std::get<2>(right);
    return std::get<3>(left).get() < std::get<3>(right).get();
  });
  std::vector<Candidate> sorted;
  for (const std::size_t i : order) sorted.push_back(feasible[i]);
  return sorted;
}

void Proposer::put_surest_first(std::vector<Candidate>& listed) const {
  listed.insert(listed.begin(), *surest_);
  listed = diverse(listed, options_.count, std::max<std::size_t>(options_.diversity, 1));
}

std::optional<double> Proposer::best_logged_score(const AllowedLevels& allowed) const {
  if (!known_) return std::nullopt;
  Problem problem = *known_;
  problem.allowed = allowed;
  const dataset::Dataset& all = *options_.logged;
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (problem.is_allowed(all.levels.data() + static_cast<Eigen::Index>(i) * all.levels.cols())) rows.push_back(i);
  }
  if (rows.empty()) return std::nullopt;
  const auto best =
      logged_starts(all.subset(rows).without_empty_contexts(), problem, options_.contexts, options_.contexts.size());
  if (best.empty()) return std::nullopt;
  std::vector<Candidate> logged;
  for (const space::Design& design : best) logged.push_back({.design = design});
  return problem.model(levels_of(logged, *problem.space)).score.minCoeff();
}

std::vector<Candidate> Proposer::spread_list(const std::vector<Candidate>& pool, double threshold, Solution& solution) {
  const SpreadQuestion question{
      .space = *problem_.space,
      .allowed = problem_used_.allowed,
      .count = options_.count,
      .diversity = options_.diversity,
      .unit = forecast_->unit(),
      .evaluations = by_chance().evaluations,
      .best_among = [&](const AllowedLevels& allowed,
                        std::uint64_t evaluations) { return best_among(allowed, evaluations, pool, solution); },
      .best_logged = [this](const AllowedLevels& allowed) { return best_logged_score(allowed); }};
  std::vector<Asked> list = spread_out(pool, question);
  if (options_.portfolio == Portfolio::hedged && solution.termination != Termination::interrupted) {
    list = hedged(std::move(list), pool, threshold);
  }
  std::vector<Candidate> chosen;
  for (const Asked& asked : list) {
    chosen.push_back(asked.candidate);
    asked_[asked.candidate.design.levels] = asked;
  }
  return chosen;
}

std::vector<Asked> Proposer::hedged(std::vector<Asked> list, const std::vector<Candidate>& pool,
                                    double threshold) const {
  std::vector<Candidate> chosen, candidates = pool;
  for (const Asked& asked : list) chosen.push_back(asked.candidate);
  const Candidate first = ranked(chosen).front();
  const auto place = std::ranges::find_if(
      list, [&](const Asked& asked) { return asked.candidate.design.levels == first.design.levels; });
  std::rotate(list.begin(), place, std::next(place));
  candidates.insert(candidates.end(), found_besides_.begin(), found_besides_.end());
  const HedgeQuestion question{.model = model_, .options = options_, .forecast = *forecast_, .threshold = threshold};
  return with_hedges(list, hedge_places(first, std::move(candidates), question), options_.count, options_.diversity);
}

std::vector<Candidate> Proposer::best_among(const AllowedLevels& allowed, std::uint64_t evaluations,
                                            const std::vector<Candidate>& pool, Solution& solution) {
  Problem problem = problem_used_;
  problem.allowed = allowed;
  const space::DesignSpace& space = *problem.space;
  if (solution.termination == Termination::interrupted) return {};
  if (space.is_constrained() && !space::has_legal(*space.rules(), problem.allowed)) return {};
  SearchOptions options = by_chance();
  options.evaluations = std::max<std::uint64_t>(evaluations, search_.population);
  options.start.clear();
  for (const Candidate& candidate : pool) {
    if (options.start.size() < search_.population) options.start.push_back(candidate.design);
  }
  const Solution found_there = search(problem, options);
  solution.evaluations += found_there.evaluations;
  if (found_there.termination == Termination::interrupted) solution.termination = Termination::interrupted;
  if (solution.termination == Termination::interrupted || !found(found_there)) return {};
  std::vector<Candidate> best = ranked(found_there.best);
  if (options_.portfolio == Portfolio::hedged) {
    found_besides_.insert(found_besides_.end(), best.begin(), best.end());
  }
  return best;
}

bool Proposer::add_distant(std::vector<Candidate>& chosen, Solution& solution) {
  Problem problem = problem_used_;
  const auto wanted = static_cast<double>(options_.diversity);
  problem.constraints.push_back(
      {.name = "closeness", .limit = 0, .value = [&chosen, wanted](const LevelMatrix& levels) {
         Eigen::VectorXd closeness(levels.rows());
         for (Eigen::Index i = 0; i < levels.rows(); ++i) {
           double distance = wanted;
           for (const Candidate& other : chosen) {
             Eigen::Index different = 0;
             for (Eigen::Index p = 0; p < levels.cols(); ++p) {
               different += levels(i, p) == other.design.levels[static_cast<std::size_t>(p)] ? 0 : 1;
             }
             distance = std::min(distance, static_cast<double>(different));
           }
           closeness[i] = wanted - distance;
         }
         return closeness;
       }});
  SearchOptions options = by_chance();
  options.evaluations = std::max<std::uint64_t>(options.evaluations / kExtraShare, 1);
  const Solution more = search(problem, options);
  solution.evaluations += more.evaluations;
  if (more.termination == Termination::interrupted) solution.termination = Termination::interrupted;
  if (!found(more)) return false;
  const std::vector<Candidate> added = diverse(ranked(more.best), options_.count - chosen.size(), options_.diversity);
  chosen.insert(chosen.end(), added.begin(), added.end());
  return true;
}

}  // namespace hindsight::optimize
