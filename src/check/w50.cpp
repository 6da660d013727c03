/// W50: hides the better half of a table, lets a method learn from the rest, and scores what it proposes.
#include "hindsight/check/w50.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "check/forest_proposer.h"
#include "hindsight/core/error.h"
#include "hindsight/core/random.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/scaling.h"
#include "hindsight/evaluator/evaluator.h"
#include "hindsight/optimize/propose.h"
#include "hindsight/study/backtest.h"

namespace hindsight::check {
namespace {

/// [chosen] Share of the trees that must call a design feasible.
constexpr double kForestVotes = 0.5;

void require_valid(const W50Options& options) {
  const auto refuse = [](const std::string& problem) { throw Error(ErrorKind::usage, problem); };
  if (!(options.hide_frac >= 0 && options.hide_frac < 1)) {
    refuse(fmt::format("--hide {}: is no share to hide. Name one from 0 to below 1, e.g. 0.5",
                       shortest(options.hide_frac)));
  }
  if (!options.train_rows && !(options.train_frac > 0 && options.train_frac <= 1)) {
    refuse(
        fmt::format("--train {}: is no share to learn from. Name one above 0 and at most 1, e.g. 0.1, or a whole "
                    "number of rows",
                    shortest(options.train_frac)));
  }
  if (options.train_rows && *options.train_rows == 0) refuse("--train 0: at least one row is needed to learn from");
  if (options.top.empty() || std::find(options.top.begin(), options.top.end(), 0U) != options.top.end()) {
    refuse("--top: numbers of proposals to score are 1 or more, e.g. 1,16,128");
  }
}

std::vector<bool> held_out(const dataset::Dataset& truth, const std::vector<std::string>& names) {
  std::vector<bool> held(truth.contexts.size(), false);
  for (const std::string& name : names) {
    std::vector<std::string> known;
    bool found = false;
    for (std::size_t c = 0; c < truth.contexts.size(); ++c) {
      known.push_back(truth.contexts[c].name);
      if (truth.contexts[c].name == name) held[c] = found = true;
    }
    if (!found) {
      throw Error(ErrorKind::usage, fmt::format("--holdout-context: the table has no context '{}'.{}",
                                                printable(name, 100), did_you_mean(name, known)));
    }
  }
  return held;
}

/// Objective at rank floor(share * n) of the feasible rows of every context; -infinity where none is feasible.
std::vector<double> thresholds(const dataset::Dataset& truth, double share) {
  std::vector<std::vector<double>> objectives(truth.contexts.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (!truth.feasible[i]) continue;
    objectives[static_cast<std::size_t>(truth.context[i])].push_back(truth.objective[static_cast<Eigen::Index>(i)]);
  }
  std::vector<double> result;
  for (std::vector<double>& values : objectives) {
    std::sort(values.begin(), values.end());
    const auto rank = static_cast<std::size_t>(std::floor(share * static_cast<double>(values.size())));
    result.push_back(values.empty() ? -std::numeric_limits<double>::infinity() : values[rank]);
  }
  return result;
}

std::vector<std::uint16_t> levels_of(const dataset::Dataset& data, std::size_t row) {
  const std::uint16_t* begin = data.levels.data() + static_cast<Eigen::Index>(row) * data.levels.cols();
  return {begin, begin + data.levels.cols()};
}

/// Smallest and largest objective of the feasible rows; infinity and minus infinity without one.
struct Range {
  double best = std::numeric_limits<double>::infinity(), worst = -best;
};
Range range_of(const dataset::Dataset& data, const std::string& context) {
  Range range;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (!data.feasible[i] || data.contexts[static_cast<std::size_t>(data.context[i])].name != context) continue;
    range.best = std::min(range.best, data.objective[static_cast<Eigen::Index>(i)]);
    range.worst = std::max(range.worst, data.objective[static_cast<Eigen::Index>(i)]);
  }
  return range;
}

/// Objectives of the feasible rows of a context, ascending.
std::vector<double> sorted_objectives(const dataset::Dataset& data, std::size_t context) {
  std::vector<double> values;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data.feasible[i] && static_cast<std::size_t>(data.context[i]) == context) {
      values.push_back(data.objective[static_cast<Eigen::Index>(i)]);
    }
  }
  std::sort(values.begin(), values.end());
  return values;
}

/// The designs of a context, each once; nothing where they are all of the space.
std::optional<optimize::LevelMatrix> rows_of_partial_table(const dataset::Dataset& truth, std::size_t context) {
  std::set<std::vector<std::uint16_t>> designs;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (static_cast<std::size_t>(truth.context[i]) == context) designs.insert(levels_of(truth, i));
  }
  const auto size = truth.space.size();
  if (size && *size == designs.size()) return std::nullopt;
  optimize::LevelMatrix levels(static_cast<Eigen::Index>(designs.size()), truth.levels.cols());
  std::uint16_t* next = levels.data();
  for (const std::vector<std::uint16_t>& design : designs) next = std::copy(design.begin(), design.end(), next);
  return levels;
}

