/// True values of proposed designs, as a person or a script wrote them beside the proposals.
///
/// A file of `propose --csv` (or `ask`) has a column per parameter, columns about the prediction, `workload`, and empty
/// columns for the metrics of the objective and for `reason`. Filled in, it says of a design and an application either
/// metrics, or why it is infeasible, or nothing yet.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/dataset/csv_import.h"
#include "hindsight/dataset/import_source.h"
#include "hindsight/log/log.h"
#include "hindsight/space/design_space.h"

namespace hindsight::dataset {

/// What was measured of one design for one application.
struct Answer {
  std::size_t line = 0;   ///< of the file
  space::Design design;   ///< of the space
  std::string workload;   ///< empty: the file does not say
  StatedOutcome outcome;  ///< metrics, or violations
};

struct Answers {
  std::vector<Answer> rows;
  std::size_t unanswered = 0;  ///< rows without a value and without a reason
};

/// Whether the table has the columns that `propose --csv` writes about predictions.
[[nodiscard]] bool is_proposal_table(const CsvTable& table);

/// Rows of `table` as designs of `space` with values of `metrics`, the names that a log knows. Columns: the parameters
/// by name; `workload`; metrics by name or its snake_case; `reason`, text; `infeasible` or `feasible`, a flag; and
/// those that `propose` writes about predictions, which are skipped. A row is infeasible where it has a reason, a flag
/// says so, or a metric is a word ("oom", "nan"), which is the reason then. Errors: Error{usage} with file:line:column
/// for a parameter without a column, a column that is none of these (nearest name), a value off the grid (nearest
/// value), a metric that is no number, a row that names several applications, a feasible row that lacks a metric that
/// other feasible rows have, and a table without any metric column.
[[nodiscard]] Answers read_answers(const CsvTable& table, const space::DesignSpace& space,
                                   const std::vector<std::string>& metrics);

}  // namespace hindsight::dataset
