/// Copies row by row through the interface of both stores: what a log is does not depend on where it lies.
#include "hindsight/log/copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"
#include "hindsight/log/address.h"
#include "hindsight/log/gpu_measurements.h"
#include "hindsight/log/query.h"
#include "log/append_rules.h"
#include "log/draft_file.h"
#include "log/filter.h"
#include "log/handed_out.h"
#include "log/impl.h"
#include "log/interruptible.h"
#include "log/read_transaction.h"
#include "log/run_identity.h"

namespace hindsight::log {
namespace {

namespace fs = std::filesystem;

/// [chosen] evaluations of one append: as many as a server takes in a few statements, and a few megabytes.
constexpr std::size_t kRowsAtOnce = 8192;

/// Numbers of rows in the target by those in the source.
using Numbers = std::map<std::int64_t, std::int64_t>;

class LogCopy {
 public:
  LogCopy(const Log& from, Log& to, Contradictions contradictions)
      : source_(from),
        target_(to),
        from_(from.impl().database),
        to_(to.impl().database),
        contradictions_(contradictions) {}

  CopyResult run() {
    result_.created = to_.integer_of("SELECT count(*) FROM runs") == 0;
    copy_spaces();
    copy_workloads();
    copy_evaluators();
    copy_runs();
    copy_evaluations();
    copy_designs();
    copy_models();
    copy_proposals();
    copy_gpu_sessions();
    copy_checkpoints();
    return result_;
  }

 private:
  void copy_spaces();
  void copy_workloads();
  void copy_evaluators();
  void copy_runs();
  void copy_evaluations();
  void copy_designs();
  void copy_models();
  void copy_proposals();
  void copy_gpu_sessions();
  void copy_checkpoints();
  void append(std::int64_t run, std::int64_t space, std::int64_t evaluator, const std::vector<EvaluationRow>& rows);
  [[nodiscard]] std::int64_t design_in_target(std::int64_t space, std::int64_t hash, const std::string& text_id);
  /// The number in the target; Error{incompatible} for a source that refers to what it has not.
  [[nodiscard]] std::int64_t mapped(const Numbers& numbers, std::int64_t id, const char* table) const;

