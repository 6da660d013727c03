/// backtest(): trains every candidate on what is left of a log, and scores what it chooses among the hidden rows.
#include "hindsight/study/backtest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/json_bounds.h"
#include "hindsight/core/json_line.h"
#include "hindsight/core/json_whole.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/random.h"
#include "hindsight/core/statistics.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/scaling.h"
#include "hindsight/optimize/propose.h"

namespace hindsight::study {
namespace {

/// [chosen] More teach little else of a few limits, and a trial would be a matter of them.
constexpr std::size_t kMostReasonRows = 4;
/// [chosen] At most so many applications are scored, the first of a seeded order: the others teach.
constexpr std::size_t kMostScored = 12;
/// [chosen] What an infeasible choice counts as, as in the studies (docs/offline-study.md).
constexpr double kInfeasibleRegret = 3;
/// [chosen] A recipe is judged by the mean of so many of its first choices: which of them comes first is luck. By the
/// first alone the choice on six measured tables (five seeds) was 3.2 times the optimum, by four 2.8
/// (docs/accuracy.md).
constexpr std::size_t kFirstChoices = 4;
/// [chosen] Losses this near to the smallest one differ by luck: of such the candidate that stands first is taken. On
/// six measured tables the loss of one recipe varies by 0.05 from seed to seed, and differences below 0.1 said nothing
/// of whose proposals were better (docs/accuracy.md).
constexpr double kLuck = 0.1;
/// [chosen] A recipe whose recall is below this share of the best one's hides what is looked for: conservative ones
/// keep 7 to 23 % of the hidden half of measured tables, others 58 to 66 %. Of a hundred hidden rows a recall is known
/// to a tenth of itself, so that a share near 1 would tell nothing.
constexpr double kLeastRecall = 0.6;
/// [chosen] More infeasible choices than the safest candidate by this share are too many: of sixteen one is luck, two
/// are not.
constexpr double kMoreInfeasible = 0.1;
/// [chosen] Where this share of what the objective likes best cannot be built, a search over a whole space meets every
/// hole of a classifier: 19 of 27 first proposals of plain learning could not be built (docs/offline-study.md).
constexpr double kDanger = 0.25;

/// The shipped recipes that compete, those first that are taken where losses are alike: they differ in their losses
/// (plain, conservative, logarithms by layers), in what feasibility is learned from (flag, margin), and in what a level
/// is (a number, a number and a code of its own).
constexpr std::array kCandidates = {"layers", "margins", "trends", "plain", "pushed", "v0.1"};

using Clock = std::chrono::steady_clock;
using BacktestJson = nlohmann::ordered_json;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The rows of one application of `data`, as a dataset of its own.
struct Application {
  dataset::Context context;
  dataset::Dataset rows;
  double best = 0, worst = 0;  // of the feasible ones
  double deviation = 0;        // standard deviation of their objective
};

/// Of the objective of the feasible rows, of which there is at least one.
double standard_deviation(const dataset::Dataset& rows) {
  std::vector<double> values;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows.feasible[i]) values.push_back(rows.objective[static_cast<Eigen::Index>(i)]);
  }
  const Eigen::Map<const Eigen::ArrayXd> objective(values.data(), std::ssize(values));
  return std::sqrt((objective - objective.mean()).square().mean());
}

std::vector<Application> scored_applications(const dataset::Dataset& hidden, std::uint64_t seed) {
  std::vector<std::vector<std::size_t>> rows(hidden.contexts.size());
  for (std::size_t i = 0; i < hidden.size(); ++i) rows[static_cast<std::size_t>(hidden.context[i])].push_back(i);
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0U);
  const RandomStream stream(seed, "scored applications");
  draw_first(order, order.size(), stream);
  std::vector<Application> applications;
  for (const std::size_t c : order) {
    if (applications.size() == kMostScored) break;
    dataset::Dataset own = hidden.subset(rows[c]);
    if (own.feasible_count() == 0) continue;
    Application application{.context = hidden.contexts[c], .rows = std::move(own)};
    application.best = std::numeric_limits<double>::infinity();
    application.worst = -application.best;
    for (std::size_t i = 0; i < application.rows.size(); ++i) {
      if (!application.rows.feasible[i]) continue;
      application.best = std::min(application.best, application.rows.objective[static_cast<Eigen::Index>(i)]);
      application.worst = std::max(application.worst, application.rows.objective[static_cast<Eigen::Index>(i)]);
    }
    application.deviation = standard_deviation(application.rows);
    applications.push_back(std::move(application));
  }
  return applications;
}

