/// Appending evaluations: one transaction per batch, bad rows refused one by one.
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "hindsight/core/error.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/text.h"
#include "log/append_row.h"
#include "log/filter.h"
#include "log/impl.h"

namespace hindsight::log {
namespace {

/// Position of the first standard metric among the parameters of the INSERT, and among the columns of the SELECT.
constexpr int kFirstMetricParameter = 7;
constexpr int kFirstMetricColumn = 2;

/// A double or NULL for NaN.
void bind_known(SQLite::Statement& statement, int index, double value) {
  if (std::isnan(value)) {
    statement.bind(index);
  } else {
    statement.bind(index, value);
  }
}

void bind_text_or_null(SQLite::Statement& statement, int index, const std::string& text) {
  if (text.empty()) {
    statement.bind(index);
  } else {
    statement.bindNoCopy(index, text);
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

std::string known_text(double value) { return std::isnan(value) ? "missing" : shortest(value); }

std::string difference(std::string_view what, std::string_view stored, std::string_view given) {
  return fmt::format("{} is {} there, {} here", what, stored, given);
}

/// What a violation says of the design. Its message and the nearest value that passes are advice, which may be put
/// differently by a later version.
std::string said_by(std::string_view code, std::string_view quantity, double value, double limit,
                    std::string_view layer) {
  return fmt::format("{} ({} {}, limit {}{}{})", code, quantity, known_text(value), known_text(limit),
                     layer.empty() ? "" : ", layer ", layer);
}

/// Appends the rows of one batch inside the caller's transaction.
class BatchWriter {
 public:
  BatchWriter(Log::Impl& log, std::int64_t run_id, std::int64_t space_id, std::int64_t evaluator_id)
      : log_(log),
        statements_(*log.append_statements),
        run_id_(run_id),
        space_id_(space_id),
        evaluator_id_(evaluator_id) {}

  void add(std::size_t index, const EvaluationRow& row, AppendResult& result);
  /// True when add() learned the parameter names of the space from its first design.
  [[nodiscard]] bool described_parameters() const { return described_parameters_; }

 private:
  struct KnownDesign {
    std::int64_t id;
    const std::string* text_id;
  };

  Reason append(const EvaluationRow& row, AppendResult& result);
  Reason resolve_design(const EvaluationRow& row, std::int64_t& design_id);
  Reason accept_new_design(const EvaluationRow& row);
  bool insert_evaluation(const EvaluationRow& row, const ParsedRow& parsed, std::int64_t design_id);
  void insert_details(const EvaluationRow& row, const ParsedRow& parsed, std::int64_t evaluation_id);
  Reason contradiction(const EvaluationRow& row, const ParsedRow& parsed, std::int64_t design_id);
  Reason differing_metric(const ParsedRow& parsed, std::int64_t evaluation_id);
  Reason differing_violation(const EvaluationRow& row, std::int64_t evaluation_id);

  Log::Impl& log_;
  AppendStatements& statements_;
  std::int64_t run_id_, space_id_, evaluator_id_;
  std::unordered_map<std::uint64_t, KnownDesign> designs_;
  ParsedRow parsed_;  ///< of the row at hand
  bool described_parameters_ = false;
};

Reason BatchWriter::accept_new_design(const EvaluationRow& row) {
  if (auto reason = bad_design(row)) return reason;
  std::vector<std::string>& names = log_.parameter_names[space_id_];
  if (names.empty()) {
    SQLite::Statement query(log_.database, "SELECT name FROM space_parameters WHERE space_id = ? ORDER BY position");
    query.bind(1, space_id_);
    while (query.executeStep()) names.push_back(query.getColumn(0).getString());
  }
  if (names.empty()) {
    auto parsed = parse_parameter_names(row.design_text_id);
    if (auto* reason = std::get_if<std::string>(&parsed)) return std::move(*reason);
    names = std::get<std::vector<std::string>>(std::move(parsed));
    describe_parameters(log_.database, space_id_, names);
    described_parameters_ = true;
  } else if (!has_parameters(row.design_text_id, names)) {
    return fmt::format("the text id does not name the space's parameters in order ({}): {}",
                       printable(join(names, ", "), 200), printable(row.design_text_id));
  }
  return std::nullopt;
}

Reason BatchWriter::resolve_design(const EvaluationRow& row, std::int64_t& design_id) {
  const auto collision = [](const std::string& other) {
    return fmt::format("its hash is also that of another design in the log ({})", other);
  };
  if (const auto known = designs_.find(row.design_hash); known != designs_.end()) {
    if (*known->second.text_id != row.design_text_id) {
      return collision(*known->second.text_id);
    }
    design_id = known->second.id;
    return std::nullopt;
  }
  if (auto reason = accept_new_design(row)) {
    return reason;
  }
  const auto hash = static_cast<std::int64_t>(row.design_hash);
  {
    SQLite::Statement& insert = statements_.insert_design;
    const ResetAtEnd reset(insert);
    insert.bind(1, space_id_);
    insert.bind(2, hash);
    insert.bindNoCopy(3, row.design_text_id);
    if (insert.exec() == 1) {
      design_id = log_.database.getLastInsertRowid();
      designs_.emplace(row.design_hash, KnownDesign{design_id, &row.design_text_id});
      return std::nullopt;
    }
  }
  SQLite::Statement& find = statements_.find_design;
  const ResetAtEnd reset(find);
  find.bind(1, space_id_);
  find.bind(2, hash);
  HINDSIGHT_ENSURE(find.executeStep());
  if (const std::string stored = find.getColumn(1).getString(); stored != row.design_text_id) {
    return collision(stored);
  }
  design_id = find.getColumn(0).getInt64();
  designs_.emplace(row.design_hash, KnownDesign{design_id, &row.design_text_id});
  return std::nullopt;
}

bool BatchWriter::insert_evaluation(const EvaluationRow& row, const ParsedRow& parsed, std::int64_t design_id) {
  SQLite::Statement& insert = statements_.insert_evaluation;
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

/// How a metric outside the columns differs from the stored ones.
Reason BatchWriter::differing_metric(const ParsedRow& parsed, std::int64_t evaluation_id) {
  constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
  std::map<std::string, std::pair<double, double>> values;  // stored, given
  SQLite::Statement& find = statements_.find_metrics;
  const ResetAtEnd reset(find);
  find.bind(1, evaluation_id);
  while (find.executeStep()) values[text_of(find, 0)] = {find.getColumn(1).getDouble(), kMissing};
  for (const auto& [name, value] : parsed.others) {
    values.try_emplace(std::string(name), kMissing, kMissing).first->second.second = value;
  }
  for (const auto& [name, both] : values) {
    if (both.first != both.second) return difference(printable(name), known_text(both.first), known_text(both.second));
  }
  return std::nullopt;
}

/// How the reasons differ from the stored ones, in whatever order they are given.
Reason BatchWriter::differing_violation(const EvaluationRow& row, std::int64_t evaluation_id) {
  const auto number = [](const SQLite::Column& column) { return column.isNull() ? std::nan("") : column.getDouble(); };
  std::vector<std::string> stored, given;
  SQLite::Statement& find = statements_.find_violations;
  const ResetAtEnd reset(find);
  find.bind(1, evaluation_id);
  while (find.executeStep()) {
    stored.push_back(said_by(text_of(find, 0), text_of(find, 1), number(find.getColumn(2)), number(find.getColumn(3)),
                             text_of(find, 4)));
  }
  for (const ViolationRow& one : row.violations) {
    given.push_back(said_by(one.code, one.quantity, one.value, one.limit, one.layer));
  }
  std::sort(stored.begin(), stored.end());
  std::sort(given.begin(), given.end());
  const auto [there, here] = std::mismatch(stored.begin(), stored.end(), given.begin(), given.end());
  if (there == stored.end() && here == given.end()) return std::nullopt;
  return difference("a reason", there == stored.end() ? "missing" : printable(*there),
                    here == given.end() ? "missing" : printable(*here));
}

/// How the row differs from the evaluation that the log already has, or nothing when they agree.
Reason BatchWriter::contradiction(const EvaluationRow& row, const ParsedRow& parsed, std::int64_t design_id) {
  SQLite::Statement& find = statements_.find_evaluation;
  const ResetAtEnd reset(find);
  find.bind(1, design_id);
  find.bind(2, row.workload_id);
  find.bind(3, evaluator_id_);
  find.bind(4, row.repeat);
  HINDSIGHT_ENSURE(find.executeStep());
  const std::int64_t id = find.getColumn(0).getInt64();
  Reason differs;
  if ((find.getColumn(1).getInt() != 0) != row.feasible) {
    differs = difference("feasible", find.getColumn(1).getString(), row.feasible ? "1" : "0");
  }
  for (std::size_t i = 0; i < parsed.standard.size() && !differs; ++i) {
    const SQLite::Column column = find.getColumn(kFirstMetricColumn + static_cast<int>(i));
    const double stored = column.isNull() ? std::nan("") : column.getDouble();
    const double given = parsed.standard[i];
    const bool same = std::isnan(stored) ? std::isnan(given) : stored == given;
    if (!same) differs = difference(standard_metrics()[i], known_text(stored), known_text(given));
  }
  if (!differs) differs = differing_metric(parsed, id);
  if (!differs) differs = differing_violation(row, id);
  if (!differs) return std::nullopt;
  return fmt::format(
      "contradicts evaluation {} of the same design, workload, evaluator and repeat {}: {} (the first is kept; a "
      "measurement that was repeated has a number of its own)",
      id, row.repeat, *differs);
}

void BatchWriter::insert_details(const EvaluationRow& row, const ParsedRow& parsed, std::int64_t evaluation_id) {
  for (const auto& [name, value] : parsed.others) {
    SQLite::Statement& insert = statements_.insert_metric;
    const ResetAtEnd reset(insert);
    insert.bind(1, evaluation_id);
    insert.bind(2, std::string(name));
    insert.bind(3, value);
    insert.exec();
    log_.block_keeper.add_metric(name);
  }
  std::int64_t position = 0;
  for (const ViolationRow& violation : row.violations) {
    SQLite::Statement& insert = statements_.insert_violation;
    const ResetAtEnd reset(insert);
    insert.bind(1, evaluation_id);
    insert.bind(2, position++);
    insert.bindNoCopy(3, violation.code);
    insert.bindNoCopy(4, violation.quantity);
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
Reason BatchWriter::append(const EvaluationRow& row, AppendResult& result) {
  if (!log_.has_row("workloads", "workload_id", row.workload_id, log_.known_workloads)) {
    return fmt::format("workload id {} is not in the log", row.workload_id);
  }
  if (auto reason = parse(row, parsed_)) return reason;
  std::int64_t design_id = 0;
  if (auto reason = resolve_design(row, design_id)) return reason;
  if (insert_evaluation(row, parsed_, design_id)) {
    const std::int64_t id = log_.database.getLastInsertRowid();
    log_.block_keeper.add({.evaluation_id = id,
                           .workload_id = row.workload_id,
                           .evaluator_id = evaluator_id_,
                           .run_id = run_id_,
                           .repeat = row.repeat,
                           .feasible = row.feasible,
                           .standard = &parsed_.standard,
                           .text_id = row.design_text_id});
    insert_details(row, parsed_, id);
    ++result.inserted;
    return std::nullopt;
  }
  if (auto reason = contradiction(row, parsed_, design_id)) return reason;
  ++result.already_present;
  return std::nullopt;
}

void BatchWriter::add(std::size_t index, const EvaluationRow& row, AppendResult& result) {
  if (auto reason = append(row, result)) result.rejected.push_back({.index = index, .reason = std::move(*reason)});
}

void put_checkpoint(SQLite::Statement& put, const Checkpoint& checkpoint) {
  const ResetAtEnd reset(put);
  const std::string now = utc_now();
  put.bindNoCopy(1, checkpoint.key);
  put.bindNoCopy(2, checkpoint.value_json);
  put.bindNoCopy(3, now);
  put.exec();
}

void count_run(SQLite::Statement& count, std::int64_t run_id, const AppendResult& result) {
  const ResetAtEnd reset(count);
  count.bind(1, static_cast<std::int64_t>(result.inserted));
  count.bind(2, static_cast<std::int64_t>(result.already_present));
  count.bind(3, static_cast<std::int64_t>(result.rejected.size()));
  count.bind(4, run_id);
  count.exec();
}

}  // namespace

const std::vector<std::string>& standard_metrics() {
  static const std::vector<std::string> names = {"latency_s",       "latency_cycles",   "energy_j",
                                                 "average_power_w", "area_mm2",         "utilisation_frac",
                                                 "dram_read_bytes", "dram_write_bytes", "weights_cached_frac",
                                                 "instructions",    "peak_power_w"};
  return names;
}

AppendStatements::AppendStatements(SQLite::Database& database)
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

AppendResult Log::append(std::int64_t run_id, std::int64_t space_id, std::int64_t evaluator_id,
                         const std::vector<EvaluationRow>& rows, const std::optional<Checkpoint>& checkpoint) {
  impl_->require_writable();
  HINDSIGHT_EXPECT(!checkpoint || nlohmann::json::accept(checkpoint->value_json));
  return impl_->guarded("appending a batch", [&] {
    Impl& log = *impl_;
    if (!log.append_statements) {
      log.append_statements = std::make_unique<AppendStatements>(log.database);
    }
    HINDSIGHT_EXPECT(log.has_row("runs", "run_id", run_id, log.known_runs));
    HINDSIGHT_EXPECT(log.has_row("spaces", "space_id", space_id, log.known_spaces));
    HINDSIGHT_EXPECT(log.has_row("evaluators", "evaluator_id", evaluator_id, log.known_evaluators));
    AppendResult result;
    BatchWriter writer(log, run_id, space_id, evaluator_id);
    try {
      WriteTransaction transaction(log);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        writer.add(i, rows[i], result);
      }
      if (checkpoint) {
        put_checkpoint(log.append_statements->put_checkpoint, *checkpoint);
      }
      count_run(log.append_statements->count_run, run_id, result);
      log.block_keeper.store(log.database, kBlocksPerAppend);
      transaction.commit();
    } catch (...) {
      log.block_keeper.forget();
      if (writer.described_parameters()) {
        log.parameter_names.erase(space_id);
      }
      throw;
    }
    return result;
  });
}

void Log::set_checkpoint(const Checkpoint& checkpoint) {
  impl_->require_writable();
  HINDSIGHT_EXPECT(nlohmann::json::accept(checkpoint.value_json));
  impl_->guarded("storing a checkpoint", [&] {
    Impl& log = *impl_;
    if (!log.append_statements) log.append_statements = std::make_unique<AppendStatements>(log.database);
    WriteTransaction transaction(log);
    put_checkpoint(log.append_statements->put_checkpoint, checkpoint);
    transaction.commit();
  });
}

}  // namespace hindsight::log
