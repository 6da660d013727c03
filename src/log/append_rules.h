/// What decides about a row beside the row itself: the parameters of its space, and the evaluation that the log already
/// has. The same for both stores. Private to the log layer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "log/append_row.h"
#include "log/impl.h"

namespace hindsight::log {

/// An evaluation as the log has it.
struct StoredEvaluation {
  std::int64_t id = 0;
  bool feasible = false;
  std::vector<double> standard = {};                        ///< as ParsedRow has them
  std::vector<std::pair<std::string, double>> others = {};  ///< by name
  std::vector<std::string> reasons = {};                    ///< as said_by() puts them, in any order
};

/// What a violation says of the design. Its message and the nearest value that passes are advice, which may be put
/// differently by a later version. NaN: not known.
[[nodiscard]] std::string said_by(std::string_view code, std::string_view quantity, double value, double limit,
                                  std::string_view layer);

/// How the row differs from the evaluation of its identity that is stored, or nothing when they agree.
[[nodiscard]] Reason contradiction_of(const EvaluationRow& row, const ParsedRow& parsed,
                                      const StoredEvaluation& stored);

/// Accepts a design, no bad_design() of itself, that this batch has not had yet, or says why not. The first design of a
/// space names its parameters: then `described` becomes true. Inside the caller's transaction.
[[nodiscard]] Reason accept_design(Log::Impl& log, std::int64_t space_id, const std::string& text_id, bool& described);

/// Two designs with one hash.
[[nodiscard]] std::string collision_with(const std::string& other);

/// Appends a batch, without a checkpoint or counting it in its run, inside the caller's transaction. `described`: as
/// above.
[[nodiscard]] AppendResult append_rows(Log::Impl& log, std::int64_t run_id, std::int64_t space_id,
                                       std::int64_t evaluator_id, const CheckedRows& rows, bool& described);

/// The same for a log on a server in a handful of statements.
[[nodiscard]] AppendResult append_on_server(Log::Impl& log, std::int64_t run_id, std::int64_t space_id,
                                            std::int64_t evaluator_id, const CheckedRows& rows, bool& described);

}  // namespace hindsight::log