/// Whether it learnt values of 0 or below, which have no ratio and no geometric mean.
bool is_linear(const surrogate::Model& model) {
  return model.parts().objective_scaler.value_scale == dataset::ValueScale::linear;
}

/// What a model chose among the rows of an application: their numbers, best first.
std::vector<std::size_t> chosen_rows(const surrogate::Model& model, const Application& application,
                                     const BacktestOptions& options, double threshold) {
  optimize::ProposeOptions how;
  how.contexts = {application.context};
  if (is_linear(model)) how.aggregate = Aggregate::mean;  // the same order of one application
  how.pessimism = options.pessimism;
  how.min_p_feasible = threshold;
  how.among = &application.rows.levels;
  how.count = std::min(kBacktestProposals, application.rows.size());
  how.portfolio = optimize::Portfolio::spread;
  how.threads = options.threads;
  how.explains = false;
  std::map<std::vector<std::uint16_t>, std::size_t> row_of;
  for (std::size_t i = 0; i < application.rows.size(); ++i) {
    const std::uint16_t* levels =
        application.rows.levels.data() + static_cast<Eigen::Index>(i) * application.rows.levels.cols();
    row_of.emplace(std::vector<std::uint16_t>(levels, levels + application.rows.levels.cols()), i);
  }
  std::vector<std::size_t> rows;
  try {
    for (const optimize::Proposal& proposal : optimize::propose(model, how).proposals) {
      rows.push_back(row_of.at(proposal.design.levels));
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::no_feasible) throw;  // nothing is likely to be feasible: it chooses nothing
  }
  return rows;
}

/// Sums over applications that become a BacktestScore.
class Tally {
 public:
  Tally(Hiding hiding, bool has_ratios) : has_ratios_(has_ratios) { score_.hiding = hiding; }

