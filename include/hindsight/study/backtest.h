/// Backtests: would a recipe have found the best designs of a log? A part of the log is hidden, the recipe learns from
/// the rest, and what it chooses among the hidden rows is scored by what the log knows of them. Asks no simulator.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/core/enum_names.h"
#include "hindsight/dataset/dataset.h"
#include "hindsight/surrogate/train.h"
#include "hindsight/surrogate/trials.h"

namespace hindsight::study {

/// What is hidden of every application. best_half: the feasible rows better than their median, and a random half of the
/// infeasible ones; neighbourhood: the quarter of the rows, feasible or not, whose designs are nearest to the best
/// design of the log (parameters: ordinal ones by the share of their range between two levels, categorical ones 0 or
/// 1).
enum class Hiding { best_half, neighbourhood };
inline constexpr EnumNames<Hiding, 2> kHidings{
    {{Hiding::best_half, "best_half"}, {Hiding::neighbourhood, "neighbourhood"}}};
[[nodiscard]] std::string to_string(Hiding hiding);

/// Row numbers, ascending.
struct HiddenRows {
  std::vector<std::size_t> hidden;
  std::vector<std::size_t> train;
  std::vector<std::size_t> train_reason_rows;  ///< of data.reason_rows
};
[[nodiscard]] HiddenRows hide(const dataset::Dataset& data, Hiding hiding, std::uint64_t seed);

/// How a recipe fared under one way of hiding. Regret: the best true objective among the first k hidden rows it chose,
/// as `propose` chooses among designs, over the best hidden one; a set without a feasible row counts as the worst
/// feasible hidden row. Geometric means over applications.
struct BacktestScore {
  Hiding hiding = Hiding::best_half;
  double first_regret = 1, best_regret = 1;  ///< k = 1 and k = kBacktestProposals
  std::size_t infeasible_firsts = 0;         ///< applications whose first choice cannot be built
  std::size_t applications = 0;              ///< that were scored: those with a feasible hidden row
  double infeasible_frac = 0;                ///< share of all choices that cannot be built
  /// Share of infeasible rows among as many that are best by the predicted objective alone: what feasibility has to
  /// keep away.
  double danger = 0;
  double recall = 0;  ///< share of the feasible hidden rows whose p_feasible passes the threshold
  /// Median over the feasible choices. NaN: there are none, or the objective has no ratios (BacktestResult).
  double true_over_predicted = std::numeric_limits<double>::quiet_NaN();
  /// Where it has none: median over the feasible choices of true - predicted, in standard deviations of the objective
  /// of the application's feasible hidden rows. NaN: no choice is feasible, or these rows are all alike.
  double true_minus_predicted_sd = std::numeric_limits<double>::quiet_NaN();
  double seconds = 0;
};
/// [chosen] As many designs as a weekend of simulation takes.
inline constexpr std::size_t kBacktestProposals = 16;

/// A recipe and its scores.
struct Backtest {
  surrogate::Recipe recipe;
  std::vector<BacktestScore> scores;  ///< one per way of hiding
  std::string failure;                ///< why the recipe could not be trained on the rest; empty where it could
  std::string veto;                   ///< why it is not chosen whatever its regret; empty: it may be
  /// Over applications and ways of hiding the mean of two logarithms: that of the regret of its first four choices
  /// (mean of theirs, one that cannot be built as a regret of 3), and that of best_regret.
  double loss = 0;
};
struct BacktestOptions {
  std::vector<surrogate::Recipe> candidates;
  std::vector<Hiding> hidings = {Hiding::best_half, Hiding::neighbourhood};
  std::size_t rows = 6000;                    ///< of the log, a seeded sample of more
  double effort = 0.3;                        ///< share of the recipe's steps, with at most two members
  std::optional<double> min_p_feasible = {};  ///< nothing: that of `propose` for the kind of model
  double pessimism = 1;
  std::uint64_t seed = 1;
  unsigned threads = 0;
  std::function<void(const surrogate::Recipe&, Hiding)> progress =
      {};                                ///< before each training; all of one hiding first
  surrogate::TrialSharing sharing = {};  ///< a trial: a candidate under a way of hiding
};
struct BacktestResult {
  std::vector<Backtest> candidates;  ///< in the order given
  /// Of those without a veto, or of all when there is none, the first whose loss is within 0.1 of the smallest.
  std::size_t chosen = 0;
  std::size_t rows = 0, feasible = 0;  ///< that took part
  /// The objective is above 0 in all of them: what was predicted is compared by ratios, else by differences.
  bool has_ratios = true;
  std::vector<std::string> remarks;  ///< sentences on what the log cannot tell
  double seconds = 0;
};
/// [chosen] Fewer feasible rows leave less than two to hide and to learn from.
inline constexpr std::size_t kLeastFeasible = 4;
/// [chosen] What is trained then: of the recipes that fit any log the one with the best backtests on the tables of
/// docs/accuracy.md.
inline constexpr const char* kUntestedRecipe = "margins";
/// [chosen] With fewer feasible rows the regret of a choice is mostly luck; a remark says so.
inline constexpr std::size_t kFewFeasible = 20;
/// Error{usage} with fewer than kLeastFeasible feasible rows or without a candidate; Error{interrupted} on Ctrl-C.
[[nodiscard]] BacktestResult backtest(const dataset::Dataset& data, const BacktestOptions& options);

/// Sentences on what a log cannot tell of recipes: too few rows, no infeasible row, nothing hidden that any recipe
/// would propose, something against every recipe. `data`: the rows that took part.
[[nodiscard]] std::vector<std::string> backtest_remarks(const dataset::Dataset& data,
                                                        const std::vector<Backtest>& tests);

/// The shipped recipes that compete where a user names none, those that fit the data: `layers` needs the layers of
/// every application.
[[nodiscard]] std::vector<surrogate::Recipe> candidate_recipes(const dataset::Dataset& data);
/// The same for any data that has the layers of every application, or has not.
[[nodiscard]] std::vector<surrogate::Recipe> candidate_recipes(bool has_layers);

}  // namespace hindsight::study
