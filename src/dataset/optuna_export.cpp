/// Evaluations to trials.
#include "hindsight/dataset/optuna_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "dataset/optuna_attributes.h"
#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/stored_space.h"
#include "hindsight/log/optuna_file.h"
#include "hindsight/log/row_names.h"

namespace hindsight::dataset {
namespace {

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::string number_text(double value) { return std::isnan(value) ? "not known" : shortest(value); }

/// Parameters of a space as Optuna has them, and which choice a value is.
class Choices {
 public:
  explicit Choices(const space::DesignSpace& space) {
    for (const space::Parameter& parameter : space.parameters()) {
      log::OptunaParameter choices{.name = parameter.name, .choices_json = {}};
      std::unordered_map<std::string, std::size_t>& index = index_.emplace_back();
      for (const std::string& label : parameter.labels) {
        index.emplace(label, choices.choices_json.size());
        choices.choices_json.push_back(parameter.kind == space::ParameterKind::ordinal ? label : json_text(label));
      }
      parameters_.push_back(std::move(choices));
    }
  }
  [[nodiscard]] const std::vector<log::OptunaParameter>& parameters() const { return parameters_; }
  /// Of 'a=1,b=2'. Error{incompatible} for a value that the space does not have.
  [[nodiscard]] std::vector<std::size_t> of(const std::string& text_id, const std::filesystem::path& file) const {
    std::vector<std::size_t> choices;
    const std::vector<std::string> pieces = split(text_id, ',');
    for (std::size_t i = 0; i < parameters_.size() && i < pieces.size(); ++i) {
      const auto found = index_[i].find(pieces[i].substr(std::min(pieces[i].find('=') + 1, pieces[i].size())));
      if (found != index_[i].end()) choices.push_back(found->second);
    }
    if (choices.size() == parameters_.size() && pieces.size() == parameters_.size()) return choices;
    throw Error(
        ErrorKind::incompatible,
        fmt::format("{}: damaged log: {} is no design of its space. `hindsight log verify {}` lists what is wrong.",
                    printable(file.string(), 120), printable(text_id), pasted_path(file.string())));
  }

