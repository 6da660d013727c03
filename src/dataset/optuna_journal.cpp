/// Replays an Optuna journal.
#include "dataset/optuna_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "dataset/import_readers.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::dataset {
namespace {

constexpr const char* kOperation = "an operation of Optuna's journal";

/// Numbers of operations, as Optuna has them.
enum Operation {
  create_study,
  delete_study,
  study_user_attribute,
  study_system_attribute,
  create_trial,
  set_parameter,
  set_state,
  set_intermediate,
  trial_user_attribute,
  trial_system_attribute,
};

/// A number, also Python's infinities; nothing for nan and null.
std::optional<double> python_number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

class Replay {
 public:
  explicit Replay(const std::filesystem::path& file) : file_(file) {}

  void apply(const Json& entry, std::size_t line) {
    line_ = line;
    switch (integer(entry, "op_code")) {
      case create_study:
        return add_study(entry);
      case delete_study:
        return remove_study(entry);
      case study_user_attribute:
        return add_attributes(value_of(entry, "user_attr"), study_of(entry).user_attributes);
      case study_system_attribute:
        return add_attributes(value_of(entry, "system_attr"), study_of(entry).system_attributes);
      case create_trial:
        return add_trial(entry);
      case set_parameter:
        return add_parameter(entry);
      case set_state:
        return change_state(entry);
      case set_intermediate:
        return add_intermediate(entry);
      case trial_user_attribute:
        return add_attributes(entry, "user_attr", &log::OptunaStoredTrial::user_attributes);
      case trial_system_attribute:
        return add_attributes(entry, "system_attr", &log::OptunaStoredTrial::system_attributes);
      default:
        return;  // of a later release; the rows above do not depend on it
    }
  }

  log::OptunaStudies take() {
    std::vector<log::OptunaStudy> kept;
    for (std::size_t i = 0; i < result_.studies.size(); ++i) {
      if (!deleted_[i]) kept.push_back(std::move(result_.studies[i]));
    }
    result_.studies = std::move(kept);
    for (log::OptunaStudy& study : result_.studies) {
      for (log::OptunaStoredTrial& trial : study.trials) keep_newest(trial.parameters);
    }
    return std::move(result_);
  }

 private:
  struct Place {
    std::size_t study = 0, trial = 0;
  };

  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(ErrorKind::usage,
                fmt::format("{}:{}: {} (expected: {})", printable(file_.string(), 400), line_, problem, kOperation));
  }

  [[nodiscard]] std::int64_t integer(const Json& entry, const std::string& key) const {
    const Json& value = value_of(entry, key);
    if (!value.is_number_integer()) fail(fmt::format("no whole number '{}'", key));
    return value.get<std::int64_t>();
  }

  log::OptunaStudy& study_of(const Json& entry) {
    const std::int64_t id = integer(entry, "study_id");
    if (id < 0 || id >= std::ssize(result_.studies)) fail(fmt::format("study {} was never created", id));
    return result_.studies[static_cast<std::size_t>(id)];
  }

  log::OptunaStoredTrial& trial_of(const Json& entry) {
    const std::int64_t id = integer(entry, "trial_id");
    if (id < 0 || id >= std::ssize(trials_)) fail(fmt::format("trial {} was never created", id));
    const Place place = trials_[static_cast<std::size_t>(id)];
    return result_.studies[place.study].trials[place.trial];
  }

  static bool is_finished(const log::OptunaStoredTrial& trial) {
    return trial.state != log::OptunaState::running && trial.state != log::OptunaState::waiting;
  }

  void add_study(const Json& entry) {
    const std::string name = text_of(entry, "study_name");
    if (!there_.insert(name).second) return;  // Optuna told its writer so
    log::OptunaStudy& study = result_.studies.emplace_back();
    study.name = name;
    deleted_.push_back(false);
    constexpr std::size_t kMostObjectives = 1000;  // [chosen] far above any study; each trial is looked at for all
    for (const Json& direction : value_of(entry, "directions")) {
      if (study.directions.size() == kMostObjectives) fail(fmt::format("more than {} objectives", kMostObjectives));
      if (direction != 0 && direction != 1 && direction != 2) {  // not set, minimise, maximise
        fail(fmt::format("direction {} of a study is unknown", printable(cell_of(direction), 20)));
      }
      study.directions.push_back(direction == 2 ? Direction::maximise : Direction::minimise);
    }
  }

  void remove_study(const Json& entry) {
    const log::OptunaStudy& study = study_of(entry);
    const auto place = static_cast<std::size_t>(integer(entry, "study_id"));
    if (!deleted_[place]) there_.erase(study.name);
    deleted_[place] = true;
  }

