/// Test problems with a known optimum.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "hindsight/optimize/search.h"

namespace hindsight::optimize {

inline space::Parameter ordinal(const std::string& name, std::size_t levels) {
  space::Parameter parameter{.name = name, .unit = "none", .description = "", .values = {}, .labels = {}};
  for (std::size_t i = 0; i < levels; ++i) parameter.values.push_back(static_cast<double>(i + 1));
  return parameter;
}

inline space::Parameter categorical(const std::string& name, std::size_t levels) {
  space::Parameter parameter{.name = name,
                             .unit = "",
                             .description = "",
                             .kind = space::ParameterKind::categorical,
                             .values = {},
                             .labels = {}};
  for (std::size_t i = 0; i < levels; ++i) parameter.labels.push_back("kind_" + std::to_string(i));
  return parameter;
}

/// 10 x 8 x 8 x 6 x 5 x 6 = 115,200 designs; the fifth parameter is categorical.
inline const space::DesignSpace& mixed_space() {
  static const space::DesignSpace space(
      "mixed", "",
      {ordinal("a", 10), ordinal("b", 8), ordinal("c", 8), ordinal("d", 6), categorical("e", 5), ordinal("f", 6)});
  return space;
}

using RowFunction = std::function<double(const std::uint16_t* levels)>;

/// The batched form of a function of one design.
inline std::function<Eigen::VectorXd(const LevelMatrix&)> batched(RowFunction function) {
  return [function = std::move(function)](const LevelMatrix& levels) {
    Eigen::VectorXd values(levels.rows());
    for (Eigen::Index i = 0; i < levels.rows(); ++i) values[i] = function(levels.data() + i * levels.cols());
    return values;
  };
}

/// Every parameter on its own: a bowl around (6, 2, 5, 4), a table for the categorical, f as large as possible.
/// Optimum 0 at (6, 2, 5, 4, 3, 5).
inline double separable(const std::uint16_t* x) {
  static constexpr double kTable[] = {4, 2, 3, 0, 5};
  const auto squared = [](double difference) { return difference * difference; };
  return squared(x[0] - 6.0) + squared(x[1] - 2.0) + squared(x[2] - 5.0) + squared(x[3] - 4.0) + kTable[x[4]] +
         (5.0 - x[5]);
}

/// A slope that leads away from the optimum: every ordinal parameter falls towards its first level, but the last
/// levels of a to d together are better than all else. Optimum -20 at (9, 7, 7, 5, 1, 0), the trap's bottom is 0.
inline double deceptive(const std::uint16_t* x) {
  const double from_corner = (9.0 - x[0]) + (7.0 - x[1]) + (7.0 - x[2]) + (5.0 - x[3]);
  const double basin = from_corner <= 9 ? 3.0 * (from_corner - 9) - 10 + 17 : 0;  // -20 in the corner
  const double slope = from_corner <= 9 ? 0 : 28.0 - from_corner;
  return basin + slope + (x[4] == 1 ? 0 : 2) + 0.5 * x[5];
}

/// Latency-like against area-like: more of a, b, c is faster, their product is bounded.
inline double product_time(const std::uint16_t* x) {
  static constexpr double kFactor[] = {1.3, 1.0, 1.2, 1.1, 1.5};
  return 1000.0 / ((x[0] + 1.0) * (x[1] + 1.0)) + 200.0 / (x[2] + 1.0) + 40.0 / (x[3] + 1.0) * kFactor[x[4]] +
         0.7 * std::abs(x[5] - 3.0);
}
inline double product_area(const std::uint16_t* x) {
  return 0.5 * (x[0] + 1.0) * (x[1] + 1.0) + 1.5 * (x[2] + 1.0) + 2.0 * (x[3] + 1.0) + 0.8 * (x[5] + 1.0);
}

/// A model that gives this score and no other quantity.
inline std::function<Learned(const LevelMatrix&)> scoring(RowFunction function) {
  return [score = batched(std::move(function))](const LevelMatrix& levels) {
    return Learned{.score = score(levels), .values = {}};
  };
}

inline Problem make_problem(RowFunction score) {
  Problem problem;
  problem.space = &mixed_space();
  problem.model = scoring(std::move(score));
  return problem;
}
inline Problem constrained_problem(double limit) {
  Problem problem = make_problem(product_time);
  problem.constraints.push_back({.name = "area_mm2", .limit = limit, .value = batched(product_area)});
  return problem;
}

}  // namespace hindsight::optimize
