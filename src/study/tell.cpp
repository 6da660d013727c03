/// Answers of a simulator that runs elsewhere, from a table into the log.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "hindsight/accel/evaluation.h"
#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/csv_import.h"
#include "hindsight/dataset/stored_space.h"
#include "hindsight/log/query.h"
#include "hindsight/space/short_id.h"
#include "hindsight/study/asking.h"

namespace hindsight::study {
namespace {

using space::short_id;
using Json = nlohmann::ordered_json;

constexpr std::string_view kReason = "reason", kFeasible = "feasible", kWorkload = "workload", kDesign = "design";
constexpr const char* kInfeasible = "infeasible";
/// What `ask` and `propose --csv` say of a design besides its parameters; no answer.
const std::set<std::string> kSaid = {
    "rank",       "predicted", "score",           "cautious",     "spread",
    "p_feasible", "logged",    "logged_feasible", "logged_value", "nearest_logged_distance"};

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// What an ask expects.
struct Expected {
  std::string space, evaluator;
  std::vector<std::string> metrics;
  std::string objective;  ///< a metric; empty: a product
};

/// Of the newest ask whose parameters the table has; of the newest one where the table names designs otherwise.
Expected expected_of(const log::Log& log, const dataset::CsvTable& table) {
  std::vector<Json> asks;
  for (const log::AskRun& run : log::asks(log)) {
    Json json = Json::parse(run.options_json, nullptr, false);
    if (json.is_object()) asks.push_back(std::move(json));
  }
  if (asks.empty()) return {};
  const auto fits = [&](const Json& json) {
    const space::DesignSpace space = dataset::stored_space(log, json.at("space").get<std::string>());
    return std::all_of(space.parameters().begin(), space.parameters().end(),
                       [&](const space::Parameter& parameter) { return is_among(table.header, parameter.name); });
  };
  const auto chosen = std::find_if(asks.begin(), asks.end(), fits);
  const Json& json = chosen == asks.end() ? asks.front() : *chosen;
  Expected expected{.space = json.value("space", ""),
                    .evaluator = json.value("evaluator", ""),
                    .metrics = json.value("metrics", std::vector<std::string>()),
                    .objective = ""};
  const auto objective = dataset::parse_objective(json.at("objective").get<std::string>(), Direction::minimise);
  if (objective.factors.size() == 1) expected.objective = objective.factors.front().metric;
  return expected;
}

/// Metrics of an objective: every feasible row has them.
std::vector<std::string> metrics_of(const std::string& objective) {
  std::vector<std::string> metrics;
  for (const auto& factor : dataset::parse_objective(objective, Direction::minimise).factors) {
    metrics.push_back(factor.metric);
  }
  return metrics;
}

/// What the columns of a table mean.
struct Columns {
  std::vector<std::optional<std::size_t>> parameters;  ///< p; none at all where designs are named by id
  std::optional<std::size_t> design, workload, feasible, reason;
  std::vector<std::pair<std::size_t, std::string>> metrics;
};

/// The outcome of one design on one workload.
struct Outcome {
  bool feasible = true;
  std::map<std::string, double> metrics;
  std::string reason;
  bool operator==(const Outcome&) const = default;
};

class Telling {
 public:
  Telling(const TellRequest& request, log::Log& log, dataset::CsvTable table)
      : request_(request),
        log_(log),
        table_(std::move(table)),
        expected_(expected_of(log, table_)),
        space_(dataset::stored_space(log, space_name())),
        pending_(log::pending_designs(log)) {
    for (const log::SpaceSummary& known : log::spaces(log)) {
      if (known.definition_hash == space_.definition_hash()) space_id_ = known.space_id;
    }
    name_evaluator();
    require_known_options();
    columns_ = resolve_columns();
    for (const log::WorkloadRecord& record : log::workloads(log)) workloads_[record.name] = record.workload_id;
    for (const log::PendingDesign& one : pending_) {
      if (one.space_id == space_id_ && one.evaluator == evaluator_) {
        asked_[{one.design_text_id, one.workload}] = metrics_of(one.objective);
      }
    }
  }

