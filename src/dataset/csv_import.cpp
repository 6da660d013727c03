/// Imports a table into a log: one workload per context, one transaction per batch.
#include "hindsight/dataset/csv_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "dataset/csv_duplicates.h"
#include "dataset/csv_rows.h"
#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/stored_space.h"
#include "hindsight/log/query.h"

namespace hindsight::dataset {
namespace {

const std::string kEvaluatorName = "csv import";
constexpr int kContextVersion = 1;
constexpr std::size_t kBatchRows = 10'000;  // [chosen] a transaction of about a tenth of a second

/// What the columns mean: rows of tables that were read in another way never mix.
std::string evaluator_definition(const CsvTable& table, const ColumnRoles& roles) {
  const auto header = [&](std::size_t column) { return printable(table.header[column], 1000); };
  const auto headers = [&](const std::vector<NamedColumn>& columns) {
    std::vector<std::string> names;
    for (const NamedColumn& column : columns) names.push_back(header(column.column));
    return join(names, "|");
  };
  std::string text = fmt::format("{}, format 1\nobjective|{}\n", kEvaluatorName, header(roles.objective.column));
  if (roles.infeasible) {
    text += fmt::format("infeasible|{}", header(*roles.infeasible));
    text += roles.infeasible_value ? fmt::format("|{}\n", printable(*roles.infeasible_value)) : "\n";
  }
  if (roles.reason) {
    text += fmt::format("reason|{}\n", header(*roles.reason));
  }
  return text + fmt::format("context|{}\nconstraints|{}\n", headers(roles.context), headers(roles.constraints));
}

/// The evaluations that the log has already, by workload and design.
using LoggedRows = std::unordered_map<std::string, LoggedRepeats>;

std::string key_of(std::int64_t workload_id, const std::string& text_id) {
  return fmt::format("{}|{}", workload_id, text_id);
}

LoggedRows logged_rows(const log::Log& log, std::int64_t space_id, std::int64_t evaluator_id) {
  LoggedRows known;
  log::for_each_evaluation(
      log, {.evaluator = kEvaluatorName}, log::Detail::all, [&](const log::EvaluationRecord& record) {
        if (record.space_id == space_id && record.evaluator_id == evaluator_id) {
          known[key_of(record.workload_id, record.design_text_id)].add(record.repeat, outcome_of(record));
        }
        return true;
      });
  return known;
}

/// Ids of what an import registers.
struct Registered {
  std::int64_t space = 0, evaluator = 0;
  std::vector<std::int64_t> workloads;  ///< per context
};

Registered register_all(log::Log& log, const CsvTable& table, const ColumnRoles& roles, const space::DesignSpace& space,
                        const std::vector<TableContext>& contexts) {
  Registered ids;
  std::vector<std::string> names;
  for (const space::Parameter& parameter : space.parameters()) names.push_back(parameter.name);
  ids.space = log.add_space(space.name(), space.canonical_definition(), space.definition_hash(), names);
  for (const TableContext& context : contexts) {
    ids.workloads.push_back(log.add_workload(context.name, context.definition, sha256_hex(context.definition), 1, "[]",
                                             kContextVersion, context.features));
  }
  const std::string definition = evaluator_definition(table, roles);
  ids.evaluator = log.add_evaluator(kEvaluatorName, sha256_hex(definition), definition);
  return ids;
}

/// Rows with the ids of their workloads and the numbers of their measurements. A row that says what the log says is
/// that measurement; another is the next one, or contradicts the log when only one is kept.
std::vector<TableRow> numbered_rows(std::vector<TableRow> rows, const Registered& ids, LoggedRows logged,
                                    Duplicates duplicates, Refusals& refusals) {
  std::vector<TableRow> kept;
  for (TableRow& row : rows) {
    row.evaluation.workload_id = ids.workloads[row.context];
    LoggedRepeats& known = logged[key_of(row.evaluation.workload_id, row.evaluation.design_text_id)];
    const Outcome outcome = outcome_of(row);
    if (const auto repeat = known.take(outcome)) {
      row.evaluation.repeat = *repeat;
    } else if (duplicates == Duplicates::keep) {
      row.evaluation.repeat = known.next();
    } else if (const std::string problem = known.contradiction_of(outcome); !problem.empty()) {
      refusals.add_contradiction(row.line, problem + " (the log's is kept)");
      continue;
    }
    kept.push_back(std::move(row));
  }
  return kept;
}

/// Columns whose names in the log are others.
std::vector<std::pair<std::string, std::string>> renamed_columns(const CsvTable& table, const ColumnRoles& roles,
                                                                 const space::DesignSpace& space) {
  std::vector<std::pair<std::string, std::string>> renamed;
  const auto add = [&](const NamedColumn& column, const std::string& name) {
    const std::string& header = table.header[column.column];
    if (header != name) renamed.emplace_back(printable(header), name);
  };
  add(roles.objective, roles.objective.name);
  for (const NamedColumn& column : roles.constraints) add(column, column.name);
  for (const NamedColumn& column : roles.context) add(column, column.name);
  for (const NamedColumn& column : roles.design) {
    for (const space::Parameter& parameter : space.parameters()) {
      if (names_column(parameter.name, column)) add(column, parameter.name);
    }
  }
  return renamed;
}

void append_rows(log::Log& log, log::Run& run, const Registered& ids, const std::vector<TableRow>& rows,
                 ImportResult& result, Refusals& refusals) {
  for (std::size_t begin = 0; begin < rows.size(); begin += kBatchRows) {
    if (interrupt_requested()) {
      run.finish(log::RunStatus::interrupted);
      throw Error(ErrorKind::interrupted,
                  fmt::format("{}: interrupted after {} of {} rows. Run the import again to add the rest",
                              printable(log.path().string(), 200), with_commas(begin), with_commas(rows.size())));
    }
    const std::size_t end = std::min(rows.size(), begin + kBatchRows);
    std::vector<log::EvaluationRow> batch;
    for (std::size_t i = begin; i < end; ++i) batch.push_back(rows[i].evaluation);
    const log::AppendResult appended = log.append(run.id(), ids.space, ids.evaluator, batch);
    result.inserted += appended.inserted;
    result.already_present += appended.already_present;
    std::vector<bool> accepted(batch.size(), true);
    for (const log::RejectedRow& rejected : appended.rejected) {
      accepted[rejected.index] = false;
      refusals.add(rows[begin + rejected.index].line, rejected.reason);
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
      result.feasible += accepted[i] && batch[i].feasible ? 1 : 0;
    }
  }
}

/// The run's options in the log; "metric" is what the objective is called there.
std::string run_options(const CsvTable& table, const CsvRoles& roles, const ColumnRoles& resolved,
                        Duplicates duplicates) {
  return nlohmann::ordered_json{{"table", table_name(table)},
                                {"objective", printable(roles.objective)},
                                {"metric", resolved.objective.name},
                                {"duplicates", to_string(duplicates)},
                                {"rows", table.rows.size()}}
      .dump();
}

/// COLUMN=VALUE for a value that all of these rows and no other row have; nothing when no column but `without` has one,
/// or all rows are marked.
std::optional<std::string> telling_value(const CsvTable& table, const std::vector<bool>& marked, std::size_t without) {
  if (std::find(marked.begin(), marked.end(), false) == marked.end()) return std::nullopt;
  const auto first = static_cast<std::size_t>(std::find(marked.begin(), marked.end(), true) - marked.begin());
  for (std::size_t column = 0; column < table.header.size(); ++column) {
    const std::string& value = table.rows[first][column];
    bool tells = column != without;
    for (std::size_t i = 0; i < table.rows.size() && tells; ++i) tells = (table.rows[i][column] == value) == marked[i];
    if (tells) return fmt::format("{}={}", printable(table.header[column]), printable(value));
  }
  return std::nullopt;
}

/// Asks about rows that count as feasible although their objective is exactly 0: what many tools write for a failed
/// run.
std::optional<std::string> remark_on_zeros(const CsvTable& table, const ColumnRoles& roles) {
  constexpr std::ptrdiff_t kFillers = 2;  // [chosen] a single 0 may be the best there is, a filler repeats
  if (roles.infeasible) return std::nullopt;
  std::vector<bool> zero;
  for (const auto& row : table.rows) zero.push_back(parse_double(row[roles.objective.column]) == 0.0);
  const std::ptrdiff_t count = std::count(zero.begin(), zero.end(), true);
  if (count < kFillers) return std::nullopt;
  const std::optional<std::string> flag = telling_value(table, zero, roles.objective.column);
  return fmt::format("{} of {} rows have a {} of exactly 0 and count as feasible. If they are failed runs, {}",
                     with_commas(static_cast<std::uint64_t>(count)), with_commas(table.rows.size()),
                     roles.objective.name,
                     flag ? "mark them: --infeasible " + *flag
                          : "mark them by a column that tells (--infeasible COLUMN=VALUE), or empty these cells");
}

}  // namespace

ImportResult import_csv(const CsvTable& table, const CsvRoles& roles, const space::DesignSpace& space,
                        const std::filesystem::path& log, Duplicates duplicates, const Provenance& provenance) {
  if (roles.objective.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: no column is named as the objective. Name one", printable(table.file.string(), 400)));
  }
  const ColumnRoles resolved = resolve_roles(table, roles);
  ImportResult result;
  result.rows = table.rows.size();
  if (auto remark = remark_on_zeros(table, resolved)) result.remarks.push_back(std::move(*remark));
  Refusals refusals(table, result);
  TableRows read = read_rows(table, resolved, space);
  for (const RefusedRow& refused : read.refused) refusals.add(refused);
  if (read.rows.empty()) {
    throw Error(ErrorKind::usage, fmt::format("{}: no row of {} can be imported{}{}. Check the roles of the columns",
                                              printable(table.file.string(), 400), with_commas(result.rows),
                                              result.rejected.empty() ? "" : "; first: ",
                                              result.rejected.empty() ? "" : result.rejected.front()));
  }
  std::vector<TableRow> rows =
      distinct_rows(std::move(read.rows), resolved.objective.name, duplicates, result, refusals);
  if (duplicates == Duplicates::error) refusals.require_no_contradiction();
  log::Log opened = log::Log::open(log, log::OpenMode::read_write_create);
  const Registered ids = register_all(opened, table, resolved, space, read.contexts);
  rows = numbered_rows(std::move(rows), ids, logged_rows(opened, ids.space, ids.evaluator), duplicates, refusals);
  if (duplicates == Duplicates::error) refusals.require_no_contradiction();
  result.renamed = renamed_columns(table, resolved, space);
  log::Run run(opened, log::RunKind::import, provenance, run_options(table, roles, resolved, duplicates));
  append_rows(opened, run, ids, rows, result, refusals);
  run.finish();
  return result;
}

}  // namespace hindsight::dataset
