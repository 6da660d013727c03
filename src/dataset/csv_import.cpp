/// Imports a table into a log: one workload per context, one transaction per batch.
#include "hindsight/dataset/csv_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "dataset/csv_rows.h"
#include "dataset/stored_space.h"
#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"
#include "hindsight/log/query.h"

namespace hindsight::dataset {
namespace {

const std::string kEvaluatorName = "csv import";
constexpr int kContextVersion = 1;
constexpr std::size_t kBatchRows = 10'000;   // [chosen] a transaction of about a tenth of a second
constexpr std::size_t kListedRefusals = 20;  // [chosen] what a person reads

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

/// What two evaluations of one design are compared by.
struct Outcome {
  bool feasible = false;
  std::map<std::string, double> metrics;
  std::string source;  ///< "line 7", "evaluation 12 of the log"
};

/// How `given` contradicts `first`, or an empty text.
std::string contradiction(const Outcome& first, const Outcome& given) {
  const auto differs = [&](const std::string& what, const std::string& there, const std::string& here) {
    return fmt::format("contradicts {} for the same design and context: {} is {} there, {} here (the first is kept)",
                       first.source, what, there, here);
  };
  if (first.feasible != given.feasible) {
    const auto word = [](const Outcome& outcome) { return outcome.feasible ? "feasible" : "infeasible"; };
    return differs("the design", word(first), word(given));
  }
  const auto text = [](const Outcome& outcome, const std::string& name) {
    const auto found = outcome.metrics.find(name);
    return found == outcome.metrics.end() ? std::string("missing") : shortest(found->second);
  };
  std::map<std::string, double> names = first.metrics;
  names.insert(given.metrics.begin(), given.metrics.end());
  for (const auto& [name, value] : names) {
    if (text(first, name) != text(given, name)) {
      return differs(name, text(first, name), text(given, name));
    }
  }
  return "";
}

/// First outcome of every design and workload.
class Outcomes {
 public:
  /// Remembers `outcome`, or returns how it contradicts what is known.
  std::string add(std::int64_t workload_id, const std::string& design, Outcome outcome) {
    const auto [entry, fresh] = known_.try_emplace(fmt::format("{}|{}", workload_id, design));
    if (!fresh) {
      return contradiction(entry->second, outcome);
    }
    entry->second = std::move(outcome);
    return "";
  }

  /// The evaluations that the log has already.
  void add_logged(const log::Log& log, std::int64_t space_id, std::int64_t evaluator_id) {
    log::for_each_evaluation(log, {.evaluator = kEvaluatorName}, log::Detail::all,
                             [&](const log::EvaluationRecord& record) {
                               if (record.space_id == space_id && record.evaluator_id == evaluator_id) {
                                 add(record.workload_id, record.design_text_id, outcome_of(record));
                               }
                               return true;
                             });
  }

 private:
  static Outcome outcome_of(const log::EvaluationRecord& record) {
    Outcome outcome{.feasible = record.feasible,
                    .metrics = {record.other_metrics.begin(), record.other_metrics.end()},
                    .source = fmt::format("evaluation {} of the log", record.evaluation_id)};
    for (std::size_t i = 0; i < record.standard.size(); ++i) {
      if (!std::isnan(record.standard[i])) {
        outcome.metrics.emplace(log::standard_metrics()[i], record.standard[i]);
      }
    }
    return outcome;
  }

  std::unordered_map<std::string, Outcome> known_;
};

/// A run of the log that is closed whatever happens.
class Run {
 public:
  Run(log::Log& log, const Provenance& provenance, const std::string& options_json)
      : log_(log), id_(log.begin_run("import", provenance, options_json)) {}
  ~Run() {
    if (!ended_) {
      try {
        log_.end_run(id_, "failed");
      } catch (const Error&) {
        // The error on its way says why; the run stays "running", like one that was killed.
      }
    }
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  [[nodiscard]] std::int64_t id() const { return id_; }
  void end(const std::string& status) {
    log_.end_run(id_, status);
    ended_ = true;
  }

 private:
  log::Log& log_;
  std::int64_t id_;
  bool ended_ = false;
};

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

/// Counts and lists refusals.
class Refusals {
 public:
  Refusals(const CsvTable& table, ImportResult& result) : file_(printable(table.file.string(), 400)), result_(result) {}
  void add(std::size_t line, const std::string& reason) {
    ++result_.rejected_count;
    if (result_.rejected.size() < kListedRefusals) {
      result_.rejected.push_back(fmt::format("{}:{}: {}", file_, line, reason));
    }
  }

 private:
  std::string file_;
  ImportResult& result_;
};

/// Rows that contradict nothing, with the ids of their workloads.
std::vector<TableRow> consistent_rows(std::vector<TableRow> rows, const Registered& ids, Outcomes& outcomes,
                                      Refusals& refusals) {
  std::vector<TableRow> kept;
  for (TableRow& row : rows) {
    log::EvaluationRow& evaluation = row.evaluation;
    evaluation.workload_id = ids.workloads[row.context];
    const std::string problem = outcomes.add(evaluation.workload_id, evaluation.design_text_id,
                                             {.feasible = evaluation.feasible,
                                              .metrics = {evaluation.metrics.begin(), evaluation.metrics.end()},
                                              .source = fmt::format("line {}", row.line)});
    if (problem.empty()) {
      kept.push_back(std::move(row));
    } else {
      refusals.add(row.line, problem);
    }
  }
  return kept;
}

void append_rows(log::Log& log, Run& run, const Registered& ids, const std::vector<TableRow>& rows,
                 ImportResult& result, Refusals& refusals) {
  for (std::size_t begin = 0; begin < rows.size(); begin += kBatchRows) {
    if (interrupt_requested()) {
      run.end("interrupted");
      throw Error(ErrorKind::interrupted,
                  fmt::format("{}: interrupted after {} of {} rows. Run the import again to add the rest",
                              log.path().string(), with_commas(begin), with_commas(rows.size())));
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

}  // namespace

ImportResult import_csv(const CsvTable& table, const CsvRoles& roles, const space::DesignSpace& space,
                        const std::filesystem::path& log, const Provenance& provenance) {
  const ColumnRoles resolved = resolve_roles(table, roles);
  ImportResult result;
  result.rows = table.rows.size();
  Refusals refusals(table, result);
  TableRows read = read_rows(table, resolved, space);
  for (const RefusedRow& refused : read.refused) refusals.add(refused.line, refused.reason);
  if (read.rows.empty()) {
    throw Error(ErrorKind::usage, fmt::format("{}: none of its {} rows can be imported{}{}. Check the roles of the "
                                              "columns",
                                              printable(table.file.string(), 400), with_commas(result.rows),
                                              result.rejected.empty() ? "" : "; first: ",
                                              result.rejected.empty() ? "" : result.rejected.front()));
  }
  log::Log opened = log::Log::open(log, log::OpenMode::read_write_create);
  const Registered ids = register_all(opened, table, resolved, space, read.contexts);
  Outcomes outcomes;
  outcomes.add_logged(opened, ids.space, ids.evaluator);
  const std::vector<TableRow> rows = consistent_rows(std::move(read.rows), ids, outcomes, refusals);
  Run run(opened, provenance,
          nlohmann::ordered_json{
              {"table", table_name(table)}, {"objective", printable(roles.objective)}, {"rows", result.rows}}
              .dump());
  append_rows(opened, run, ids, rows, result, refusals);
  run.end("finished");
  return result;
}

}  // namespace hindsight::dataset
