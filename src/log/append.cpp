/// Appending evaluations: one transaction per batch, bad rows refused one by one.
#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/text.h"
#include "log/impl.h"

namespace hindsight::log {
namespace {

/// [chosen] far above anything a person or a simulator writes, far below SQLite's limit of 10^9 bytes.
constexpr std::size_t kMaxTextBytes = 65536;
/// Position of the first standard metric among the parameters of the INSERT.
constexpr int kFirstMetricParameter = 6;

using Reason = std::optional<std::string>;

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

/// Why `text` cannot be a name in the log, or nothing.
Reason bad_name(std::string_view what, std::string_view text) {
  if (text.empty()) {
    return fmt::format("{} is empty", what);
  }
  if (text.size() > kMaxTextBytes) {
    return fmt::format("{} is longer than {} bytes", what, kMaxTextBytes);
  }
  if (has_control_character(text)) {
    return fmt::format("{} contains a control character", what);
  }
  return std::nullopt;
}

/// Names of 'a=1,b=2', or the reason why the text is not of that form.
Reason parse_parameter_names(std::string_view text_id, std::vector<std::string>& names) {
  names.clear();
  while (true) {
    const std::size_t comma = text_id.find(',');
    const std::string_view piece = text_id.substr(0, comma);
    const std::size_t equals = piece.find('=');
    if (equals == std::string_view::npos || equals == 0 || piece.find('=', equals + 1) != std::string_view::npos) {
      return fmt::format("text id: '{}' is not of the form name=value", piece);
    }
    names.emplace_back(piece.substr(0, equals));
    if (comma == std::string_view::npos) {
      break;
    }
    text_id.remove_prefix(comma + 1);
  }
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
    return fmt::format("text id: parameter '{}' is named twice", *twice);
  }
  return std::nullopt;
}

/// True when the text id assigns exactly these parameters in this order.
bool has_parameters(std::string_view text_id, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    if (text_id.size() <= name.size() || !text_id.starts_with(name) || text_id[name.size()] != '=') {
      return false;
    }
    const std::size_t comma = text_id.find(',', name.size());
    if (text_id.substr(0, comma).find('=', name.size() + 1) != std::string_view::npos) {
      return false;
    }
    const bool last = i + 1 == names.size();
    if (last != (comma == std::string_view::npos)) {
      return false;
    }
    text_id.remove_prefix(last ? text_id.size() : comma + 1);
  }
  return true;
}

/// Index into standard_metrics(), or -1.
int standard_index(std::string_view name) {
  const std::vector<std::string>& names = standard_metrics();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

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
  for (std::size_t i = 0; i < standard_metrics().size(); ++i) {
    places += ", ?";
  }
  return fmt::format(
      "INSERT INTO evaluations (design_id, workload_id, evaluator_id, run_id, feasible, {}) VALUES (?, ?, ?, ?, ?{}) "
      "ON CONFLICT (design_id, workload_id, evaluator_id) DO NOTHING",
      join(standard_metrics(), ", "), places);
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

  Reason bad_row(const EvaluationRow& row);
  Reason bad_metrics(const EvaluationRow& row);
  static Reason bad_violations(const EvaluationRow& row);
  Reason resolve_design(const EvaluationRow& row, std::int64_t& design_id);
  Reason accept_new_design(const EvaluationRow& row);
  bool insert_evaluation(const EvaluationRow& row, std::int64_t design_id);
  Reason contradiction(const EvaluationRow& row, std::int64_t design_id);
  void insert_details(const EvaluationRow& row, std::int64_t evaluation_id);

  Log::Impl& log_;
  AppendStatements& statements_;
  std::int64_t run_id_, space_id_, evaluator_id_;
  std::unordered_map<std::uint64_t, KnownDesign> designs_;
  bool described_parameters_ = false;
  /// Index into standard_metrics() of each metric of the row at hand, or -1; set by bad_metrics().
  std::vector<int> metric_index_;
  std::vector<std::string> other_names_;
};