  void add(const surrogate::Model& model, const Application& application, const BacktestOptions& options) {
    const double threshold = options.min_p_feasible.value_or(optimize::default_min_p_feasible(model));
    const surrogate::EnsemblePrediction prediction =
        model.predict(application.rows.levels, application.context, options.threads);
    const std::vector<std::size_t> rows = chosen_rows(model, application, options, threshold);
    ++score_.applications;
    const bool first_fails = rows.empty() || !application.rows.feasible[rows.front()];
    score_.infeasible_firsts += first_fails ? 1 : 0;
    double first = application.worst, best = application.worst;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      ++chosen_;
      if (!application.rows.feasible[rows[k]]) {
        ++infeasible_;
        continue;
      }
      const auto row = static_cast<Eigen::Index>(rows[k]);
      const double value = application.rows.objective[row];
      if (k == 0) first = value;
      best = std::min(best, value);
      compare(value, prediction.objective[row], application);
    }
    first_ += regret(first, application);
    best_ += regret(best, application);
    loss_ += first_choices_regret(application, prediction, options.pessimism, threshold, rows);
    look_at_danger(application, prediction);
    look_at_recall(application, prediction, options.pessimism, threshold);
  }

  /// Mean logarithm of the regrets of the first choices and of the best of kBacktestProposals.
  [[nodiscard]] double loss() const { return (loss_ + best_) / (2 * static_cast<double>(score_.applications)); }

  [[nodiscard]] BacktestScore score() {
    const auto count = static_cast<double>(score_.applications);
    const auto share = [](std::size_t part, std::size_t of) {
      return of == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(of);
    };
    score_.first_regret = std::exp(first_ / count);
    score_.best_regret = std::exp(best_ / count);
    score_.infeasible_frac = share(infeasible_, chosen_);
    score_.danger = share(dangerous_, looked_at_);
    score_.recall = share(recalled_, good_);
    if (!compared_.empty()) {
      (has_ratios_ ? score_.true_over_predicted : score_.true_minus_predicted_sd) = upper_median(compared_);
    }
    return score_;
  }

 private:
  /// A ratio of values of which some are 0 or below says nothing, not even which of the two is better.
  void compare(double value, double predicted, const Application& application) {
    if (has_ratios_) {
      compared_.push_back(value / predicted);
    } else if (application.deviation > 0) {
      compared_.push_back((value - predicted) / application.deviation);
    }
  }

  /// In logarithms; of objectives of 0 or below, which have no ratio, the share of their range.
  static double regret(double value, const Application& application) {
    if (application.best > 0) return std::log(value / application.best);
    const double range = application.worst - application.best;
    return range > 0 ? (value - application.best) / range : 0;
  }

  /// Whether `propose` would take the row for likely enough.
  static bool is_likely(const surrogate::EnsemblePrediction& prediction, std::size_t row, double pessimism,
                        double threshold) {
    const auto i = static_cast<Eigen::Index>(row);
    return prediction.p_feasible[i] - pessimism * prediction.p_spread[i] >= threshold;
  }

  /// Mean over kFirstChoices rows: those of the best pessimistic scores among the likely enough, or, where nothing is
  /// and the threshold was lowered, the first of `rows`, which were chosen. One that cannot be built counts as
  /// kInfeasibleRegret, none chosen as the worst there is.
  static double first_choices_regret(const Application& application, const surrogate::EnsemblePrediction& prediction,
                                     double pessimism, double threshold, std::vector<std::size_t> rows) {
    std::vector<std::pair<double, std::size_t>> likely;
    for (std::size_t i = 0; i < application.rows.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      if (!is_likely(prediction, i, pessimism, threshold)) continue;
      likely.emplace_back(prediction.score[row] + pessimism * prediction.spread[row], i);
    }
    std::sort(likely.begin(), likely.end());
    if (!likely.empty()) rows.clear();
    for (const auto& [score, row] : likely) rows.push_back(row);
    if (rows.empty()) return std::max(regret(application.worst, application), std::log(kInfeasibleRegret));
    rows.resize(std::min(kFirstChoices, rows.size()));
    double sum = 0;
    for (const std::size_t row : rows) {
      const bool can_be_built = application.rows.feasible[row];
      sum += can_be_built ? regret(application.rows.objective[static_cast<Eigen::Index>(row)], application)
                          : std::log(kInfeasibleRegret);
    }
    return sum / static_cast<double>(rows.size());
  }

  void look_at_danger(const Application& application, const surrogate::EnsemblePrediction& prediction) {
    std::vector<std::size_t> order(application.rows.size());
    std::iota(order.begin(), order.end(), 0U);
    const std::size_t count = std::min(kBacktestProposals, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                      [&](std::size_t a, std::size_t b) {
                        return prediction.score[static_cast<Eigen::Index>(a)] <
                               prediction.score[static_cast<Eigen::Index>(b)];
                      });
    looked_at_ += count;
    for (std::size_t k = 0; k < count; ++k) dangerous_ += application.rows.feasible[order[k]] ? 0 : 1;
  }

  void look_at_recall(const Application& application, const surrogate::EnsemblePrediction& prediction, double pessimism,
                      double threshold) {
    for (std::size_t i = 0; i < application.rows.size(); ++i) {
      if (!application.rows.feasible[i]) continue;
      ++good_;
      recalled_ += is_likely(prediction, i, pessimism, threshold) ? 1 : 0;
    }
  }

  BacktestScore score_;
  double first_ = 0, best_ = 0, loss_ = 0;  // sums of logarithms
  std::size_t chosen_ = 0, infeasible_ = 0, looked_at_ = 0, dangerous_ = 0, good_ = 0, recalled_ = 0;
  bool has_ratios_;
  std::vector<double> compared_;  // true and predicted objective of the feasible choices
};