 private:
  std::vector<log::OptunaParameter> parameters_;
  std::vector<std::unordered_map<std::string, std::size_t>> index_;
};

std::optional<double> metric_of(const log::EvaluationRecord& row, const std::string& metric) {
  const std::vector<std::string>& standard = log::standard_metrics();
  for (std::size_t i = 0; i < standard.size(); ++i) {
    if (standard[i] == metric && !std::isnan(row.standard[i])) return row.standard[i];
  }
  for (const auto& [name, value] : row.other_metrics) {
    if (name == metric) return value;
  }
  return std::nullopt;
}

/// All of the reasons, as an import takes them.
std::string reasons_json(const std::vector<log::ViolationRow>& violations) {
  nlohmann::ordered_json reasons = nlohmann::ordered_json::array();
  const auto number = [](double value) {
    return std::isnan(value) ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
  };
  for (const log::ViolationRow& one : violations) {
    reasons.push_back({{"code", one.code},
                       {"quantity", one.quantity},
                       {"value", number(one.value)},
                       {"limit", number(one.limit)},
                       {"nearest_passing", number(one.nearest_passing.value_or(std::nan("")))},
                       {"layer", one.layer},
                       {"message", one.message}});
  }
  return reasons.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::vector<std::pair<std::string, std::string>> attributes_of(const log::EvaluationRecord& row) {
  std::vector<std::pair<std::string, std::string>> attributes{{kOwnDesign, json_text(row.design_text_id)}};
  if (row.repeat > 0) attributes.emplace_back(kOwnRepeat, std::to_string(row.repeat));
  for (std::size_t i = 0; i < row.standard.size(); ++i) {
    if (!std::isnan(row.standard[i])) attributes.emplace_back(log::standard_metrics()[i], shortest(row.standard[i]));
  }
  for (const auto& [name, value] : row.other_metrics) attributes.emplace_back("metric " + name, shortest(value));
  std::vector<std::string> reasons;
  for (const log::ViolationRow& reason : row.violations) {
    reasons.push_back(reason.quantity.empty() && std::isnan(reason.value)
                          ? reason.code
                          : fmt::format("{}: {} {}, limit {}", reason.code, reason.quantity, number_text(reason.value),
                                        number_text(reason.limit)));
  }
  if (!reasons.empty()) attributes.emplace_back("reasons", json_text(join(reasons, "; ")));
  if (!row.violations.empty()) attributes.emplace_back(kOwnReasons, reasons_json(row.violations));
  return attributes;
}

/// What an import needs besides the trials for the same rows in a log: definitions of workload, evaluator and space.
class Definitions {
 public:
  Definitions(const log::Log& log, const space::DesignSpace& space, const std::string& metric)
      : workloads_(log::workloads(log)), evaluators_(log::evaluators(log)), space_(space), metric_(metric) {}

  [[nodiscard]] std::string json_of(const log::EvaluationRecord& row) const {
    nlohmann::ordered_json json{{"format", 1}, {"metric", metric_}};
    for (const log::WorkloadRecord& one : workloads_) {
      if (one.workload_id != row.workload_id) continue;
      json["workload"] = {{"name", one.name},
                          {"batch", one.batch},
                          {"definition", one.definition},
                          {"layers_json", one.layers_json},
                          {"context_version", one.context_version}};
      json["workload"]["context"] = nlohmann::ordered_json::array();
      for (const auto& [name, value] : one.context) json["workload"]["context"].push_back({name, value});
    }
    for (const log::EvaluatorSummary& one : evaluators_) {
      if (one.evaluator_id == row.evaluator_id)
        json["evaluator"] = {{"name", one.name}, {"definition", one.definition}};
    }
    json["space"] = {{"name", space_.name()}, {"definition", space_.canonical_definition()}};
    return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  }

 private:
  std::vector<log::WorkloadRecord> workloads_;
  std::vector<log::EvaluatorSummary> evaluators_;
  const space::DesignSpace& space_;
  const std::string& metric_;
};

std::string study_name(const log::RowNames& names, const log::EvaluationRecord& row) {
  const std::string& workload = names.workload(row.workload_id);
  if (names.evaluators() < 2) return workload;
  return fmt::format("{}, {} ({})", workload, names.evaluator(row.evaluator_id), row.evaluator_id);
}

}  // namespace

OptunaExport export_optuna(const log::Log& log, const log::EvaluationFilter& filter, const std::string& metric,
                           Direction direction, const std::filesystem::path& file) {
  const log::Snapshot snapshot(log);
  const space::DesignSpace space = stored_space(log, filter.space);
  log::EvaluationFilter selected = filter;
  selected.space = space.name();
  const std::vector<std::string> known = log::metric_names(log);
  if (std::find(known.begin(), known.end(), metric) == known.end()) {
    throw Error(ErrorKind::usage, fmt::format("{}: has no metric '{}'.{}", printable(log.path().string(), 200),
                                              printable(metric), did_you_mean(metric, log::metrics_with_values(log))));
  }
  const Choices choices(space);
  const log::RowNames names(log);
  const Definitions definitions(log, space, metric);
  log::OptunaFile out(file);
  OptunaExport result;
  std::map<std::string, std::int64_t> studies;
  log::for_each_evaluation(log, selected, log::Detail::all, [&](const log::EvaluationRecord& row) {
    const std::string name = study_name(names, row);
    if (!studies.contains(name)) {
      studies[name] = out.add_study(name, direction, {{kOwnAttribute, definitions.json_of(row)}});
    }
    log::OptunaTrial trial{.choices = choices.of(row.design_text_id, log.path()),
                           .value = row.feasible ? metric_of(row, metric) : std::nullopt,
                           .started_at = names.run_started_at(row.run_id),
                           .attributes_json = attributes_of(row)};
    out.add_trial(studies[name], choices.parameters(), trial);
    ++result.trials;
    result.failed += trial.value ? 0 : 1;
    return !interrupt_requested();
  });
  const std::string shown = printable(log.path().string(), 200);
  if (interrupt_requested()) {
    throw Error(ErrorKind::interrupted, fmt::format("{}: interrupted while exporting; nothing was written.", shown));
  }
  if (result.failed == result.trials) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: no selected row is feasible and has {} (a study needs values). `hindsight log stats "
                            "{}` says what it holds; --metric names another.",
                            shown, printable(metric), pasted_path(log.path().string())));
  }
  result.studies = studies.size();
  out.publish();
  return result;
}

}  // namespace hindsight::dataset
