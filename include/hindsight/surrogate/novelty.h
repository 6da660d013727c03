/// How far an application is from those that a model learnt, and how wrong the model was about others as far.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hindsight/dataset/context.h"
#include "hindsight/surrogate/metrics.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::surrogate {

/// Of models of kind `layers`; nothing for others, and where the layers are not known.
///
/// Equation: distance = sqrt(U * S)
///   U = sum_l w_l sqrt((t_l - mean)' (C + 0.01 I)^-1 (t_l - mean) / f)    how unusual its layers are (Mahalanobis)
///   S = median over typical_designs() of the spread of the members' predictions, in log units (0 for one member)
/// Symbols: t_l the f features of layer l of the application, in deviations of each over the layers learnt; mean and C
/// their mean (0) and covariance over those layers, whose diagonal is 1; w_l the layer's share of the application: the
/// mean of its share of the multiply-accumulates and of the bytes moved, repeats counted.
/// Either alone ranks networks worse by their true error, the nearest learnt layer much worse (docs/accuracy.md).
[[nodiscard]] std::optional<double> layer_distance(const Model& model, const dataset::Context& context);

/// What the errors of a calibration say about a distance.
///
/// Equation: a step function that never falls. The networks of the calibration, by distance, are cut from the farthest
/// on into groups of kCalibrationGroup (those of one distance stay together, the nearest group takes the rest). Where a
/// group's median is above that of the next one the two are one (isotonic regression, pool adjacent violators). A
/// distance between two groups is of the one whose end is nearer in its logarithm.
/// Groups are small because networks far away are few: the nine nearest of a far one have said what near ones came to.
struct ExpectedError {
  double median_error = 0;  ///< median of the group's median errors; at least so much where `beyond`
  double least_error = 0, most_error = 0;
  std::size_t networks = 0;  ///< of the group
  bool beyond = false;       ///< farther than every one of the calibration: what the error is nobody knows
};
/// [chosen] Networks that speak for a distance: the fewest whose median two of them do not decide.
inline constexpr std::size_t kCalibrationGroup = 5;
/// Nothing without a calibration.
[[nodiscard]] std::optional<ExpectedError> expected_error(const ErrorCalibration& calibration, double distance);

/// [chosen] Feasible designs of which a median error and a tau are known to a few hundredths.
inline constexpr std::size_t kCalibrationDesigns = 2000;
/// Networks that a calibration needs to say anything.
inline constexpr std::size_t kCalibrationNetworks = 10;
/// The calibration that the scores of applications make which the model was not trained on, those with
/// kCalibrationDesigns feasible designs and a distance. Error{usage} for fewer than kCalibrationNetworks of them.
[[nodiscard]] ErrorCalibration calibrate_errors(const std::vector<ApplicationScore>& scores, const std::string& source);
/// Spearman's rho of distance and median error over its applications.
[[nodiscard]] double rank_agreement(const ErrorCalibration& calibration);

/// The distance of an application, with something to compare it to.
struct Novelty {
  std::string application;
  double distance = 0;  ///< layer_distance()
  /// sum_l w_l min_k ||t_l - t_k|| / sqrt(f) over all layers k learnt: deviations from the nearest layer learnt.
  double nearest_layer = 0;
  /// Share of the applications learnt, of at most 64 of them, whose layers are farther from those of the others than
  /// this one's are from all: 1 = as near as any, 0 = farther than all of them. 0 where only one was learnt.
  double nearer_than = 0;
  std::optional<ExpectedError> expected = {};
};
/// Of the applications that the model was not trained on and sees by their layers; none for other kinds.
[[nodiscard]] std::vector<Novelty> novelties(const Model& model, const std::vector<dataset::Context>& applications);

}  // namespace hindsight::surrogate
