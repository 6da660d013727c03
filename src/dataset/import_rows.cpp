/// Imports rows into a log: one workload per context, all in one transaction.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "dataset/csv_duplicates.h"
#include "dataset/csv_levels.h"
#include "dataset/csv_rows.h"
#include "dataset/import_place.h"
#include "dataset/telling_columns.h"
#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/json_line.h"
#include "hindsight/core/patience.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/import_source.h"
#include "hindsight/dataset/stored_space.h"
#include "hindsight/log/metric_direction.h"
#include "hindsight/log/metric_values.h"
#include "hindsight/log/new_log.h"
#include "hindsight/log/query.h"

namespace hindsight::dataset {
namespace {

constexpr std::size_t kBatchRows = 10'000;  // [chosen] Ctrl-C is looked at every tenth of a second

/// The evaluations that the log has already, by workload and design.
using LoggedRows = std::unordered_map<std::string, LoggedRepeats>;

std::string key_of(std::int64_t workload_id, const std::string& text_id) {
  return fmt::format("{}|{}", workload_id, text_id);
}

LoggedRows logged_rows(const log::Log& log, const ImportPlace& place) {
  LoggedRows known;
  const Steps steps("reading rows of the log");
  std::uint64_t done = 0;
  log::for_each_evaluation(
      log, {.evaluator = place.evaluator_name}, log::Detail::all, [&](const log::EvaluationRecord& record) {
        steps.at(done++);
        if (record.space_id == place.space && record.evaluator_id == place.evaluator) {
          known[key_of(record.workload_id, record.design_text_id)].add(record.repeat, outcome_of(record));
        }
        return true;
      });
  return known;
}

/// Counts what the log has of the table's rows.
class OutcomeCounter {
 public:
  explicit OutcomeCounter(ImportResult& result) : result_(result) {}
  void add(const log::EvaluationRow& row) {
    if (!row.feasible) {
      ++result_.infeasible[row.violations.front().code];
      return;
    }
    ++result_.feasible;
    if (designs_.emplace(row.workload_id, row.design_hash).second) ++result_.feasible_designs;
  }

