/// Trials that Vizier and Ax export as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "dataset/import_readers.h"
#include "dataset/trial_table.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::dataset {
namespace {

/// A key in either spelling of protobuf's JSON: final_measurement, finalMeasurement.
const Json& either(const Json& object, const std::string& snake, const std::string& camel) {
  const Json& value = value_of(object, snake);
  return value.is_null() ? value_of(object, camel) : value;
}

/// Names in the order that they are met in, each once.
class Names {
 public:
  void note(const std::string& name) {
    if (places_.try_emplace(name, all_.size()).second) all_.push_back(name);
  }
  [[nodiscard]] const std::vector<std::string>& all() const { return all_; }
  /// Place of a name; behind all others for one that is not there.
  [[nodiscard]] std::size_t place_of(const std::string& name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? all_.size() : found->second;
  }

 private:
  std::vector<std::string> all_;
  std::unordered_map<std::string, std::size_t> places_;
};

/// Rows whose objective is known only when all were read: trials without it are infeasible then.
void require_objective(ImportSource& source) {
  for (StatedOutcome& outcome : source.outcomes) {
    if (!outcome.feasible) continue;
    const bool has = std::any_of(outcome.metrics.begin(), outcome.metrics.end(),
                                 [&](const auto& metric) { return metric.first == source.objective; });
    if (has) continue;
    outcome.feasible = false;
    outcome.violations.push_back(plain_violation("no value"));
  }
}

// Vizier: study.proto of google/vizier; protobuf's JSON of Study and Trial.

constexpr const char* kVizier = "trials of Vizier as JSON: a list, an object with \"trials\", or one a line";

bool is_vizier_trial(const Json& object) {
  return value_of(object, "parameters").is_array() &&
         (object.contains("state") || object.contains("final_measurement") || object.contains("finalMeasurement"));
}

/// All trials of a document.
const Json& vizier_trials(const Json& document) {
  return document.is_array() ? document : value_of(document, "trials");
}

/// Protobuf's Value wraps numbers and texts in some exports.
const Json& unwrapped(const Json& value) {
  for (const char* kind : {"number_value", "numberValue", "string_value", "stringValue", "bool_value", "boolValue"}) {
    const Json& inner = value_of(value, kind);
    if (!inner.is_null()) return inner;
  }
  return value;
}

class VizierReader {
 public:
  VizierReader(const std::filesystem::path& file, const ReadOptions& options)
      : file_(file), options_(options), rows_(file, "trial") {}

  void add(const Json& trial) {
    ++position_;
    if (!trial.is_object()) fail("is no trial");
    const std::string state = state_of(trial);
    if (state == "REQUESTED" || state == "ACTIVE" || state == "STOPPING") {
      return rows_.leave_out(state == "REQUESTED" ? "waiting to run" : "still running");
    }
    DesignCells cells;
    for (const Json& parameter : value_of(trial, "parameters")) {
      const Json& name = either(parameter, "parameter_id", "parameterId");
      if (!name.is_string()) fail("has a parameter without a name (parameter_id)");
      cells.emplace_back(name.get<std::string>(), cell_of(unwrapped(value_of(parameter, "value"))));
    }
    StatedOutcome outcome;
    for (const Json& metric : value_of(either(trial, "final_measurement", "finalMeasurement"), "metrics")) {
      const Json& name = either(metric, "metric_id", "metricId");
      const auto value = number_of(value_of(metric, "value"));
      if (!name.is_string() || !value || !std::isfinite(*value)) continue;
      outcome.metrics.emplace_back(snake_case(name.get<std::string>()), *value);
      metrics_.note(outcome.metrics.back().first);
    }
    outcome.feasible = state != "INFEASIBLE" && !outcome.metrics.empty();
    if (!outcome.feasible) {
      const Json& reason = either(trial, "infeasible_reason", "infeasibleReason");
      const bool said = reason.is_string() && !reason.get<std::string>().empty();
      outcome.violations.push_back(plain_violation(said ? reason.get<std::string>() : "infeasible"));
      outcome.metrics.clear();
    }
    rows_.add(number_of_trial(trial), cells, std::move(outcome));
  }

