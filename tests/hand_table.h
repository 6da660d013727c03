/// Tables made by hand, for tests that know the best row.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/dataset/dataset.h"

namespace hindsight::test {

inline constexpr double kInfeasible = std::numeric_limits<double>::quiet_NaN();

inline space::Parameter ordinal(const std::string& name, std::vector<double> values) {
  return {.name = name,
          .unit = "",
          .description = "",
          .kind = space::ParameterKind::ordinal,
          .values = std::move(values),
          .labels = {}};
}

struct TableRow {
  std::int32_t context = 0;
  std::vector<std::uint16_t> levels;
  double objective = kInfeasible;
};

/// Rows in the contexts "first" (scale 1) and "second" (scale 2), without constraints; infeasible ones are "too_wide".
inline dataset::Dataset table_of(space::DesignSpace space, const std::vector<TableRow>& rows) {
  const auto n = std::ssize(rows);
  const auto p = std::ssize(space.parameters());
  const Eigen::VectorXd one = Eigen::VectorXd::Ones(1);
  dataset::Dataset data{.space = std::move(space),
                        .contexts = {{"first", {"scale"}, one}, {"second", {"scale"}, 2 * one}},
                        .objective_text = "cost",
                        .constraint_names = {},
                        .reason_names = {"too_wide"},
                        .levels = {},
                        .context = {},
                        .feasible = {},
                        .objective = Eigen::VectorXd(n),
                        .constraints = Eigen::MatrixXd(n, 0),
                        .reasons = {},
                        .evaluation_id = {}};
  data.levels.resize(n, p);
  for (Eigen::Index i = 0; i < n; ++i) {
    const TableRow& row = rows[static_cast<std::size_t>(i)];
    const bool feasible = !std::isnan(row.objective);
    for (Eigen::Index j = 0; j < p; ++j) data.levels(i, j) = row.levels[static_cast<std::size_t>(j)];
    data.context.push_back(row.context);
    data.feasible.push_back(feasible);
    data.objective[i] = row.objective;
    data.reasons.push_back(feasible ? 0 : 1);
    data.evaluation_id.push_back(i + 1);
  }
  return data;
}

}  // namespace hindsight::test
