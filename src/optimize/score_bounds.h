/// What bounds the score of designs from below at less than its cost.
#pragma once

#include <memory>

#include "hindsight/optimize/problem.h"
#include "optimize/forecast.h"

namespace hindsight::optimize {

/// Of a model's scores for the question in `options`: steps that each know more, the last of which is the score itself,
/// asked without the other heads.
///
/// Networks of kind `layers` say z = log sum_l e^(o_l) per member: the sum over some of the layers is smaller, and more
/// of them are added step by step. Kept per design and application: Z = log sum_steps e^(mean over members of z of the
/// step's layers), which is no larger than the mean over members of the z of all these layers, because log-sum-exp is
/// convex (Jensen). The spread of members, times a pessimism that is not below 0, is not below 0 either.
///
/// Where applications have lower bounds (ProposeOptions::lower_bounds) that leave out enough of the sample, they come
/// first: no prediction is below them, nor is a score.
///
/// The layers are taken by their mean share of the cost of `sample`, the dearest first; the steps are those that take
/// the fewest layers per design of the sample, where only what is not above `cutoff` goes on.
///
/// The functions keep `forecast`, and may be called concurrently where it may.
[[nodiscard]] ScoreBounds score_bounds(const surrogate::Model& model, const ProposeOptions& options,
                                       const std::shared_ptr<const Forecast>& forecast, const LevelMatrix& sample,
                                       double cutoff);

}  // namespace hindsight::optimize
