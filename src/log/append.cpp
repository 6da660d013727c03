/// Appending evaluations: one transaction per batch, bad rows refused one by one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/text.h"
#include "log/append_row.h"
#include "log/append_rules.h"
#include "log/filter.h"
#include "log/impl.h"
#include "log/kept_rows.h"

namespace hindsight::log {
namespace {

/// Position of the first standard metric among the parameters of the INSERT, and among the columns of the SELECT.
constexpr int kFirstMetricParameter = 7;
constexpr int kFirstMetricColumn = 2;

constexpr auto kStandardMetrics = std::to_array<std::string_view>(
    {"latency_s", "latency_cycles", "energy_j", "average_power_w", "area_mm2", "utilisation_frac", "dram_read_bytes",
     "dram_write_bytes", "weights_cached_frac", "instructions", "peak_power_w"});
static_assert(kStandardMetrics.size() == kStandardMetricCount);

/// A double or NULL for NaN.
void bind_known(Statement& statement, int index, double value) {
  if (std::isnan(value)) {
    statement.bind(index);
  } else {
    statement.bind(index, value);
  }
}

void bind_text_or_null(Statement& statement, int index, const std::string& text) {
  if (text.empty()) {
    statement.bind(index);
  } else {
    statement.bind_view(index, text);
  }
}

std::string insert_evaluation_sql() {
  std::string places;
  for (std::size_t i = 0; i < standard_metrics().size(); ++i) places += ", ?";
  return fmt::format(
      "INSERT INTO evaluations (design_id, workload_id, evaluator_id, repeat, run_id, feasible, {}) "
      "VALUES (?, ?, ?, ?, ?, ?{}) ON CONFLICT (design_id, workload_id, evaluator_id, repeat) DO NOTHING",
      join(standard_metrics(), ", "), places);
}

/// Appends the rows of one batch inside the caller's transaction.
class BatchWriter {
 public:
  /// `described` becomes true when a design names the parameters of the space.
  BatchWriter(Log::Impl& log, std::int64_t run_id, std::int64_t space_id, std::int64_t evaluator_id, bool& described)
      : log_(log),
        statements_(*log.append_statements),
        run_id_(run_id),
        space_id_(space_id),
        evaluator_id_(evaluator_id),
        described_parameters_(described) {}

  void add(std::size_t index, const EvaluationRow& row, const CheckedRows::Check& check, AppendResult& result);

 private:
  struct KnownDesign {
    std::int64_t id;
    const std::string* text_id;
  };

  Reason append(const EvaluationRow& row, const CheckedRows::Check& check, AppendResult& result);
  Reason resolve_design(const EvaluationRow& row, const CheckedRows::Check& check, std::int64_t& design_id);
  bool insert_evaluation(const EvaluationRow& row, const ParsedRow& parsed, std::int64_t design_id);
  void insert_details(const EvaluationRow& row, const ParsedRow& parsed, std::int64_t evaluation_id);
  Reason contradiction(const EvaluationRow& row, const ParsedRow& parsed, std::int64_t design_id);

