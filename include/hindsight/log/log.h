/// The log: runs, spaces, workloads, designs, evaluations, proposals, models. The log is the truth. It is a SQLite
/// file, or lies on a PostgreSQL server (address.h); what follows is of files, docs/scale.md has what a server adds.
///
/// Guarantees: WAL, foreign keys, STRICT tables, `application_id`, versioned schema with migrations. A batch
/// is one transaction (BEGIN IMMEDIATE, 30 s busy timeout): after a kill at any moment the committed batches
/// are there and nothing is torn. Rows are identified by content (space definition, design text id, workload
/// definition), so that appending the same evaluation twice leaves one row. Several processes of one host may write.
/// Limits: a power failure may lose the last commits (synchronous = NORMAL), never tear one; WAL does not work across
/// hosts (see `Log::warnings`). Tables, columns and units: docs/log-schema.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/core/provenance.h"

namespace hindsight::log {

/// "HSLG" as SQLite application_id.
inline constexpr std::int32_t kApplicationId = 0x48534C47;
/// Schema version written to user_version.
inline constexpr int kSchemaVersion = 3;

enum class OpenMode {
  read_only,
  read_write,         ///< the file must exist
  read_write_create,  ///< a missing file is created
};

/// Which command writes. The names (to_string) are the words in the log.
enum class RunKind {
  sweep,
  import,
  train,
  propose,
  measure,
  measure_import,
  bench,
  optimum,
  search,
  merge,
  ask,
  tell,
  campaign,
  worker
};
[[nodiscard]] const std::string& to_string(RunKind kind);

/// How a run ended. A run that was killed stays `running`.
enum class RunStatus { running, finished, interrupted, failed };
[[nodiscard]] const std::string& to_string(RunStatus status);

/// Why a design is infeasible. Codes are stable words, e.g. "noc_timing".
struct ViolationRow {
  std::string code = {};
  std::string quantity = {};                   ///< what was measured, with its unit suffix (may be empty)
  double value = 0;                            ///< NaN = not known (stored as NULL)
  double limit = 0;                            ///< NaN = not known (stored as NULL)
  std::optional<double> nearest_passing = {};  ///< nearest value of the quantity's driving parameter that passes
  std::string layer = {};                      ///< layer concerned, or empty
  std::string message = {};                    ///< one sentence for a person (may be empty)
};

/// One evaluation to append. Metrics are (name with unit suffix, value); the standard ones
/// (standard_metrics()) have columns of their own, all others go to `evaluation_metrics`.
struct EvaluationRow {
  std::int64_t workload_id = 0;
  std::string design_text_id = {};
  std::uint64_t design_hash = 0;
  bool feasible = false;
  std::vector<std::pair<std::string, double>> metrics = {};  ///< no latency_s, energy_j when infeasible
  std::vector<ViolationRow> violations = {};
  std::int64_t repeat = 0;  ///< number of the measurement, from 0: a noisy evaluator counts its repeats
};

/// Columns of `evaluations` for the built-in accelerator model, in schema order.
[[nodiscard]] const std::vector<std::string>& standard_metrics();

/// A row that was refused and why; the rest of its batch is kept.
struct RejectedRow {
  std::size_t index = 0;  ///< position in the batch
  std::string reason;
};

/// Rows and what each of them is refused for, looked at alone. Making it needs no log, so that a thread which does not
/// append can.
class CheckedRows {
 public:
  /// The rows outlive it and do not change.
  explicit CheckedRows(const std::vector<EvaluationRow>& rows);
  explicit CheckedRows(const std::vector<EvaluationRow>&&) = delete;
  CheckedRows(CheckedRows&&) noexcept;
  CheckedRows& operator=(CheckedRows&&) noexcept;
  ~CheckedRows();
  [[nodiscard]] const std::vector<EvaluationRow>& rows() const { return *rows_; }

  struct Check;
  /// Per row. What it is made of is private to the log layer.
  [[nodiscard]] const std::vector<Check>& checks() const { return checks_; }

 private:
  const std::vector<EvaluationRow>* rows_;
  std::vector<Check> checks_;
};

struct AppendResult {
  std::size_t inserted = 0;
  std::size_t already_present = 0;
  std::vector<RejectedRow> rejected;
};

/// Position of a resumable job; written in the same transaction as the batch it describes.
struct Checkpoint {
  std::string key;
  std::string value_json;
};

/// A trained surrogate as the log remembers it.
struct ModelRow {
  std::string name;
  std::string kind;  ///< of the surrogate, e.g. "prime"
  std::string file;  ///< path as given
  std::string file_sha256;
  std::string card_json;  ///< data, options, quality
};

/// A proposed design. Predictions and verdict are JSON texts.
struct ProposalRow {
  std::string design_text_id;
  std::uint64_t design_hash = 0;
  std::optional<std::int64_t> workload_id = {};  ///< nothing: several workloads together, or one the log has not
  std::int64_t rank = 1;                         ///< 1 = best
  std::string objective;                         ///< what was minimised
  double predicted_value = 0;                    ///< NaN = not known (stored as NULL)
  std::string predicted_json;
  std::optional<std::string> verdict_json = {};  ///< nothing: not checked
};

/// What a full check of a log found.
struct Verification {
  std::vector<std::string> problems;  ///< one sentence each, at most 100; empty = the log is sound
  [[nodiscard]] bool sound() const { return problems.empty(); }
};

/// An open log. One thread at a time; open one per thread or process. Never carry it across fork().
class Log {
 public:
  /// How long an operation waits for another process's lock.
  static constexpr std::chrono::milliseconds kBusyTimeout = std::chrono::seconds(30);

