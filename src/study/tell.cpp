/// Answers of a simulator that runs elsewhere, from a table into the log.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "hindsight/core/ascii.h"
#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/json_line.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/answers.h"
#include "hindsight/dataset/csv_import.h"
#include "hindsight/dataset/objective.h"
#include "hindsight/dataset/outcome.h"
#include "hindsight/dataset/stored_space.h"
#include "hindsight/log/address.h"
#include "hindsight/log/query.h"
#include "hindsight/space/short_id.h"
#include "hindsight/study/asking.h"
#include "hindsight/study/log_names.h"

namespace hindsight::study {
namespace {

using Json = nlohmann::ordered_json;

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Short ids, their beginnings, or text ids, in lower case, of the designs that a table names, if it does.
std::set<std::string> named_designs(const dataset::CsvTable& table) {
  std::set<std::string> ids;
  const auto column = std::find(table.header.begin(), table.header.end(), "design");
  if (column == table.header.end()) return ids;
  const auto at = static_cast<std::size_t>(column - table.header.begin());
  for (const dataset::TableCells::Row& row : table.rows) ids.insert(lower_case(row[at]));
  return ids;
}

/// Spaces, by name, in which some design that the table names awaits its answer.
std::set<std::string> awaiting_spaces(const log::Log& log, const dataset::CsvTable& table) {
  const std::set<std::string> ids = named_designs(table);
  std::set<std::string> names;
  if (ids.empty()) return names;
  const auto is_named = [&](const log::PendingDesign& one) {
    if (ids.contains(lower_case(one.design_text_id))) return true;
    std::string id = space::hash_id(content_hash(one.design_text_id));
    for (; !id.empty(); id.pop_back()) {
      if (ids.contains(id)) return true;
    }
    return false;
  };
  std::map<std::int64_t, std::string> name_of;
  for (const log::SpaceSummary& space : log::spaces(log)) name_of[space.space_id] = space.name;
  for (const log::PendingDesign& one : log::pending_designs(log)) {
    const std::string& name = name_of[one.space_id];
    if (!names.contains(name) && is_named(one)) names.insert(name);
  }
  return names;
}

/// How many parameters of a space the table has, where it has all of them; else 0.
std::size_t parameters_in(const dataset::CsvTable& table, const space::DesignSpace& space) {
  const auto& parameters = space.parameters();
  const bool all = std::all_of(parameters.begin(), parameters.end(),
                               [&](const space::Parameter& one) { return is_among(table.header, one.name); });
  return all ? parameters.size() : 0;
}

/// The ask that the table answers, of the space that is named, if any: the newest one of those that await one of its
/// designs, of these one of the space with the most parameters that the table has. Nothing where nothing was asked for.
log::AskRun expected_of(const log::Log& log, const dataset::CsvTable& table, std::vector<log::AskRun> asks,
                        const std::string& wanted_space) {
  const auto is_other = [&](const log::AskRun& run) { return !wanted_space.empty() && run.space != wanted_space; };
  if (!std::all_of(asks.begin(), asks.end(), is_other)) std::erase_if(asks, is_other);
  if (asks.empty()) return {};
  const std::set<std::string> awaiting = awaiting_spaces(log, table);
  std::map<std::string, std::pair<bool, std::size_t>> fit;  // by name of the space
  for (const log::AskRun& run : asks) {
    if (fit.contains(run.space)) continue;
    fit[run.space] = {awaiting.contains(run.space), parameters_in(table, dataset::stored_space(log, run.space))};
  }
  return *std::max_element(asks.begin(), asks.end(), [&](const log::AskRun& one, const log::AskRun& other) {
    return fit[one.space] < fit[other.space];
  });
}

/// As `line` of the table says it.
dataset::Outcome outcome_of(const dataset::StatedOutcome& stated, std::size_t line) {
  dataset::Outcome outcome{.feasible = stated.feasible,
                           .metrics = {stated.metrics.begin(), stated.metrics.end()},
                           .source = fmt::format("line {}", line)};
  if (!stated.feasible) outcome.reasons.insert(stated.violations.front().code);
  return outcome;
}

class Telling {
 public:
  Telling(const TellRequest& request, log::Log& log, dataset::CsvTable table)
      : request_(request),
        log_(log),
        table_(std::move(table)),
        asks_(log::asks(log)),
        expected_(expected_of(log, table_, asks_, request.space)),
        space_(dataset::stored_space(log, space_name())),
        pending_(log::pending_designs(log)) {
    for (const log::SpaceSummary& known : log::spaces(log)) {
      if (known.definition_hash == space_.definition_hash()) space_id_ = known.space_id;
    }
    require_known_options();
    for (const log::WorkloadRecord& record : log::workloads(log)) workloads_[record.name] = record.workload_id;
  }