/// `count` of `of` rows, ascending.
std::vector<std::size_t> drawn_rows(std::size_t of, std::size_t count, std::uint64_t seed, const char* stream) {
  std::vector<std::size_t> rows(of);
  std::iota(rows.begin(), rows.end(), 0U);
  draw_first(rows, count, RandomStream(seed, stream));
  rows.resize(count);
  std::sort(rows.begin(), rows.end());
  return rows;
}

/// At most `count` rows, a seeded sample, and of the reason rows the same share, at most kMostReasonRows * count.
dataset::Dataset sampled(const dataset::Dataset& data, std::size_t count, std::uint64_t seed) {
  const bool all = data.size() <= count;
  dataset::Dataset taken =
      all ? data : data.subset(drawn_rows(data.size(), count, seed, "backtest rows")).without_empty_contexts();
  std::size_t reasons = data.reason_rows ? data.reason_rows->size() : 0;
  if (!all) reasons = reasons * count / data.size();
  reasons = std::min(reasons, kMostReasonRows * count);
  if (taken.reason_rows && reasons < taken.reason_rows->size()) {
    const std::vector<std::size_t> rows = drawn_rows(taken.reason_rows->size(), reasons, seed, "backtest reason rows");
    taken.reason_rows = dataset::shared(taken.reason_rows->subset(rows));
  }
  return taken;
}

/// Without the applications that no row is feasible for, which but the method `layers` cannot learn.
dataset::Dataset learnable(const dataset::Dataset& data, surrogate::Method method) {
  if (method == surrogate::Method::layers) return data.without_empty_contexts();
  std::vector<bool> has_feasible(data.contexts.size(), false);
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data.feasible[i]) has_feasible[static_cast<std::size_t>(data.context[i])] = true;
  }
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (has_feasible[static_cast<std::size_t>(data.context[i])]) rows.push_back(i);
  }
  return data.subset(rows).without_empty_contexts();
}

/// A shorter training of the same recipe.
surrogate::Recipe shortened(surrogate::Recipe recipe, const BacktestOptions& options) {
  const double steps = std::ceil(options.effort * static_cast<double>(recipe.steps));
  recipe.steps = std::max<std::int64_t>(1, static_cast<std::int64_t>(steps));
  recipe.final_steps = 0;
  recipe.evaluate_interval = std::min(recipe.evaluate_interval, recipe.steps);
  recipe.ensemble = std::min<std::int64_t>(recipe.ensemble, 2);
  recipe.seed = options.seed;
  recipe.tune.clear();
  return recipe;
}

/// One way of hiding: what is learnt from, and what is chosen among.
struct Part {
  Hiding hiding = Hiding::best_half;
  dataset::Dataset rest;
  std::vector<Application> applications;
  bool has_ratios = true;  ///< BacktestResult
};

/// Of all rows, the hidden ones too: those that are learnt from may be above 0, and the best ones, which are hidden,
/// not.
bool has_ratios(const dataset::Dataset& data) {
  return dataset::value_scales(data).objective == dataset::ValueScale::logarithmic;
}

/// Those of the ways of hiding that leave feasible rows on both sides. Error{usage} when none does.
std::vector<Part> parts_of(const dataset::Dataset& data, const BacktestOptions& options) {
  std::vector<Part> parts;
  for (const Hiding hiding : options.hidings) {
    const HiddenRows rows = hide(data, hiding, options.seed);
    Part part{.hiding = hiding,
              .rest = data.subset(rows.train),
              .applications = scored_applications(data.subset(rows.hidden), options.seed),
              .has_ratios = has_ratios(data)};
    if (data.reason_rows) part.rest.reason_rows = dataset::shared(data.reason_rows->subset(rows.train_reason_rows));
    if (!part.applications.empty() && part.rest.feasible_count() > 0) parts.push_back(std::move(part));
  }
  if (parts.empty()) throw Error(ErrorKind::usage, "no way of hiding leaves feasible rows on both sides");
  return parts;
}

/// A candidate under a way of hiding, and what came of it.
struct HiddenTrial {
  std::size_t candidate = 0;
  const Part* part = nullptr;
  BacktestScore score = {};
  double loss = 0;
  std::string failure = {};
};

