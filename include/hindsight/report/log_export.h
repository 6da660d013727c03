/// A log's rows for other tools: CSV that `hindsight log import` takes back, and JSON lines.
#pragma once

#include <string>
#include <vector>

#include "hindsight/log/log.h"
#include "hindsight/log/query.h"

namespace hindsight::report {

/// The rows as text, and how to read them again.
struct LogExport {
  std::string text;
  std::size_t rows = 0, infeasible = 0;
  /// Options of `hindsight log import` that give each column its role again; empty for JSON lines, and where one import
  /// cannot bring the rows back: `no_import` then says why and what to do.
  std::string import_options = {}, no_import = {};
};

/// One line per evaluation in the order of their numbers, after a header: `workload`, `evaluator`, `repeat`, the
/// parameters, `feasible` (1, 0), the first reason (`reason` is its code, `reason_quantity`, `reason_value`,
/// `reason_limit`, `reason_layer`, `reason_message`), `other_reasons` (JSON list of the others), and every metric that
/// a selected row has, or that the rows are compared by. A column whose name a parameter or metric has already begins
/// with "log_". Numbers are the shortest that read back as the same. Errors: Error{usage} when the selection has no
/// row, or designs of several spaces; Error{incompatible} for a damaged log. All is of one moment of a log that grows.
[[nodiscard]] LogExport export_csv(const log::Log& log, const log::EvaluationFilter& filter);

/// One JSON object per line: workload, evaluator, repeat, design (an object of its parameters), feasible, metrics,
/// reasons (with all the log knows of each). Values of ordinal parameters are numbers, names are texts. Designs of
/// several spaces may follow each other. Errors: Error{usage} when the selection has no row.
[[nodiscard]] LogExport export_json_lines(const log::Log& log, const log::EvaluationFilter& filter);

}  // namespace hindsight::report
