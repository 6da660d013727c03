/// Hyperband over the ranges of a recipe.
#include "hindsight/surrogate/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/random.h"
#include "hindsight/core/text.h"

namespace hindsight::surrogate {
namespace {

/// [chosen] The first rung gets this share of the steps unless told otherwise: two reductions by 3.
constexpr std::int64_t kSmallestShare = 9;

/// A drawn recipe: the value of every range as text, as a recipe file would have it.
using Values = std::map<std::string, double>;

/// Value `draw` of one range; whole when both ends are.
double drawn_value(const TuneRange& range, double draw) {
  const double value = range.logarithmic ? range.from * std::pow(range.to / range.from, draw)
                                         : range.from + (range.to - range.from) * draw;
  const bool whole = range.from >= 1 && range.from == std::floor(range.from) && range.to == std::floor(range.to) &&
                     range.to > range.from + 1;
  return whole ? std::round(value) : value;
}

Values drawn_values(const Recipe& recipe, std::uint64_t seed, std::uint64_t number) {
  Values values;
  for (const TuneRange& range : recipe.tune) {
    values[range.key] = drawn_value(range, RandomStream(seed, "tune " + range.key).uniform(number));
  }
  return values;
}

Recipe with_values(Recipe recipe, const Values& values) {
  recipe.tune.clear();
  for (const auto& [key, value] : values) set_recipe_value(recipe, key, shortest(value));
  return recipe;
}

/// Trains a candidate for `steps`; the final steps would not change the score.
Trial run_trial(const dataset::Dataset& data, const Recipe& recipe, const Values& values, std::int64_t steps,
                const TuneOptions& options) {
  Recipe candidate = with_values(recipe, values);
  candidate.steps = steps;
  candidate.final_steps = 0;
  candidate.evaluate_interval = std::max<std::int64_t>(1, std::min(candidate.evaluate_interval, steps / 4));
  TrainOptions train_options = options.train;
  train_options.checkpoint.reset();
  train_options.resume = false;
  Trial trial;
  trial.values = values;
  trial.steps = steps;
  try {
    const TrainResult result = train(data, candidate, train_options);
    const ModelMetrics& metrics = result.model.parts().metrics;
    trial.kendall_tau = metrics.kendall_tau;
    trial.feasibility_auc = metrics.feasibility_auc;
    trial.score = tuning_score(metrics);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::failure) throw;
    trial.failed = true;
  }
  return trial;
}

bool better(const Trial& a, const Trial& b) {
  if (a.failed != b.failed) return b.failed;
  if (a.score != b.score) return a.score > b.score;
  return a.candidate < b.candidate;
}

/// A longer trial outranks a shorter one: its score is closer to that of the full training.
bool outranks(const Trial& trial, const Trial& best) {
  return trial.steps > best.steps || (trial.steps == best.steps && better(trial, best));
}

/// How many candidates each bracket starts with, and for how many steps they train on each rung.
class Schedule {
 public:
  Schedule(const Recipe& recipe, const TuneOptions& options)
      : largest_(options.largest_steps > 0 ? options.largest_steps : recipe.steps), eta_(options.reduction) {
    const std::int64_t smallest = std::clamp<std::int64_t>(
        options.smallest_steps > 0 ? options.smallest_steps : largest_ / kSmallestShare, 1, largest_);
    deepest_ = static_cast<std::int64_t>(
        std::floor(std::log(static_cast<double>(largest_) / static_cast<double>(smallest)) / std::log(eta_) + 1e-9));
  }

  /// Brackets count down from here to 0.
  [[nodiscard]] std::int64_t deepest() const { return deepest_; }

  /// Li et al. 2018, algorithm 1: n = ceil((s_max + 1) / (s + 1) * eta^s) candidates start with R eta^-s steps.
  [[nodiscard]] std::size_t candidates(std::int64_t bracket) const {
    const double depth = std::pow(eta_, static_cast<double>(bracket));
    return static_cast<std::size_t>(
        std::ceil(static_cast<double>(deepest_ + 1) / static_cast<double>(bracket + 1) * depth - 1e-9));
  }

