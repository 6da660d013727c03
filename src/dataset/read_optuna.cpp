/// Optuna's trials as rows: values of parameters, metrics, and what failed, was pruned or broke a constraint.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "dataset/import_readers.h"
#include "dataset/optuna_attributes.h"
#include "dataset/optuna_journal.h"
#include "dataset/trial_table.h"
#include "hindsight/core/error.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/dataset.h"
#include "hindsight/log/optuna_study.h"

namespace hindsight::dataset {
namespace {

/// Values of one distribution as cells: categorical ones are numbers of choices.
class Distribution {
 public:
  Distribution(const std::string& json, const std::filesystem::path& file) {
    const Json parsed = try_json(json).value_or(Json());
    const Json& attributes = value_of(parsed, "attributes");
    const Json& choices = value_of(attributes.is_object() ? attributes : parsed, "choices");
    if (!parsed.is_object()) {
      throw Error(ErrorKind::incompatible,
                  fmt::format("{}: '{}' is no distribution of a parameter, as Optuna writes them",
                              printable(file.string(), 400), printable(json)));
    }
    for (const Json& choice : choices) choices_.push_back(choice.is_null() ? "None" : cell_of(choice));
    categorical_ = choices.is_array();
  }

  /// Nothing for a choice that there is not.
  [[nodiscard]] std::optional<std::string> cell(double value) const {
    if (!categorical_) return shortest(value);
    const bool is_choice = value >= 0 && value < static_cast<double>(choices_.size()) && value == std::floor(value);
    return is_choice ? std::optional(choices_[static_cast<std::size_t>(value)]) : std::nullopt;
  }

 private:
  bool categorical_ = false;
  std::vector<std::string> choices_;
};

/// The newest value of an attribute as JSON; null where there is none.
template <class Key>
Json attribute(const std::vector<std::pair<Key, std::string>>& attributes, const Key& key) {
  for (std::size_t i = attributes.size(); i > 0; --i) {
    if (attributes[i - 1].first == key) return try_json(attributes[i - 1].second).value_or(Json());
  }
  return nullptr;
}

/// Rows of the studies of one file.
class OptunaReader {
 public:
  OptunaReader(const std::filesystem::path& file, log::OptunaStudies studies, const ReadOptions& options)
      : file_(file), studies_(std::move(studies)), options_(options), rows_(file, "trial") {}

  ImportSource read() {
    const std::vector<const log::OptunaStudy*> chosen = chosen_studies();
    const bool own =
        options_.evaluator.empty() && std::all_of(chosen.begin(), chosen.end(), [](const log::OptunaStudy* study) {
          return attribute(study->user_attributes, std::string(kOwnAttribute)).is_object();
        });
    for (const log::OptunaStudy* study : chosen) {
      if (own) {
        add_own_study(*study);
      } else {
        add_study(*study);
      }
    }
    require_attributes();
    ImportSource source = rows_.take("Optuna study", "optuna import", objective_);
    note_directions(source);
    if (own && !definitions_.workloads.empty()) {
      source.format = "Optuna study of ours";
      source.definitions = std::move(definitions_);
      source.space = std::move(space_);
      source.repeats = repeats_;
    }
    return source;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(ErrorKind::usage, fmt::format("{}: {}", printable(file_.string(), 400), problem));
  }

  [[nodiscard]] std::vector<const log::OptunaStudy*> chosen_studies() const {
    std::vector<const log::OptunaStudy*> chosen;
    std::vector<std::string> names;
    std::set<std::set<std::uint32_t>> parameters;
    for (const log::OptunaStudy& study : studies_.studies) {
      names.push_back(study.name);
      if (!options_.study.empty() && study.name != options_.study) continue;
      chosen.push_back(&study);
      std::set<std::uint32_t> own;
      for (const auto& trial : study.trials) {
        for (const auto& parameter : trial.parameters) own.insert(parameter.name);
      }
      if (!own.empty()) parameters.insert(own);
    }
    if (studies_.studies.empty()) fail("holds no study. Name the file of one?");
    if (chosen.empty())
      fail(fmt::format("has no study '{}'.{}", printable(options_.study), did_you_mean(options_.study, names)));
    if (parameters.size() > 1) {
      fail(
          fmt::format("its studies have different parameters, and an import has one design space: {}. Name one by "
                      "--study",
                      printable(join(names, ", "), 200)));
    }
    return chosen;
  }