/// The training rows, best first: what a person without a model would take.
std::vector<space::Design> best_rows(const dataset::Dataset& train, const std::string& context, std::size_t count) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < train.size(); ++i) {
    const bool wanted = train.contexts[static_cast<std::size_t>(train.context[i])].name == context;
    if (wanted && train.feasible[i]) rows.push_back(i);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return train.objective[static_cast<Eigen::Index>(a)] < train.objective[static_cast<Eigen::Index>(b)];
  });
  std::vector<space::Design> designs;
  for (std::size_t i = 0; i < std::min(count, rows.size()); ++i) designs.push_back({levels_of(train, rows[i])});
  return designs;
}

/// Proposals per context from what was learnt on `train`.
class Proposer {
 public:
  Proposer(const dataset::Dataset& train, const W50Options& options) : train_(train), options_(options) {
    switch (options.method) {
      case W50Method::recipe:
        learn(options.recipe);
        break;
      case W50Method::chosen:
        learn(chosen_recipe());
        break;
      case W50Method::forest:
        forest_.emplace(train, options.seed);
        break;
      case W50Method::best_in_log:
        break;
    }
  }
  [[nodiscard]] const std::string& recipe() const { return recipe_; }
  [[nodiscard]] bool interrupted() const { return trained_ && trained_->interrupted; }

  /// `among`: the only designs that may be proposed; null: any.
  [[nodiscard]] std::vector<space::Design> propose(const dataset::Context& context, std::size_t count,
                                                   const optimize::LevelMatrix* among) const {
    if (forest_) {
      return forest_->propose(context, count, search_options(count),
                              options_.risk.min_p_feasible.value_or(kForestVotes), among);
    }
    if (!trained_) return best_rows(train_, context.name, count);
    optimize::ProposeOptions options;
    options.contexts = {context};
    optimize::take_risk(options_.risk, trained_->model, options);
    options.search = search_options(count);
    options.count = count;
    options.among = among;
    options.logged = &train_;
    options.threads = options_.threads;
    std::vector<space::Design> designs;
    for (const optimize::Proposal& proposal : optimize::propose(trained_->model, options).proposals) {
      designs.push_back(proposal.design);
    }
    return designs;
  }

 private:
  void learn(surrogate::Recipe recipe) {
    recipe_ = recipe.name;
    recipe.seed = options_.seed;
    const surrogate::TrainOptions train_options{.device = options_.device,
                                                .threads = options_.threads,
                                                .checkpoint = std::nullopt,
                                                .resume = false,
                                                .progress = {}};
    trained_.emplace(surrogate::train(train_, recipe, train_options));
  }
  /// As `hindsight train` chooses where no recipe is named.
  [[nodiscard]] surrogate::Recipe chosen_recipe() const {
    study::BacktestOptions options;
    options.candidates = options_.candidates.empty() ? study::candidate_recipes(train_) : options_.candidates;
    if (train_.feasible_count() < study::kLeastFeasible) {
      const auto untested = std::ranges::find(options.candidates, study::kUntestedRecipe, &surrogate::Recipe::name);
      return untested == options.candidates.end() ? surrogate::load_recipe(study::kUntestedRecipe) : *untested;
    }
    options.threads = options_.threads;
    const study::BacktestResult result = study::backtest(train_, options);
    return result.candidates[result.chosen].recipe;
  }
  [[nodiscard]] optimize::SearchOptions search_options(std::size_t count) const {
    optimize::SearchOptions search;
    search.evaluations = options_.evaluations;
    search.keep = std::max<std::uint64_t>(search.keep, count);
    search.seed = options_.seed;
    return search;
  }

  const dataset::Dataset& train_;
  const W50Options& options_;
  std::string recipe_;
  std::optional<surrogate::TrainResult> trained_;
  std::optional<ForestProposer> forest_;
};

}  // namespace

W50Rows choose_rows(const dataset::Dataset& truth, const W50Options& options) {
  require_valid(options);
  if (dataset::value_scales(truth).objective == dataset::ValueScale::linear) {
    throw Error(ErrorKind::usage,
                fmt::format("the objective {} has values of 0 or below (proposals are scored by their "
                            "ratio to the optimum). Choose an objective that is always above 0",
                            printable(truth.objective_text)));
  }
  const std::vector<bool> held = held_out(truth, options.holdout_contexts);
  const std::vector<double> threshold = thresholds(truth, options.hide_frac);
  W50Rows rows;
  std::vector<std::size_t> visible;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const auto context = static_cast<std::size_t>(truth.context[i]);
    const bool hidden = truth.feasible[i] && truth.objective[static_cast<Eigen::Index>(i)] < threshold[context];
    if (hidden) {
      rows.hidden.push_back(i);
    } else if (!held[context]) {
      visible.push_back(i);
    }
  }
  if (visible.empty()) throw Error(ErrorKind::usage, "nothing is left to learn from");
  const auto share = static_cast<std::size_t>(std::llround(options.train_frac * static_cast<double>(visible.size())));
  const std::size_t count = std::clamp<std::size_t>(options.train_rows.value_or(share), 1, visible.size());
  const RandomStream stream(options.seed, "w50 training rows");
  draw_first(visible, count, stream);
  rows.train.assign(visible.begin(), visible.begin() + static_cast<std::ptrdiff_t>(count));
  std::sort(rows.train.begin(), rows.train.end());
  return rows;
}