  Told run() {
    const dataset::Answers answers = dataset::read_answers(table_, space_, words());
    name_evaluator(answers);
    for (const log::PendingDesign& one : pending_) {
      const bool of_version = one.definition.empty() || one.definition == definition_;
      if (one.space_id == space_id_ && one.evaluator == evaluator_ && of_version) {
        asked_[{one.design_text_id, one.workload}] = dataset::objective_metrics(one.objective);
      }
    }
    Told told{.rows = table_.rows.size(), .unanswered = answers.unanswered, .evaluator = evaluator_};
    read_log();
    std::vector<log::EvaluationRow> rows;
    for (const dataset::Answer& answer : answers.rows) {
      if (auto row = row_of(answer, answers.workload_column, told)) rows.push_back(std::move(*row));
    }
    // Everything is known to fit by now.
    const std::string definition = log::told_definition(evaluator_);
    const std::int64_t evaluator_id =
        evaluator_id_ ? *evaluator_id_ : log_.add_evaluator(evaluator_, sha256_hex(definition), definition);
    Json options{{"file", request_.file.string()}, {"rows", told.rows}, {"evaluator", evaluator_}};
    // Of one metric; a product has no name in the log.
    if (!expected_.objective.empty() && dataset::objective_metrics(expected_.objective).size() == 1) {
      options["metric"] = dataset::objective_metrics(expected_.objective).front();
    }
    log::Run run(log_, log::RunKind::tell, request_.provenance, json_line(options));
    const log::AppendResult appended = log_.append(run.id(), space_id_, evaluator_id, rows);
    if (!appended.rejected.empty()) {
      throw Error(ErrorKind::failure, fmt::format("{}: {}", shown_log(), appended.rejected.front().reason));
    }
    run.finish();
    told.inserted = appended.inserted;
    told.already_present += appended.already_present;
    for (const log::EvaluationRow& row : rows) told.feasible += row.feasible ? 1 : 0;
    told.pending = log::pending_designs(log_).size();
    return told;
  }

 private:
  [[nodiscard]] std::string shown_log() const { return printable(request_.log.string(), 200); }
  [[nodiscard]] std::optional<std::string> space_name() const {
    if (!request_.space.empty()) return request_.space;
    return expected_.space.empty() ? std::nullopt : std::optional(expected_.space);
  }

  [[noreturn]] void refuse(std::size_t row, const std::string& problem, std::size_t column = 0) const {
    throw Error(ErrorKind::usage, fmt::format("{}: {}", dataset::cell_place(table_, row, column), problem));
  }

  void require_known_options() const {
    for (const auto* names : {&request_.ignored, &request_.metrics}) {
      for (const std::string& name : *names) static_cast<void>(table_.column(name));
    }
  }

  /// Whose answers these are, and its number in the log where it has rows already: of the evaluator that is named; else
  /// of the one who was asked for these designs; else of the newest ask's. Of several versions it is the one that was
  /// asked. Error{usage}: several were asked, or it is one of several that nobody asked.
  void name_evaluator(const dataset::Answers& answers) {
    std::string name = request_.evaluator;
    if (name.empty()) name = dataset::asked_evaluator(log_, table_, space_, answers, request_.workload);
    evaluator_ = answering_evaluator(log_, name.empty() ? expected_.reference : name);
    const std::vector<log::EvaluatorSummary> all = log::evaluators(log_);
    std::vector<log::EvaluatorSummary> meant = log::evaluators_meant(all, evaluator_);
    if (meant.size() > 1) meant = asked_of(all, meant, answers);
    definition_ = meant.empty() ? sha256_hex(log::told_definition(evaluator_)) : meant.front().definition_hash;
    if (meant.empty()) return;
    evaluator_ = meant.front().name;
    evaluator_id_ = meant.front().evaluator_id;
  }

