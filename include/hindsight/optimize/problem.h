/// Constrained problems over a discrete design space. Nothing here knows an accelerator.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "hindsight/space/design_space.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::optimize {

using surrogate::LevelMatrix;

/// Parameters that are fixed or bounded: the allowed levels per parameter (empty = all).
using AllowedLevels = std::vector<std::vector<std::uint16_t>>;

/// Ends of a range that holds the values of all designs of a box.
struct ValueRange {
  double smallest = 0, largest = 0;
};

/// A quantity that must be <= limit. With a function it is known without a model (the analytical area); without one it
/// is learned: the model that is asked for the score gives it too.
struct Constraint {
  std::string name;
  double limit = 0;
  /// One value per row of `levels`; may be called concurrently.
  std::function<Eigen::VectorXd(const LevelMatrix& levels)> value = {};
  /// Of all designs that take one of these levels of every parameter; may be called concurrently. Where it is given,
  /// an exact search leaves out boxes of designs at once. An end need not be taken by any design.
  std::function<ValueRange(const AllowedLevels& box)> range = {};
  /// How a limit that this value meets is written; not given: "NAME <= VALUE". Empty: nobody sets it, and it is not
  /// named.
  std::function<std::string(double value)> text = {};
  /// Nobody can set the limit above this, and no value beyond is named as a remedy.
  double most = std::numeric_limits<double>::infinity();
  /// What states the limit, said beside it ("cooling"); empty: whoever asks sets it.
  std::string stated_by = {};
  [[nodiscard]] bool learned() const { return !value; }
};

/// One number per row of levels (n x p) that is not above the row's score, but for rounding (1e-4 of 1 + its size).
/// `known` (n x ScoreBounds::known) is what the steps before have found about the rows, for the steps to come. May be
/// called concurrently.
using ScoreBound = std::function<Eigen::VectorXd(const LevelMatrix& levels, Eigen::MatrixXd& known)>;
/// Bounds in steps, the cheapest first.
struct ScoreBounds {
  std::vector<ScoreBound> steps;
  Eigen::Index known = 0;
};

/// What a model says about a batch of designs, asked once.
struct Learned {
  Eigen::VectorXd score;         // n, smaller is better; infinity where a limit is missed and nobody needs it
  Eigen::MatrixXd values;        // n x k, of the learned constraints in their order; no column when there are none
  Eigen::MatrixXd metrics = {};  // n x m, smaller is better, of a front; no column where the score alone is asked
};

/// Minimise the score subject to all constraints.
struct Problem {
  const space::DesignSpace* space = nullptr;
  AllowedLevels allowed;
  /// Where given, only these designs (n x parameters) are answers, those among them that are allowed: a search then
  /// judges each of them. Null: the whole space.
  const LevelMatrix* among = nullptr;
  std::vector<Constraint> constraints;
  /// Asked once per design that meets every constraint with a function, for the score and all learned constraints.
  std::function<Learned(const LevelMatrix& levels)> model;
  /// Bounds for an exact search, each worth its cost for `sample`, designs that meet the limits known without the
  /// model, where only scores up to `cutoff` matter. Not given: none is known.
  std::function<ScoreBounds(const LevelMatrix& sample, double cutoff)> score_bounds = {};
  [[nodiscard]] bool is_allowed(const std::uint16_t* levels) const;
};

}  // namespace hindsight::optimize