/// A double and back; what JSON has no number for is null.
BacktestJson number_or_null(double value) { return std::isfinite(value) ? BacktestJson(value) : BacktestJson(nullptr); }
double number_of(const BacktestJson& json, const char* key) {
  const BacktestJson& value = json.at(key);
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

std::string result_text(const BacktestScore& score, double loss) {
  return BacktestJson{{"loss", loss},
                      {"first_regret", score.first_regret},
                      {"best_regret", score.best_regret},
                      {"infeasible_firsts", score.infeasible_firsts},
                      {"applications", score.applications},
                      {"infeasible_frac", score.infeasible_frac},
                      {"danger", score.danger},
                      {"recall", score.recall},
                      {"true_over_predicted", number_or_null(score.true_over_predicted)},
                      {"true_minus_predicted_sd", number_or_null(score.true_minus_predicted_sd)},
                      {"seconds", score.seconds}}
      .dump();
}

void take_result(HiddenTrial& trial, const std::string& text) {
  try {
    const BacktestJson json = BacktestJson::parse(bounded_json(text));
    if (json.contains("failure")) {
      json.at("failure").get_to(trial.failure);
      return;
    }
    BacktestScore& score = trial.score;
    score.hiding = trial.part->hiding;
    trial.loss = number_of(json, "loss");
    score.first_regret = number_of(json, "first_regret");
    score.best_regret = number_of(json, "best_regret");
    score.infeasible_firsts = whole_number(json.at("infeasible_firsts"));
    score.applications = whole_number(json.at("applications"));
    score.infeasible_frac = number_of(json, "infeasible_frac");
    score.danger = number_of(json, "danger");
    score.recall = number_of(json, "recall");
    score.true_over_predicted = number_of(json, "true_over_predicted");
    score.true_minus_predicted_sd = number_of(json, "true_minus_predicted_sd");
    score.seconds = number_of(json, "seconds");
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::incompatible, "a result among the trials is none of a backtest. Name another folder");
  }
}

/// Trains on the rest, scores on the hidden rows; the result as JSON.
std::string run_trial(const surrogate::Recipe& recipe, const Part& part, const BacktestOptions& options) {
  const auto start = Clock::now();
  try {
    const dataset::Dataset rest = learnable(part.rest, recipe.method);
    surrogate::TrainOptions train_options;
    train_options.threads = options.threads;
    const surrogate::TrainResult trained = surrogate::train(rest, shortened(recipe, options), train_options);
    if (trained.interrupted) throw Error(ErrorKind::interrupted, "interrupted while backtesting");
    Tally tally(part.hiding, part.has_ratios);
    for (const Application& application : part.applications) tally.add(trained.model, application, options);
    BacktestScore score = tally.score();
    score.seconds = seconds_since(start);
    return result_text(score, tally.loss());
  } catch (const Error& error) {
    // A recipe that these rows cannot teach, or whose loss diverges, is no candidate; the others go on.
    if (error.kind() != ErrorKind::usage && error.kind() != ErrorKind::failure) throw;
    return json_line(BacktestJson{{"failure", error.what()}});
  }
}

/// All that decides the result of a trial.
std::string identity_of(const surrogate::Recipe& recipe, const Part& part, const std::string& data_sha256,
                        const BacktestOptions& options) {
  return fmt::format("backtest 3 {} seed {} rows {} effort {} pessimism {} p {} version {}\ndata {}\n{}",
                     to_string(part.hiding), options.seed, options.rows, shortest(options.effort),
                     shortest(options.pessimism),
                     options.min_p_feasible ? shortest(*options.min_p_feasible) : std::string("default"),
                     build_info().version, data_sha256, surrogate::to_yaml(recipe));
}