  /// Of several versions the one that was asked for designs of the table. Error{usage} where that is not one.
  [[nodiscard]] std::vector<log::EvaluatorSummary> asked_of(const std::vector<log::EvaluatorSummary>& all,
                                                            const std::vector<log::EvaluatorSummary>& versions,
                                                            const dataset::Answers& answers) const {
    const std::vector<std::string> asked = dataset::asked_evaluators(log_, space_, answers, request_.workload);
    std::vector<log::EvaluatorSummary> found;
    std::vector<std::string> names;
    for (const log::EvaluatorSummary& one : versions) {
      names.push_back(log::evaluator_reference(all, one));
      if (is_among(asked, names.back())) found.push_back(one);
    }
    if (found.size() == 1) return found;
    throw Error(ErrorKind::usage,
                fmt::format("{}: the log has several versions of '{}': {}. Name the one whose answers these are by "
                            "--evaluator",
                            printable(table_.file.string(), 120), printable(versions.front().name, 40),
                            printable(join(names, ", "), 120)));
  }

  /// What columns may be called, and whose ids designs may have.
  [[nodiscard]] dataset::AnswerWords words() const {
    dataset::AnswerWords words{
        .metrics = {},
        .ignored = request_.ignored,
        .by_id = [this](const std::string& id) { return space_.parse_design(design_of_id(log_, id).text_id); },
        .remedy = "Name it with --metric {0} or --ignore {0}, or another space with --space"};
    const auto add = [&](const std::vector<std::string>& names) {
      for (const std::string& name : names) {
        if (!is_among(words.metrics, name)) words.metrics.push_back(name);
      }
    };
    // Those that an answer is likely to have are named first where a column is none of them.
    add(expected_.metrics);
    add(request_.metrics);
    for (const log::PendingDesign& one : pending_) add(dataset::objective_metrics(one.objective));
    for (const log::AskRun& run : asks_) {  // a table of an earlier ask may come late
      if (run.space == space_.name()) add(run.metrics);
    }
    for (const auto& [name, id] : workloads_) words.workloads.push_back(name);
    if (!expected_.objective.empty()) words.awaited = dataset::objective_metrics(expected_.objective);
    words.asked = dataset::asked_objectives(pending_, space_id_);
    std::vector<std::string> logged = log::metric_names(log_);  // the standard ones first
    std::rotate(logged.begin(), logged.begin() + std::ssize(log::standard_metrics()), logged.end());
    add(logged);
    return words;
  }

  /// Outcomes that the log has of this evaluator, by design and workload, in the order of their repeats.
  void read_log() {
    if (!evaluator_id_) return;
    std::map<std::int64_t, std::string> names;
    for (const auto& [name, id] : workloads_) names[id] = name;
    log::for_each_evaluation(log_, {.evaluator = evaluator_}, log::Detail::all, [&](const log::EvaluationRecord& one) {
      if (one.space_id != space_id_ || one.evaluator_id != *evaluator_id_) return true;
      known_[{one.design_text_id, names.at(one.workload_id)}].push_back(dataset::outcome_of(one));
      return true;
    });
  }

  [[nodiscard]] std::string workload_of(const dataset::Answer& answer, std::optional<std::size_t> column) const {
    std::vector<std::string> known;
    for (const auto& [one, id] : workloads_) known.push_back(one);
    const std::string& name = request_.workload.empty() ? answer.workload : request_.workload;
    if (workloads_.contains(name)) return name;
    if (!name.empty()) {
      refuse(answer.row, fmt::format("the log has no workload '{}'.{}", printable(name), did_you_mean(name, known)),
             request_.workload.empty() ? column.value_or(0) : 0);
    }
    std::set<std::string> asked;
    for (const auto& [key, metrics] : asked_) asked.insert(key.second);
    if (asked.size() == 1) return *asked.begin();
    if (known.size() == 1) return known.front();
    refuse(answer.row, fmt::format("no workload, and the log has several: {}. Name one with --workload, or in a column "
                                   "'workload'",
                                   join(known, ", ")));
  }

  void require_objective(std::size_t row, const dataset::Outcome& outcome,
                         const std::vector<std::string>& needed) const {
    for (const std::string& name : needed) {
      if (outcome.metrics.contains(name)) continue;
      refuse(row, fmt::format("no {}, which a feasible design is compared by. Fill it in, or give a reason", name));
    }
  }