  [[nodiscard]] std::int64_t steps(std::int64_t bracket, std::int64_t rung) const {
    const double share = std::pow(eta_, static_cast<double>(rung - bracket));
    return std::max<std::int64_t>(1, std::llround(static_cast<double>(largest_) * share));
  }

  /// The best 1 / eta of a rung's trials, at least one.
  [[nodiscard]] std::vector<Trial> survivors(std::vector<Trial> ran) const {
    std::sort(ran.begin(), ran.end(), better);
    const auto kept = static_cast<std::size_t>(std::floor(static_cast<double>(ran.size()) / eta_ + 1e-9));
    ran.resize(std::min(ran.size(), std::max<std::size_t>(kept, 1)));
    return ran;
  }

 private:
  std::int64_t largest_;
  double eta_;
  std::int64_t deepest_ = 0;
};

/// `count` candidates, numbered on from `drawn`; number 0 is the recipe as given.
std::vector<Trial> draw_candidates(const Recipe& recipe, std::uint64_t seed, std::size_t count, std::uint64_t& drawn) {
  std::vector<Trial> candidates(count);
  for (Trial& trial : candidates) {
    trial.candidate = static_cast<std::int64_t>(drawn);
    if (drawn > 0) trial.values = drawn_values(recipe, seed, drawn);
    ++drawn;
  }
  return candidates;
}

}  // namespace

double tuning_score(const ModelMetrics& metrics) {
  const double tau = std::isfinite(metrics.kendall_tau) ? metrics.kendall_tau : 0;
  const double auc = std::isfinite(metrics.feasibility_auc) ? metrics.feasibility_auc : 0.5;
  return tau + auc - 0.5;
}

TuneResult tune(const dataset::Dataset& data, const Recipe& recipe, const TuneOptions& options,
                const std::function<void(const Trial&)>& report) {
  HINDSIGHT_EXPECT(options.reduction > 1);
  if (recipe.tune.empty()) {
    throw Error(ErrorKind::usage, fmt::format("recipe {} has no `tune` ranges, so there is nothing to search. Add e.g. "
                                              "`tune: {{alpha: {{from: 0.01, to: 1, scale: log}}}}`",
                                              printable(recipe.name)));
  }
  const Schedule schedule(recipe, options);
  TuneResult result{.recipe = recipe, .trials = {}, .interrupted = false};
  std::optional<Trial> best;
  std::uint64_t drawn = 0;
  for (std::int64_t bracket = schedule.deepest(); bracket >= 0 && !result.interrupted; --bracket) {
    std::vector<Trial> alive = draw_candidates(recipe, options.seed, schedule.candidates(bracket), drawn);
    for (std::int64_t rung = 0; rung <= bracket && !result.interrupted; ++rung) {
      std::vector<Trial> ran;
      for (const Trial& candidate : alive) {
        result.interrupted = interrupt_requested();
        if (result.interrupted) break;
        Trial trial = run_trial(data, recipe, candidate.values, schedule.steps(bracket, rung), options);
        trial.bracket = schedule.deepest() - bracket;
        trial.rung = rung;
        trial.candidate = candidate.candidate;
        result.trials.push_back(trial);
        ran.push_back(trial);
        if (report) report(trial);
        if (!trial.failed && (!best || outranks(trial, *best))) best = trial;
      }
      alive = schedule.survivors(std::move(ran));
    }
  }
  if (!best) {
    if (result.interrupted) throw Error(ErrorKind::interrupted, "interrupted before the first trial ended");
    throw Error(ErrorKind::failure,
                fmt::format("all {} trials diverged. Lower learning_rate or its range?", result.trials.size()));
  }
  result.recipe = with_values(recipe, best->values);
  return result;
}

}  // namespace hindsight::surrogate
