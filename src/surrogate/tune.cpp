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
#include "surrogate/checkpoint.h"
#include "surrogate/json_entries.h"

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

/// The recipe that a trial trains; the final steps would not change the score.
Recipe trial_recipe(const Recipe& recipe, const Trial& trial) {
  Recipe candidate = with_values(recipe, trial.values);
  candidate.steps = trial.steps;
  candidate.final_steps = 0;
  candidate.evaluate_interval = std::max<std::int64_t>(1, std::min(candidate.evaluate_interval, trial.steps / 4));
  return candidate;
}

/// Trains a candidate; gives what it scored as JSON.
std::string run_trial(const dataset::Dataset& data, const Recipe& candidate, const TuneOptions& options) {
  TrainOptions train_options = options.train;
  train_options.checkpoint.reset();
  train_options.resume = false;
  Json json{{"failed", true}, {"kendall_tau", nullptr}, {"feasibility_auc", nullptr}};
  try {
    const TrainResult result = train(data, candidate, train_options);
    const ModelMetrics& metrics = result.model.parts().metrics;
    json = {{"failed", false},
            {"kendall_tau", metric(metrics.kendall_tau)},
            {"feasibility_auc", metric(metrics.feasibility_auc)}};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::failure) throw;
  }
  return json.dump();
}

}  // namespace

void set_scores(Trial& trial, const std::string& result) {
  const Json json = parse_bounded_json(result, "the result of a trial");
  trial.failed = truth_of(json, "failed");
  if (trial.failed) return;
  ModelMetrics metrics;
  metrics.kendall_tau = metric_of(json, "kendall_tau");
  metrics.feasibility_auc = metric_of(json, "feasibility_auc");
  trial.kendall_tau = metrics.kendall_tau;
  trial.feasibility_auc = metrics.feasibility_auc;
  trial.score = tuning_score(metrics);
}

namespace {

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

/// A bracket under way: the trials of the rung that is next.
struct Bracket {
  std::int64_t number = 0;  ///< counts down to 0
  std::vector<Trial> alive = {};
};

/// Hyperband under way.
class HyperbandSearch {
 public:
  HyperbandSearch(const dataset::Dataset& data, const Recipe& recipe, const TuneOptions& options,
                  const std::function<void(const Trial&)>& report)
      : data_(data),
        recipe_(recipe),
        options_(options),
        report_(report),
        schedule_(recipe, options),
        shared_(options.sharing),
        data_sha256_(shared_.is_shared() ? data.content_hash() : std::string()) {}

  /// One bracket after the other; where trials are shared, the same rung of all brackets at once, so that there are
  /// more of them to share. The winner does not depend on it.
  void run() {
    std::uint64_t drawn = 0;
    std::vector<Bracket> brackets;
    for (std::int64_t number = schedule_.deepest(); number >= 0; --number) {
      brackets.push_back(
          {.number = number, .alive = draw_candidates(recipe_, options_.seed, schedule_.candidates(number), drawn)});
    }
    if (shared_.is_shared()) {
      for (std::int64_t rung = 0; rung <= schedule_.deepest() && !interrupted_; ++rung) {
        std::vector<Bracket*> due;
        for (Bracket& bracket : brackets) {
          if (rung <= bracket.number) due.push_back(&bracket);
        }
        run_rung(due, rung);
      }
      return;
    }
    for (Bracket& bracket : brackets) {
      for (std::int64_t rung = 0; rung <= bracket.number && !interrupted_; ++rung) run_rung({&bracket}, rung);
    }
  }

  [[nodiscard]] const std::vector<Trial>& trials() const { return trials_; }
  [[nodiscard]] const std::optional<Trial>& best() const { return best_; }
  [[nodiscard]] bool interrupted() const { return interrupted_; }