  /// Nothing: it was told before.
  [[nodiscard]] std::optional<log::EvaluationRow> row_of(const dataset::Answer& answer,
                                                         std::optional<std::size_t> workload_column, Told& told) {
    const space::Design& design = answer.design;
    if (const std::string broken = space_.broken_rule(design.levels); !broken.empty()) refuse(answer.row, broken);
    const std::string workload = workload_of(answer, workload_column);
    const std::string text = space_.text_id(design);
    const auto asked = asked_.find({text, workload});
    const dataset::Outcome outcome = outcome_of(answer.outcome, table_.line[answer.row]);
    if (outcome.feasible) {
      require_objective(answer.row, outcome, asked == asked_.end() ? std::vector<std::string>() : asked->second);
    }
    std::vector<dataset::Outcome>& known = known_[{text, workload}];
    // A further measurement that is the same but for its digits is still one.
    const auto agreement = request_.repeat ? dataset::Agreement::exact : dataset::Agreement::as_far_as_said;
    if (std::ranges::any_of(known, [&](const auto& one) { return contradiction(one, outcome, agreement).empty(); })) {
      ++told.already_present;
      return std::nullopt;
    }
    if (!known.empty() && !request_.repeat) {
      refuse(answer.row, fmt::format("{} on {} {}. If it was measured again, add --repeat", space::short_id(text),
                                     printable(workload), contradiction(known.front(), outcome, agreement)));
    }
    told.unasked += known.empty() && asked == asked_.end() ? 1 : 0;
    log::EvaluationRow row{.workload_id = workloads_.at(workload),
                           .design_text_id = text,
                           .design_hash = space_.content_hash(design),
                           .feasible = outcome.feasible,
                           .metrics = answer.outcome.metrics,
                           .violations = answer.outcome.violations,
                           .repeat = std::ssize(known)};
    known.push_back(outcome);
    return row;
  }

  const TellRequest& request_;
  log::Log& log_;
  dataset::CsvTable table_;
  std::vector<log::AskRun> asks_;  ///< newest first
  log::AskRun expected_;
  space::DesignSpace space_;
  std::int64_t space_id_ = 0;
  std::vector<log::PendingDesign> pending_;
  std::string evaluator_, definition_;  ///< name, and the hash of the definition of its version
  std::optional<std::int64_t> evaluator_id_;
  std::map<std::string, std::int64_t> workloads_;
  /// By text id and workload, the metrics of the objective that it was asked for.
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> asked_;
  std::map<std::pair<std::string, std::string>, std::vector<dataset::Outcome>> known_;
};

}  // namespace

Told tell(const TellRequest& request) {
  log::Log log = open_asking_log(request.log, log::OpenMode::read_write);
  dataset::CsvTable table =
      dataset::read_table(request.file);  // standard input may take its time: nothing is locked yet
  log::Transaction whole(log);            // what others tell meanwhile is seen before or after, never between
  try {
    Told told = Telling(request, log, std::move(table)).run();
    whole.commit();
    return told;
  } catch (const Error& error) {
    std::string problem = error.what();
    if (!problem.ends_with('.') && !problem.ends_with('?')) problem += '.';
    throw Error(error.kind(), problem + " Nothing was told");
  }
}

std::size_t untold_answers(const std::filesystem::path& file, const std::filesystem::path& log) {
  if (!std::filesystem::is_regular_file(file) || !log::is_log_there(log)) return 0;
  dataset::CsvTable table;
  try {
    table = dataset::read_table(file);
  } catch (const Error&) {
    return 0;  // no table of ask
  }
  const auto position = [&](const char* name) {
    return static_cast<std::size_t>(std::find(table.header.begin(), table.header.end(), name) - table.header.begin());
  };
  const std::size_t design = position("design"), workload = position("workload"), odds = position("p_feasible");
  if (std::max({design, workload, odds}) == table.header.size()) return 0;
  std::set<std::pair<std::string, std::string>> awaited;
  for (const log::PendingDesign& one : log::pending_designs(log::Log::open(log, log::OpenMode::read_only))) {
    awaited.emplace(space::short_id(one.design_text_id), one.workload);
  }
  return static_cast<std::size_t>(std::count_if(table.rows.begin(), table.rows.end(), [&](const auto& row) {
    const bool answered = std::any_of(row.begin() + static_cast<std::ptrdiff_t>(odds) + 1, row.end(),
                                      [](const std::string& cell) { return !cell.empty(); });
    return answered && awaited.contains({lower_case(row[design]), row[workload]});
  }));
}

}  // namespace hindsight::study
