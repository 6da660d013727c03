/// Names to ids, and typed filters to SQL. Private to the log layer.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hindsight/log/query.h"
#include "log/impl.h"

namespace hindsight::log {

/// Names and hashes of the log's evaluators, by id; their rows are not counted.
[[nodiscard]] std::vector<EvaluatorSummary> registered_evaluators(Log::Impl& log);

/// SQL condition over `evaluations e` (and `designs d`, when a space is asked for); "1" without conditions.
/// Error{usage} with the nearest name for a workload, evaluator or space that the log does not have.
[[nodiscard]] std::string condition_sql(Log::Impl& log, const EvaluationFilter& filter);

/// Whether the filter chooses among the groups of a block, and which of them: nothing where rows have to be read.
/// Errors as those of condition_sql().
[[nodiscard]] std::function<bool(const BlockGroup&)> group_condition(Log::Impl& log, const EvaluationFilter& filter);

/// Text of a column, "" for NULL.
[[nodiscard]] std::string text_of(Statement& statement, int column);
[[nodiscard]] std::string text_of(SQLite::Statement& statement, int column);

}  // namespace hindsight::log
