/// What files of other tools say of designs, as one table of rows, before a log is touched.
///
/// Read: tables with commas, tabs or semicolons; JSON lines and lists; Optuna studies (SQLite and journal); Kernel
/// Tuner's caches and results (JSON, unclosed ones too); trials of Vizier and Ax (JSON); what `log export` wrote; and
/// what `propose --csv` wrote, with the true values filled in. Each also packed by gzip or zip. docs/import.md says
/// what of each is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/core/direction.h"
#include "hindsight/core/provenance.h"
#include "hindsight/dataset/csv_import.h"
#include "hindsight/log/log.h"
#include "hindsight/space/design_space.h"

namespace hindsight::dataset {

enum class ImportFormat {
  csv,
  tsv,
  semicolon,
  json_lines,
  optuna,
  kernel_tuner,
  vizier,
  ax,
  log_export,  ///< CSV or JSON lines of `log export`
  proposals,   ///< `propose --csv`, with the true values filled in
};
/// "csv", "tsv", "semicolon", "jsonl", "optuna", "kernel-tuner", "vizier", "ax", "export", "proposals". Error{usage}
/// with the nearest name.
[[nodiscard]] ImportFormat parse_import_format(const std::string& name);

/// What a trial counts as that Optuna's pruner ended.
enum class PrunedTrials {
  infeasible,  ///< with the reason `pruned`
  skip,        ///< left out, and counted
  last,        ///< feasible, with its last intermediate value
};
/// Names as above. Error{usage} with the nearest name.
[[nodiscard]] PrunedTrials parse_pruned_trials(const std::string& name);

struct ReadOptions {
  std::optional<ImportFormat> format = {};  ///< nothing: recognised by the content
  bool roles_named = false;                 ///< columns have roles given by hand: an own export is a table like others
  std::string evaluator = {};               ///< named by hand: rows of a study of ours are somebody else's by now
  std::string workload = {};                ///< named by hand: rows of an export need not say theirs
  std::string study = {};                   ///< of several in one file
  PrunedTrials pruned = PrunedTrials::infeasible;
  std::string objective = {};                ///< metric that is optimised, where the format does not say
  std::vector<std::string> attributes = {};  ///< user attributes of trials that are metrics
  std::filesystem::path log = {};            ///< that proposals come back to; others do not need one
  std::string space = {};                    ///< of that log, by name, where several fit
};

/// What a row says besides its design, where the format says it itself.
struct StatedOutcome {
  std::string workload = {};  ///< application by name; empty: the table's
  bool feasible = false;
  std::vector<std::pair<std::string, double>> metrics = {};
  std::vector<log::ViolationRow> violations = {};  ///< at least one where infeasible
};

/// A workload as its log had it.
struct StatedWorkload {
  std::string name, definition;
  std::int64_t batch = 1;
  std::string layers_json = "[]";
  int context_version = 1;
  std::vector<std::pair<std::string, double>> context = {};
};

/// Definitions that came with the rows: they are those of the log that was exported.
struct StatedDefinitions {
  std::vector<StatedWorkload> workloads = {};
  std::string evaluator, evaluator_definition;
};

struct ImportSource {
  std::string format;  ///< for a person: "Optuna study"
  std::string maker;   ///< names the evaluator of the rows, "optuna import", and begins its definition
  CsvTable table;
  std::vector<StatedOutcome> outcomes = {};  ///< one per row; none: the columns' roles say it
  std::string objective = {};                ///< metric that is optimised, where outcomes are stated
  std::set<std::string> maximised = {};      ///< metrics of which the file says that more is better
  CsvRoles roles = {};                       ///< that the format itself gives to columns
  std::vector<std::pair<std::string, std::size_t>> left_out = {};  ///< why, and how many
  std::vector<std::string> remarks = {};
  std::optional<space::DesignSpace> space = {};  ///< of the log that the rows came from, or go back to
  std::optional<StatedDefinitions> definitions = {};
  std::string evaluator = {};  ///< by name, of an export, or who was asked
  bool repeats = false;        ///< every row is a measurement of its own (Duplicates::keep)
  bool joins_log = false;      ///< rows belong to what the log has of their applications: its evaluator
};

/// Reads a file; "-" is standard input. Errors: Error{usage} with file and line, or trial, for what is not of the
/// format (what was expected is said); Error{incompatible} for damaged containers and for schemas that are not read.
[[nodiscard]] ImportSource read_import(const std::filesystem::path& file, const ReadOptions& options = {});

/// `given` with the roles that the source states itself. Of a source that states outcomes, no column is an objective or
/// a constraint.
[[nodiscard]] CsvRoles roles_for(const ImportSource& source, CsvRoles given);

/// Rounds the numbers of a column to multiples of `step`, for parameters that were drawn from a continuum. Error{usage}
/// for a step that is not above 0, an unknown column, and a cell that is no number.
void round_column(CsvTable& table, const std::string& column, double step);

/// The spaces of the log that have the parameters of the table and every value in it, oldest first; none where there is
/// no log.
[[nodiscard]] std::vector<space::DesignSpace> fitting_spaces(const ImportSource& source, const CsvRoles& roles,
                                                             const std::filesystem::path& log);
/// The space of the log that takes every row: for rows of an export any one, else the one that has the table's name.
/// Nothing where there is no log, or none fits.
[[nodiscard]] std::optional<space::DesignSpace> space_in_log(const ImportSource& source, const CsvRoles& roles,
                                                             const std::filesystem::path& log);

/// A space with the values that occur, as infer_columns(); Error{usage} for a parameter with a value of its own in
/// nearly every row, saying how it is rounded or left out, and for an outcome_problem.
[[nodiscard]] InferredSpace infer_source_space(const ImportSource& source, const CsvRoles& roles);

/// Where the rows go, as far as the file does not say.
struct ImportTarget {
  std::string workload = {};                  ///< application of every row, by name; empty: as the rows say
  std::string evaluator = {};                 ///< by name; empty: as the rows say
  Direction direction = Direction::minimise;  ///< of the objective; what the file says of it holds, too
  /// Registers what the program itself knows by this name (a network that ships, or a file) and gives its id.
  std::function<std::optional<std::int64_t>(log::Log&, const std::string& name)> known_workload = {};
};

/// As import_csv(), for any source. Applications that are named are those of the log, where it has them.
ImportResult import_rows(const ImportSource& source, const CsvRoles& roles, const space::DesignSpace& space,
                         const ImportTarget& target, const std::filesystem::path& log, Duplicates duplicates,
                         const Provenance& provenance);

}  // namespace hindsight::dataset
