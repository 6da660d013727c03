/// Kernel Tuner's caches (as it writes them while it tunes) and results in the T4 format.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <unordered_set>
#include <vector>

#include "dataset/import_readers.h"
#include "dataset/trial_table.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::dataset {
namespace {

constexpr const char* kCacheExpected = "a cache or results of Kernel Tuner";

/// Numbers of a configuration that are about the tuning, not the kernel.
constexpr std::array<std::string_view, 7> kBookkeeping = {"compile_time",  "verification_time", "benchmark_time",
                                                          "strategy_time", "framework_time",    "timestamp",
                                                          "overhead_time"};

/// What old releases write as the time of a configuration that failed.
constexpr double kOldFailure = 1e20;

struct Document {
  Json json;
  std::string remark;  ///< empty: the file is whole
};

/// The cache is written entry by entry, each with a comma behind it; only the end of the tuning closes it. A tool that
/// was killed leaves half an entry.
Document parsed(std::string_view text, const std::filesystem::path& file) {
  const auto tried = [&](std::string_view candidate) {
    std::optional<Json> json = try_json(candidate);
    if (json) require_names_once(candidate, {.file = file, .expected = kCacheExpected});
    return json;
  };
  if (std::optional<Json> whole = tried(text)) return {.json = std::move(*whole), .remark = {}};
  std::string_view kept = trimmed(text);
  const auto closed = [](std::string_view entries) {
    entries = trimmed(entries);
    if (entries.ends_with(',')) entries.remove_suffix(1);
    return std::string(entries) + "}}";
  };
  if (std::optional<Json> json = tried(closed(kept))) {
    return {.json = std::move(*json), .remark = "the cache is not closed: the tuning was not over"};
  }
  const std::size_t line = kept.rfind('\n');
  if (line != std::string_view::npos) {
    if (std::optional<Json> json = tried(closed(kept.substr(0, line)))) {
      return {.json = std::move(*json),
              .remark = "the cache is not closed, and its last line, half an entry, is left out"};
    }
  }
  return {.json = parse_json(text, file, kCacheExpected), .remark = {}};
}

bool is_failure(const Json& value) {
  const auto number = number_of(value);
  return !number || !std::isfinite(*number) || *number >= kOldFailure;
}

std::string failure_text(const Json& entry, const Json& value) {
  const std::string error = text_of(entry, "__error__");
  if (!error.empty()) return error;
  return value.is_string() ? value.get<std::string>() : "infeasible";
}

/// Names of the tuned parameters, in their order.
std::vector<std::string> parameter_names(const Json& document, const std::filesystem::path& file) {
  std::vector<std::string> names;
  for (const Json& name : value_of(document, "tune_params_keys")) {
    if (name.is_string()) names.push_back(name.get<std::string>());
  }
  if (names.empty()) {
    throw Error(ErrorKind::usage, fmt::format("{}: no names of parameters (expected: {}, with tune_params_keys)",
                                              printable(file.string(), 400), kCacheExpected));
  }
  return names;
}

std::string objective_of_cache(const Json& document, const ReadOptions& options) {
  if (!options.objective.empty()) return options.objective;
  const std::string stated = text_of(document, "objective");
  return stated.empty() ? "time" : stated;
}

ImportSource read_cache(const Json& document, const std::filesystem::path& file, const ReadOptions& options) {
  const std::vector<std::string> names = parameter_names(document, file);
  const std::unordered_set<std::string> parameters(names.begin(), names.end());
  const std::string objective = objective_of_cache(document, options);
  TrialTable rows(file, "configuration");
  std::size_t number = 0;
  bool any_objective = false;
  std::set<std::string> metrics;  // that some configuration has
  const Json& cache = value_of(document, "cache");
  for (const auto& [key, entry] : cache.items()) {
    ++number;
    if (!entry.is_object()) {
      throw Error(ErrorKind::usage, fmt::format("{}: configuration '{}' is no object (expected: {})",
                                                printable(file.string(), 400), printable(key), kCacheExpected));
    }
    DesignCells cells;
    for (const std::string& name : names) cells.emplace_back(name, cell_of(value_of(entry, name)));
    StatedOutcome outcome;
    const Json& value = value_of(entry, objective);
    any_objective = any_objective || !value.is_null();
    outcome.feasible = !is_failure(value);
    if (!outcome.feasible) outcome.violations.push_back(plain_violation(failure_text(entry, value)));
    for (const auto& [metric, number_json] : entry.items()) {
      const auto metric_value = number_of(number_json);
      const bool parameter = parameters.contains(metric);
      const bool bookkeeping = std::find(kBookkeeping.begin(), kBookkeeping.end(), metric) != kBookkeeping.end();
      if (parameter || bookkeeping || !metric_value || !number_json.is_number()) continue;
      metrics.insert(metric);
      if (outcome.feasible) {
        outcome.metrics.emplace_back(snake_case(metric), *metric_value);
      }
    }
    rows.add(number, cells, std::move(outcome));
  }
  if (number > 0 && !any_objective) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: no configuration has '{}'. Name what was tuned for by --objective.{}",
                            printable(file.string(), 150), printable(objective),
                            did_you_mean(objective, std::vector(metrics.begin(), metrics.end()))));
  }
  return rows.take("Kernel Tuner cache", "kernel tuner import", snake_case(objective));
}