/// What is asked of the model in shards and in one process alike: every candidate under every way of hiding.
std::vector<Backtest> run_candidates(const std::vector<Part>& parts, const std::string& data_sha256,
                                     const BacktestOptions& options) {
  surrogate::SharedTrials shared(options.sharing);
  std::vector<HiddenTrial> trials;
  std::vector<surrogate::SharedTrial> jobs;
  for (const Part& part : parts) {  // all candidates once, before any for the second time: what they take is known then
    for (std::size_t candidate = 0; candidate < options.candidates.size(); ++candidate) {
      const surrogate::Recipe& recipe = options.candidates[candidate];
      trials.push_back({.candidate = candidate, .part = &part});
      jobs.push_back({.identity = shared.is_shared() ? identity_of(recipe, part, data_sha256, options) : std::string(),
                      .size = static_cast<double>(shortened(recipe, options).steps)});
    }
  }
  const auto run = [&](std::size_t i) -> std::string {
    for (const HiddenTrial& other : trials) {  // a candidate that failed once is none
      if (other.candidate == trials[i].candidate && !other.failure.empty()) {
        return json_line(BacktestJson{{"failure", other.failure}});
      }
    }
    const surrogate::Recipe& recipe = options.candidates[trials[i].candidate];
    if (options.progress) options.progress(recipe, trials[i].part->hiding);
    return run_trial(recipe, *trials[i].part, options);
  };
  const auto known = [&](std::size_t i, const std::string& result) { take_result(trials[i], result); };
  const auto results = shared.results(jobs, run, known);
  if (!std::ranges::all_of(results, [](const auto& result) { return result.has_value(); })) {
    throw Error(ErrorKind::interrupted, "interrupted while backtesting");
  }
  std::vector<Backtest> tests;
  for (const surrogate::Recipe& recipe : options.candidates) {
    tests.push_back({.recipe = recipe, .scores = {}, .failure = {}, .veto = {}, .loss = 0});
  }
  for (const HiddenTrial& trial : trials) {
    Backtest& test = tests[trial.candidate];
    if (!test.failure.empty()) continue;
    test.failure = trial.failure;
    if (!test.failure.empty()) {
      test.loss = std::numeric_limits<double>::infinity();
      continue;
    }
    test.scores.push_back(trial.score);
    test.loss += trial.loss / static_cast<double>(parts.size());
  }
  return tests;
}

/// The largest of one quantity over the ways of hiding.
double largest(const Backtest& test, double BacktestScore::*value) {
  double most = 0;
  for (const BacktestScore& score : test.scores) most = std::max(most, score.*value);
  return most;
}

/// The smallest over the ways of hiding.
double least_recall(const Backtest& test) {
  double least = 1;
  for (const BacktestScore& score : test.scores) least = std::min(least, score.recall);
  return least;
}

void set_vetoes(std::vector<Backtest>& tests) {
  double safest = 1, best_recall = 0;
  for (const Backtest& test : tests) {
    if (test.failure.empty()) safest = std::min(safest, largest(test, &BacktestScore::infeasible_frac));
  }
  for (const Backtest& test : tests) {
    const bool safe =
        test.failure.empty() && largest(test, &BacktestScore::infeasible_frac) <= safest + kMoreInfeasible;
    if (safe) best_recall = std::max(best_recall, least_recall(test));
  }
  for (Backtest& test : tests) {
    if (!test.failure.empty()) {
      test.veto = "cannot be trained on a part of this log";
      continue;
    }
    const double recall = least_recall(test), infeasible = largest(test, &BacktestScore::infeasible_frac);
    const double danger = largest(test, &BacktestScore::danger);
    if (recall < kLeastRecall * best_recall) {
      test.veto = fmt::format("calls {:.0f} % of the hidden good designs unlikely to be feasible, another {:.0f} %",
                              100 * (1 - recall), 100 * (1 - best_recall));
    } else if (infeasible > safest + kMoreInfeasible) {
      test.veto = fmt::format("{:.0f} % of its choices cannot be built", 100 * infeasible);
    } else if (danger > kDanger && !surrogate::by_tables(test.recipe.method)) {
      test.veto = fmt::format("{:.0f} % of what its objective likes best cannot be built, and a flag is all it learns",
                              100 * danger);
    }
  }
}

