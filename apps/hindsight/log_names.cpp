#include "log_names.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "hindsight/core/text.h"
#include "hindsight/dataset/csv_import.h"
#include "hindsight/log/query.h"

namespace hindsight::app {
namespace {

const std::string kLatency = "latency_s";

/// Objectives of the imports, by metric. What another program wrote as options may be no JSON.
std::set<std::string> imported_objectives(const log::Log& log) {
  std::set<std::string> objectives;
  for (const log::RunInfo& run : log::recent_runs(log, std::numeric_limits<std::int32_t>::max())) {
    if (run.kind != "import") continue;
    const auto options = nlohmann::json::parse(run.options_json, nullptr, false);
    if (!options.is_object()) continue;
    const auto metric = options.find("metric");  // logs of earlier versions have the column's name only
    const auto column = options.find("objective");
    if (metric != options.end() && metric->is_string()) {
      objectives.insert(metric->get<std::string>());
    } else if (column != options.end() && column->is_string()) {
      objectives.insert(dataset::snake_case(column->get<std::string>()));
    }
  }
  return objectives;
}

bool has_latency(const log::Log& log) {
  const auto& standard = log::standard_metrics();
  const auto position =
      static_cast<std::size_t>(std::find(standard.begin(), standard.end(), kLatency) - standard.begin());
  bool found = false;
  log::for_each_evaluation(log, {.feasible = true}, log::Detail::columns, [&](const log::EvaluationRecord& record) {
    found = position < record.standard.size() && !std::isnan(record.standard[position]);
    return !found;
  });
  return found;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == ':';
}

}  // namespace

std::string own_objective(const log::Log& log) {
  const std::set<std::string> objectives = imported_objectives(log);
  if (objectives.size() != 1 || has_latency(log)) return kLatency;
  return *objectives.begin();
}

std::string known_name(const std::string& word, const std::vector<std::string>& known) {
  const auto has = [&](const std::string& name) { return std::find(known.begin(), known.end(), name) != known.end(); };
  if (has(word)) return word;
  const std::string name = dataset::snake_case(word);
  return has(name) ? name : word;
}

std::string known_objective(const std::string& text, const std::vector<std::string>& known) {
  if (const std::string whole = known_name(text, known); whole != text && !text.empty()) return whole;
  std::string result, word;
  const auto take_word = [&] {
    if (!word.empty()) result += known_name(word, known);
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

}  // namespace hindsight::app
