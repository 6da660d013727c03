/// What becomes of a model that was learnt from logs, in one process or in shards: its facts, its place in the log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hindsight/core/provenance.h"
#include "hindsight/report/model.h"
#include "hindsight/study/training_record.h"
#include "hindsight/surrogate/model.h"
#include "learning_rows.h"

namespace hindsight::app {

/// The model with the facts of the command and of the rows among its provenance. `choice`: how backtests chose the
/// recipe; empty where the user named it.
[[nodiscard]] surrogate::Model with_learning_facts(const surrogate::Model& model, const LearningRows& given,
                                                   const std::string& choice, const Provenance& provenance,
                                                   const dataset::UnitedRows& rows);

/// Adds the model's labels of which one of these logs says that more is better to what it knows of them.
void add_directions(const std::vector<std::string>& logs, surrogate::Model::Parts& parts);

/// What the log notes of the run.
[[nodiscard]] std::string options_json(const LearningRows& rows, const std::string& out, bool tune,
                                       const surrogate::Recipe& recipe);

/// The log that the model is noted in: one that has its space, else one that can have it.
[[nodiscard]] std::string log_to_note(const LearningRows& given, const dataset::UnitedRows& rows);

/// Stores the model that was written in the log it came from; gives its number. Error when that fails, which says that
/// the model is there.
std::int64_t note_model(study::TrainingRecord& record, const report::TrainingSummary& summary);

/// Which rows a part of a model was learnt from, and how its recipe was chosen, for the file of the part.
[[nodiscard]] std::string request_json(const LearningRows& rows, const std::string& choice);
/// The same rows, of `logs`. A space that a file describes is named again, by `space`: what is in a file opens no
/// other. `choice` is set. Error{incompatible} for a text that is no request.
[[nodiscard]] LearningRows rows_of_request(const std::string& json, const std::vector<std::string>& logs,
                                           const std::string& space, std::string& choice);

}  // namespace hindsight::app
