/// True values of proposed designs, as a person or a script wrote them beside the proposals.
///
/// A file of `propose --csv` or `ask` has a column per parameter, columns about the prediction, `workload`, and empty
/// columns for the metrics of the objective and for `reason`. Filled in, it says of a design and an application either
/// metrics, or why it is infeasible, or nothing yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/dataset/csv_import.h"
#include "hindsight/dataset/import_source.h"
#include "hindsight/log/asked.h"
#include "hindsight/log/log.h"
#include "hindsight/space/design_space.h"

namespace hindsight::dataset {

/// What was measured of one design for one application.
struct Answer {
  std::size_t row = 0;    ///< of the table
  space::Design design;   ///< of the space; inactive parameters have their first value
  std::string workload;   ///< empty: the file does not say
  StatedOutcome outcome;  ///< metrics, or one violation
};

struct Answers {
  std::vector<Answer> rows;
  std::size_t unanswered = 0;  ///< rows without a value and without a reason
  std::optional<std::size_t> workload_column = {};
};

/// What a table may say besides the parameters of its space.
struct AnswerWords {
  std::vector<std::string> metrics;       ///< the names that a log knows, those that are likely first
  std::vector<std::string> awaited = {};  ///< of them, those that feasible answers need
  /// Of designs that await their answers, by text id, the metrics of the objectives that they were asked for; of others
  /// `awaited` holds.
  std::map<std::string, std::vector<std::string>> asked = {};
  std::vector<std::string> ignored = {};    ///< columns that are not read
  std::vector<std::string> workloads = {};  ///< names that a log knows; only they have commas
  /// The design that a cell of the column `design` names, where that is no text id; Error{usage}: it names none.
  /// Without it that column is not read.
  std::function<space::Design(const std::string& id)> by_id = {};
  /// What to do about a column that is nothing known, "{}" standing for its name.
  std::string remedy = {};
};

/// Whether the table has the columns that `propose --csv` or `ask` writes about predictions.
[[nodiscard]] bool is_proposal_table(const CsvTable& table);

/// Rows of `table` as designs of `space` with values of metrics. Columns: the parameters by name, or `design`, a text
/// id or what `by_id` knows (both: they must agree); `workload`; metrics by name or its snake_case; `reason`, text;
/// `infeasible` or `feasible`, a flag; and those that `propose` and `ask` write about predictions, which are skipped. A
/// row is infeasible where it has a reason, a flag says so, or a metric of its objective is a word ("oom", "nan"),
/// which is the reason then; it has no latency_s and energy_j. Where the table has no metric of an objective that is
/// known, a word is a reason in a row without any number. In other metrics "nan", "n/a" and "-" are no value, as an
/// empty cell is, and other words are refused. A parameter that is inactive needs neither a column nor a cell. Errors:
/// Error{usage} with file:line:column for a parameter without a column, a column that is none of these (nearest name),
/// a value off the grid (nearest value), a metric that is no number, a row that names several applications, a reason in
/// a row that is said to be feasible, a feasible row without any metric; and for a table that could not say an answer.
[[nodiscard]] Answers read_answers(const CsvTable& table, const space::DesignSpace& space, const AnswerWords& words);

/// The metrics of the objectives that designs of a space await their answers for, by text id.
[[nodiscard]] std::map<std::string, std::vector<std::string>> asked_objectives(
    const std::vector<log::PendingDesign>& pending, std::int64_t space_id);

/// Who was asked for these designs, on `workload`, or, where that is empty, on those of the rows, as
/// log::asked_evaluators(); none where nobody was.
[[nodiscard]] std::vector<std::string> asked_evaluators(const log::Log& log, const space::DesignSpace& space,
                                                        const Answers& answers, const std::string& workload = "");
/// The only one of these; empty where nobody was asked. Error{usage}: several were.
[[nodiscard]] std::string asked_evaluator(const log::Log& log, const CsvTable& table, const space::DesignSpace& space,
                                          const Answers& answers, const std::string& workload = "");

/// Error{usage} with file:line for a feasible row that lacks a metric that another feasible row has: a value that is
/// forgotten would end a training later.
void require_same_metrics(const CsvTable& table, const Answers& answers);

}  // namespace hindsight::dataset