Reason BatchWriter::bad_metrics(const EvaluationRow& row) {
  metric_index_.clear();
  other_names_.clear();
  unsigned seen = 0;
  for (const auto& [name, value] : row.metrics) {
    if (!std::isfinite(value)) {
      return fmt::format("metric {} is {}", name, value);
    }
    const int index = standard_index(name);
    metric_index_.push_back(index);
    if (index >= 0) {
      const unsigned bit = 1U << static_cast<unsigned>(index);
      if ((seen & bit) != 0) {
        return fmt::format("metric {} is given twice", name);
      }
      seen |= bit;
    } else {
      if (auto reason = bad_name("the name of a metric", name)) {
        return reason;
      }
      other_names_.push_back(name);
    }
    if (!row.feasible && (name == "latency_s" || name == "energy_j")) {
      return fmt::format("an infeasible row has {} (an infeasible design has no cost)", name);
    }
  }
  std::sort(other_names_.begin(), other_names_.end());
  if (const auto twice = std::adjacent_find(other_names_.begin(), other_names_.end()); twice != other_names_.end()) {
    return fmt::format("metric {} is given twice", *twice);
  }
  return std::nullopt;
}

Reason BatchWriter::bad_violations(const EvaluationRow& row) {
  for (const ViolationRow& violation : row.violations) {
    if (auto reason = bad_name("the code of a violation", violation.code)) {
      return reason;
    }
    if (std::isinf(violation.value) || std::isinf(violation.limit) ||
        (violation.nearest_passing && !std::isfinite(*violation.nearest_passing))) {
      return fmt::format("violation {}: value, limit or nearest_passing is not finite", violation.code);
    }
    if (violation.quantity.size() > kMaxTextBytes || violation.layer.size() > kMaxTextBytes ||
        violation.message.size() > kMaxTextBytes) {
      return fmt::format("violation {}: a text is longer than {} bytes", violation.code, kMaxTextBytes);
    }
  }
  return std::nullopt;
}

Reason BatchWriter::bad_row(const EvaluationRow& row) {
  if (!log_.has_row("workloads", "workload_id", row.workload_id, log_.known_workloads)) {
    return fmt::format("workload id {} is not in the log", row.workload_id);
  }
  if (auto reason = bad_metrics(row)) {
    return reason;
  }
  if (row.feasible && row.metrics.empty()) {
    return "a feasible row has no metric";
  }
  if (row.feasible && !row.violations.empty()) {
    return fmt::format("a feasible row has a violation ({})", row.violations.front().code);
  }
  if (!row.feasible && row.violations.empty()) {
    return "an infeasible row has no violation (the reason is missing)";
  }
  return bad_violations(row);
}