/// Of those without a veto, or of all when there is none.
std::size_t best_of(const std::vector<Backtest>& tests) {
  const auto place = [](const Backtest& test) { return std::pair(!test.veto.empty(), test.loss); };
  const auto best = std::min_element(tests.begin(), tests.end(),
                                     [&](const Backtest& a, const Backtest& b) { return place(a) < place(b); });
  const auto taken = std::ranges::find_if(tests, [&](const Backtest& test) {
    return test.veto.empty() == best->veto.empty() && test.loss <= best->loss + kLuck;
  });
  return static_cast<std::size_t>(taken - tests.begin());
}

}  // namespace

std::vector<surrogate::Recipe> candidate_recipes(const dataset::Dataset& data) {
  return candidate_recipes(std::all_of(data.contexts.begin(), data.contexts.end(),
                                       [](const dataset::Context& context) { return !context.layers.empty(); }));
}

std::vector<surrogate::Recipe> candidate_recipes(bool has_layers) {
  std::vector<surrogate::Recipe> recipes;
  for (const char* name : kCandidates) {
    surrogate::Recipe recipe = surrogate::load_recipe(name);
    if (recipe.method != surrogate::Method::layers || has_layers) recipes.push_back(std::move(recipe));
  }
  return recipes;
}

std::vector<std::string> backtest_remarks(const dataset::Dataset& data, const std::vector<Backtest>& tests) {
  std::vector<std::string> remarks;
  const std::size_t feasible = data.feasible_count();
  if (feasible < kFewFeasible) {
    remarks.push_back(
        fmt::format("Only {}: regrets of one or two hidden designs are mostly luck; what a recipe calls "
                    "infeasible, and how far its predictions are off, still says something.",
                    counted(feasible, "feasible row")));
  }
  if (!has_ratios(data)) {
    remarks.emplace_back(
        "The objective has values of 0 and below, which have no ratios: `first` and `best of 16` are e to the power of "
        "a "
        "share of the range of the hidden values, and predictions are compared by differences.");
  }
  if (feasible == data.size()) {
    remarks.emplace_back("No row is infeasible: the log cannot tell which recipe proposes what cannot be built.");
  }
  const bool none_recalled =
      std::ranges::all_of(tests, [](const Backtest& test) { return largest(test, &BacktestScore::recall) == 0; });
  if (none_recalled) {
    remarks.emplace_back(
        "No recipe would propose any of the good hidden designs (recall 0): what is left shows too little of what can "
        "be "
        "built. Their regrets are those of choices that all recipes doubt, and say little of proposals from all rows: "
        "`propose` has the log's best to begin with, and a few of its proposals simulated say more.");
  }
  if (std::all_of(tests.begin(), tests.end(), [](const Backtest& test) { return !test.veto.empty(); })) {
    remarks.emplace_back("Every recipe has something against it; one of those that fared best is taken all the same.");
  }
  return remarks;
}

BacktestResult backtest(const dataset::Dataset& data, const BacktestOptions& options) {
  const auto start = Clock::now();
  if (options.candidates.empty()) throw Error(ErrorKind::usage, "a backtest needs at least one recipe");
  dataset::require_trainable(data, dataset::Every::dataset);
  const dataset::Dataset part = sampled(data, options.rows, options.seed);
  if (part.feasible_count() < kLeastFeasible) {
    throw Error(ErrorKind::usage, fmt::format("{}: a backtest hides some and learns from the others, which takes {} or "
                                              "more. Log more designs, or name a recipe (--recipe margins)",
                                              counted(part.feasible_count(), "feasible row"), kLeastFeasible));
  }
  BacktestResult result;
  result.rows = part.size();
  result.feasible = part.feasible_count();
  result.has_ratios = has_ratios(part);
  const std::vector<Part> parts = parts_of(part, options);
  result.candidates =
      run_candidates(parts, options.sharing.folder.empty() ? std::string() : part.content_hash(), options);
  const bool none = std::all_of(result.candidates.begin(), result.candidates.end(),
                                [](const Backtest& test) { return !test.failure.empty(); });
  if (none) throw Error(ErrorKind::usage, result.candidates.front().failure);
  set_vetoes(result.candidates);
  result.chosen = best_of(result.candidates);
  result.remarks = backtest_remarks(part, result.candidates);
  result.seconds = seconds_since(start);
  return result;
}

}  // namespace hindsight::study