 private:
  ImportResult& result_;
  std::set<std::pair<std::int64_t, std::uint64_t>> designs_;  ///< feasible ones, by workload and content hash
};

/// Gives rows the ids of their workloads and the numbers of their measurements. A row that says what the log says is
/// that measurement; another is the next one, or contradicts the log when only one is kept. One that agrees as far as
/// it goes is there before: the log knows more of it.
void number_rows(std::vector<TableRow>& rows, const ImportPlace& ids, LoggedRows logged, Duplicates duplicates,
                 Agreement agreement, ImportResult& result, OutcomeCounter& counter, Refusals& refusals) {
  std::size_t kept = 0;
  const Steps steps("comparing rows with the log's", rows.size());
  std::uint64_t done = 0;
  for (TableRow& row : rows) {
    steps.at(done++);
    row.evaluation.workload_id = ids.workloads[row.context];
    const std::string key = key_of(row.evaluation.workload_id, row.evaluation.design_text_id);
    const bool is_new = duplicates != Duplicates::keep && !logged.contains(key);
    if (!is_new) {
      LoggedRepeats& known = logged[key];
      const Outcome outcome = outcome_of(row);
      if (const auto repeat = known.take(outcome, agreement)) {
        row.evaluation.repeat = *repeat;
        if (agreement == Agreement::as_far_as_said) {
          ++result.already_present;
          counter.add(row.evaluation);
          continue;
        }
      } else if (duplicates == Duplicates::keep) {
        row.evaluation.repeat = known.next();
      } else if (const std::string problem = known.contradiction_of(outcome, agreement); !problem.empty()) {
        refusals.add_contradiction(row.line, problem + " (the log's is kept)");
        continue;
      }
    }
    if (&rows[kept] != &row) rows[kept] = std::move(row);
    ++kept;
  }
  rows.resize(kept);
}

/// Columns whose names in the log are others.
std::vector<std::pair<std::string, std::string>> renamed_columns(const CsvTable& table, const ColumnRoles& roles,
                                                                 const space::DesignSpace& space) {
  std::vector<std::pair<std::string, std::string>> renamed;
  const auto add = [&](const NamedColumn& column, const std::string& name) {
    const std::string& header = table.header[column.column];
    if (header != name) renamed.emplace_back(printable(header), name);
  };
  if (!roles.objective.name.empty()) add(roles.objective, roles.objective.name);
  for (const NamedColumn& column : roles.constraints) add(column, column.name);
  for (const NamedColumn& column : roles.context) add(column, column.name);
  for (const NamedColumn& column : roles.design) {
    for (const space::Parameter& parameter : space.parameters()) {
      if (names_column(parameter.name, column)) add(column, parameter.name);
    }
  }
  return renamed;
}

void append_rows(log::Log& log, log::Run& run, const ImportPlace& ids, const std::vector<TableRow>& rows,
                 ImportResult& result, OutcomeCounter& counter, Refusals& refusals) {
  const Steps steps("storing rows", rows.size());
  for (std::size_t begin = 0; begin < rows.size(); begin += kBatchRows) {
    if (interrupt_requested()) {
      throw Error(ErrorKind::interrupted,
                  fmt::format("{}: interrupted after {} of {} rows; nothing was imported",
                              printable(log.path().string(), 200), with_commas(begin), with_commas(rows.size())));
    }
    steps.at(begin);
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
      if (accepted[i]) counter.add(batch[i]);
    }
  }
}

/// Hash of the definition of an evaluator of the log.
std::string definition_hash(const log::Log& log, std::int64_t evaluator) {
  for (const log::EvaluatorSummary& one : log::evaluators(log)) {
    if (one.evaluator_id == evaluator) return one.definition_hash;
  }
  return "";
}

/// The run's options in the log; "metric" is what the objective is called there, `evaluator` the hash of the definition
/// of the evaluator that the rows are of.
std::string run_options(const ImportSource& source, const CsvRoles& roles, const std::string& metric,
                        const std::set<std::string>& maximised, Duplicates duplicates, const std::string& evaluator) {
  nlohmann::ordered_json options{{"table", table_name(source.table)},
                                 {"file", printable(source.table.file.filename().string())},
                                 {"evaluator_definition", evaluator},
                                 {"format", source.format},
                                 {"objective", printable(source.outcomes.empty() ? roles.objective : source.objective)},
                                 {"metric", metric},
                                 {"duplicates", to_string(duplicates)},
                                 {"rows", source.table.rows.size()}};
  if (!maximised.empty()) options["maximised"] = maximised;
  return json_line(options);
}

/// COLUMN=VALUE for a value that all of these rows and no other row have; nothing where no column without a role has
/// one, or all rows are marked.
std::optional<std::string> telling_flag(const CsvTable& table, const ColumnRoles& roles,
                                        const std::vector<bool>& marked) {
  for (const NamedColumn& column : roles.design) {
    if (const auto value = telling_value(table, column.column, marked)) {
      return fmt::format("{}={}", printable(table.header[column.column]), printable(*value));
    }
  }
  return std::nullopt;
}

/// The value that many tools write for a failed run, where several of these have it: 0, -1 below values that are all
/// above 0, or a largest value far above all others.
std::optional<double> filler_of(std::vector<double> values) {
  constexpr std::ptrdiff_t kFillers = 2;  // [chosen] a single 0 may be the best there is, a filler repeats
  constexpr double kFarAbove = 1000;      // [chosen] times the next value: 1e9 and 99999999 are no measurements
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const auto repeats = [&](double value) {
    const auto [begin, end] = std::equal_range(values.begin(), values.end(), value);
    return end - begin >= kFillers;
  };
  if (repeats(0)) return 0.0;
  const auto above = std::upper_bound(values.begin(), values.end(), values.front());
  if (values.front() == -1 && repeats(-1) && above != values.end() && *above > 0) return -1.0;
  const auto largest = std::lower_bound(values.begin(), values.end(), values.back());
  if (largest == values.begin()) return std::nullopt;
  const double next = *std::prev(largest);
  return next > 0 && *largest >= kFarAbove * next && repeats(*largest) ? std::optional(*largest) : std::nullopt;
}

/// Asks about rows that nothing marks as failed although their objective is what many tools write for a failed run.
std::optional<std::string> remark_on_fillers(const CsvTable& table, const ColumnRoles& roles) {
  if (roles.infeasible) return std::nullopt;
  const bool reason_marks = reason_marks_failures(table, roles);
  const auto value_of = [&](const TableCells::Row& row) -> std::optional<double> {
    if (reason_marks && !row[*roles.reason].empty()) return std::nullopt;
    return parse_double(row[roles.objective.column]);
  };
  std::vector<double> values;
  for (const TableCells::Row& row : table.rows) {
    if (const auto value = value_of(row)) values.push_back(*value);
  }
  const std::optional<double> filler = filler_of(std::move(values));
  if (!filler) return std::nullopt;
  std::vector<bool> filled;
  for (const TableCells::Row& row : table.rows) filled.push_back(value_of(row) == *filler);
  const std::optional<std::string> flag = telling_flag(table, roles, filled);
  const std::string own = fmt::format("{}={}", printable(table.header[roles.objective.column]), shortest(*filler));
  const bool counts = log::impossible_cell(roles.objective.name, *filler).empty();
  return fmt::format(
      "{} of {} rows have a {} of exactly {} and {}. If they are failed runs, mark them in a new log: --infeasible {}",
      with_commas(static_cast<std::uint64_t>(std::count(filled.begin(), filled.end(), true))),
      with_commas(table.rows.size()), roles.objective.name, shortest(*filler),
      counts ? "count as feasible" : "are refused", shell_quoted(flag.value_or(own)));
}

/// Says of rows with an objective that a reason makes them failures: in `named`, or in the column of that name, a note
/// may stand.
std::optional<std::string> remark_on_reasons(const CsvTable& table, const ColumnRoles& roles,
                                             const std::optional<std::string>& named) {
  if (!reason_marks_failures(table, roles)) return std::nullopt;
  std::vector<double> values;
  for (const TableCells::Row& row : table.rows) {
    if (const auto value = parse_double(row[roles.objective.column])) values.push_back(*value);
  }
  const std::optional<double> filler = filler_of(std::move(values));
  const auto is_measured = [&](const TableCells::Row& row) {
    const auto value = parse_double(row[roles.objective.column]);
    return value && value != filler && log::impossible_cell(roles.objective.name, *value).empty();
  };
  const auto rows = std::count_if(table.rows.begin(), table.rows.end(), [&](const TableCells::Row& row) {
    return !row[*roles.reason].empty() && is_measured(row);
  });
  if (rows == 0) return std::nullopt;
  const std::string column = printable(table.header[*roles.reason], 40);
  return fmt::format(
      "{} of {} rows have a {} and a text in {}, and count as failed. If these were measured, import into a new log "
      "with --ignore {}{}",
      with_commas(static_cast<std::uint64_t>(rows)), with_commas(table.rows.size()), roles.objective.name, column,
      shell_quoted(column), named ? " instead of --reason" : "");
}

/// What is odd about the columns that say how rows came out.
std::vector<std::string> outcome_remarks(const CsvTable& table, const ColumnRoles& roles, const CsvRoles& given) {
  std::vector<std::string> remarks;
  if (auto remark = remark_on_fillers(table, roles)) remarks.push_back(std::move(*remark));
  if (auto remark = remark_on_reasons(table, roles, given.reason)) remarks.push_back(std::move(*remark));
  if (auto remark = remark_on_infeasible_value(table, roles); !remark.empty()) remarks.push_back(std::move(remark));
  return remarks;
}

/// Whether the log has a feasible row of this space by this evaluator.
bool has_feasible_row(const log::Log& log, const ImportPlace& place) {
  const std::vector<log::WorkloadStats> stats =
      log::workload_stats(log, {.evaluator = place.evaluator_name, .space = place.space_name, .feasible = true});
  return std::ranges::any_of(stats, [](const log::WorkloadStats& one) { return one.feasible > 0; });
}

/// Says that nothing can be learnt, and what looks like the reason; nothing where a row is feasible, of the table or of
/// those that it joins.
std::optional<std::string> remark_on_none_feasible(const ImportSource& source, const ColumnRoles& roles,
                                                   const log::Log& log, const ImportPlace& place,
                                                   const ImportResult& result) {
  if (result.feasible > 0 || result.infeasible.empty() || has_feasible_row(log, place)) return std::nullopt;
  const auto& rows = source.table.rows;
  const auto has_number = [&](const TableCells::Row& row) { return bool(parse_double(row[roles.objective.column])); };
  const auto numbers = source.outcomes.empty() ? std::count_if(rows.begin(), rows.end(), has_number) : 0;
  if (numbers == 0 || !roles.infeasible) return "no row is feasible, and from these alone nothing can be learnt";
  return fmt::format(
      "no row is feasible, though {} of {} have a {}: --infeasible names what a failed run has in {}, and not what a "
      "good one has",
      with_commas(static_cast<std::uint64_t>(numbers)), with_commas(rows.size()), roles.objective.name,
      printable(source.table.header[*roles.infeasible], 40));
}

/// Error{usage} where every row that did not fail was refused: a log of the failures alone teaches nothing.
void require_good_rows(const ImportSource& source, const ColumnRoles& roles, const log::Log& log,
                       const ImportPlace& place, const ImportResult& result) {
  if (!source.outcomes.empty() || result.feasible > 0 || result.rejected_count == 0) return;
  const std::vector<bool> failed = failed_rows(source.table, roles);
  const auto good = static_cast<std::size_t>(std::count(failed.begin(), failed.end(), false));
  if (good == 0 || has_feasible_row(log, place)) return;
  std::vector<TellingColumn> empty = telling_columns(source.table, roles);
  std::erase_if(empty, [](const TellingColumn& one) { return !one.is_empty_in_good_rows; });
  const std::string remedy = empty.empty() ? ". Check the roles of the columns, or the values" : "";
  const std::string why = empty.empty()
                              ? "first: " + printable(result.rejected.front(), 220)
                              : telling_text(source.table, empty) + ", so it is a result: " + roles_of_telling(empty);
  throw Error(ErrorKind::usage,
              fmt::format("{}: {} that did not fail cannot be imported, only failed ones could (nothing was "
                          "imported); {}{}",
                          printable(source.table.file.string(), 60), counted(good, "row"), why, remedy));
}

/// Says of columns that were taken as parameters and are empty in failed runs alone that they look like results: their
/// rows are refused, as a design has all of its parameters.
std::optional<std::string> remark_on_empty_results(const CsvTable& table, const ColumnRoles& roles,
                                                   const ImportResult& result) {
  constexpr std::size_t kListed = 4;  // [chosen] names in a message
  if (result.rejected_count == 0) return std::nullopt;
  const std::vector<bool> failed = failed_rows(table, roles);
  std::vector<std::string> names;
  std::vector<bool> refused(table.rows.size(), false);
  for (const NamedColumn& column : roles.design) {
    std::vector<bool> empty;
    bool looks_like_result = true;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      empty.push_back(table.rows[row][column.column].empty());
      looks_like_result = looks_like_result && (!empty.back() || failed[row]);
    }
    if (!looks_like_result || std::find(empty.begin(), empty.end(), true) == empty.end()) continue;
    if (names.size() < kListed) names.push_back(printable(table.header[column.column], 50));
    for (std::size_t i = 0; i < empty.size(); ++i) refused[i] = refused[i] || empty[i];
  }
  if (names.empty()) return std::nullopt;
  const std::string list = shell_quoted(join(names, ","));
  return fmt::format(
      "{} of failed runs refused: {}, taken as {}, {} empty in them. If {}, import into a new log with --constraint "
      "{}, "
      "or --ignore {}",
      counted(static_cast<std::uint64_t>(std::count(refused.begin(), refused.end(), true)), "row"), join(names, ", "),
      names.size() == 1 ? "a parameter" : "parameters", names.size() == 1 ? "is" : "are",
      names.size() == 1 ? "it is a result" : "they are results", list, list);
}