W50Score score_proposals(const dataset::Dataset& truth, std::size_t context,
                         const std::vector<space::Design>& proposals, const std::vector<std::size_t>& top) {
  std::map<std::vector<std::uint16_t>, std::size_t> row_of;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (static_cast<std::size_t>(truth.context[i]) == context) row_of.emplace(levels_of(truth, i), i);
  }
  const std::vector<double> ranked = sorted_objectives(truth, context);
  const auto better_than = [&ranked](double value) {
    return static_cast<std::size_t>(std::lower_bound(ranked.begin(), ranked.end(), value) - ranked.begin());
  };
  W50Score score;
  score.context = truth.contexts[context].name;
  const Range range = range_of(truth, score.context);
  score.optimum = range.best;
  score.feasible = ranked.size();
  std::vector<double> values;  // infinity: infeasible
  std::size_t unknown = 0;
  for (const space::Design& design : proposals) {
    const auto found = row_of.find(design.levels);
    W50Proposal& proposal = score.proposals.emplace_back();
    proposal.known = found != row_of.end();
    if (!proposal.known) ++unknown;
    const bool feasible = proposal.known && truth.feasible[found->second];
    values.push_back(feasible ? truth.objective[static_cast<Eigen::Index>(found->second)]
                              : std::numeric_limits<double>::infinity());
    if (!feasible) continue;
    proposal.regret = values.back() / score.optimum;
    proposal.better = better_than(values.back());
  }
  score.unknown_frac = values.empty() ? 0 : static_cast<double>(unknown) / static_cast<double>(values.size());
  for (const std::size_t k : top) {
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(std::min(k, values.size()));
    W50Top one{.k = k,
               .ratio = 0,
               .regret = range.worst / range.best,
               .infeasible_frac = 0,
               .better = score.feasible - std::min<std::size_t>(1, score.feasible)};
    if (end != values.begin()) {
      const double best = *std::min_element(values.begin(), end);
      if (std::isfinite(best)) {
        one.ratio = score.optimum / best;
        one.regret = best / score.optimum;
        one.better = better_than(best);
      }
      one.infeasible_frac =
          static_cast<double>(std::count_if(values.begin(), end, [](double v) { return std::isinf(v); })) /
          static_cast<double>(end - values.begin());
    }
    score.top.push_back(one);
  }
  return score;
}

W50Score score_lists(const dataset::Dataset& truth, std::size_t context, const std::vector<std::size_t>& top,
                     const std::function<std::vector<space::Design>(std::size_t)>& proposals_of) {
  HINDSIGHT_EXPECT(!top.empty());
  const std::size_t longest = *std::max_element(top.begin(), top.end());
  W50Score score = score_proposals(truth, context, proposals_of(longest), top);
  for (std::size_t i = 0; i < top.size(); ++i) {
    if (top[i] == longest) continue;
    score.top[i] = score_proposals(truth, context, proposals_of(top[i]), {top[i]}).top.front();
  }
  return score;
}

W50Result run_w50(const dataset::Dataset& truth, const W50Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const evaluator::Count before = evaluator::count_so_far();
  const W50Rows rows = choose_rows(truth, options);
  for (const std::size_t row : rows.hidden) {
    HINDSIGHT_ENSURE(!std::binary_search(rows.train.begin(), rows.train.end(), row));
  }
  const dataset::Dataset train = truth.subset(rows.train).without_empty_contexts();
  const Proposer proposer(train, options);

  W50Result result{.table_rows = truth.size(),
                   .hidden_rows = rows.hidden.size(),
                   .train_rows = rows.train.size(),
                   .train_feasible = train.feasible_count(),
                   .scores = {},
                   .recipe = proposer.recipe(),
                   .seconds = 0,
                   .simulator_queries = 0,
                   .interrupted = proposer.interrupted()};
  const std::vector<bool> held = held_out(truth, options.holdout_contexts);
  for (std::size_t c = 0; c < truth.contexts.size(); ++c) {
    const double optimum = range_of(truth, truth.contexts[c].name).best;
    if ((!options.holdout_contexts.empty() && !held[c]) || !std::isfinite(optimum)) continue;
    const auto among = rows_of_partial_table(truth, c);
    W50Score score = score_lists(truth, c, options.top, [&](std::size_t count) {
      return proposer.propose(truth.contexts[c], count, among ? &*among : nullptr);
    });
    score.whole_space = !among;
    const double best = range_of(train, truth.contexts[c].name).best;
    score.best_training = std::isfinite(best) ? optimum / best : 0;
    result.scores.push_back(std::move(score));
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.simulator_queries = evaluator::count_so_far().evaluations - before.evaluations;
  return result;
}

}  // namespace hindsight::check