/// One result of the T4 format.
StatedOutcome result_outcome(const Json& result, const std::string& objective) {
  StatedOutcome outcome;
  const std::string invalidity = text_of(result, "invalidity");
  for (const Json& measured : value_of(result, "measurements")) {
    const auto value = number_of(value_of(measured, "value"));
    const std::string name = text_of(measured, "name");
    if (value && !is_failure(value_of(measured, "value"))) {
      outcome.metrics.emplace_back(snake_case(name), *value);
    } else if (name == objective && invalidity == "correct") {
      outcome.violations.push_back(plain_violation(failure_text(result, value_of(measured, "value"))));
    }
  }
  const bool has_objective = std::any_of(outcome.metrics.begin(), outcome.metrics.end(),
                                         [&](const auto& metric) { return metric.first == snake_case(objective); });
  if (invalidity != "correct" && !invalidity.empty()) {
    outcome.violations.push_back(plain_violation(invalidity));
  } else if (!has_objective && outcome.violations.empty()) {
    outcome.violations.push_back(plain_violation("infeasible"));
  }
  outcome.feasible = outcome.violations.empty();
  if (!outcome.feasible) outcome.metrics.clear();
  return outcome;
}

ImportSource read_results(const Json& document, const std::filesystem::path& file, const ReadOptions& options) {
  TrialTable rows(file, "result");
  std::string objective = options.objective;
  std::size_t number = 0;
  for (const Json& result : value_of(document, "results")) {
    ++number;
    const Json& objectives = value_of(result, "objectives");
    if (objective.empty() && objectives.is_array() && !objectives.empty() && objectives[0].is_string()) {
      objective = objectives[0].get<std::string>();
    }
    DesignCells cells;
    const Json& configuration = value_of(result, "configuration");
    for (const auto& [name, value] : configuration.items()) cells.emplace_back(name, cell_of(value));
    rows.add(number, cells, result_outcome(result, objective.empty() ? "time" : objective));
  }
  return rows.take("Kernel Tuner results (T4)", "kernel tuner import",
                   snake_case(objective.empty() ? "time" : objective));
}

}  // namespace

bool looks_like_kernel_tuner(std::string_view text) {
  constexpr std::size_t kHead = 1U << 20U;  // [chosen] what stands before the entries is far smaller
  const std::string_view head = text.substr(0, kHead);
  const bool cache = head.find("\"tune_params_keys\"") != std::string_view::npos;
  const bool results = head.find("\"results\"") != std::string_view::npos &&
                       head.find("\"configuration\"") != std::string_view::npos &&
                       head.find("\"invalidity\"") != std::string_view::npos;
  return text.starts_with('{') && (cache || results);
}

ImportSource read_kernel_tuner(std::string_view text, const std::filesystem::path& file, const ReadOptions& options) {
  Document document = parsed(text, file);
  const bool results = value_of(document.json, "results").is_array();
  if (!results && !value_of(document.json, "cache").is_object()) {
    throw Error(ErrorKind::usage, fmt::format("{}: has neither \"cache\" nor \"results\" (expected: {})",
                                              printable(file.string(), 400), kCacheExpected));
  }
  ImportSource source = results ? read_results(document.json, file, options) : read_cache(document.json, file, options);
  if (!document.remark.empty()) source.remarks.push_back(std::move(document.remark));
  return source;
}

}  // namespace hindsight::dataset
