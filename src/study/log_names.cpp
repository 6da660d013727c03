/// Names of a log for what a person wrote: metrics by their snake_case, the objective of an import.
#include "hindsight/study/log_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
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
#include "hindsight/core/shell.h"
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

/// The metrics that an objective is a product of; none for what another program wrote.
std::vector<std::string> metrics_of(const std::string& objective) {
  try {
    return dataset::objective_metrics(objective);
  } catch (const Error&) {
    return {};
  }
}

bool is_product(const std::string& objective) { return metrics_of(objective).size() > 1; }

/// The metric that an objective is; nothing for a product.
std::optional<std::string> single_metric(const std::string& objective) {
  const std::vector<std::string> metrics = metrics_of(objective);
  return metrics.size() == 1 ? std::optional(metrics.front()) : std::nullopt;
}

/// Options of a run; no object where another program wrote them.
nlohmann::json options_of(const log::RunInfo& run) {
  return nlohmann::json::parse(bounded_json(run.options_json), nullptr, false);
}

/// Whether a run evaluated what its options name an objective for.
bool searches(const log::RunInfo& run) {
  using log::RunKind;
  const auto is = [&](RunKind kind) { return run.kind == to_string(kind); };
  return is(RunKind::campaign) || is(RunKind::search) || is(RunKind::sweep);
}

/// What the rows of a run are compared by, where it is one metric.
std::optional<std::string> objective_of_run(const log::RunInfo& run) {
  using log::RunKind;
  const auto is = [&](RunKind kind) { return run.kind == to_string(kind); };
  const bool table = is(RunKind::import) || is(RunKind::tell);
  if (!table && !searches(run)) return std::nullopt;
  const nlohmann::json options = options_of(run);
  if (!options.is_object()) return std::nullopt;
  const auto objective = options.find("objective");
  if (table) {
    const auto metric = options.find("metric");  // logs of earlier versions have the column's name only
    if (metric != options.end() && metric->is_string()) return metric->get<std::string>();
  }
  if (objective == options.end() || !objective->is_string()) return std::nullopt;
  return table ? dataset::snake_case(objective->get<std::string>()) : single_metric(objective->get<std::string>());
}

/// Metrics that no column is for: those of the log's own rows.
std::vector<std::string> further_metrics(const log::Log& log) {
  std::vector<std::string> names = log::metric_names(log);
  const std::vector<std::string>& standard = log::standard_metrics();
  std::erase_if(names, [&](const std::string& name) { return std::ranges::find(standard, name) != standard.end(); });
  return names;
}

/// Runs that evaluate what another command asked for, which is not said of their rows, and runs for a product, which is
/// no metric that rows could be compared by.
bool is_for_no_metric(const log::RunInfo& run) {
  using log::RunKind;
  if (run.kind == to_string(RunKind::propose) || run.kind == to_string(RunKind::worker)) return true;
  if (!searches(run)) return false;
  const nlohmann::json options = options_of(run);
  const auto objective = options.find("objective");  // of a plain sweep none
  return objective != options.end() && objective->is_string() && is_product(objective->get<std::string>());
}

using Origins = std::vector<log::WorkloadOrigin>;  // of one workload, the newest run last

std::map<std::string, Origins> origins_by_workload(const log::Log& log, const log::EvaluationFilter& filter) {
  std::map<std::string, Origins> by_workload;
  for (log::WorkloadOrigin& origin : log::workload_origins(log, filter)) {
    by_workload[origin.workload].push_back(std::move(origin));
  }
  return by_workload;
}

/// What the runs of a log say that its rows are compared by.
class LoggedObjectives {
 public:
  explicit LoggedObjectives(const log::Log& log) : further_(further_metrics(log)) {
    for (const log::RunInfo& run : log::recent_runs(log, std::numeric_limits<std::int32_t>::max())) {
      if (auto metric = objective_of_run(run)) by_run_[run.run_id] = std::move(*metric);
      if (is_for_no_metric(run)) unheard_.insert(run.run_id);
    }
    for (const log::AskRun& run : log::asks(log)) {
      if (!asked_) asked_ = single_metric(run.objective);  // the newest is first
    }
  }
  /// No row is compared by anything but latency_s.
  [[nodiscard]] bool all_latency() const {
    const auto other = [](const auto& run) { return run.second != kLatency; };
    return std::ranges::none_of(by_run_, other) && rest() == kLatency;
  }
  /// Of a run that wrote rows; nothing where its options name no metric.
  [[nodiscard]] std::optional<std::string> of(std::int64_t run_id) const {
    const auto found = by_run_.find(run_id);
    return found == by_run_.end() ? std::nullopt : std::optional(found->second);
  }
  /// Where no run says: what was asked for last, else the only metric that the log has of its own.
  [[nodiscard]] std::string rest() const { return asked_.value_or(further_.size() == 1 ? further_.front() : kLatency); }
  /// Metrics that no column is for.
  [[nodiscard]] const std::vector<std::string>& further() const { return further_; }
  /// The rule: see own_objectives().
  [[nodiscard]] OwnObjective of(const Origins& origins) const {
    OwnObjective own;
    bool has_latency = false, for_latency = false;
    for (const log::WorkloadOrigin& origin : origins) {
      const std::optional<std::string> metric = of(origin.run_id);
      const bool other = metric && *metric != kLatency;
      has_latency = has_latency || origin.has_latency;
      for_latency = for_latency || (origin.has_latency && !other && !unheard_.contains(origin.run_id));
      if (!other) continue;
      own.metric = *metric;
      own.others.insert(*metric);
    }
    if (has_latency && (for_latency || own.metric.empty())) own.metric = kLatency;
    if (own.metric.empty()) own.metric = rest();
    own.others.erase(own.metric);
    return own;
  }