struct ReadableRows {
  std::vector<TableContext> contexts;
  std::vector<TableRow> rows;
};

/// Rows as they are read, each design and context once; Error{usage} where none is left.
ReadableRows readable_rows(const ImportSource& source, const ColumnRoles& roles, const space::DesignSpace& space,
                           const std::string& workload, const Best& best, Duplicates duplicates, ImportResult& result,
                           Refusals& refusals) {
  DistinctRows distinct(best, duplicates, result, refusals);
  ReadableRows read;
  read.contexts = read_rows(source, roles, space, workload, distinct);
  read.rows = distinct.finish();
  if (!read.rows.empty()) return read;
  const bool commas = !result.rejected.empty() && result.rejected.front().find("decimal comma") != std::string::npos;
  const char* remedy = commas                    ? ""  // the refusal has it
                       : source.outcomes.empty() ? ". Check the roles of the columns"
                                                 : ". Check the values, or --space";
  throw Error(ErrorKind::usage,
              fmt::format("{}: no row of {} can be imported{}{}{}", printable(source.table.file.string(), 400),
                          with_commas(result.rows), result.rejected.empty() ? "" : "; first: ",
                          result.rejected.empty() ? "" : result.rejected.front(), remedy));
}

}  // namespace

ImportResult import_rows(const ImportSource& source, const CsvRoles& given, const space::DesignSpace& space,
                         const ImportTarget& target, const std::filesystem::path& log, Duplicates duplicates,
                         const Provenance& provenance) {
  const CsvRoles roles = roles_for(source, given);
  const ColumnRoles resolved = resolve_roles(source.table, roles);
  const std::string metric = source.outcomes.empty() ? resolved.objective.name : source.objective;
  std::set<std::string> maximised = source.maximised;
  if (target.direction == Direction::maximise) maximised.insert(metric);
  const Best best{.metric = metric, .direction = log::direction_of(metric, maximised)};
  ImportResult result;
  result.rows = source.table.rows.size();
  result.format = source.format;
  result.left_out = source.left_out;
  result.remarks = source.remarks;
  if (source.outcomes.empty())
    std::ranges::move(outcome_remarks(source.table, resolved, given), std::back_inserter(result.remarks));
  Refusals refusals(source.table, result);
  ReadableRows read = readable_rows(source, resolved, space, target.workload, best, duplicates, result, refusals);
  if (duplicates == Duplicates::error) refusals.require_no_contradiction();
  const log::NewLog created(log);
  log::Log opened = log::Log::open(log, log::OpenMode::read_write_create);
  log::Transaction whole(opened);
  const ImportPlace place = find_place(opened, source, resolved, space, target, read.contexts);
  OutcomeCounter counter(result);
  // What came from the log need not say all that the log says.
  const Agreement agreement = source.joins_log ? Agreement::as_far_as_said : Agreement::exact;
  number_rows(read.rows, place, logged_rows(opened, place), duplicates, agreement, result, counter, refusals);
  if (duplicates == Duplicates::error) refusals.require_no_contradiction();
  result.renamed = renamed_columns(source.table, resolved, space);
  result.space = place.space_name;
  result.evaluator = place.evaluator_name;
  for (const TableContext& context : read.contexts) result.workloads.push_back(context.name);
  log::Run run(opened, log::RunKind::import, provenance,
               run_options(source, roles, metric, maximised, duplicates, definition_hash(opened, place.evaluator)));
  append_rows(opened, run, place, read.rows, result, counter, refusals);
  require_good_rows(source, resolved, opened, place, result);
  if (auto remark = remark_on_none_feasible(source, resolved, opened, place, result))
    result.remarks.push_back(std::move(*remark));
  if (source.outcomes.empty() && !space.is_constrained()) {
    auto remark = remark_on_empty_results(source.table, resolved, result);
    if (remark) result.remarks.push_back(std::move(*remark));
  }
  run.finish();
  whole.commit();
  created.keep();
  return result;
}

ImportResult import_csv(const CsvTable& table, const CsvRoles& roles, const space::DesignSpace& space,
                        const std::filesystem::path& log, Duplicates duplicates, const Provenance& provenance) {
  if (roles.objective.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: no column is named as the objective. Name one", printable(table.file.string(), 400)));
  }
  ImportSource source;
  source.format = "CSV table";
  source.maker = kTableMaker;
  source.table = table;
  return import_rows(source, roles, space, {}, log, duplicates, provenance);
}

}  // namespace hindsight::dataset
