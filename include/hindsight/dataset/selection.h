/// Which rows of a log a surrogate learns from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/dataset/objective.h"

namespace hindsight::dataset {

/// A filter on a logged metric or a parameter: "area_mm2<=50", "dataflow==ws", operators < <= > >= == !=.
struct Condition {
  std::string metric;
  std::string comparison;
  double value = 0;
  std::string label = {};  ///< level of a categorical parameter (== and != only); empty = compare `value`
};
/// Error{usage} showing the form.
[[nodiscard]] Condition parse_condition(const std::string& text);

/// Which rows of a log to take.
struct Selection {
  std::vector<std::string> workloads;    ///< names; empty = all
  std::vector<std::int64_t> runs;        ///< empty = all
  std::optional<std::string> evaluator;  ///< needed when the log has several
  std::optional<std::string> space;      ///< name in the log, or a space file; needed when the log has several
  std::vector<Condition> where;          ///< all must hold; rows that lack the metric fail it
  Objective objective;
  std::vector<std::string> constraints;  ///< metrics that become labels of their own
};

}  // namespace hindsight::dataset