  const Log& source_;
  Log& target_;
  Database from_, to_;
  Contradictions contradictions_;
  CopyResult result_;
  Numbers spaces_, workloads_, evaluators_, runs_, models_;
};

std::int64_t LogCopy::mapped(const Numbers& numbers, std::int64_t id, const char* table) const {
  const auto found = numbers.find(id);
  if (found != numbers.end()) return found->second;
  throw Error(ErrorKind::incompatible,
              fmt::format("{}: damaged log: a row names row {} of {}, which is not there. {} lists what is "
                          "wrong; nothing was written.",
                          shown(source_.path()), id, table, log_command("verify", source_.path())));
}

void LogCopy::copy_spaces() {
  std::map<std::int64_t, std::vector<std::string>> parameters;
  Statement names(from_, "SELECT space_id, name FROM space_parameters ORDER BY space_id, position");
  while (names.step()) parameters[names.column(0).integer()].push_back(text_of(names, 1));
  Statement query(from_, "SELECT space_id, name, definition, definition_hash FROM spaces ORDER BY space_id");
  while (query.step()) {
    const std::int64_t id = query.column(0).integer();
    spaces_[id] = target_.add_space(text_of(query, 1), text_of(query, 2), text_of(query, 3), parameters[id]);
  }
}

void LogCopy::copy_workloads() {
  for (const WorkloadRecord& one : workloads(source_)) {
    workloads_[one.workload_id] = target_.add_workload(one.name, one.definition, one.definition_hash, one.batch,
                                                       one.layers_json, one.context_version, one.context);
  }
}

void LogCopy::copy_evaluators() {
  Statement query(from_,
                  "SELECT evaluator_id, name, definition_hash, definition FROM evaluators ORDER BY evaluator_id");
  while (query.step()) {
    evaluators_[query.column(0).integer()] =
        target_.add_evaluator(text_of(query, 1), text_of(query, 2), text_of(query, 3));
  }
}

/// A run that went on since takes its end over.
void LogCopy::copy_runs() {
  const std::string columns = run_identity();
  const auto identity = [](Statement& row) {
    nlohmann::json texts = nlohmann::json::array();
    for (int i = 0; i < static_cast<int>(kRunIdentity.size()); ++i) texts.push_back(text_of(row, i + 1));
    return texts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  std::map<std::string, std::int64_t> known;
  Statement there(to_, fmt::format("SELECT run_id, {} FROM runs", columns));
  while (there.step()) known.try_emplace(identity(there), there.column(0).integer());
  Statement insert(to_, fmt::format("INSERT INTO runs ({}, {}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                                    columns, kRunOutcome));
  Statement update(to_,
                   "UPDATE runs SET status = ?, ended_at = ?, evaluations_inserted = ?, evaluations_present = ?, "
                   "rows_rejected = ? WHERE run_id = ? AND status = 'running'");
  Statement query(from_, fmt::format("SELECT run_id, {}, {} FROM runs ORDER BY run_id", columns, kRunOutcome));
  constexpr int kOutcome = static_cast<int>(kRunIdentity.size()) + 1;
  while (query.step()) {
    const auto [found, is_new] = known.try_emplace(identity(query), 0);
    Statement& change = is_new ? insert : update;
    change.reset();
    change.clear_bindings();  // an end that is not known is NULL
    int place = 0;
    if (is_new) {
      for (int i = 1; i < kOutcome; ++i) change.bind(++place, text_of(query, i));
    }
    change.bind(++place, text_of(query, kOutcome));
    ++place;
    if (!query.column(kOutcome + 1).is_null()) change.bind(place, text_of(query, kOutcome + 1));
    for (int i = kOutcome + 2; i < kOutcome + 5; ++i) change.bind(++place, query.column(i).integer());
    if (!is_new) change.bind(++place, found->second);
    change.exec();
    if (is_new) found->second = to_.last_row();
    result_.runs += is_new ? 1 : 0;
    runs_[query.column(0).integer()] = found->second;
  }
}

void LogCopy::append(std::int64_t run, std::int64_t space, std::int64_t evaluator,
                     const std::vector<EvaluationRow>& rows) {
  if (rows.empty()) return;
  if (interrupt_requested()) {
    throw Error(ErrorKind::interrupted, fmt::format("{}: interrupted; nothing was written.", shown(target_.path())));
  }
  bool described = false;
  const AppendResult appended = append_rows(target_.impl(), run, space, evaluator, CheckedRows(rows), described);
  result_.inserted += appended.inserted;
  result_.already_present += appended.already_present;
  result_.contradicting += appended.rejected.size();
  if (appended.rejected.empty() || contradictions_ == Contradictions::keep_first) return;
  const RejectedRow& first = appended.rejected.front();
  throw Error(
      ErrorKind::usage,
      fmt::format("{}: {} cannot be brought to {}: {}. Nothing was written; --duplicates first leaves such rows "
                  "out",
                  shown(source_.path()), printable(rows[first.index].design_text_id, 80), shown(target_.path()),
                  first.reason));
}

void LogCopy::copy_evaluations() {
  using Group = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // run, space, evaluator
  Group group;
  std::vector<EvaluationRow> rows;
  const auto flush = [&] {
    const auto& [run, space, evaluator] = group;
    if (!rows.empty()) {
      append(mapped(runs_, run, "runs"), mapped(spaces_, space, "spaces"), mapped(evaluators_, evaluator, "evaluators"),
             rows);
    }
    rows.clear();
  };
  const std::int64_t designs_before = to_.integer_of("SELECT count(*) FROM designs");
  for_each_evaluation(source_, {}, Detail::all, [&](const EvaluationRecord& record) {
    const Group of{record.run_id, record.space_id, record.evaluator_id};
    if (of != group || rows.size() >= kRowsAtOnce) flush();
    group = of;
    rows.push_back({.workload_id = mapped(workloads_, record.workload_id, "workloads"),
                    .design_text_id = record.design_text_id,
                    .design_hash = content_hash(record.design_text_id),
                    .feasible = record.feasible,
                    .metrics = metrics_of(record),
                    .violations = record.violations,
                    .repeat = record.repeat});
    return true;
  });
  flush();
  result_.designs = static_cast<std::uint64_t>(to_.integer_of("SELECT count(*) FROM designs") - designs_before);
}

std::int64_t LogCopy::design_in_target(std::int64_t space, std::int64_t hash, const std::string& text_id) {
  Statement insert(to_,
                   "INSERT INTO designs (space_id, content_hash, text_id) VALUES (?, ?, ?) "
                   "ON CONFLICT (space_id, content_hash) DO NOTHING");
  insert.bind(1, space);
  insert.bind(2, hash);
  insert.bind(3, text_id);
  result_.designs += static_cast<std::uint64_t>(insert.exec());
  Statement find(to_, "SELECT design_id, text_id FROM designs WHERE space_id = ? AND content_hash = ?");
  find.bind(1, space);
  find.bind(2, hash);
  HINDSIGHT_ENSURE(find.step());
  if (text_of(find, 1) == text_id) return find.column(0).integer();
  throw Error(ErrorKind::failure,
              fmt::format("{}: the design {} has the 64-bit hash of another one in {} (a log cannot "
                          "tell them apart). Copy it to another log.",
                          shown(source_.path()), printable(text_id, 80), shown(target_.path())));
}

/// Designs that were proposed, and not evaluated.
void LogCopy::copy_designs() {
  Statement query(from_,
                  "SELECT space_id, content_hash, text_id FROM designs d WHERE NOT EXISTS (SELECT 1 FROM "
                  "evaluations e WHERE e.design_id = d.design_id) ORDER BY design_id");
  while (query.step()) {
    static_cast<void>(design_in_target(mapped(spaces_, query.column(0).integer(), "spaces"), query.column(1).integer(),
                                       text_of(query, 2)));
  }
}

void LogCopy::copy_models() {
  Statement find(to_, "SELECT model_id FROM models WHERE file_sha256 = ?");
  Statement insert(to_,
                   "INSERT INTO models (run_id, space_id, name, kind, file, file_sha256, card_json, created_at) "
                   "VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  Statement query(from_,
                  "SELECT model_id, run_id, space_id, name, kind, file, file_sha256, card_json, created_at FROM "
                  "models ORDER BY model_id");
  while (query.step()) {
    constexpr int kSha256 = 6;
    const std::int64_t id = query.column(0).integer();
    const ResetAtEnd reset_find(find), reset_insert(insert);
    find.bind(1, text_of(query, kSha256));
    if (find.step()) {
      models_[id] = find.column(0).integer();
      continue;
    }
    insert.bind(1, mapped(runs_, query.column(1).integer(), "runs"));
    insert.bind(2, mapped(spaces_, query.column(2).integer(), "spaces"));
    for (int i = 3; i < 9; ++i) insert.bind(i, text_of(query, i));
    insert.exec();
    models_[id] = to_.last_row();
    ++result_.models;
  }
}

/// Proposals belong to their run: those of a run that the target has none of are brought along.
void LogCopy::copy_proposals() {
  std::map<std::int64_t, bool> has_some;
  Statement runs(to_, "SELECT DISTINCT run_id FROM proposals");
  while (runs.step()) has_some[runs.column(0).integer()] = true;
  Statement insert(to_,
                   "INSERT INTO proposals (run_id, model_id, design_id, workload_id, rank, objective, "
                   "predicted_value, predicted_json, verdict_json, created_at) "
                   "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  Statement query(from_,
                  "SELECT p.run_id, p.model_id, d.space_id, p.workload_id, p.rank, p.objective, "
                  "p.predicted_value, p.predicted_json, p.verdict_json, p.created_at, d.content_hash, d.text_id "
                  "FROM proposals p JOIN designs d ON d.design_id = p.design_id ORDER BY p.proposal_id");
  while (query.step()) {
    const std::int64_t run = mapped(runs_, query.column(0).integer(), "runs");
    if (has_some.contains(run)) continue;
    insert.reset();
    insert.clear_bindings();
    insert.bind(1, run);
    if (!query.column(1).is_null()) insert.bind(2, mapped(models_, query.column(1).integer(), "models"));
    insert.bind(3, design_in_target(mapped(spaces_, query.column(2).integer(), "spaces"), query.column(10).integer(),
                                    text_of(query, 11)));
    if (!query.column(3).is_null()) insert.bind(4, mapped(workloads_, query.column(3).integer(), "workloads"));
    insert.bind(5, query.column(4).integer());
    insert.bind(6, text_of(query, 5));
    if (!query.column(6).is_null()) insert.bind(7, query.column(6).number());
    insert.bind(8, text_of(query, 7));
    if (!query.column(8).is_null()) insert.bind(9, text_of(query, 8));
    insert.bind(10, text_of(query, 9));
    insert.exec();
    ++result_.proposals;
  }
  hand_out_asked(to_);
}

void LogCopy::copy_gpu_sessions() {
  std::vector<std::int64_t> runs;
  Statement query(from_, "SELECT run_id FROM gpu_sessions ORDER BY session_id");
  while (query.step()) runs.push_back(query.column(0).integer());
  const std::int64_t before = to_.integer_of("SELECT count(*) FROM gpu_sessions");
  const std::vector<measure::SessionRecords> sessions = gpu_measurements(source_);
  HINDSIGHT_ENSURE(sessions.size() == runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    append_measurements(target_, mapped(runs_, runs[i], "runs"), sessions[i]);
  }
  result_.gpu_sessions = static_cast<std::uint64_t>(to_.integer_of("SELECT count(*) FROM gpu_sessions") - before);
}

/// Of two positions of one job the later one holds. Blocks tell of a file's own numbers.
void LogCopy::copy_checkpoints() {
  Statement put(to_,
                "INSERT INTO checkpoints VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET value_json = "
                "excluded.value_json, updated_at = excluded.updated_at WHERE excluded.updated_at > "
                "checkpoints.updated_at");
  Statement query(
      from_, fmt::format("SELECT key, value_json, updated_at FROM checkpoints WHERE {} ORDER BY key", kNoBlockSql));
  while (query.step()) {
    put.reset();
    for (int i = 0; i < 3; ++i) put.bind(i + 1, text_of(query, i));
    put.exec();
  }
}

/// Into a log that takes what is written, in one transaction.
CopyResult copy_into(const Log& from, Log& to, Contradictions contradictions, bool rehearse) {
  CopyResult result;
  from.impl().guarded("copying it", [&] {
    const ReadTransaction snapshot(from.impl().database);
    const Interruptible until_interrupted(from.impl().database);
    Transaction all(to);
    to.impl().guarded("copying to it", [&] { result = LogCopy(from, to, contradictions).run(); });
    if (!rehearse) all.commit();
  });
  return result;
}

bool is_there(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(file, ignored));
}

}  // namespace

CopyResult copy_log(const fs::path& from, const fs::path& to, Contradictions contradictions, bool rehearse) {
  const Log source = Log::open(from, OpenMode::read_only);
  if (is_server_address(to) || is_there(to)) {
    Log target = Log::open(to, OpenMode::read_write_create);
    return copy_into(source, target, contradictions, rehearse);
  }
  // A new file gets its name when it is whole.
  const DraftFile draft(to);
  CopyResult result;
  {
    Log target = Log::open(draft.path(), OpenMode::read_write_create);
    result = copy_into(source, target, contradictions, rehearse);
  }
  if (!rehearse) draft.publish();
  return result;
}

}  // namespace hindsight::log