  /// Names of the objectives, as metrics of the log.
  [[nodiscard]] std::vector<std::string> metric_names(const log::OptunaStudy& study) const {
    const std::size_t count = std::max<std::size_t>(study.directions.size(), 1);
    if (count == 1 && !options_.objective.empty()) return {snake_case(options_.objective)};
    const Json named = attribute(study.system_attributes, std::string("study:metric_names"));
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) {
      const bool has_name = named.is_array() && i < named.size() && named[i].is_string();
      const std::string name = has_name ? snake_case(named[i].get<std::string>()) : "";
      names.push_back(!name.empty() ? name : count == 1 ? "value" : fmt::format("value_{}", i));
    }
    return names;
  }

  DesignCells design_of(const log::OptunaStoredTrial& trial) {
    DesignCells cells;
    for (const log::OptunaParameterValue& parameter : trial.parameters) {
      const auto [entry, fresh] = distributions_.try_emplace(parameter.distribution, std::nullopt);
      if (fresh) entry->second.emplace(studies_.texts[parameter.distribution], file_);
      const std::string& name = studies_.texts[parameter.name];
      const std::optional<std::string> cell = entry->second->cell(parameter.value);
      if (!cell) {
        fail(
            fmt::format("trial {}: parameter '{}' is choice {}, which its distribution does not have (the file is "
                        "damaged). Get it again?",
                        trial.number, printable(name), shortest(parameter.value)));
      }
      cells.emplace_back(name, *cell);
    }
    return cells;
  }

  /// What is no row yet, or never was one; counted.
  bool is_left_out(const log::OptunaStoredTrial& trial) {
    const auto leave_out = [&](const char* why) {
      rows_.leave_out(why);
      return true;
    };
    if (trial.state == log::OptunaState::running) return leave_out("still running");
    if (trial.state == log::OptunaState::waiting) return leave_out("waiting to run");
    if (trial.state == log::OptunaState::pruned && options_.pruned == PrunedTrials::skip) return leave_out("pruned");
    if (trial.parameters.empty()) return leave_out("without parameters");
    return false;
  }

  void add_study(const log::OptunaStudy& study) {
    const std::vector<std::string> metrics = metric_names(study);
    const std::string objective = chosen_metric(file_, metrics.size() == 1 ? "" : options_.objective, metrics);
    if (!objective_.empty() && objective != objective_) {
      fail(fmt::format("its studies have different objectives ({} and {}). Name one study by --study", objective_,
                       objective));
    }
    objective_ = objective;
    read_directions(study, metrics);
    for (const log::OptunaStoredTrial& trial : study.trials) {
      if (is_left_out(trial)) continue;
      StatedOutcome outcome{.workload = workload_name(study.name)};
      read_outcome(trial, metrics, outcome);
      rows_.add(static_cast<std::size_t>(trial.number), design_of(trial), std::move(outcome));
    }
  }

  void read_directions(const log::OptunaStudy& study, const std::vector<std::string>& metrics) {
    for (std::size_t i = 0; i < std::min(metrics.size(), study.directions.size()); ++i) {
      directions_[metrics[i]].insert(study.directions[i]);
    }
  }

  void note_directions(ImportSource& source) const {
    for (const auto& [metric, stated] : directions_) {
      if (!stated.contains(Direction::maximise)) continue;
      if (stated.size() > 1) {
        source.remarks.push_back(fmt::format(
            "some studies maximise {}, others minimise it: import them by --study, each into a log of its own",
            metric));
      } else if (metric == objective_) {
        note_maximised("Optuna", metric, source);
      } else {
        source.maximised.insert(metric);
      }
    }
  }

  /// A study's name as that of an application: a comma would end it in a list.
  static std::string workload_name(std::string name) {
    std::replace(name.begin(), name.end(), ',', '_');
    return printable(name, kWholeText);
  }