 private:
  std::map<std::int64_t, std::string> by_run_;
  std::set<std::int64_t> unheard_;
  std::optional<std::string> asked_;
  std::vector<std::string> further_;
};

bool any_latency(const Origins& origins) {
  return std::ranges::any_of(origins, [](const log::WorkloadOrigin& one) { return one.has_latency; });
}

/// Which way metrics are better, as objectives say that are one metric; who is heard first has the last word.
class StatedDirections {
 public:
  void hear(const std::string& objective, Direction direction) {
    try {
      const dataset::Objective product = dataset::parse_objective(objective, direction);
      if (product.factors.size() != 1) return;
      more_is_better_.try_emplace(product.factors.front().metric, product.factors.front().exponent < 0);
    } catch (const Error&) {
      return;  // a log of another program may name what we do not read
    }
  }
  void hear(const log::RunInfo& run) {
    using log::RunKind;
    const auto is = [&](RunKind kind) { return run.kind == to_string(kind); };
    const bool learns = is(RunKind::train);
    if (learns && run.status == to_string(log::RunStatus::failed)) return;  // it may have been stopped for that
    const bool compares = learns || is(RunKind::campaign) || is(RunKind::search) || is(RunKind::sweep);
    if (!compares && !is(RunKind::import)) return;
    const nlohmann::json options = options_of(run);
    if (!options.is_object()) return;
    if (compares) {
      const auto objective = options.find("objective"), maximise = options.find("maximise");
      if (objective == options.end() || !objective->is_string()) return;
      const bool more = learns && maximise != options.end() && *maximise == true;
      return hear(objective->get<std::string>(), more ? Direction::maximise : Direction::minimise);
    }
    const auto stated = options.find("maximised");
    if (stated == options.end() || !stated->is_array()) return;
    for (const nlohmann::json& metric : *stated) {
      if (metric.is_string()) more_is_better_.try_emplace(metric.get<std::string>(), true);
    }
  }
  [[nodiscard]] std::set<std::string> maximised() const {
    std::set<std::string> metrics;
    for (const auto& [metric, more] : more_is_better_) {
      if (more) metrics.insert(metric);
    }
    return metrics;
  }

 private:
  std::map<std::string, bool> more_is_better_;
};

constexpr std::string_view kOperators = "*/^";

bool is_signed(std::string_view word) {
  const std::string_view bare = trimmed(word);
  return !bare.empty() && (bare.front() == '-' || bare.front() == '+');
}