 private:
  /// Runs the trials of a rung of these brackets; the best of each go on.
  void run_rung(const std::vector<Bracket*>& brackets, std::int64_t rung) {
    std::vector<Trial> due;
    for (const Bracket* bracket : brackets) {
      for (const Trial& candidate : bracket->alive) {
        due.push_back({.bracket = schedule_.deepest() - bracket->number,
                       .rung = rung,
                       .candidate = candidate.candidate,
                       .values = candidate.values,
                       .steps = schedule_.steps(bracket->number, rung)});
      }
    }
    std::vector<SharedTrial> jobs;
    for (const Trial& trial : due) {
      jobs.push_back({.identity = shared_.is_shared()
                                      ? "tune " + training_identity(trial_recipe(recipe_, trial), data_sha256_)
                                      : std::string(),
                      .size = static_cast<double>(trial.steps)});
    }
    const auto run = [&](std::size_t i) { return run_trial(data_, trial_recipe(recipe_, due[i]), options_); };
    const auto known = [&](std::size_t i, const std::string& result) {
      Trial& trial = due[i];
      set_scores(trial, result);
      trials_.push_back(trial);
      if (report_) report_(trial);
      if (!trial.failed && (!best_ || outranks(trial, *best_))) best_ = trial;
    };
    const auto results = shared_.results(jobs, run, known);
    interrupted_ = !std::ranges::all_of(results, [](const auto& result) { return result.has_value(); });
    if (interrupted_) return;
    std::size_t first = 0;
    for (Bracket* bracket : brackets) {
      const auto begin = due.begin() + static_cast<std::ptrdiff_t>(first);
      first += bracket->alive.size();
      bracket->alive = schedule_.survivors({begin, due.begin() + static_cast<std::ptrdiff_t>(first)});
    }
  }

  const dataset::Dataset& data_;
  const Recipe& recipe_;
  const TuneOptions& options_;
  const std::function<void(const Trial&)>& report_;
  Schedule schedule_;
  SharedTrials shared_;
  std::string data_sha256_;
  std::vector<Trial> trials_;
  std::optional<Trial> best_;
  bool interrupted_ = false;
};

}  // namespace

double tuning_score(const ModelMetrics& metrics) {
  const double tau = std::isfinite(metrics.kendall_tau) ? metrics.kendall_tau : 0;
  const double auc = std::isfinite(metrics.feasibility_auc) ? metrics.feasibility_auc : 0.5;
  return tau + auc - 0.5;
}

void require_tunable(const Recipe& recipe) {
  if (std::ranges::any_of(recipe.tune, [&](const TuneRange& range) { return reads(recipe, range.key); })) return;
  std::vector<std::string> unread;
  for (const TuneRange& range : recipe.tune) unread.push_back(range.key);
  const std::string problem = unread.empty()
                                  ? "has no `tune` ranges"
                                  : fmt::format("has `tune` ranges of {} alone, which the method {} does not read",
                                                printable(join(unread, ", "), 100), to_string(recipe.method));
  throw Error(ErrorKind::usage, fmt::format("recipe {} {}, so there is nothing to search. Add to its file e.g. "
                                            "`tune: {{learning_rate: {{from: 0.0003, to: 0.003, scale: log}}}}`",
                                            printable(recipe.name, 150), problem));
}

TuneResult tune(const dataset::Dataset& data, const Recipe& recipe, const TuneOptions& options,
                const std::function<void(const Trial&)>& report) {
  HINDSIGHT_EXPECT(options.reduction > 1);
  require_tunable(recipe);
  HyperbandSearch search(data, recipe, options, report);
  search.run();
  TuneResult result{.recipe = recipe, .trials = search.trials(), .interrupted = search.interrupted()};
  const std::optional<Trial>& best = search.best();
  if (!best) {
    if (result.interrupted) throw Error(ErrorKind::interrupted, "interrupted before the first trial ended");
    throw Error(ErrorKind::failure,
                fmt::format("all {} trials diverged. Lower learning_rate or its range?", result.trials.size()));
  }
  result.recipe = with_values(recipe, best->values);
  return result;
}

}  // namespace hindsight::surrogate