  /// Of parameters that were set several times the last, where it stands. Looked for once at the end: a trial may have
  /// any number.
  void keep_newest(std::vector<log::OptunaParameterValue>& parameters) {
    last_.clear();
    for (std::size_t i = 0; i < parameters.size(); ++i) last_[parameters[i].name] = i;
    if (last_.size() == parameters.size()) return;
    std::vector<log::OptunaParameterValue> kept;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (last_.at(parameters[i].name) == i) kept.push_back(parameters[i]);
    }
    parameters = std::move(kept);
  }

  static void add_attributes(const Json& given, std::vector<std::pair<std::string, std::string>>& attributes) {
    for (const auto& [key, value] : given.items()) attributes.emplace_back(key, value.dump());
  }

  void add_attributes(const Json& entry, const char* kind,
                      std::vector<std::pair<std::uint32_t, std::string>> log::OptunaStoredTrial::*attributes) {
    log::OptunaStoredTrial& trial = trial_of(entry);
    if (!is_finished(trial)) put_attributes(value_of(entry, kind), trial.*attributes);
  }

  void put_attributes(const Json& given, std::vector<std::pair<std::uint32_t, std::string>>& attributes) {
    for (const auto& [key, value] : given.items()) attributes.emplace_back(result_.texts.index_of(key), value.dump());
  }

  [[nodiscard]] log::OptunaState state_of(const Json& entry) const {
    const std::int64_t state = integer(entry, "state");
    if (state < 0 || state > 4) fail(fmt::format("state {} of a trial is unknown", state));
    return static_cast<log::OptunaState>(state);
  }

  /// A trial; one that was made elsewhere comes with all that it has.
  void add_trial(const Json& entry) {
    log::OptunaStudy& study = study_of(entry);
    trials_.push_back({.study = static_cast<std::size_t>(integer(entry, "study_id")), .trial = study.trials.size()});
    log::OptunaStoredTrial trial{.number = std::ssize(study.trials)};
    if (entry.contains("state")) trial.state = state_of(entry);
    const Json& distributions = value_of(entry, "distributions");
    const Json& parameters = value_of(entry, "params");
    for (const auto& [name, value] : parameters.items()) {
      put_parameter(name, value, text_of(distributions, name), trial);
    }
    set_values(entry, trial);
    put_attributes(value_of(entry, "user_attrs"), trial.user_attributes);
    put_attributes(value_of(entry, "system_attrs"), trial.system_attributes);
    const Json& intermediate = value_of(entry, "intermediate_values");
    for (const auto& [step, value] : intermediate.items()) {
      put_intermediate(parse_int(step).value_or(0), value, trial);
    }
    study.trials.push_back(std::move(trial));
  }

  void put_parameter(const std::string& name, const Json& value, const std::string& distribution,
                     log::OptunaStoredTrial& trial) {
    if (!value.is_number()) fail(fmt::format("the parameter '{}' has no number", printable(name)));
    trial.parameters.push_back({.name = result_.texts.index_of(name),
                                .distribution = result_.texts.index_of(distribution),
                                .value = value.get<double>()});
  }

  void add_parameter(const Json& entry) {
    log::OptunaStoredTrial& trial = trial_of(entry);
    if (is_finished(trial)) return;
    put_parameter(text_of(entry, "param_name"), value_of(entry, "param_value_internal"), text_of(entry, "distribution"),
                  trial);
  }

  static void set_values(const Json& entry, log::OptunaStoredTrial& trial) {
    const Json& values = value_of(entry, "values");
    if (values.is_array()) {
      trial.values.clear();
      for (const Json& value : values) trial.values.push_back(python_number(value));
    } else if (!value_of(entry, "value").is_null()) {
      trial.values = {python_number(value_of(entry, "value"))};
    }
  }

  void change_state(const Json& entry) {
    log::OptunaStoredTrial& trial = trial_of(entry);
    if (is_finished(trial)) return;
    trial.state = state_of(entry);
    set_values(entry, trial);
  }

  void add_intermediate(const Json& entry) {
    log::OptunaStoredTrial& trial = trial_of(entry);
    if (!is_finished(trial)) put_intermediate(integer(entry, "step"), value_of(entry, "intermediate_value"), trial);
  }

  static void put_intermediate(std::int64_t step, const Json& value, log::OptunaStoredTrial& trial) {
    if (step < trial.last_step) return;
    trial.last_step = step;
    trial.last_intermediate = python_number(value);
  }

  const std::filesystem::path& file_;
  std::size_t line_ = 0;
  log::OptunaStudies result_;
  std::vector<bool> deleted_;
  std::unordered_set<std::string> there_;                ///< names of studies that are not deleted
  std::unordered_map<std::uint32_t, std::size_t> last_;  ///< of one trial: where each parameter stands last
  std::vector<Place> trials_;
};

}  // namespace

OptunaJournal read_optuna_operations(std::string_view text, const std::filesystem::path& file) {
  Replay replay(file);
  OptunaJournal result;
  std::size_t line = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = text.find('\n', begin);
    const bool last = end == std::string_view::npos;
    const std::string_view one = trimmed(text.substr(begin, last ? end : end - begin));
    begin = last ? text.size() : end + 1;
    if (one.empty()) continue;
    // Writers append whole lines: only the last may be half of one.
    if (last && !try_json(one)) {
      result.cut_off = true;
      break;
    }
    replay.apply(parse_json(one, file, kOperation, line), line);
  }
  result.studies = replay.take();
  return result;
}

bool is_optuna_operation(const Json& object) { return value_of(object, "op_code").is_number_integer(); }

}  // namespace hindsight::dataset
