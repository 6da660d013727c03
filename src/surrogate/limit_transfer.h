/// How far limits are missed, moved to few new rows: the censored regression of `margins` with a Gaussian prior around
/// the head that was.
///
/// Equation: m = m_0 + J S d as in head_transfer.h; the rows say of m what EnsembleLoss::margins has (learner.h), with
/// errors of the scale c s_0; the most probable m by Newton steps (Rasmussen and Williams 2006, algorithm 3.1).
/// Symbols: m the miss in logarithms of the limit, s_0 the scale that the head had, c how much less it is trusted.
#pragma once

#include <Eigen/Dense>
#include <string>
#include <vector>

#include "surrogate/head_gradient.h"

namespace hindsight::surrogate {

/// One reason of infeasibility among the outputs of a head, and what the rows say of it.
struct LimitTask {
  const std::vector<HeadFrame>* frames = nullptr;  ///< of this output, one per member
  std::vector<double> scale;                       ///< s_0 per member
  HeadQuestions questions;
  /// Miss of the limit: 0 = kept, infinity = missed by an unknown amount, else by so much; NaN = the row says nothing.
  Eigen::VectorXd targets;
  std::vector<std::size_t> folds;  ///< per row; rows of one are held out together
  bool unknown = false;            ///< the head has not met this reason: only its base rate is known
};

/// What became of a reason.
struct LimitMoves {
  bool moved = false;
  double trust = 1;          ///< c
  std::vector<Moves> moves;  ///< one per member
  /// Mean log likelihood of the rows, held out, before and after.
  double before = 0, after = 0;
  /// Of the first member, held out: miss over scale, before and after. n
  Eigen::VectorXd before_logit, after_logit;
};
[[nodiscard]] LimitMoves adapt_limit(const LimitTask& task);

/// Mean log likelihood of what rows (those that say something) say of misses `m` with errors of the scale `s`.
[[nodiscard]] double limit_likelihood(const Eigen::VectorXd& targets, const Eigen::VectorXd& m, double s);

}  // namespace hindsight::surrogate