  void read_outcome(const log::OptunaStoredTrial& trial, const std::vector<std::string>& metrics,
                    StatedOutcome& outcome) {
    outcome.violations = broken_constraints(trial);
    if (trial.state == log::OptunaState::fail) {
      log::ViolationRow failed = plain_violation("fail");
      failed.message =
          printable(cell_of(attribute(trial.system_attributes, studies_.texts.index_of("fail_reason"))), 1000);
      outcome.violations.push_back(std::move(failed));
    }
    const bool last = trial.state == log::OptunaState::pruned && options_.pruned == PrunedTrials::last;
    if (trial.state == log::OptunaState::pruned && !last) outcome.violations.push_back(plain_violation("pruned"));
    std::vector<std::optional<double>> values = trial.values;
    if (last) values = {trial.last_intermediate};
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      const std::optional<double> value = i < values.size() ? values[i] : std::nullopt;
      if (value && std::isfinite(*value)) {
        outcome.metrics.emplace_back(metrics[i], *value);
      } else if (outcome.violations.empty()) {
        outcome.violations.push_back(plain_violation(value ? "inf" : "nan"));
      }
    }
    outcome.feasible = outcome.violations.empty();
    if (!outcome.feasible) outcome.metrics.clear();  // the objective of a design that must not be
    add_attributes(trial, outcome);
  }

  /// Constraints are met where they are not above 0.
  std::vector<log::ViolationRow> broken_constraints(const log::OptunaStoredTrial& trial) {
    std::vector<log::ViolationRow> broken;
    const auto check = [&](const std::string& name, const Json& value) {
      const auto number = number_of(value);
      if (!number) {
        broken.push_back(plain_violation(name));
      } else if (*number > 0) {
        broken.push_back(missed_limit(name, *number, 0));
      }
    };
    for (const auto& [key, json] : trial.system_attributes) {
      const std::string& name = studies_.texts[key];
      constexpr std::string_view kNamed = "constraints:";
      const Json value = name.starts_with("constraints") ? try_json(json).value_or(Json()) : Json();
      if (name.starts_with(kNamed)) check(name.substr(kNamed.size()), value);
      if (name != "constraints") continue;
      for (std::size_t i = 0; value.is_array() && i < value.size(); ++i)
        check(fmt::format("constraint_{}", i), value[i]);
    }
    return broken;
  }

  /// User attributes that are asked for as metrics.
  void add_attributes(const log::OptunaStoredTrial& trial, StatedOutcome& outcome) {
    for (const std::string& name : options_.attributes) {
      const auto value = number_of(attribute(trial.user_attributes, studies_.texts.index_of(name)));
      if (!value || !std::isfinite(*value)) continue;
      outcome.metrics.emplace_back(snake_case(name), *value);
      found_.insert(name);
    }
  }

  void require_attributes() const {
    if (options_.attributes.empty()) return;
    std::set<std::string> known;
    for (const log::OptunaStudy& study : studies_.studies) {
      for (const auto& trial : study.trials) {
        for (const auto& [key, json] : trial.user_attributes) known.insert(studies_.texts[key]);
      }
    }
    for (const std::string& name : options_.attributes) {
      if (found_.contains(name)) continue;
      fail(fmt::format("no trial has a user attribute '{}' that is a number.{}", printable(name),
                       did_you_mean(name, std::vector<std::string>(known.begin(), known.end()))));
    }
  }

  // Studies of ours.

