/// The second maker of evaluators: a simulator outside of this program, asked through a process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hindsight/evaluator/evaluator.h"

namespace hindsight::evaluator {

/// What happens to a design that an external evaluator could not answer, by a time-out or by its own end, whatever the
/// retries, or about which it said NaN, an infinity or null.
enum class Faults {
  /// A row with the reason `timeout`, `crash` or `not_finite`, provided that the evaluator has answered before in this
  /// process and that these are not kMostFaultsInARow in a row; else Error{failure}.
  automatic,
  stop,    ///< Error{failure}
  record,  ///< always a row
};
/// "auto", "stop", "record". Error{usage}.
[[nodiscard]] Faults parse_faults(const std::string& text);
[[nodiscard]] std::string to_string(Faults faults);

/// [chosen] A simulator that fails ten designs in a row has failed, not the designs.
inline constexpr unsigned kMostFaultsInARow = 10;
inline constexpr unsigned kMostWorkers = 1024;    ///< [chosen] processes that one machine can run
inline constexpr unsigned kMostRetries = 1000;    ///< [chosen]
inline constexpr double kLongestTimeout_s = 1e7;  ///< [chosen] four months

/// A simulator as a user names it.
struct ExternalCommand {
  /// A program and its arguments, split into words as command_words() does (core/shell.h). With the places
  /// {design.json}, {workload.json} and {out.json} it is run once per design and workload; else it is run once per
  /// worker and answers line by line (docs/external-evaluators.md).
  std::string text;
  std::string name = {};                  ///< in logs; empty: the text
  std::string version = {};               ///< of what it says: rows of another version never mix with it
  std::vector<std::string> metrics = {};  ///< of a feasible answer, exactly these; empty: those of the first answer
  double timeout_s = 600;                 ///< per question, the start of a process included. [chosen] ten minutes
  unsigned retries = 1;  ///< of a question that timed out or whose process ended, each with a new process
  unsigned workers = 1;  ///< questions at a time, each with a process of its own
  Faults faults = Faults::automatic;
};

/// Error{usage} for a text that cannot be run, before anything begins.
void require_command(const std::string& text);

/// What the evaluator that external() makes of this command gives as its definition(), in any space.
[[nodiscard]] std::string definition_of(const ExternalCommand& command);

/// Knows no facts and no bounds. A question is one design on one workload; answers come back in the order of the
/// questions, however many workers there are. Processes start with the first question, each in a process group of its
/// own, and are gone with the evaluator.
///
/// Errors: Error{usage} for a text, name, version, metric or number that cannot be. evaluate() throws Error{failure}
/// when the evaluator cannot be run (exit codes 126 and 127), says what is no answer (the message says what it said,
/// what was expected, and the end of its standard error), or fails by `faults`; Error{interrupted} soon after the first
/// Ctrl-C. Rows before the question that failed are whole; after an Error{failure} every further question gets it.
[[nodiscard]] std::shared_ptr<const Evaluator> external(space::DesignSpace space, const ExternalCommand& command);

}  // namespace hindsight::evaluator
