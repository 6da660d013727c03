/// The loop around a simulator that runs elsewhere: designs that are asked for, and answers that are told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hindsight/core/aggregate.h"
#include "hindsight/core/provenance.h"
#include "hindsight/log/asked.h"
#include "hindsight/space/design_space.h"
#include "hindsight/study/limits.h"
#include "hindsight/study/next_designs.h"

namespace hindsight::study {

struct AskRequest {
  std::filesystem::path log;                   ///< created if missing
  std::string space;                           ///< name or file; empty: that of the log
  std::vector<std::string> workloads = {};     ///< names of the log, or networks by name or file
  std::vector<std::string> applications = {};  ///< lists a,b of what is no network; a name of the log is its own
  std::string objective = {};                  ///< empty: that of the newest ask, else the log's own
  bool maximise = false;
  std::optional<Aggregate> aggregate = {};
  LimitWords limits = {};
  std::vector<std::string> metrics = {};  ///< that answers will have, and that the log has not seen
  std::string evaluator = {};             ///< name of what is to answer; empty: as answering_evaluator()
  std::string recipe = "margins";
  std::size_t count = 16;
  std::optional<std::size_t> drawn = {};  ///< nothing: an eighth of `count`
  std::uint64_t seed = 1;
  unsigned threads = 0;
  std::function<void(const surrogate::TrainProgress&)> progress = {};  ///< of a training
  Provenance provenance = {};
};
/// What answers is called where nobody named it.
inline constexpr const char* kSimulator = "simulator";

/// A log that exists. Error{usage} where a file does not, with the ask that begins one; those of Log::open().
[[nodiscard]] log::Log open_asking_log(const std::filesystem::path& log, log::OpenMode mode);

/// Who answers: `wanted`, else the only evaluator with rows, else who was asked last, else kSimulator. Error{usage} for
/// the built-in model, which answers by itself, and where several others have rows.
[[nodiscard]] std::string answering_evaluator(const log::Log& log, const std::string& wanted);

/// Designs to evaluate on every one of the workloads.
struct Asked {
  std::int64_t run_id = 0;
  space::DesignSpace space;
  std::vector<std::string> workloads;
  std::vector<std::string> metrics;             ///< to answer with: those of the objective, then those that are limited
  std::string objective;                        ///< as it is minimised
  std::set<std::string> other_objectives = {};  ///< where it is the log's own, what other runs were for
  std::string evaluator;
  NextDesigns next;
  std::size_t pending_before = 0;  ///< designs x workloads that awaited an answer already
};
/// Chooses designs that the log has no rows of and that are not pending, and notes them as pending, also where others
/// ask at the same time. A log that it begins goes away again when it fails. Predictions are in the unit of the metric,
/// also where more is better. Errors: those of
/// next_designs(); Error{usage} for names that are neither in the log nor networks, and for the name of the built-in
/// model, which answers by itself.
[[nodiscard]] Asked ask(const AskRequest& request);

/// What awaits an answer from the evaluator that was asked last.
struct Pending {
  space::DesignSpace space;
  std::vector<log::PendingDesign> designs;
  std::vector<std::string> metrics;  ///< to answer with: of the newest such ask, then of those that the designs are of
  std::size_t of_others = 0;         ///< designs x workloads of other spaces and evaluators
};
/// Of the newest ask, or of the newest for a space and an evaluator where these are not empty. Error{usage} when
/// nothing like that was ever asked for.
[[nodiscard]] Pending pending_of(const std::filesystem::path& log, const std::string& space = "",
                                 const std::string& evaluator = "");
/// Forgets what is pending, of any space and evaluator where these are empty; how many designs x workloads these were.
std::size_t forget_pending(const std::filesystem::path& log, const std::string& space = "",
                           const std::string& evaluator = "");

struct TellRequest {
  std::filesystem::path file;  ///< CSV; "-" is standard input
  std::filesystem::path log;   ///< it exists
  /// Empty: that of an ask that awaits the table's designs, or whose parameters it has; else the newest ask's, or the
  /// log's.
  std::string space = {};
  std::string evaluator = {};  ///< empty: who was asked for these designs, where that is one; else that of the same ask
  std::string workload = {};   ///< of all rows; empty: the column `workload`, or the only one that was asked for
  std::vector<std::string> metrics = {};  ///< columns that are metrics although neither the log nor an ask names them
  std::vector<std::string> ignored = {};
  bool repeat = false;  ///< a second answer for a design is a further measurement
  Provenance provenance = {};
};
/// What became of the rows of a file.
struct Told {
  std::size_t rows = 0;
  std::size_t inserted = 0, feasible = 0;  ///< new evaluations, and those of them that are feasible
  std::size_t already_present = 0;         ///< told before, with the same values
  std::size_t unanswered = 0;              ///< neither metrics nor a reason
  std::size_t unasked = 0;                 ///< of the inserted ones: nobody had asked for them
  std::size_t pending = 0;                 ///< designs x workloads that still await an answer
  std::string evaluator;
};
/// Appends the answers in one transaction: all rows of the file or none. A row is infeasible where it has a reason, or
/// feasible is 0; latency_s and energy_j of such a row are left out. Answers to designs nobody asked for are taken.
///
/// Errors: Error{usage} with file:line:column for a value that a parameter does not have (says the nearest), a cell
/// that is no number, a feasible row without a metric of the objective that was asked for, a column that is nothing
/// known, one design twice with different values, also against the log (unless `repeat`). The log is unchanged then.
[[nodiscard]] Told tell(const TellRequest& request);

/// Rows of `file` with an answer that `log` still awaits: overwriting it would lose them. 0 for what is no table of
/// ask, and for files that do not exist.
[[nodiscard]] std::size_t untold_answers(const std::filesystem::path& file, const std::filesystem::path& log);

}  // namespace hindsight::study
