/// Spaces, workloads and evaluators of imported rows.
#include "dataset/import_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/patience.h"
#include "hindsight/core/text.h"
#include "hindsight/log/asked.h"
#include "hindsight/log/query.h"

namespace hindsight::dataset {
namespace {

constexpr int kContextVersion = 1;

/// What the columns mean: rows of tables that were read in another way never mix.
std::string table_definition(const CsvTable& table, const ColumnRoles& roles) {
  const auto header = [&](std::size_t column) { return printable(table.header[column], 1000); };
  const auto headers = [&](const std::vector<NamedColumn>& columns) {
    std::vector<std::string> names;
    for (const NamedColumn& column : columns) names.push_back(header(column.column));
    return join(names, "|");
  };
  std::string text = fmt::format("{}, format 1\nobjective|{}\n", kTableMaker, header(roles.objective.column));
  if (roles.infeasible) {
    text += fmt::format("infeasible|{}", header(*roles.infeasible));
    text += roles.infeasible_value ? fmt::format("|{}\n", printable(*roles.infeasible_value)) : "\n";
  }
  if (roles.reason) {
    text += fmt::format("reason|{}\n", header(*roles.reason));
  }
  return text + fmt::format("context|{}\nconstraints|{}\n", headers(roles.context), headers(roles.constraints));
}

/// What the rows of a format are, so that rows that were read in another way never mix.
std::string definition_of(const ImportSource& source, const ColumnRoles& roles) {
  if (source.outcomes.empty()) return table_definition(source.table, roles);
  std::string contexts;
  for (const NamedColumn& column : roles.context) contexts += (contexts.empty() ? "" : "|") + column.name;
  return fmt::format("{}, format 1\nobjective|{}\ncontext|{}\n", source.maker, source.objective, contexts);
}

/// What is known of workloads by name, the first of each: a table may name a hundred thousand.
struct KnownWorkloads {
  std::unordered_map<std::string, const StatedWorkload*> stated;
  std::unordered_map<std::string, std::int64_t> logged;
};

KnownWorkloads known_workloads(const log::Log& log, const ImportSource& source,
                               const std::vector<TableContext>& contexts) {
  KnownWorkloads known;
  if (source.definitions) {
    for (const StatedWorkload& one : source.definitions->workloads) known.stated.try_emplace(one.name, &one);
  }
  if (std::ranges::any_of(contexts, &TableContext::named)) {
    for (const log::WorkloadRecord& one : log::workloads(log)) known.logged.try_emplace(one.name, one.workload_id);
  }
  return known;
}

std::int64_t register_workload(log::Log& log, const KnownWorkloads& known, const ImportTarget& target,
                               const TableContext& context) {
  if (const auto found = known.stated.find(context.name); found != known.stated.end()) {
    const StatedWorkload* const stated = found->second;
    return log.add_workload(stated->name, stated->definition, sha256_hex(stated->definition), stated->batch,
                            stated->layers_json, stated->context_version, stated->context);
  }
  if (context.named) {
    if (const auto found = known.logged.find(context.name); found != known.logged.end()) return found->second;
    if (target.known_workload) {
      if (const auto id = target.known_workload(log, context.name)) return *id;
    }
  }
  return log.add_workload(context.name, context.definition, sha256_hex(context.definition), 1, "[]", kContextVersion,
                          context.features);
}

/// Evaluators of the log that match, by id.
std::vector<log::EvaluatorSummary> evaluators_of(const log::Log& log, const std::set<std::int64_t>& ids) {
  std::vector<log::EvaluatorSummary> found;
  for (const log::EvaluatorSummary& one : log::evaluators(log)) {
    if (ids.contains(one.evaluator_id)) found.push_back(one);
  }
  return found;
}

std::set<std::int64_t> evaluators_by_name(const log::Log& log, const std::string& name) {
  std::set<std::int64_t> ids;
  const std::vector<log::EvaluatorSummary> all = log::evaluators(log);
  for (const log::EvaluatorSummary& one : log::evaluators_meant(all, name)) ids.insert(one.evaluator_id);
  return ids;
}

/// Those that evaluated these workloads; of all workloads where these have no rows.
std::set<std::int64_t> evaluators_of_workloads(const log::Log& log, const std::vector<std::int64_t>& workloads) {
  std::set<std::int64_t> own, all;
  const std::set<std::int64_t> sought(workloads.begin(), workloads.end());
  log::for_each_evaluation(log, {}, log::Detail::columns, [&](const log::EvaluationRecord& record) {
    all.insert(record.evaluator_id);
    if (sought.contains(record.workload_id)) own.insert(record.evaluator_id);
    return true;
  });
  return own.empty() ? all : own;
}

[[noreturn]] void refuse_several(const log::Log& log, const std::vector<log::EvaluatorSummary>& several) {
  const std::vector<log::EvaluatorSummary> all = log::evaluators(log);
  std::vector<std::string> names;
  for (const log::EvaluatorSummary& one : several) {
    names.push_back(fmt::format("'{}'", printable(log::evaluator_reference(all, one), 60)));
  }
  throw Error(ErrorKind::usage,
              fmt::format("{}: has rows of several evaluators, and new ones belong to one: {}. Name one by --evaluator",
                          printable(log.path().string(), 200), join(names, ", ")));
}

void choose_evaluator(log::Log& log, const ImportSource& source, const ColumnRoles& roles, const ImportTarget& target,
                      ImportPlace& place) {
  const std::string wanted = target.evaluator.empty() ? source.evaluator : target.evaluator;
  std::set<std::int64_t> ids;
  if (source.definitions && target.evaluator.empty()) {
    place.evaluator_name = source.definitions->evaluator;
    const std::string& definition = source.definitions->evaluator_definition;
    place.evaluator = log.add_evaluator(place.evaluator_name, sha256_hex(definition), definition);
    return;
  }
  if (!wanted.empty()) {
    ids = evaluators_by_name(log, wanted);
  } else if (source.joins_log) {
    ids = evaluators_of_workloads(log, place.workloads);
  }
  const std::vector<log::EvaluatorSummary> known = evaluators_of(log, ids);
  if (known.size() > 1) refuse_several(log, known);
  if (known.size() == 1) {
    place.evaluator = known.front().evaluator_id;
    place.evaluator_name = known.front().name;
    return;
  }
  place.evaluator_name = wanted.empty() ? source.maker : wanted;
  const bool is_asked = source.joins_log && place.evaluator_name == source.evaluator;
  const std::string definition = is_asked ? log::told_definition(place.evaluator_name) : definition_of(source, roles);
  place.evaluator = log.add_evaluator(place.evaluator_name, sha256_hex(definition), definition);
}

}  // namespace

ImportPlace find_place(log::Log& log, const ImportSource& source, const ColumnRoles& roles,
                       const space::DesignSpace& space, const ImportTarget& target,
                       const std::vector<TableContext>& contexts) {
  ImportPlace place;
  std::vector<std::string> names;
  for (const space::Parameter& parameter : space.parameters()) names.push_back(parameter.name);
  place.space = log.add_space(space.name(), space.canonical_definition(), space.definition_hash(), names);
  place.space_name = space.name();
  for (const log::SpaceSummary& known : log::spaces(log)) {
    if (known.space_id == place.space) place.space_name = known.name;
  }
  const KnownWorkloads known = known_workloads(log, source, contexts);
  const Steps steps("registering applications", contexts.size());
  for (const TableContext& context : contexts) {
    steps.at(place.workloads.size());
    place.workloads.push_back(register_workload(log, known, target, context));
  }
  choose_evaluator(log, source, roles, target, place);
  return place;
}

}  // namespace hindsight::dataset