  ImportSource take(const Json& document) {
    std::string objective = options_.objective;
    const Json& spec = either(document, "study_spec", "studySpec");
    const Json& goals =
        value_of(spec.is_null() ? either(value_of(document, "study"), "study_spec", "studySpec") : spec, "metrics");
    if (objective.empty() && goals.is_array() && goals.size() == 1) {
      const Json& id = either(goals[0], "metric_id", "metricId");
      if (id.is_string()) objective = id.get<std::string>();
    }
    const std::string metric = rows_.empty() ? "" : chosen_metric(file_, objective, metrics_.all());
    ImportSource source = rows_.take("Vizier study", "vizier import", metric);
    require_objective(source);
    if (goals.is_array()) note_goals(goals, metric, source);
    return source;
  }

 private:
  /// Of a goal that names no metric, the objective is meant; Vizier maximises what it does not say to minimise.
  void note_goals(const Json& goals, const std::string& metric, ImportSource& source) const {
    for (const Json& goal : goals) {
      if (text_of(goal, "goal") == "MINIMIZE") continue;
      const Json& id = either(goal, "metric_id", "metricId");
      const std::string name = id.is_string() ? snake_case(id.get<std::string>()) : metric;
      if (metrics_.place_of(name) < metrics_.all().size()) source.maximised.insert(name);
    }
    if (source.maximised.contains(metric)) note_maximised("Vizier", metric, source);
  }
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(ErrorKind::usage, fmt::format("{}: trial {} {} (expected: {})", printable(file_.string(), 400),
                                              position_, problem, kVizier));
  }

  /// By name; older exports have the number of the enumeration.
  [[nodiscard]] std::string state_of(const Json& trial) const {
    static const std::map<std::int64_t, std::string> kStates = {
        {1, "REQUESTED"}, {2, "ACTIVE"}, {3, "STOPPING"}, {4, "SUCCEEDED"}, {5, "INFEASIBLE"}};
    const Json& state = value_of(trial, "state");
    if (state.is_number_integer()) {
      const auto found = kStates.find(state.get<std::int64_t>());
      if (found != kStates.end()) return found->second;
    }
    const std::string word = state.is_string() ? state.get<std::string>() : "";
    const bool known = std::any_of(kStates.begin(), kStates.end(), [&](const auto& one) { return one.second == word; });
    const bool measured = !either(trial, "final_measurement", "finalMeasurement").is_null();
    if (!known && !state.is_null())
      fail(fmt::format("is in the state '{}', which Vizier does not have", printable(cell_of(state))));
    if (known) return word;
    return measured ? "SUCCEEDED" : "ACTIVE";
  }

  /// The trial's own number, where it has one.
  [[nodiscard]] std::size_t number_of_trial(const Json& trial) const {
    const auto id = number_of(value_of(trial, "id"));
    return id && *id >= 0 && *id < 4e9 ? static_cast<std::size_t>(*id) : position_;
  }

  const std::filesystem::path& file_;
  const ReadOptions& options_;
  TrialTable rows_;
  Names metrics_;
  std::size_t position_ = 0;
};

// Ax: json_store of facebook/Ax; what save_experiment and AxClient.save_to_json_file write.

constexpr const char* kAx = "an experiment of Ax as JSON";

/// The experiment itself, also inside an AxClient.
const Json& experiment_of(const Json& document) {
  const Json& inner = value_of(document, "experiment");
  return inner.is_object() ? inner : document;
}

class AxReader {
 public:
  AxReader(const Json& document, const std::filesystem::path& file, const ReadOptions& options)
      : experiment_(experiment_of(document)), file_(file), options_(options), rows_(file, "trial") {}

