/// Names of a log for what a person wrote: metrics by their snake_case, the objective of an import.
#include "hindsight/study/log_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "hindsight/accel/evaluation.h"
#include "hindsight/core/ascii.h"
#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/json_bounds.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/csv_import.h"
#include "hindsight/dataset/objective.h"
#include "hindsight/evaluator/noisy.h"
#include "hindsight/log/asked.h"
#include "hindsight/log/query.h"
#include "hindsight/space/short_id.h"

namespace hindsight::study {
namespace {

const std::string kLatency = "latency_s";

/// Facts of a design by what people call them. A product that is an objective has words of its own
/// (dataset/objective.h): tables have columns of these names.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kFactWords = {
    {{"area", "area_mm2"}, {"peak_power", "peak_power_w"}}};

std::optional<std::string> metric_of_word(const std::string& word) {
  for (const auto& [name, metric] : kFactWords) {
    if (name == word) return std::string(metric);
  }
  return dataset::metric_of_short_name(word);
}

/// Objectives of imports and of what was told, by run. What another program wrote as options may be no JSON.
std::map<std::int64_t, std::string> imported_objectives(const log::Log& log) {
  std::map<std::int64_t, std::string> objectives;
  for (const log::RunInfo& run : log::recent_runs(log, std::numeric_limits<std::int32_t>::max())) {
    if (run.kind != to_string(log::RunKind::import) && run.kind != to_string(log::RunKind::tell)) continue;
    const auto options = nlohmann::json::parse(bounded_json(run.options_json), nullptr, false);
    if (!options.is_object()) continue;
    const auto metric = options.find("metric");  // logs of earlier versions have the column's name only
    const auto column = options.find("objective");
    if (metric != options.end() && metric->is_string()) {
      objectives[run.run_id] = metric->get<std::string>();
    } else if (column != options.end() && column->is_string()) {
      objectives[run.run_id] = dataset::snake_case(column->get<std::string>());
    }
  }
  return objectives;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == ':';
}

}  // namespace

std::string technology_of_evaluator(const std::string& name) {
  if (!name.starts_with(accel::kModelName)) return "";
  const std::string exact = evaluator::parse_evaluator_name(name).exact;
  const std::size_t space = exact.rfind(' ');
  return space == std::string::npos ? "" : exact.substr(space + 1);
}

std::string technology_of_verdict(const std::string& verdict_json) {
  const auto verdict = nlohmann::json::parse(bounded_json(verdict_json), nullptr, false);
  if (!verdict.is_object()) return "";
  const auto technology = verdict.find("technology");
  return technology != verdict.end() && technology->is_string() ? technology->get<std::string>() : "";
}

std::vector<std::string> technologies_of(const log::Log& log, const std::string& text_id) {
  std::vector<std::string> technologies;
  const auto add = [&](std::string name) {
    if (!name.empty() && std::ranges::find(technologies, name) == technologies.end())
      technologies.push_back(std::move(name));
  };
  const log::DesignHistory history = log::design_history(log, text_id);
  for (const std::string& evaluator : history.evaluators) add(technology_of_evaluator(evaluator));
  if (!technologies.empty()) return technologies;
  for (const std::string& verdict : history.verdicts) add(technology_of_verdict(verdict));
  if (!technologies.empty()) return technologies;
  for (const log::EvaluatorSummary& one : log::evaluators(log)) add(technology_of_evaluator(one.name));
  return technologies;
}

std::map<std::string, std::string> own_objectives(const log::Log& log) {
  const std::map<std::int64_t, std::string> imported = imported_objectives(log);
  std::map<std::string, std::set<std::string>> found;
  for (const log::WorkloadOrigin& origin : log::workload_origins(log)) {
    const auto import = imported.find(origin.run_id);
    std::set<std::string>& objectives = found[origin.workload];
    if (origin.has_latency) objectives.insert(kLatency);
    if (import != imported.end()) objectives.insert(import->second);
  }
  std::map<std::string, std::string> own;
  for (const auto& [workload, objectives] : found) {
    const bool clear = objectives.size() == 1 && !objectives.contains(kLatency);
    own[workload] = clear ? *objectives.begin() : kLatency;
  }
  return own;
}

std::string own_objective(const log::Log& log) {
  if (imported_objectives(log).empty()) return kLatency;  // which rows are whose changes nothing, and is long to ask
  std::set<std::string> objectives;
  for (const auto& [workload, metric] : own_objectives(log)) objectives.insert(metric);
  return objectives.size() == 1 ? *objectives.begin() : kLatency;
}