bool begins_with_operator(std::string_view word) {
  const std::string_view bare = trimmed(word);
  return is_signed(bare) || (!bare.empty() && kOperators.find(bare.front()) != std::string_view::npos);
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

std::map<std::string, OwnObjective> own_objectives(const log::Log& log, const log::EvaluationFilter& filter) {
  const LoggedObjectives logged(log);
  std::map<std::string, OwnObjective> own;
  for (const auto& [workload, origins] : origins_by_workload(log, filter)) own[workload] = logged.of(origins);
  return own;
}

CommonObjective common_objective(const log::Log& log, const std::vector<std::string>& workloads) {
  const LoggedObjectives logged(log);
  // Which rows are whose changes nothing then, and is long to ask.
  if (logged.all_latency() && logged.further().size() < 2) return {.metric = kLatency};
  CommonObjective common;
  bool has_latency = false;
  for (const auto& [workload, origins] : origins_by_workload(log, {})) {
    if (!workloads.empty() && std::ranges::find(workloads, workload) == workloads.end()) continue;
    has_latency = has_latency || any_latency(origins);
    OwnObjective own = logged.of(origins);
    common.by_metric.try_emplace(own.metric, workload);
    common.others.merge(own.others);
  }
  const bool one = common.by_metric.size() == 1;
  common.metric = one ? common.by_metric.begin()->first : kLatency;
  if (one && common.metric == kLatency && !has_latency) common.unsaid = logged.further();
  if (common.by_metric.contains(common.metric)) common.by_metric.clear();
  common.others.erase(common.metric);
  return common;
}

std::string own_objective(const log::Log& log) { return common_objective(log).metric; }

std::string doubt_about(const CommonObjective& common) {
  constexpr std::size_t kListed = 4;  // [chosen] names in a message
  std::vector<std::string> names;
  const auto add = [&](std::string name) { names.push_back(names.size() < kListed ? std::move(name) : "..."); };
  for (const auto& [metric, workload] : common.by_metric) {
    if (names.size() <= kListed) add(fmt::format("{} ({})", printable(metric, 30), printable(workload, 30)));
  }
  if (!names.empty()) return fmt::format("is optimised for {} (of the application in brackets)", join(names, ", "));
  for (const std::string& metric : common.unsaid) {
    if (names.size() <= kListed) add(printable(metric, 30));
  }
  if (!names.empty()) return fmt::format("no run says which of {} is optimised", join(names, ", "));
  return "";
}

std::set<std::string> own_objectives_of(const log::Log& log, const log::EvaluationFilter& filter) {
  const LoggedObjectives logged(log);
  std::set<std::string> objectives;
  bool has_latency = false;
  for (const auto& [workload, origins] : origins_by_workload(log, filter)) {
    has_latency = has_latency || any_latency(origins);
    const std::string with_latency = logged.of(origins).metric;
    for (const log::WorkloadOrigin& origin : origins) {
      objectives.insert(origin.has_latency ? with_latency : logged.of(origin.run_id).value_or(logged.rest()));
    }
  }
  if (!has_latency && objectives.size() > 1) objectives.erase(kLatency);  // nothing is compared by what no row has
  if (objectives.empty()) objectives.insert(kLatency);
  return objectives;
}

std::set<std::string> maximised_metrics(const log::Log& log) {
  constexpr std::size_t kNewestRuns = 20;  // [chosen] what was proposed long ago is not what is wanted today
  StatedDirections directions;
  for (const log::AskRun& run : log::asks(log)) directions.hear(run.objective, Direction::minimise);
  const std::vector<log::ProposingRun> proposing = log::proposing_runs(log, kNewestRuns);  // the newest first, as runs
  auto proposed = proposing.begin();
  for (const log::RunInfo& run : log::recent_runs(log, std::numeric_limits<std::int32_t>::max())) {
    for (; proposed != proposing.end() && proposed->run_id >= run.run_id; ++proposed) {
      directions.hear(proposed->objective, Direction::minimise);
    }
    directions.hear(run);
  }
  return directions.maximised();
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
  if (found.empty())
    throw Error(ErrorKind::usage, fmt::format("{}: no design begins with '{}'. `hindsight log show "
                                              "{}` shows the best ones' ids",
                                              shown, digits, pasted_path(log.path().string())));
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
  if (begins_with_operator(word)) return word;
  if (const std::string name = dataset::snake_case(word); has(name)) return name;
  const std::optional<std::string> metric = metric_of_word(word);
  return metric && has(*metric) ? *metric : word;
}

std::string known_objective(const std::string& text, const std::vector<std::string>& known) {
  if (dataset::metric_of_short_name(text)) return text;  // the objective knows it, and keeps the word
  const std::string_view bare = trimmed(text);
  const bool unfinished =  // an operator at an end: what follows or comes before is missing
      !bare.empty() && (kOperators.find(bare.front()) != std::string_view::npos ||
                        kOperators.find(bare.back()) != std::string_view::npos);
  if (const std::string whole = known_name(text, known); whole != text && !text.empty() && !unfinished) return whole;
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

RankingMetric ranking_metric(const std::string& word, const std::vector<std::string>& known) {
  const std::string name = known_name(word, known);
  if (std::find(known.begin(), known.end(), name) != known.end()) return {.metric = name};
  if (is_signed(word)) {
    const std::string bare(trimmed(std::string_view(trimmed(word)).substr(1)));
    throw Error(ErrorKind::usage,
                fmt::format("'{0}' has a sign before the metric. Write {1}, or 1/{1} where more of it "
                            "is better",
                            printable(word), printable(known_name(bare, known))));
  }
  if (word.find_first_of(kOperators) == std::string::npos) return {.metric = name};
  const auto product = dataset::parse_objective(known_objective(word, known), Direction::minimise);
  if (product.factors.size() != 1 || std::abs(product.factors.front().exponent) != 1) {
    throw Error(ErrorKind::usage,
                fmt::format("'{}' is a product or a power. Name one metric, as 1/METRIC where more of "
                            "it is better",
                            printable(word)));
  }
  return {.metric = product.factors.front().metric, .maximised = product.factors.front().exponent < 0};
}

namespace {

/// Error{usage} where the objective of what is learned has to be named.
void require_certain(const log::Log& log, const CommonObjective& common) {
  const std::string doubt = doubt_about(common);
  if (doubt.empty()) return;
  const std::string remedy =
      common.by_metric.empty()
          ? "Name it: --objective " + shell_quoted(printable(common.unsaid.front(), 60))
          : "Choose one: --workloads " + shell_quoted(printable(common.by_metric.begin()->second, 60));
  throw Error(ErrorKind::usage, fmt::format("{}: {}. {}", printable(log.path().string(), 100), doubt, remedy));
}

}  // namespace

LearningWords with_log_names(const log::Log& log, const LearningWords& words) {
  const std::vector<std::string> known = log::metric_names(log);
  LearningWords result = words;
  if (result.objective.empty()) {
    CommonObjective common = common_objective(log, words.workloads);
    require_certain(log, common);
    result.objective = common.metric == kLatency ? "latency" : common.metric;
    result.others = std::move(common.others);
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