  Told run() {
    Told told{.rows = table_.rows.size(), .evaluator = evaluator_};
    const auto& objective = expected_.objective;
    read_log();
    std::vector<log::EvaluationRow> rows;
    for (std::size_t i = 0; i < table_.rows.size(); ++i) {
      if (auto row = read_row(i, told)) rows.push_back(std::move(*row));
    }
    // Everything is known to fit by now.
    const std::string definition = fmt::format("{}, told\n", evaluator_);
    const std::int64_t evaluator_id =
        evaluator_id_ ? *evaluator_id_ : log_.add_evaluator(evaluator_, sha256_hex(definition), definition);
    Json options{{"file", request_.file.string()}, {"rows", told.rows}, {"evaluator", evaluator_}};
    if (!objective.empty()) options["metric"] = objective;
    log::Run run(log_, log::RunKind::tell, request_.provenance, options.dump());
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

  [[noreturn]] void refuse(std::size_t row, std::size_t column, std::string problem) const {
    while (problem.ends_with('.')) problem.pop_back();
    const dataset::CsvTable::Place place = table_.place[row][column];
    throw Error(ErrorKind::usage, fmt::format("{}:{}:{}: {}. Nothing was told", printable(table_.file.string(), 200),
                                              place.line, place.column, problem));
  }

  void require_known_options() const {
    for (const auto* names : {&request_.ignored, &request_.metrics}) {
      for (const std::string& name : *names) static_cast<void>(table_.column(name));
    }
  }

  /// Whose answers these are, and its number in the log where it has rows already.
  void name_evaluator() {
    std::vector<std::string> names;
    for (const log::EvaluatorSummary& one : log::summary(log_).evaluators) {
      if (one.evaluations > 0 && !is_among(names, one.name)) names.push_back(one.name);
    }
    evaluator_ = !request_.evaluator.empty() ? request_.evaluator : expected_.evaluator;
    if (evaluator_.empty() && names.size() > 1) {
      throw Error(ErrorKind::usage, fmt::format("{}: rows of several evaluators ({}). Say with --evaluator whose "
                                                "answers these are",
                                                shown_log(), join(names, ", ")));
    }
    if (evaluator_.empty()) evaluator_ = names.empty() ? kSimulator : names.front();
    if (evaluator_.starts_with(accel::kModelName)) {
      throw Error(ErrorKind::usage, fmt::format("'{}' is the built-in model, which answers by itself. Name your own "
                                                "simulator with --evaluator",
                                                printable(evaluator_)));
    }
    for (const log::EvaluatorSummary& one : log::summary(log_).evaluators) {
      if (one.name == evaluator_) evaluator_id_ = one.evaluator_id;
    }
  }

  [[nodiscard]] Columns resolve_columns() const {
    Columns columns;
    columns.parameters.resize(space_.parameters().size());
    std::vector<std::string> known = log::metric_names(log_);
    const auto add = [&](const std::vector<std::string>& names) {
      for (const std::string& name : names) {
        if (!is_among(known, name)) known.push_back(name);
      }
    };
    add(expected_.metrics);
    for (const log::PendingDesign& one : pending_) add(metrics_of(one.objective));
    for (std::size_t c = 0; c < table_.header.size(); ++c) {
      const std::string& name = table_.header[c];
      if (is_among(request_.ignored, name)) continue;
      if (const auto p = space_.find(name)) {
        columns.parameters[*p] = c;
      } else if (name == kDesign) {
        columns.design = c;
      } else if (name == kWorkload) {
        columns.workload = c;
      } else if (name == kFeasible) {
        columns.feasible = c;
      } else if (name == kReason) {
        columns.reason = c;
      } else if (is_among(known, name) || is_among(request_.metrics, name)) {
        columns.metrics.emplace_back(c, name);
      } else if (!kSaid.contains(name) && !name.starts_with("predicted_") && !name.starts_with("cautious_")) {
        refuse_column(c, known);
      }
    }
    require_designs(columns);
    return columns;
  }

  [[noreturn]] void refuse_column(std::size_t column, std::vector<std::string> known) const {
    for (const space::Parameter& parameter : space_.parameters()) known.push_back(parameter.name);
    const std::string name = printable(table_.header[column]);
    throw Error(ErrorKind::usage,
                fmt::format("{}:1: column '{}' is no parameter of {} and no metric of the log.{} Name it with --metric "
                            "{} or --ignore {}, or another space with --space. Nothing was told",
                            printable(table_.file.string(), 200), name, printable(space_.name()),
                            did_you_mean(table_.header[column], known), name, name));
  }

  void require_designs(const Columns& columns) const {
    if (columns.design) return;
    for (std::size_t p = 0; p < columns.parameters.size(); ++p) {
      if (columns.parameters[p]) continue;
      throw Error(ErrorKind::usage, fmt::format("{}:1: no column '{}', a parameter of {}, and no column 'design'. "
                                                "Nothing was told",
                                                printable(table_.file.string(), 200), space_.parameters()[p].name,
                                                printable(space_.name())));
    }
  }

  /// Outcomes that the log has of this evaluator, by design and workload, in the order of their repeats.
  void read_log() {
    if (!evaluator_id_) return;
    const auto& standard = log::standard_metrics();
    std::map<std::int64_t, std::string> names;
    for (const auto& [name, id] : workloads_) names[id] = name;
    log::for_each_evaluation(log_, {.evaluator = evaluator_}, log::Detail::all, [&](const log::EvaluationRecord& one) {
      if (one.space_id != space_id_ || one.evaluator_id != *evaluator_id_) return true;
      Outcome outcome{.feasible = one.feasible, .metrics = {}, .reason = {}};
      for (std::size_t i = 0; i < standard.size(); ++i) {
        if (!std::isnan(one.standard[i])) outcome.metrics[standard[i]] = one.standard[i];
      }
      for (const auto& [name, value] : one.other_metrics) outcome.metrics[name] = value;
      if (!one.violations.empty()) outcome.reason = one.violations.front().code;
      known_[{one.design_text_id, names.at(one.workload_id)}].push_back(std::move(outcome));
      return true;
    });
  }

  [[nodiscard]] std::uint16_t level_of(std::size_t row, std::size_t column, const space::Parameter& parameter) const {
    const std::string& cell = table_.rows[row][column];
    const auto number = parse_double(cell);
    const bool ordinal = parameter.kind == space::ParameterKind::ordinal;
    const std::string label = ordinal && number ? shortest(*number) : cell;
    const auto found = std::find(parameter.labels.begin(), parameter.labels.end(), label);
    if (found != parameter.labels.end()) return static_cast<std::uint16_t>(found - parameter.labels.begin());
    std::string nearest = did_you_mean(cell, parameter.labels);
    if (ordinal && number) {
      const auto value = std::min_element(parameter.values.begin(), parameter.values.end(), [&](double a, double b) {
        return std::abs(a - *number) < std::abs(b - *number);
      });
      nearest = fmt::format(" The nearest is {}", shortest(*value));
    }
    refuse(row, column, fmt::format("{} has no value '{}'.{}", parameter.name, printable(cell), nearest));
  }

  /// By its parameters, or by its text id or the first characters of its short id.
  [[nodiscard]] space::Design design_of(std::size_t row) const {
    space::Design design;
    const bool by_parameters = std::all_of(columns_.parameters.begin(), columns_.parameters.end(),
                                           [](const auto& column) { return column.has_value(); });
    for (std::size_t p = 0; by_parameters && p < columns_.parameters.size(); ++p) {
      design.levels.push_back(level_of(row, *columns_.parameters[p], space_.parameters()[p]));
    }
    if (!columns_.design) return design;
    const std::string& id = table_.rows[row][*columns_.design];
    if (by_parameters) {
      const bool same =
          id.empty() || id == space_.text_id(design) || space::hash_id(space_.content_hash(design)).starts_with(id);
      if (same) return design;
      refuse(row, *columns_.design,
             fmt::format("'{}' is not the design of this row's parameters, which is {}", printable(id),
                         short_id(space_, design)));
    }
    if (id.find('=') != std::string::npos) {
      try {
        return space_.parse_design(id);
      } catch (const Error& error) {
        refuse(row, *columns_.design, error.what());
      }
    }
    return asked_design(row, id);
  }

  /// By the beginning of its short id, among those that were asked for and those that the log has.
  [[nodiscard]] space::Design asked_design(std::size_t row, std::string id) const {
    std::transform(id.begin(), id.end(), id.begin(),
                   [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; });
    if (!space::is_short_id(id)) {
      refuse(row, *columns_.design,
             fmt::format("'{}' names no design: it needs 4 to 16 of the characters 0-9, a-f", printable(id)));
    }
    std::set<std::string> found;
    const auto look = [&](const std::string& text) {
      if (space::hash_id(content_hash(text)).starts_with(id)) found.insert(text);
    };
    for (const auto& [key, metrics] : asked_) look(key.first);
    for (const auto& [key, outcomes] : known_) look(key.first);
    if (found.size() > 1) refuse(row, *columns_.design, fmt::format("'{}' begins several designs", id));
    if (found.empty()) {
      refuse(row, *columns_.design, fmt::format("'{}' is no design that was asked for, and none of the log", id));
    }
    return space_.parse_design(*found.begin());
  }

  [[nodiscard]] std::string workload_of(std::size_t row) const {
    std::string name = request_.workload;
    std::vector<std::string> known;
    for (const auto& [one, id] : workloads_) known.push_back(one);
    if (name.empty() && columns_.workload) {
      name = table_.rows[row][*columns_.workload];
      if (!workloads_.contains(name)) {
        refuse(row, *columns_.workload,
               fmt::format("the log has no workload '{}'.{}", printable(name), did_you_mean(name, known)));
      }
      return name;
    }
    if (name.empty()) {
      std::set<std::string> asked;
      for (const auto& [key, metrics] : asked_) asked.insert(key.second);
      if (asked.size() == 1) return *asked.begin();
      if (known.size() == 1) return known.front();
      throw Error(ErrorKind::usage,
                  fmt::format("{}:1: no column 'workload', and the log has several: {}. Name one with "
                              "--workload. Nothing was told",
                              printable(table_.file.string(), 200), join(known, ", ")));
    }
    if (!workloads_.contains(name)) {
      throw Error(ErrorKind::usage,
                  fmt::format("{}: no workload '{}'.{}", shown_log(), printable(name), did_you_mean(name, known)));
    }
    return name;
  }

  /// Nothing: neither metrics nor a reason.
  [[nodiscard]] std::optional<Outcome> outcome_of(std::size_t row, const std::vector<std::string>& needed) const {
    Outcome outcome;
    const std::vector<std::string>& cells = table_.rows[row];
    if (columns_.reason && !trimmed(cells[*columns_.reason]).empty()) {
      outcome.reason = dataset::snake_case(cells[*columns_.reason]);
      if (outcome.reason.empty()) outcome.reason = kInfeasible;  // no letter that a word may have
    }
    const std::string flag = columns_.feasible ? cells[*columns_.feasible] : "";
    if (!flag.empty() && flag != "0" && flag != "1") {
      refuse(row, *columns_.feasible, fmt::format("feasible is '{}', which is neither 1 nor 0", printable(flag)));
    }
    outcome.feasible = flag.empty() ? outcome.reason.empty() : flag == "1";
    if (outcome.feasible && !outcome.reason.empty()) {
      refuse(row, *columns_.reason, "a reason, though feasible is 1. Leave one of the two out");
    }
    if (!outcome.feasible && outcome.reason.empty()) outcome.reason = kInfeasible;
    for (const auto& [column, name] : columns_.metrics) {
      if (cells[column].empty()) continue;
      const auto value = parse_double(cells[column]);
      if (!value) {
        refuse(row, column,
               fmt::format("{} is '{}', which is not a number. A design that failed has a reason instead", name,
                           printable(cells[column])));
      }
      const bool of_feasible = name == "latency_s" || name == "energy_j";
      if (outcome.feasible || !of_feasible) outcome.metrics[name] = *value;
    }
    if (outcome.feasible && outcome.metrics.empty() && flag.empty()) return std::nullopt;
    if (outcome.feasible) require_objective(row, outcome, needed);
    return outcome;
  }

  void require_objective(std::size_t row, const Outcome& outcome, const std::vector<std::string>& needed) const {
    for (const std::string& name : needed) {
      if (outcome.metrics.contains(name)) continue;
      refuse(row, 0, fmt::format("no {}, which a feasible design is compared by. Fill it in, or give a reason", name));
    }
    const auto latency = outcome.metrics.find("latency_s");
    if (latency != outcome.metrics.end() && latency->second <= 0) {
      refuse(row, 0, fmt::format("latency_s is {}, and must be above 0", shortest(latency->second)));
    }
  }

  [[nodiscard]] std::optional<log::EvaluationRow> read_row(std::size_t row, Told& told) {
    space::Design design = design_of(row);
    if (space_.is_constrained()) space_.settle(design.levels);
    if (const std::string broken = space_.broken_rule(design.levels); !broken.empty()) refuse(row, 0, broken);
    const std::string workload = workload_of(row);
    const std::string text = space_.text_id(design);
    const auto asked = asked_.find({text, workload});
    const std::optional<Outcome> outcome =
        outcome_of(row, asked == asked_.end() ? std::vector<std::string>() : asked->second);
    if (!outcome) {
      ++told.unanswered;
      return std::nullopt;
    }
    std::vector<Outcome>& known = known_[{text, workload}];
    if (std::find(known.begin(), known.end(), *outcome) != known.end()) {
      ++told.already_present;
      return std::nullopt;
    }
    if (!known.empty() && !request_.repeat) {
      refuse(row, 0,
             fmt::format("{} on {} was told before with other values. If it was measured again, add --repeat",
                         short_id(space_, design), printable(workload)));
    }
    told.unasked += known.empty() && asked == asked_.end() ? 1 : 0;
    log::EvaluationRow result{.workload_id = workloads_.at(workload),
                              .design_text_id = text,
                              .design_hash = space_.content_hash(design),
                              .feasible = outcome->feasible,
                              .metrics = {outcome->metrics.begin(), outcome->metrics.end()},
                              .repeat = std::ssize(known)};
    if (!outcome->feasible) {
      result.violations.push_back(
          {.code = outcome->reason,
           .value = std::nan(""),
           .limit = std::nan(""),
           .message = columns_.reason ? printable(table_.rows[row][*columns_.reason], 200) : ""});
    }
    known.push_back(*outcome);
    return result;
  }

  const TellRequest& request_;
  log::Log& log_;
  dataset::CsvTable table_;
  Expected expected_;
  space::DesignSpace space_;
  std::int64_t space_id_ = 0;
  std::vector<log::PendingDesign> pending_;
  std::string evaluator_;
  std::optional<std::int64_t> evaluator_id_;
  Columns columns_;
  std::map<std::string, std::int64_t> workloads_;
  /// By text id and workload, the metrics of the objective that it was asked for.
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> asked_;
  std::map<std::pair<std::string, std::string>, std::vector<Outcome>> known_;
};

}  // namespace

Told tell(const TellRequest& request) {
  log::Log log = log::Log::open(request.log, log::OpenMode::read_write);
  dataset::CsvTable table = dataset::read_csv(request.file);  // standard input may take its time: nothing is locked yet
  log::Transaction whole(log);  // what others tell meanwhile is seen before or after, never between
  Told told = Telling(request, log, std::move(table)).run();
  whole.commit();
  return told;
}

}  // namespace hindsight::study