std::set<std::string> own_objectives_of(const log::Log& log, const log::EvaluationFilter& filter) {
  const std::map<std::int64_t, std::string> imported = imported_objectives(log);
  std::set<std::string> objectives;
  for (const log::WorkloadOrigin& origin : log::workload_origins(log, filter)) {
    const auto import = imported.find(origin.run_id);
    objectives.insert(origin.has_latency || import == imported.end() ? kLatency : import->second);
  }
  if (objectives.empty()) objectives.insert(kLatency);
  return objectives;
}

std::set<std::string> maximised_metrics(const log::Log& log) {
  std::map<std::string, bool> maximised;
  for (const log::AskRun& run : log::asks(log)) {
    const auto objective = dataset::parse_objective(run.objective, Direction::minimise);
    if (objective.factors.size() != 1) continue;
    maximised.try_emplace(objective.factors.front().metric, objective.factors.front().exponent < 0);
  }
  std::set<std::string> metrics;
  for (const auto& [metric, more_is_better] : maximised) {
    if (more_is_better) metrics.insert(metric);
  }
  return metrics;
}

std::string evaluator_of_rows(const log::Log& log, const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  std::set<std::string> names;
  for (const log::EvaluatorSummary& one : log::evaluators(log)) {
    if (one.evaluations > 0) names.insert(one.name);
  }
  if (names.size() > 1) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: rows of several evaluators ({}). Choose one with --evaluator",
                            printable(log.path().string(), 200), join(std::vector(names.begin(), names.end()), ", ")));
  }
  return names.empty() ? "" : *names.begin();
}

log::LoggedDesign design_of_id(const log::Log& log, const std::string& id) {
  const std::string digits = lower_case(id);
  if (!space::is_short_id(digits)) {
    throw Error(ErrorKind::usage,
                fmt::format("'{}' names no design: it needs 4 to 16 of the characters 0-9, a-f", printable(id)));
  }
  const std::vector<log::LoggedDesign> found = log::designs_by_hash(log, digits);
  const std::string shown = printable(log.path().string(), 200);
  if (found.empty()) throw Error(ErrorKind::usage, fmt::format("{}: no design begins with '{}'", shown, digits));
  // Spaces that have the same parameters share designs: the newest of them stands for all.
  std::vector<std::string> ids;
  for (const log::LoggedDesign& one : found) {
    const std::string whole = space::hash_id(content_hash(one.text_id));
    if (std::find(ids.begin(), ids.end(), whole) == ids.end()) ids.push_back(whole);
  }
  if (ids.size() > 1) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: '{}' begins several designs: {}. Write more of it", shown, digits, join(ids, ", ")));
  }
  return found.back();
}

std::string known_name(const std::string& word, const std::vector<std::string>& known) {
  const auto has = [&](const std::string& name) { return std::find(known.begin(), known.end(), name) != known.end(); };
  if (has(word)) return word;
  if (const std::string name = dataset::snake_case(word); has(name)) return name;
  const std::optional<std::string> metric = metric_of_word(word);
  return metric && has(*metric) ? *metric : word;
}

std::string known_objective(const std::string& text, const std::vector<std::string>& known) {
  if (dataset::metric_of_short_name(text)) return text;  // the objective knows it, and keeps the word
  constexpr std::string_view kOperators = "*/^";         // of a product that lacks a factor, which is no name
  const std::string_view bare = trimmed(text);
  const bool is_cut = !bare.empty() && (kOperators.find(bare.front()) != std::string_view::npos ||
                                        kOperators.find(bare.back()) != std::string_view::npos);
  if (const std::string whole = known_name(text, known); whole != text && !text.empty() && !is_cut) return whole;
  std::string result, word;
  const auto take_word = [&] {
    if (!word.empty()) result += dataset::metric_of_short_name(word) ? word : known_name(word, known);
    word.clear();
  };
  for (const char c : text) {
    if (is_word(c)) {
      word += c;
    } else {
      take_word();
      result += c;
    }
  }
  take_word();
  return result;
}

LearningWords with_log_names(const log::Log& log, const LearningWords& words) {
  const std::vector<std::string> known = log::metric_names(log);
  LearningWords result = words;
  if (result.objective.empty()) {
    const std::string own = own_objective(log);
    result.objective = own == kLatency ? "latency" : own;
  }
  result.objective = known_objective(result.objective, known);
  for (std::string& name : result.constraints) name = known_name(name, known);
  for (std::string& condition : result.where) {
    const std::size_t end = std::min(condition.find_first_of("<>=! "), condition.size());
    condition = known_name(condition.substr(0, end), known) + condition.substr(end);
  }
  return result;
}

}  // namespace hindsight::study