  Log::Impl& log_;
  AppendStatements& statements_;
  std::int64_t run_id_, space_id_, evaluator_id_;
  std::unordered_map<std::uint64_t, KnownDesign> designs_;
  std::optional<std::int64_t> design_before_;  ///< of the row before, when it has a place in the log
  bool& described_parameters_;
};

Reason BatchWriter::resolve_design(const EvaluationRow& row, const CheckedRows::Check& check, std::int64_t& design_id) {
  if (const auto known = designs_.find(row.design_hash); known != designs_.end()) {
    if (*known->second.text_id != row.design_text_id) {
      return collision_with(*known->second.text_id);
    }
    design_id = known->second.id;
    return std::nullopt;
  }
  if (check.design_refused) return check.design_refused;
  if (auto reason = accept_design(log_, space_id_, row.design_text_id, described_parameters_)) return reason;
  const auto hash = static_cast<std::int64_t>(row.design_hash);
  {
    Statement& insert = statements_.insert_design;
    const ResetAtEnd reset(insert);
    insert.bind(1, space_id_);
    insert.bind(2, hash);
    insert.bind_view(3, row.design_text_id);
    if (insert.exec() == 1) {
      design_id = log_.database.last_row();
      designs_.emplace(row.design_hash, KnownDesign{design_id, &row.design_text_id});
      return std::nullopt;
    }
  }
  Statement& find = statements_.find_design;
  const ResetAtEnd reset(find);
  find.bind(1, space_id_);
  find.bind(2, hash);
  HINDSIGHT_ENSURE(find.step());
  if (const std::string stored = find.column(1).text(); stored != row.design_text_id) {
    return collision_with(stored);
  }
  design_id = find.column(0).integer();
  designs_.emplace(row.design_hash, KnownDesign{design_id, &row.design_text_id});
  return std::nullopt;
}

bool BatchWriter::insert_evaluation(const EvaluationRow& row, const ParsedRow& parsed, std::int64_t design_id) {
  Statement& insert = statements_.insert_evaluation;
  const ResetAtEnd reset(insert);
  insert.bind(1, design_id);
  insert.bind(2, row.workload_id);
  insert.bind(3, evaluator_id_);
  insert.bind(4, row.repeat);
  insert.bind(5, run_id_);
  insert.bind(6, row.feasible ? 1 : 0);
  for (std::size_t i = 0; i < parsed.standard.size(); ++i) {
    bind_known(insert, kFirstMetricParameter + static_cast<int>(i), parsed.standard[i]);
  }
  return insert.exec() == 1;
}

Reason BatchWriter::contradiction(const EvaluationRow& row, const ParsedRow& parsed, std::int64_t design_id) {
  const auto number = [](const RowValue& value) { return value.is_null() ? std::nan("") : value.number(); };
  Statement& find = statements_.find_evaluation;
  const ResetAtEnd reset(find);
  find.bind(1, design_id);
  find.bind(2, row.workload_id);
  find.bind(3, evaluator_id_);
  find.bind(4, row.repeat);
  HINDSIGHT_ENSURE(find.step());
  StoredEvaluation stored{.id = find.column(0).integer(), .feasible = find.column(1).integer() != 0};
  for (std::size_t i = 0; i < parsed.standard.size(); ++i) {
    stored.standard.push_back(number(find.column(kFirstMetricColumn + static_cast<int>(i))));
  }
  Statement& metrics = statements_.find_metrics;
  const ResetAtEnd reset_metrics(metrics);
  metrics.bind(1, stored.id);
  while (metrics.step()) stored.others.emplace_back(text_of(metrics, 0), metrics.column(1).number());
  Statement& reasons = statements_.find_violations;
  const ResetAtEnd reset_reasons(reasons);
  reasons.bind(1, stored.id);
  while (reasons.step()) {
    stored.reasons.push_back(said_by(text_of(reasons, 0), text_of(reasons, 1), number(reasons.column(2)),
                                     number(reasons.column(3)), text_of(reasons, 4)));
  }
  return contradiction_of(row, parsed, stored);
}

void BatchWriter::insert_details(const EvaluationRow& row, const ParsedRow& parsed, std::int64_t evaluation_id) {
  for (const auto& [name, value] : parsed.others) {
    Statement& insert = statements_.insert_metric;
    const ResetAtEnd reset(insert);
    insert.bind(1, evaluation_id);
    insert.bind(2, std::string(name));
    insert.bind(3, value);
    insert.exec();
    log_.block_keeper.add_metric(name);
  }
  std::int64_t position = 0;
  for (const ViolationRow& violation : row.violations) {
    Statement& insert = statements_.insert_violation;
    const ResetAtEnd reset(insert);
    insert.bind(1, evaluation_id);
    insert.bind(2, position++);
    insert.bind_view(3, violation.code);
    insert.bind_view(4, violation.quantity);
    bind_known(insert, 5, violation.value);
    bind_known(insert, 6, violation.limit);
    bind_known(insert, 7, violation.nearest_passing.value_or(std::nan("")));
    bind_text_or_null(insert, 8, violation.layer);
    bind_text_or_null(insert, 9, violation.message);
    insert.exec();
    log_.block_keeper.add_reason(violation.code);
  }
}

/// Appends one row and counts it, or says why it is refused.
Reason BatchWriter::append(const EvaluationRow& row, const CheckedRows::Check& check, AppendResult& result) {
  const std::optional<std::int64_t> before = std::exchange(design_before_, std::nullopt);
  if (!log_.has_row("workloads", "workload_id", row.workload_id, log_.known_workloads)) {
    return fmt::format("workload id {} is not in the log", row.workload_id);
  }
  if (check.refused) return check.refused;
  const ParsedRow& parsed = check.parsed;
  std::int64_t design_id = 0;
  if (before && check.same_design) {
    design_id = *before;
  } else if (auto reason = resolve_design(row, check, design_id)) {
    return reason;
  }
  design_before_ = design_id;
  if (insert_evaluation(row, parsed, design_id)) {
    const std::int64_t id = log_.database.last_row();
    log_.block_keeper.add({.evaluation_id = id,
                           .workload_id = row.workload_id,
                           .evaluator_id = evaluator_id_,
                           .run_id = run_id_,
                           .repeat = row.repeat,
                           .feasible = row.feasible,
                           .standard = parsed.standard,
                           .text_id = row.design_text_id});
    insert_details(row, parsed, id);
    ++result.inserted;
    return std::nullopt;
  }
  if (auto reason = contradiction(row, parsed, design_id)) return reason;
  ++result.already_present;
  return std::nullopt;
}

void BatchWriter::add(std::size_t index, const EvaluationRow& row, const CheckedRows::Check& check,
                      AppendResult& result) {
  if (auto reason = append(row, check, result)) {
    result.rejected.push_back({.index = index, .reason = std::move(*reason)});
  }
}

void put_checkpoint(Statement& put, const Checkpoint& checkpoint) {
  const ResetAtEnd reset(put);
  const std::string now = utc_now();
  put.bind_view(1, checkpoint.key);
  put.bind_view(2, checkpoint.value_json);
  put.bind_view(3, now);
  put.exec();
}

void count_run(Statement& count, std::int64_t run_id, const AppendResult& result) {
  const ResetAtEnd reset(count);
  count.bind(1, static_cast<std::int64_t>(result.inserted));
  count.bind(2, static_cast<std::int64_t>(result.already_present));
  count.bind(3, static_cast<std::int64_t>(result.rejected.size()));
  count.bind(4, run_id);
  count.exec();
}

}  // namespace

const std::vector<std::string>& standard_metrics() {
  static const std::vector<std::string> names(kStandardMetrics.begin(), kStandardMetrics.end());
  return names;
}

AppendStatements::AppendStatements(Database database)
    : insert_design(database,
                    "INSERT INTO designs (space_id, content_hash, text_id) VALUES (?, ?, ?) "
                    "ON CONFLICT (space_id, content_hash) DO NOTHING"),
      find_design(database, "SELECT design_id, text_id FROM designs WHERE space_id = ? AND content_hash = ?"),
      insert_evaluation(database, insert_evaluation_sql()),
      find_evaluation(database,
                      fmt::format("SELECT evaluation_id, feasible, {} FROM evaluations "
                                  "WHERE design_id = ? AND workload_id = ? AND evaluator_id = ? AND repeat = ?",
                                  join(standard_metrics(), ", "))),
      find_metrics(database, "SELECT name, value FROM evaluation_metrics WHERE evaluation_id = ?"),
      find_violations(database,
                      "SELECT code, quantity, value, limit_value, layer FROM evaluation_violations "
                      "WHERE evaluation_id = ?"),
      insert_metric(database, "INSERT INTO evaluation_metrics VALUES (?, ?, ?)"),
      insert_violation(database, "INSERT INTO evaluation_violations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      put_checkpoint(database,
                     "INSERT INTO checkpoints VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET "
                     "value_json = excluded.value_json, updated_at = excluded.updated_at"),
      count_run(database,
                "UPDATE runs SET evaluations_inserted = evaluations_inserted + ?, "
                "evaluations_present = evaluations_present + ?, rows_rejected = rows_rejected + ? WHERE run_id = ?") {}

AppendResult append_rows(Log::Impl& log, std::int64_t run_id, std::int64_t space_id, std::int64_t evaluator_id,
                         const CheckedRows& rows, bool& described) {
  if (log.server) return append_on_server(log, run_id, space_id, evaluator_id, rows, described);
  if (!log.append_statements) log.append_statements = std::make_unique<AppendStatements>(log.database);
  AppendResult result;
  BatchWriter writer(log, run_id, space_id, evaluator_id, described);
  for (std::size_t i = 0; i < rows.rows().size(); ++i) writer.add(i, rows.rows()[i], rows.checks()[i], result);
  log.block_keeper.store(log.database, kBlocksPerAppend);
  return result;
}

AppendResult Log::append(std::int64_t run_id, std::int64_t space_id, std::int64_t evaluator_id,
                         const std::vector<EvaluationRow>& rows, const std::optional<Checkpoint>& checkpoint) {
  return append(run_id, space_id, evaluator_id, CheckedRows(rows), checkpoint);
}

AppendResult Log::append(std::int64_t run_id, std::int64_t space_id, std::int64_t evaluator_id, const CheckedRows& rows,
                         const std::optional<Checkpoint>& checkpoint) {
  impl_->require_writable();
  HINDSIGHT_EXPECT(!checkpoint || nlohmann::json::accept(checkpoint->value_json));
  Impl& log = *impl_;
  const auto append = [&] {
    if (!log.append_statements) log.append_statements = std::make_unique<AppendStatements>(log.database);
    HINDSIGHT_EXPECT(log.has_row("runs", "run_id", run_id, log.known_runs));
    HINDSIGHT_EXPECT(log.has_row("spaces", "space_id", space_id, log.known_spaces));
    HINDSIGHT_EXPECT(log.has_row("evaluators", "evaluator_id", evaluator_id, log.known_evaluators));
    AppendResult result;
    bool described = false;
    try {
      WriteTransaction transaction(log);
      result = append_rows(log, run_id, space_id, evaluator_id, rows, described);
      if (checkpoint) put_checkpoint(log.append_statements->put_checkpoint, *checkpoint);
      count_run(log.append_statements->count_run, run_id, result);
      transaction.commit();
    } catch (...) {
      log.block_keeper.forget();
      if (described) log.parameter_names.erase(space_id);
      throw;
    }
    return result;
  };
  if (!log.server) return log.guarded("appending a batch", append);
  try {
    return log.repeated(Impl::Repeatable::yes, append);
  } catch (const ServerError& error) {
    keep_rows_and_throw(log, error, run_id, space_id, evaluator_id, rows.rows());
  }
}

void Log::set_checkpoint(const Checkpoint& checkpoint) {
  impl_->require_writable();
  HINDSIGHT_EXPECT(nlohmann::json::accept(checkpoint.value_json));
  impl_->writing("storing a checkpoint", [&] {
    Impl& log = *impl_;
    if (!log.append_statements) log.append_statements = std::make_unique<AppendStatements>(log.database);
    WriteTransaction transaction(log);
    put_checkpoint(log.append_statements->put_checkpoint, checkpoint);
    transaction.commit();
  });
}

}  // namespace hindsight::log