  ImportSource read() {
    for (const Json& parameter : value_of(value_of(experiment_, "search_space"), "parameters")) {
      order_.note(text_of(parameter, "name"));
    }
    read_data();
    const Json& config = value_of(experiment_, "optimization_config");
    const Json& objective = value_of(config, "objective");
    const std::string named =
        options_.objective.empty() ? text_of(value_of(objective, "metric"), "name") : options_.objective;
    std::map<std::int64_t, const Json*> trials;
    const Json& stored = value_of(experiment_, "trials");
    for (const auto& [key, trial] : stored.items()) {
      trials[parse_int(key).value_or(std::ssize(trials))] = &trial;
    }
    read_limits(value_of(config, "outcome_constraints"));
    for (const auto& [index, trial] : trials) add(index, *trial);
    const std::string metric = rows_.empty() ? "" : chosen_metric(file_, named, metrics_.all());
    ImportSource source = rows_.take("Ax experiment", "ax import", metric);
    require_objective(source);
    const Json& minimised = value_of(objective, "minimize");
    if (minimised.is_boolean() && !minimised.get<bool>()) {
      note_maximised("Ax", metric, source);
    }
    return source;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(ErrorKind::usage, fmt::format("{}: {} (expected: {})", printable(file_.string(), 400), problem, kAx));
  }

  /// Means by trial, arm and metric: every version of the data of a trial in its order, the later ones replacing.
  void read_data() {
    const Json& by_trial = value_of(experiment_, "data_by_trial");
    for (const auto& [key, versions] : by_trial.items()) {
      // An OrderedDict is stored as pairs in "value".
      const Json& list = value_of(versions, "value").is_array() ? value_of(versions, "value") : versions;
      for (const Json& version : list) {
        const Json& data = version.is_array() && version.size() == 2 ? version[1] : version;
        const Json& frame = value_of(data, "df");
        const Json& table = value_of(frame, "value");
        if (table.is_string()) add_frame(parse_json(table.get<std::string>(), file_, "a table of means"));
      }
    }
  }

  /// A pandas table as JSON: {"mean": {"0": 1.5, ...}, "metric_name": {...}, ...}.
  void add_frame(const Json& frame) {
    const Json& means = value_of(frame, "mean");
    for (const auto& [row, mean] : means.items()) {
      const auto value = number_of(mean);
      const auto trial = number_of(value_of(value_of(frame, "trial_index"), row));
      const std::string arm = text_of(value_of(frame, "arm_name"), row);
      const std::string metric = snake_case(text_of(value_of(frame, "metric_name"), row));
      constexpr double kMostTrials = 1e15;  // [chosen] far above any experiment; whole as a double
      if (!trial || !(std::abs(*trial) < kMostTrials) || metric.empty()) continue;
      if (value && std::isfinite(*value)) {
        means_[{static_cast<std::int64_t>(*trial), arm}][metric] = *value;
        metrics_.note(metric);
      }
    }
  }

  void add(std::int64_t index, const Json& trial) {
    const std::string status = text_of(value_of(trial, "status"), "name");
    if (status == "CANDIDATE" || status == "STAGED") return rows_.leave_out("waiting to run");
    if (status == "RUNNING") return rows_.leave_out("still running");
    if (status == "STALE") return rows_.leave_out("given up before they ran (stale)");
    const auto arms = arms_of(trial);
    if (arms.empty()) return rows_.leave_out("without parameters");
    for (const Json* arm : arms) {
      StatedOutcome outcome;
      const auto means = means_.find({index, text_of(*arm, "name")});
      if (means != means_.end()) {
        outcome.metrics.assign(means->second.begin(), means->second.end());
        outcome.violations = broken(means->second);
      }
      if (status == "FAILED" || status == "ABANDONED" || status == "EARLY_STOPPED") {
        outcome.violations.push_back(plain_violation(status));
      } else if (outcome.metrics.empty()) {
        outcome.violations.push_back(plain_violation("no value"));
      }
      outcome.feasible = outcome.violations.empty();
      rows_.add(static_cast<std::size_t>(std::max<std::int64_t>(index, 0)), cells_of(value_of(*arm, "parameters")),
                std::move(outcome));
    }
  }

  /// Arms of a trial, or of a batch of them.
  [[nodiscard]] std::vector<const Json*> arms_of(const Json& trial) const {
    std::vector<const Json*> arms;
    const auto take = [&](const Json& run) {
      for (const Json& arm : value_of(run, "arms")) {
        if (value_of(arm, "parameters").is_object()) arms.push_back(&arm);
      }
    };
    take(value_of(trial, "generator_run"));
    for (const Json& one : value_of(trial, "generator_run_structs")) take(value_of(one, "generator_run"));
    for (const Json& one : value_of(trial, "generator_runs")) take(one);
    return arms;
  }

