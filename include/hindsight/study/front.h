/// Fronts as a user asks for them: names to metrics, and how much of a front is left in truth.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hindsight/optimize/front.h"
#include "hindsight/optimize/propose.h"
#include "hindsight/study/limits.h"

namespace hindsight::study {

/// The metric that the model's objective is, or its text where it is a product.
[[nodiscard]] std::string objective_name(const surrogate::Model& model);

/// The metric that a word means which the model does not have, as `train --constraint` may learn it: one that every log
/// has a column for, or that the evaluator gives; of models that learnt from other evaluators, whose logs may have any,
/// the word. Nothing where no log has it, and for a product.
[[nodiscard]] std::optional<std::string> learnable_metric(const std::string& word, const surrogate::Model& model,
                                                          const KnownEvaluator& evaluator);

/// The words of --pareto, each a list a,b of two or three metrics in all: facts of the evaluator, the model's objective
/// (by its text, or another way to write the same product), labels that it has learned, before facts where the model
/// learnt from another evaluator; derived quantities of the space. Short names as everywhere.
/// `maximised`: metrics of which a log says that more is better.
/// Error{usage}: a metric that the model does not have (lists those it has), a label of which more is better, as
/// `maximised`, the model (maximised_labels()) or log::direction_of() says, one that is named twice, fewer than two or
/// more than three.
[[nodiscard]] std::vector<optimize::FrontMetric> resolve_front(const std::vector<std::string>& words,
                                                               const surrogate::Model& model,
                                                               const KnownEvaluator& evaluator,
                                                               const DerivedQuantities& derived = nullptr,
                                                               const std::set<std::string>& maximised = {});

/// Where the model takes small values of the one metric that it optimises for good, and a log says that large ones are:
/// a sentence that says so and what to do; else empty.
[[nodiscard]] std::string doubt_about_direction(const surrogate::Model& model, const std::set<std::string>& maximised);

/// One design of a front: what was predicted and what is true.
struct FrontPoint {
  std::vector<double> predicted;
  std::vector<double> truth;  ///< empty: infeasible
  bool over_limit = false;    ///< feasible, but some limit is not met
  bool from_log = false;      ///< `predicted` is what a log has
};
/// What simulations say about a front.
struct FrontTruth {
  std::size_t infeasible = 0;  ///< designs that cannot be built or run
  std::size_t over_limit = 0;  ///< others that do not meet a limit
  /// Per point: feasible, within the limits, and no other such point dominates it.
  std::vector<bool> stands;
  /// Per metric: median of truth / predicted over the feasible points that are predicted; nothing where a value is not
  /// positive.
  std::vector<std::optional<double>> median_ratio;
  /// How far dominated points are from the front that stands: the largest factor by which another point beats one of
  /// them in every metric at once; 1 where none does. Nothing where a value is not positive or no point stands.
  std::optional<double> largest_gap;
  /// Hypervolume of the points that are feasible and within the limits at their true values over that of all points as
  /// predicted, below twice the largest value of each metric (predicted or true; its range beyond where it is not
  /// positive); on logarithms where a metric is positive, so that no unit matters. Above 1 where designs are better
  /// than predicted. Nothing for a single point.
  std::optional<double> hypervolume_ratio;
};
[[nodiscard]] FrontTruth truth_of_front(const std::vector<FrontPoint>& points);

/// [chosen] Where hypervolume ends, in multiples of the exact front's largest value of each metric. 1.1 is strict: a
/// design that is 10 % behind in one metric adds nothing. 2 still tells such designs apart, as where the exact front is
/// one point.
inline constexpr std::array kFrontReferences = {1.1, 2.0};
using ReferenceShares = std::array<double, kFrontReferences.size()>;

/// Hypervolume of points in shares of that of the exact front, per reference. On logarithms, so that no unit matters
/// and a factor counts alike along the whole front. `points`: true values of designs, any number; each metric positive.
[[nodiscard]] ReferenceShares hypervolume_shares(const std::vector<std::vector<double>>& points,
                                                 const std::vector<std::vector<double>>& exact);

/// What the exact front of a question says about a front of proposals for it.
struct FrontShares {
  std::size_t exact_points = 0;  ///< 0: no design meets the limits; then nothing below is known
  ReferenceShares proposals = {};
  ReferenceShares as_many_exact = {};  ///< of as many points of the exact front: what so few could reach
  /// Mean of fronts of as many random designs that can be built within the limits; nothing when too few were found.
  std::optional<ReferenceShares> random;
  std::uint64_t drawn = 0, buildable = 0;  ///< random designs, and those of them that can be built within the limits
};

}  // namespace hindsight::study