  void add_own_study(const log::OptunaStudy& study) {
    const Json own = attribute(study.user_attributes, std::string(kOwnAttribute));
    const Json &workload = value_of(own, "workload"), &evaluator = value_of(own, "evaluator"),
               &space = value_of(own, "space");
    StatedWorkload stated{.name = text_of(workload, "name"),
                          .definition = text_of(workload, "definition"),
                          .layers_json = text_of(workload, "layers_json")};
    stated.batch =
        value_of(workload, "batch").is_number_integer() ? value_of(workload, "batch").get<std::int64_t>() : 1;
    if (value_of(workload, "context_version").is_number_integer()) {
      stated.context_version = value_of(workload, "context_version").get<int>();
    }
    for (const Json& feature : value_of(workload, "context")) {
      if (feature.is_array() && feature.size() == 2 && feature[0].is_string() && feature[1].is_number()) {
        stated.context.emplace_back(feature[0].get<std::string>(), feature[1].get<double>());
      }
    }
    const bool first = definitions_.workloads.empty();
    if (!first && definitions_.evaluator_definition != text_of(evaluator, "definition")) {
      fail("its studies are of several evaluators, and an import has one. Name one study by --study");
    }
    definitions_.evaluator = text_of(evaluator, "name");
    definitions_.evaluator_definition = text_of(evaluator, "definition");
    if (first) space_ = space::space_from_definition(text_of(space, "name"), text_of(space, "definition"));
    objective_ = text_of(own, "metric");
    read_directions(study, {objective_});
    for (const log::OptunaStoredTrial& trial : study.trials) add_own_trial(trial, stated.name);
    definitions_.workloads.push_back(std::move(stated));
  }

  void add_own_trial(const log::OptunaStoredTrial& trial, const std::string& workload) {
    if (!attribute(trial.user_attributes, studies_.texts.index_of(kOwnDesign)).is_string()) {
      // Who measured it is not known: not the evaluator of the log, as far as anybody can tell.
      return rows_.leave_out("made after the export (--evaluator NAME takes the study as one of NAME)");
    }
    StatedOutcome outcome{.workload = workload};
    for (const auto& [key, json] : trial.user_attributes) {
      const std::string& name = studies_.texts[key];
      constexpr std::string_view kOther = "metric ";
      const auto value = parse_double(json);
      const bool standard = std::ranges::find(log::standard_metrics(), name) != log::standard_metrics().end();
      if (value && (standard || name.starts_with(kOther))) {
        outcome.metrics.emplace_back(standard ? name : name.substr(kOther.size()), *value);
      }
    }
    const Json reasons = attribute(trial.user_attributes, studies_.texts.index_of(kOwnReasons));
    repeats_ = repeats_ || number_of(attribute(trial.user_attributes, studies_.texts.index_of(kOwnRepeat))).has_value();
    for (const Json& reason : reasons) outcome.violations.push_back(own_violation(reason));
    outcome.feasible = outcome.violations.empty();
    rows_.add(static_cast<std::size_t>(trial.number), design_of(trial), std::move(outcome));
  }

  static log::ViolationRow own_violation(const Json& json) {
    return {.code = text_of(json, "code"),
            .quantity = text_of(json, "quantity"),
            .value = number_of(value_of(json, "value")).value_or(kUnknown),
            .limit = number_of(value_of(json, "limit")).value_or(kUnknown),
            .nearest_passing = number_of(value_of(json, "nearest_passing")),
            .layer = text_of(json, "layer"),
            .message = text_of(json, "message")};
  }

  const std::filesystem::path& file_;
  log::OptunaStudies studies_;
  const ReadOptions& options_;
  TrialTable rows_;
  std::string objective_;
  std::map<std::string, std::set<Direction>> directions_;  ///< by metric, of all studies
  std::map<std::uint32_t, std::optional<Distribution>> distributions_;
  std::set<std::string> found_;  ///< attributes that some trial has as a number
  bool repeats_ = false;         ///< measurements beyond the first of a design
  StatedDefinitions definitions_;
  std::optional<space::DesignSpace> space_;
};

}  // namespace

ImportSource read_optuna_database(const std::filesystem::path& file, const ReadOptions& options) {
  return OptunaReader(file, log::read_optuna_studies(file), options).read();
}

ImportSource read_optuna_journal(std::string_view text, const std::filesystem::path& file, const ReadOptions& options) {
  OptunaJournal journal = read_optuna_operations(text, file);
  ImportSource source = OptunaReader(file, std::move(journal.studies), options).read();
  source.format = "Optuna journal";
  if (journal.cut_off) source.remarks.emplace_back("the last line of the journal was half written and is left out");
  return source;
}

}  // namespace hindsight::dataset
