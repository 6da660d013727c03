/// The rules of option values, and the names that installation, space and log have for them.
#include "option_values.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "command_tree.h"
#include "design_argument.h"
#include "hindsight/accel/metrics.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/gpu/spec.h"
#include "hindsight/log/query.h"
#include "shipped_models.h"

namespace hindsight::app {
namespace {

constexpr std::size_t kNewestRuns = 30;  // [chosen] as many as one looks through

/// A verb's own rules stand before those of all verbs. Long: a table, which the rule takes for a function.
constexpr auto kRules = std::to_array<ValueRule>({
    {"completion", "shell", Takes::words, "bash zsh fish"},
    {"config show", "verb", Takes::verbs},
    {"", "color", Takes::words, "auto always never"},
    {"log", "workload", Takes::logged},
    {"log", "space", Takes::logged_spaces},
    {"log", "run", Takes::runs},
    {"log", "pareto", Takes::metrics, "", true},
    {"log", "metric", Takes::metrics},
    {"log export", "format", Takes::words, "csv jsonl optuna"},
    {"log import", "format", Takes::words, "csv tsv semicolon jsonl optuna"},
    {"log import", "duplicates", Takes::words, "error first last best keep"},
    {"log import", "pruned", Takes::words, "infeasible skip last"},
    {"log merge", "duplicates", Takes::words, "error first"},
    {"train", "workloads", Takes::logged, "", true},
    {"backtest", "workloads", Takes::logged, "", true},
    {"train", "method", Takes::words, "prime coms supervised margins layers"},
    {"train", "split", Takes::words, "worst_for_training random"},
    {"train", "hold-out", Takes::logged, "", true},
    {"train", "device", Takes::words, "auto cpu cuda"},
    {"train", "constraint", Takes::metrics},
    {"train", "runs", Takes::runs, "", true},
    {"train", "set", Takes::words},
    {"backtest", "constraint", Takes::metrics},
    {"backtest", "runs", Takes::runs, "", true},
    {"backtest", "methods", Takes::recipes, "prime coms supervised margins layers", true},
    {"backtest", "set", Takes::words},
    {"model score", "workloads", Takes::logged, "", true},
    {"model calibrate", "workloads", Takes::logged, "", true},
    {"optimum", "device", Takes::words, "cpu cuda"},
    {"optimum", "aggregate", Takes::words, "mean worst geomean weighted"},
    {"propose", "aggregate", Takes::words, "mean worst geomean weighted"},
    {"propose", "pareto", Takes::words, "latency energy area_mm2", true},
    {"optimum", "pareto", Takes::words, "latency energy area_mm2 peak_power_w", true},
    {"search", "method", Takes::words, "evolutionary bayesian firefly random"},
    {"space sample", "sampler", Takes::words, "uniform lhs sobol grid"},
    {"sweep", "sampler", Takes::words, "uniform lhs sobol grid around trajectory"},
    {"bench w50", "methods", Takes::recipes, "default forest best_in_log prime coms supervised margins", true},
    {"bench offline", "methods", Takes::recipes,
     "best_in_log default prime coms supervised margins layers evolutionary bayesian firefly random", true},
    {"bench w50", "set", Takes::words},
    {"bench offline", "tasks", Takes::words, "single multi zero_shot", true},
    {"bench offline", "set", Takes::words},
    {"bench optima", "task", Takes::words, "single multi zero_shot"},
    {"bench", "out", Takes::files},
    {"gemm", "format", Takes::words, "csv json"},
    {"workload import", "format", Takes::words, "onnx"},
    {"measure gemm", "dtype", Takes::words, "fp32 tf32 fp16 bf16 fp8 int8", true},
    {"measure gemm", "mode", Takes::words, "burst sustained", true},
    {"measure gemm", "kernel", Takes::words, "cublaslt tiled", true},
    {"measure gemm", "shapes", Takes::files, "grid sustained"},
    {"check", "proposals", Takes::runs, "latest"},
    {"calibrate", "operands", Takes::words, "random recorded"},
    {"", "operands", Takes::words, "recorded random"},
    {"", "launch", Takes::words, "recorded kernel"},
    {"", "attention", Takes::words, "fused gemms"},
    {"", "dtype", Takes::words, "fp32 tf32 fp16 bf16 fp8 int8 fp4"},
    {"", "quantise", Takes::words, "none dynamic static block"},
    {"", "layout", Takes::words, "nn nt tn tt"},
    {"", "mode", Takes::words, "burst sustained"},
    {"", "search", Takes::words, "mixed exact evolutionary firefly local"},
    {"", "risk", Takes::words, "safe balanced bold"},
    {"", "aggregate", Takes::words, "geomean mean worst"},
    {"", "evaluator-faults", Takes::words, "auto stop record"},
    {"", "keep", Takes::words, "worst: random:"},
    {"", "workloads", Takes::workloads, "", true},
    {"", "workload", Takes::workloads},
    {"", "gpus", Takes::gpus, "all", true},
    {"", "gpu", Takes::gpus},
    {"", "space", Takes::spaces},
    {"", "model", Takes::models},
    {"", "from", Takes::models},
    {"", "recipe", Takes::recipes},
    {"", "technology", Takes::technologies},
    {"", "design", Takes::chips},
    {"", "around", Takes::chips, "nearest:"},
    {"", "max", Takes::limits},
    {"", "min", Takes::parameters},
    {"", "set", Takes::parameters},
    {"", "objective", Takes::metrics},
    {"", "evaluator", Takes::evaluators},
    {"", "log", Takes::files},
    {"", "logs", Takes::files},
    {"", "out", Takes::files},
    {"", "csv", Takes::files},
    {"", "file", Takes::files},
    {"", "sheet", Takes::files},
    {"", "results", Takes::files},
    {"", "landscape", Takes::files},
    {"", "calibration", Takes::files, "", true},
    {"", "residual", Takes::files, "", true},
    {"", "measurements", Takes::files},
    {"", "compare", Takes::files},
    {"", "DESIGNS", Takes::files},
    {"", "PROPOSALS", Takes::files},
});

using Names = std::vector<std::string>;

void append(Names& names, const Names& more) { names.insert(names.end(), more.begin(), more.end()); }

std::string given_value(const std::map<std::string, std::string>& given, const std::string& option) {
  const auto found = given.find(option);
  return found == given.end() ? std::string{} : found->second;
}

/// A home folder is still a "~" when the shell asks.
std::string expanded(const std::string& file) {
  const char* home = std::getenv("HOME");
  return file.starts_with("~/") && home != nullptr ? home + file.substr(1) : file;
}

Names logged_names(Takes takes, const std::map<std::string, std::string>& given) {
  const std::string file = expanded(given_value(given, "log"));
  if (file.empty() || !std::filesystem::is_regular_file(file)) return {};
  const log::Log log = log::Log::open(file, log::OpenMode::read_only);
  Names names;
  if (takes == Takes::logged) {
    for (const log::WorkloadRecord& workload : log::workloads(log)) names.push_back(workload.name);
  } else if (takes == Takes::logged_spaces) {
    for (const log::SpaceSummary& space : log::spaces(log)) names.push_back(space.name);
  } else if (takes == Takes::evaluators) {
    for (const log::EvaluatorSummary& evaluator : log::evaluators(log)) names.push_back(evaluator.name);
  } else if (takes == Takes::metrics) {
    names = log::metric_names(log);
  } else {
    for (const log::RunInfo& run : log::recent_runs(log, kNewestRuns)) names.push_back(std::to_string(run.run_id));
  }
  return names;
}

Names parameter_names(const std::map<std::string, std::string>& given) {
  const std::string named = given_value(given, "space");
  Names names;
  const space::DesignSpace space = space::load_space(named.empty() ? kDefaultSpace : expanded(named));
  for (const space::Parameter& parameter : space.parameters()) names.push_back(parameter.name + "=");
  return names;
}

Names names_of(Takes takes, const std::map<std::string, std::string>& given) {
  switch (takes) {
    case Takes::words:
    case Takes::files:
    case Takes::verbs:
      return {};
    case Takes::workloads: {
      Names names{"prime9", "all", "zoo", "synthetic:"};
      append(names, list_data_files("data/workloads"));
      return names;
    }
    case Takes::gpus:
      return gpu::gpu_names();
    case Takes::spaces:
      return list_data_files("configs/spaces");
    case Takes::models:
      return shipped_models();
    case Takes::recipes:
      return list_data_files("configs/training");
    case Takes::technologies:
      return list_data_files("data/technology");
    case Takes::chips:
      return list_data_files("configs/designs");
    case Takes::limits: {
      Names names;
      for (const std::string& metric : accel::metric_names()) names.push_back(metric + "=");
      append(names, parameter_names(given));
      return names;
    }
    case Takes::parameters:
      return parameter_names(given);
    case Takes::metrics: {
      const Names logged = logged_names(takes, given);
      return logged.empty() ? accel::metric_names() : logged;
    }
    case Takes::logged:
    case Takes::logged_spaces:
    case Takes::runs:
    case Takes::evaluators:
      return logged_names(takes, given);
  }
  return {};
}

}  // namespace

std::span<const ValueRule> value_rules() { return kRules; }

bool applies(const ValueRule& rule, const CLI::App& verb, const CLI::Option& option) {
  const std::string path = verb_path(verb);
  const std::string group = std::string(rule.verb) + " ";
  if (!rule.verb.empty() && path != rule.verb && !path.starts_with(group)) return false;
  return option.check_lname(std::string(rule.option)) || option.get_name(true) == rule.option ||
         (option.get_positional() && option.get_single_name() == rule.option);
}

const ValueRule* value_rule(const CLI::App& verb, const CLI::Option& option) {
  const auto* found =
      std::find_if(kRules.begin(), kRules.end(), [&](const ValueRule& rule) { return applies(rule, verb, option); });
  return found == kRules.end() ? nullptr : found;
}

std::vector<std::string> offered_values(const ValueRule& rule, const std::map<std::string, std::string>& given) {
  Names names;
  if (!rule.words.empty()) names = split(rule.words, ' ');
  append(names, names_of(rule.takes, given));
  Names once;
  for (const std::string& name : names) {
    if (std::find(once.begin(), once.end(), name) == once.end()) once.push_back(name);
  }
  return once;
}

}  // namespace hindsight::app
