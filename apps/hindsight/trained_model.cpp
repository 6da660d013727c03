/// Facts of models that were learnt from logs.
#include "trained_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/json_bounds.h"
#include "hindsight/core/json_line.h"
#include "hindsight/core/json_whole.h"
#include "hindsight/core/text.h"
#include "hindsight/log/log.h"
#include "hindsight/log/query.h"
#include "hindsight/report/take_over.h"
#include "hindsight/study/log_names.h"

namespace hindsight::app {

using RequestJson = nlohmann::ordered_json;

void add_directions(const std::vector<std::string>& logs, surrogate::Model::Parts& parts) {
  std::set<std::string> more_is_better;
  if (const auto known = parts.provenance.find(surrogate::kMoreIsBetter); known != parts.provenance.end()) {
    for (std::string& label : split(known->second, ',')) more_is_better.insert(std::move(label));
  }
  for (const std::string& file : logs) {
    const std::set<std::string> maximised = study::maximised_metrics(log::Log::open(file, log::OpenMode::read_only));
    for (const std::string& label : parts.constraint_names) {
      if (maximised.contains(label)) more_is_better.insert(label);
    }
  }
  if (more_is_better.empty()) return;
  parts.provenance[surrogate::kMoreIsBetter] =
      join(std::vector<std::string>(more_is_better.begin(), more_is_better.end()), ",");
}

surrogate::Model with_learning_facts(const surrogate::Model& model, const LearningRows& given,
                                     const std::string& choice, const Provenance& provenance,
                                     const dataset::UnitedRows& rows) {
  const dataset::Dataset& data = rows.data;
  surrogate::Model::Parts parts = model.parts();
  if (!choice.empty()) parts.provenance["recipe_chosen"] = choice;
  parts.provenance.insert({{"command_line", provenance.command_line},
                           {"host", provenance.host},
                           {"evaluator", data.evaluator},
                           {"log", join(given.logs, ", ")},
                           {"rows", std::to_string(data.size())},
                           {"feasible_rows", std::to_string(data.feasible_count())}});
  parts.provenance.merge(report::take_over_facts(rows));
  add_directions(given.logs, parts);
  const std::vector<std::string> unseen = dataset::unseen_levels(data);
  if (!unseen.empty()) parts.provenance[surrogate::kUnseenLevels] = join(unseen, ",");
  const std::string within = learnt_within(data);
  if (!within.empty()) parts.provenance[kLearntWithin] = within;
  if (data.reason_rows && surrogate::by_tables(surrogate::parse_method(parts.provenance.at("method")))) {
    parts.provenance["reason_rows"] = std::to_string(data.reason_rows->size());
  }
  return surrogate::Model(std::move(parts));
}

std::string options_json(const LearningRows& rows, const std::string& out, bool tune, const surrogate::Recipe& recipe) {
  const RequestJson json{{"workloads", rows.workloads},
                         {"objective", rows.objective},
                         {"maximise", rows.maximise},
                         {"runs", rows.runs},
                         {"where", rows.where},
                         {"constraints", rows.constraints},
                         {"logs", rows.logs},
                         {"assume", rows.assumptions},
                         {"out", out},
                         {"tune", tune},
                         {"recipe", surrogate::to_yaml(recipe)}};
  return json_line(json);
}

std::string log_to_note(const LearningRows& given, const dataset::UnitedRows& rows) {
  if (!rows.log_of_space.empty()) return rows.log_of_space.string();
  const space::DesignSpace& space = rows.data.space;
  for (const std::string& file : given.logs) {
    const std::vector<log::SpaceSummary> known = log::spaces(log::Log::open(file, log::OpenMode::read_only));
    const bool taken = std::ranges::any_of(known, [&](const log::SpaceSummary& one) {
      return one.name == space.name() && one.definition_hash != space.definition_hash();
    });
    if (!taken) return file;
  }
  throw Error(ErrorKind::usage,
              fmt::format("--space {}: the logs have another space of the name '{}', and the model is "
                          "noted in one of them. Give the new space a name of its own",
                          printable(given.space), space.name()));
}

std::int64_t note_model(study::TrainingRecord& record, const report::TrainingSummary& summary) {
  try {
    return record.finish(summary.data->space,
                         {.name = summary.file.stem().string(),
                          .kind = surrogate::to_string(summary.plan->recipe.method),
                          .file = summary.file.string(),
                          .file_sha256 = summary.file_sha256,
                          .card_json = report::model_json(summary.result->model, summary.file, summary.file_sha256)});
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{} is written, but not noted in the log: {}",
                                          printable(summary.file.string(), 200), error.what()));
  }
}

std::string request_json(const LearningRows& rows, const std::string& choice) {
  return json_line(RequestJson{{"workloads", rows.workloads},
                               {"objective", rows.objective},
                               {"maximise", rows.maximise},
                               {"runs", rows.runs},
                               {"where", rows.where},
                               {"constraints", rows.constraints},
                               {"assume", rows.assumptions},
                               {"space", rows.space},
                               {"evaluator", rows.evaluator},
                               {"recipe_chosen", choice}});
}

LearningRows rows_of_request(const std::string& text, const std::vector<std::string>& logs, const std::string& space,
                             std::string& choice) {
  LearningRows rows;
  std::string stored_space;
  try {
    const RequestJson json = RequestJson::parse(bounded_json(text));
    json.at("workloads").get_to(rows.workloads);
    json.at("objective").get_to(rows.objective);
    json.at("maximise").get_to(rows.maximise);
    for (const RequestJson& run : json.at("runs").get_ref<const RequestJson::array_t&>())
      rows.runs.push_back(integer_number(run));
    json.at("where").get_to(rows.where);
    json.at("constraints").get_to(rows.constraints);
    json.at("assume").get_to(rows.assumptions);
    json.at("space").get_to(stored_space);
    json.at("evaluator").get_to(rows.evaluator);
    json.at("recipe_chosen").get_to(choice);
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::incompatible, "what the parts were learnt from is not said. Train them again");
  }
  rows.logs = logs;
  rows.space = space;
  if (!space.empty() || stored_space.empty()) return rows;
  for (const std::string& file : logs) {
    for (const log::SpaceSummary& known : log::spaces(log::Log::open(file, log::OpenMode::read_only))) {
      if (known.name == stored_space) rows.space = stored_space;
    }
  }
  if (rows.space.empty()) {
    throw Error(ErrorKind::usage, fmt::format("the parts learnt from the design space {}, which the log has not. Name "
                                              "its file again: --space FILE",
                                              printable(stored_space, 100)));
  }
  return rows;
}

}  // namespace hindsight::app