Reason BatchWriter::accept_new_design(const EvaluationRow& row) {
  if (auto reason = bad_name("the text id", row.design_text_id)) {
    return reason;
  }
  if (row.design_text_id.find_first_of("\"\\") != std::string::npos) {
    return "the text id contains a quote or a backslash";
  }
  if (const std::uint64_t hash = hindsight::content_hash(row.design_text_id); hash != row.design_hash) {
    return fmt::format("the design hash {} is not that of the text id ({})", hex64(row.design_hash), hex64(hash));
  }
  std::vector<std::string>& names = log_.parameter_names[space_id_];
  if (names.empty()) {
    SQLite::Statement query(log_.database, "SELECT name FROM space_parameters WHERE space_id = ? ORDER BY position");
    query.bind(1, space_id_);
    while (query.executeStep()) {
      names.push_back(query.getColumn(0).getString());
    }
  }
  if (names.empty()) {
    std::vector<std::string> parsed;
    if (auto reason = parse_parameter_names(row.design_text_id, parsed)) {
      return reason;
    }
    describe_parameters(log_.database, space_id_, parsed);
    names = std::move(parsed);
    described_parameters_ = true;
  } else if (!has_parameters(row.design_text_id, names)) {
    return fmt::format("the text id does not name the space's parameters in order ({}): {}", join(names, ", "),
                       row.design_text_id);
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

bool BatchWriter::insert_evaluation(const EvaluationRow& row, std::int64_t design_id) {
  SQLite::Statement& insert = statements_.insert_evaluation;
  const ResetAtEnd reset(insert);
  insert.clearBindings();
  insert.bind(1, design_id);
  insert.bind(2, row.workload_id);
  insert.bind(3, evaluator_id_);
  insert.bind(4, run_id_);
  insert.bind(5, row.feasible ? 1 : 0);
  for (std::size_t i = 0; i < row.metrics.size(); ++i) {
    if (metric_index_[i] >= 0) {
      insert.bind(kFirstMetricParameter + metric_index_[i], row.metrics[i].second);
    }
  }
  return insert.exec() == 1;
}

/// How the row differs from the evaluation that the log already has, or nothing when they agree.
Reason BatchWriter::contradiction(const EvaluationRow& row, std::int64_t design_id) {
  SQLite::Statement& find = statements_.find_evaluation;
  const ResetAtEnd reset(find);
  find.bind(1, design_id);
  find.bind(2, row.workload_id);
  find.bind(3, evaluator_id_);
  HINDSIGHT_ENSURE(find.executeStep());
  const std::int64_t id = find.getColumn(0).getInt64();
  const auto differs = [id](std::string_view what, const std::string& stored, const std::string& given) {
    return fmt::format(
        "contradicts evaluation {} of the same design, workload and evaluator: {} is {} there, {} here "
        "(the first is kept)",
        id, what, stored, given);
  };
  if ((find.getColumn(1).getInt() != 0) != row.feasible) {
    return differs("feasible", find.getColumn(1).getString(), row.feasible ? "1" : "0");
  }
  std::vector<std::optional<double>> given(standard_metrics().size());
  for (std::size_t i = 0; i < row.metrics.size(); ++i) {
    if (metric_index_[i] >= 0) {
      given[static_cast<std::size_t>(metric_index_[i])] = row.metrics[i].second;
    }
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    const SQLite::Column column = find.getColumn(2 + static_cast<int>(i));
    const std::optional<double> stored = column.isNull() ? std::nullopt : std::optional(column.getDouble());
    if (stored != given[i]) {
      return differs(standard_metrics()[i], stored ? shortest(*stored) : "missing",
                     given[i] ? shortest(*given[i]) : "missing");
    }
  }
  return std::nullopt;
}

void BatchWriter::insert_details(const EvaluationRow& row, std::int64_t evaluation_id) {
  for (std::size_t i = 0; i < row.metrics.size(); ++i) {
    if (metric_index_[i] < 0) {
      SQLite::Statement& insert = statements_.insert_metric;
      const ResetAtEnd reset(insert);
      insert.bind(1, evaluation_id);
      insert.bindNoCopy(2, row.metrics[i].first);
      insert.bind(3, row.metrics[i].second);
      insert.exec();
    }
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
  }
}

void BatchWriter::add(std::size_t index, const EvaluationRow& row, AppendResult& result) {
  std::int64_t design_id = 0;
  Reason reason = bad_row(row);
  if (!reason) {
    reason = resolve_design(row, design_id);
  }
  if (reason) {
    result.rejected.push_back({.index = index, .reason = std::move(*reason)});
    return;
  }
  if (insert_evaluation(row, design_id)) {
    insert_details(row, log_.database.getLastInsertRowid());
    ++result.inserted;
    return;
  }
  if ((reason = contradiction(row, design_id))) {
    result.rejected.push_back({.index = index, .reason = std::move(*reason)});
  } else {
    ++result.already_present;
  }
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
      find_evaluation(database, fmt::format("SELECT evaluation_id, feasible, {} FROM evaluations "
                                            "WHERE design_id = ? AND workload_id = ? AND evaluator_id = ?",
                                            join(standard_metrics(), ", "))),
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
      SQLite::Transaction transaction(log.database, SQLite::TransactionBehavior::IMMEDIATE);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        writer.add(i, rows[i], result);
      }
      if (checkpoint) {
        put_checkpoint(log.append_statements->put_checkpoint, *checkpoint);
      }
      count_run(log.append_statements->count_run, run_id, result);
      transaction.commit();
    } catch (...) {
      if (writer.described_parameters()) {
        log.parameter_names.erase(space_id);
      }
      throw;
    }
    return result;
  });
}

}  // namespace hindsight::log
