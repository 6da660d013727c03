/// The options of verbs that learn from a log, and the rows they name.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "hindsight/core/provenance.h"
#include "hindsight/dataset/load_logs.h"
#include "hindsight/dataset/selection.h"

namespace hindsight::app {

/// --log, --workloads, --objective and what else selects rows of a log.
struct LearningRows {
  std::vector<std::string> logs;
  std::vector<std::string> assumptions;  ///< NAME=VALUE of parameters that an older space lacks
  std::string workloads;
  std::string objective;
  bool maximise = false;
  std::vector<std::int64_t> runs;
  std::string space, evaluator;
  std::vector<std::string> where, constraints;
  /// The first log.
  [[nodiscard]] const std::string& log() const { return logs.front(); }
};
void add_learning_rows(CLI::App& verb, LearningRows& rows);

/// The options that name these rows, as words of a command.
[[nodiscard]] std::vector<std::string> words_of(const LearningRows& rows);

/// The learnable_rows() of all logs; says what was taken over from older spaces, and what the others teach, unless
/// `quiet`.
[[nodiscard]] dataset::UnitedRows load_rows(const LearningRows& rows, const dataset::Selection& selection,
                                            const Provenance& provenance, bool quiet);

/// The rows within what their evaluator states (study/stated_limits.h); says how many are beyond, unless `quiet`.
/// Error{usage} when all are.
[[nodiscard]] dataset::Dataset learnable_rows(dataset::Dataset data, bool quiet);
/// The fact of a model's card that says it.
inline constexpr const char* kLearntWithin = "learned_within";
/// Within what the whole rows are that a model learns from, for its card: "area_mm2 <= 858, ..."; nothing where all
/// are.
[[nodiscard]] std::string learnt_within(const dataset::Dataset& data);

/// Says what other runs of a log were for, where the log chose the objective.
void remark_on_other_objectives(const std::string& objective, const std::set<std::string>& others);
/// The names in a list, where those that the logs have may have commas; nothing for all of the logs.
[[nodiscard]] std::vector<std::string> names_of_list(const std::string& list, const std::vector<std::string>& logs);

/// With metrics by the names that the log has, and the log's own objective where none was named, maximised where the
/// log says so; said unless `quiet`.
[[nodiscard]] LearningRows with_log_names(LearningRows rows, bool quiet);

[[nodiscard]] dataset::Selection selection_of(const LearningRows& rows);

/// Of a set of synthetic networks some are too large for every logged design, and but for the method `layers` a
/// surrogate learns from feasible designs of each: those networks are left out, which is said unless `quiet`. One that
/// the log does not have at all stays, and is refused by its name.
void leave_out_infeasible_synthetic(const LearningRows& rows, bool quiet, dataset::Selection& selection);

}  // namespace hindsight::app