  /// Opens, creates or migrates a file, or a log on a server (log/address.h), which `busy_timeout` and
  /// HINDSIGHT_SERVER_PATIENCE_S are waited for. Errors: Error{incompatible} for a file that is not a Hindsight log, a
  /// log of a newer schema (says which version wrote it) or a corrupt one; Error{failure} for a read-only or full disk,
  /// a lock that is not released in 30 s; Error{usage} for a missing file that is not to be created, for a missing
  /// folder, and for a folder or another thing that is no regular file. A refused file keeps its bytes.
  static Log open(const std::filesystem::path& file, OpenMode mode,
                  std::chrono::milliseconds busy_timeout = kBusyTimeout);
  Log(Log&&) noexcept;
  Log& operator=(Log&&) noexcept;
  ~Log();

  /// The two halves of log::Run, which commands use instead. `options_json` is stored as it is.
  std::int64_t begin_run(RunKind kind, const Provenance& provenance, const std::string& options_json);
  void end_run(std::int64_t run_id, RunStatus status);
  /// Adds (name, text) to the options of a run, in place of an earlier text of that name: what is known at its end
  /// only.
  void note_run(std::int64_t run_id, const std::string& name, const std::string& text);

  /// Registers a space; the same definition gives the same id. Error{usage} when `name` exists with another
  /// definition (the message says how to keep both).
  /// `parameter_names` in the order of the text ids; left out, the first design appended names them. They give the
  /// view `designs_<space>` its columns.
  std::int64_t add_space(const std::string& name, const std::string& canonical_definition, const std::string& hash,
                         const std::vector<std::string>& parameter_names = {});
  /// Registers a workload with its layer table (JSON text) and context features; same rules.
  std::int64_t add_workload(const std::string& name, const std::string& canonical_definition, const std::string& hash,
                            std::int64_t batch, const std::string& layers_json, int context_version,
                            const std::vector<std::pair<std::string, double>>& context);
  /// Registers an evaluator (model name, version, constants' hash): evaluations of different evaluators
  /// never mix or overwrite each other.
  std::int64_t add_evaluator(const std::string& name, const std::string& definition_hash,
                             const std::string& definition);

  /// Appends a batch in one transaction, with the checkpoint when given. A bad row is rejected with its reason and the
  /// rest is kept. Design, workload, evaluator and repeat are an evaluation's identity: one that is there already is
  /// counted, one that contradicts it (feasibility, a metric, a violation but for its advice) is rejected. On a server
  /// the batch is sent again when the connection is lost; when the server stays away, the rows are kept in a new file
  /// in the working folder, which the Error{failure} names.
  AppendResult append(std::int64_t run_id, std::int64_t space_id, std::int64_t evaluator_id,
                      const std::vector<EvaluationRow>& rows,
                      const std::optional<Checkpoint>& checkpoint = std::nullopt);
  /// The same for rows that were checked elsewhere.
  AppendResult append(std::int64_t run_id, std::int64_t space_id, std::int64_t evaluator_id, const CheckedRows& rows,
                      const std::optional<Checkpoint>& checkpoint = std::nullopt);

  /// Registers a model; a file of the same SHA-256 gives the id it has.
  std::int64_t add_model(std::int64_t run_id, std::int64_t space_id, const ModelRow& model);
  /// Stores proposals, and their designs where they are new, in one transaction: all of them or none.
  void add_proposals(std::int64_t run_id, std::int64_t space_id, std::optional<std::int64_t> model_id,
                     const std::vector<ProposalRow>& proposals);

  /// Stores verdicts (proposal id, JSON text) in place of earlier ones, in one transaction.
  void set_verdicts(const std::vector<std::pair<std::int64_t, std::string>>& verdicts);

  [[nodiscard]] std::optional<std::string> checkpoint(const std::string& key) const;
  /// Stores a checkpoint in place of an earlier one of its key; append() does it with rows.
  void set_checkpoint(const Checkpoint& checkpoint);

  /// Checks everything: SQLite's integrity and references, identities, that reasons and metrics agree with
  /// feasibility, that latencies are above 0, and that average_power_w is energy_j / latency_s as far as their digits
  /// tell. Reads the whole file.
  [[nodiscard]] Verification verify() const;

  /// Sentences for the user about where the log lies, e.g. on a network file system. Usually empty.
  [[nodiscard]] const std::vector<std::string>& warnings() const;
  [[nodiscard]] const std::filesystem::path& path() const;

  struct Impl;
  [[nodiscard]] Impl& impl() const { return *impl_; }

 private:
  explicit Log(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Everything that is written through `log` while it lives is one transaction: committed as a whole, or not at all when
/// it goes away without commit(). Others cannot write meanwhile. The log must outlive it and stay where it is; one at a
/// time. Errors: those of writing.
class Transaction {
 public:
  explicit Transaction(Log& log);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit();

 private:
  Log& log_;
  bool open_ = true;
};

/// A run of the log: begun when made, and ended whatever happens. One that goes away without finish(), because an error
/// ends the command, is stored as failed, after Ctrl-C as interrupted. The log must outlive it and stay where it is.
class Run {
 public:
  Run(Log& log, RunKind kind, const Provenance& provenance, const std::string& options_json = "{}");
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  [[nodiscard]] std::int64_t id() const { return id_; }
  /// Stores a text beside its options (Log::note_run).
  void note(const std::string& name, const std::string& text);
  /// Stores how it ended; once.
  void finish(RunStatus status = RunStatus::finished);

 private:
  Log& log_;
  std::int64_t id_;
  bool ended_ = false;
};

/// What to tell before a log is written there: the network file system that its folder is on. Nothing for a local one,
/// for a folder that is not there, and for a log on a server.
[[nodiscard]] std::optional<std::string> disk_warning(const std::filesystem::path& log);

}  // namespace hindsight::log