  /// In the order of the search space, which the JSON of an arm does not keep.
  [[nodiscard]] DesignCells cells_of(const Json& parameters) const {
    DesignCells cells;
    for (const auto& [name, value] : parameters.items()) cells.emplace_back(name, cell_of(value));
    std::stable_sort(cells.begin(), cells.end(),
                     [&](const auto& a, const auto& b) { return order_.place_of(a.first) < order_.place_of(b.first); });
    return cells;
  }

  /// An outcome constraint with an absolute bound; a relative one needs the status quo, which is another trial.
  struct Limit {
    std::string metric;
    bool at_most = false;  ///< else at least
    double bound = 0;
  };

  void read_limits(const Json& constraints) {
    constexpr std::size_t kMostLimits = 1000;  // [chosen] each trial is held against all of them
    for (const Json& constraint : constraints) {
      const auto bound = number_of(value_of(constraint, "bound"));
      const std::string op = text_of(value_of(constraint, "op"), "name");
      if (!bound || value_of(constraint, "relative") == true || (op != "LEQ" && op != "GEQ")) continue;
      if (limits_.size() == kMostLimits)
        fail(fmt::format("more than {} outcome constraints", with_commas(kMostLimits)));
      limits_.push_back({.metric = snake_case(text_of(value_of(constraint, "metric"), "name")),
                         .at_most = op == "LEQ",
                         .bound = *bound});
    }
  }

  [[nodiscard]] std::vector<log::ViolationRow> broken(const std::map<std::string, double>& means) const {
    std::vector<log::ViolationRow> violations;
    for (const Limit& limit : limits_) {
      const auto mean = means.find(limit.metric);
      if (mean == means.end()) continue;
      const bool misses = limit.at_most ? mean->second > limit.bound : mean->second < limit.bound;
      if (misses) violations.push_back(missed_limit(limit.metric, mean->second, limit.bound));
    }
    return violations;
  }

  const Json& experiment_;
  const std::filesystem::path& file_;
  const ReadOptions& options_;
  TrialTable rows_;
  Names order_, metrics_;
  std::vector<Limit> limits_;
  std::map<std::pair<std::int64_t, std::string>, std::map<std::string, double>> means_;
};

}  // namespace

bool is_vizier(const Json& document) {
  if (is_vizier_trial(document)) return true;
  const Json& trials = vizier_trials(document);
  return trials.is_array() && !trials.empty() && is_vizier_trial(trials[0]);
}

ImportSource read_vizier(std::string_view text, const std::filesystem::path& file, const ReadOptions& options) {
  VizierReader reader(file, options);
  const std::size_t first_end = std::min(text.find('\n'), text.size());
  const std::optional<Json> first = try_json(text.substr(0, first_end));
  if (first && is_vizier_trial(*first)) {  // one trial a line
    std::size_t line = 1;
    for (std::size_t begin = 0; begin < text.size(); ++line) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const std::string_view one = trimmed(text.substr(begin, end - begin));
      begin = end + 1;
      if (!one.empty()) reader.add(parse_json(one, file, kVizier, line));
    }
    return reader.take(Json());
  }
  const Json document = parse_json(text, file, kVizier);
  const Json& trials = vizier_trials(document);
  if (!trials.is_array()) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: has no trials (expected: {})", printable(file.string(), 400), kVizier));
  }
  for (const Json& trial : trials) reader.add(trial);
  return reader.take(document);
}

bool is_ax(const Json& document) {
  const Json& experiment = experiment_of(document);
  return value_of(experiment, "search_space").is_object() && value_of(experiment, "trials").is_object();
}

ImportSource read_ax(std::string_view text, const std::filesystem::path& file, const ReadOptions& options) {
  const Json document = parse_json(text, file, kAx);
  if (!is_ax(document)) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: has no search_space and trials (expected: {})", printable(file.string(), 400), kAx));
  }
  return AxReader(document, file, options).read();
}

}  // namespace hindsight::dataset
