/// Reads Optuna's SQLite tables.
#include "hindsight/log/optuna_study.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "log/connection.h"
#include "log/filter.h"
#include "log/read_transaction.h"

namespace hindsight::log {
namespace {

bool has_column(SQLite::Database& database, const std::string& table, const std::string& column) {
  SQLite::Statement query(database, "SELECT count(*) FROM pragma_table_info(?) WHERE name = ?");
  query.bind(1, table);
  query.bind(2, column);
  return query.executeStep() && query.getColumn(0).getInt() > 0;
}

void require_layout(SQLite::Database& database, const std::filesystem::path& file) {
  if (has_column(database, "evaluations", "workload_id") && has_column(database, "spaces", "definition_hash")) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: is a log already. `hindsight log merge` brings logs together", shown(file)));
  }
  if (!has_column(database, "studies", "study_name") || !has_column(database, "trials", "state")) {
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: is a SQLite database without Optuna's tables. Name the study's file?", shown(file)));
  }
  if (!has_column(database, "trial_values", "value_type") || !has_column(database, "trials", "number")) {
    throw Error(
        ErrorKind::incompatible,
        fmt::format("{}: was written by an Optuna before 3.0, whose tables were others. Upgrade it: optuna storage "
                    "upgrade --storage sqlite:///{}",
                    shown(file), shown(file)));
  }
}

OptunaState state_of(const std::string& word, const std::filesystem::path& file) {
  if (word == "COMPLETE") return OptunaState::complete;
  if (word == "PRUNED") return OptunaState::pruned;
  if (word == "FAIL") return OptunaState::fail;
  if (word == "RUNNING") return OptunaState::running;
  if (word == "WAITING") return OptunaState::waiting;
  throw Error(ErrorKind::incompatible, fmt::format("{}: a trial is in the state '{}', which Optuna 3 to 5 do not have",
                                                   shown(file), printable(word)));
}

/// A REAL column with its kind: FINITE, INF_POS, INF_NEG or NAN.
std::optional<double> typed_value(const SQLite::Column& value, const std::string& type) {
  if (type == "INF_POS") return std::numeric_limits<double>::infinity();
  if (type == "INF_NEG") return -std::numeric_limits<double>::infinity();
  if (value.isNull() || type == "NAN") return std::nullopt;
  return value.getDouble();
}

/// One pass over each table.
class Reader {
 public:
  Reader(SQLite::Database& database, const std::filesystem::path& file) : database_(database), file_(file) {}

  OptunaStudies read() {
    read_studies();
    read_trials();
    read_parameters();
    read_values();
    read_trial_attributes("trial_user_attributes", &OptunaStoredTrial::user_attributes);
    read_trial_attributes("trial_system_attributes", &OptunaStoredTrial::system_attributes);
    read_intermediate_values();
    return std::move(result_);
  }

 private:
  struct Place {
    std::size_t study = 0, trial = 0;
  };

  /// The trial of a row, or null for one that no study has.
  OptunaStoredTrial* trial_of(std::int64_t id) {
    const auto found = trials_.find(id);
    return found == trials_.end() ? nullptr : &result_.studies[found->second.study].trials[found->second.trial];
  }

  void read_studies() {
    SQLite::Statement query(database_, "SELECT study_id, study_name FROM studies ORDER BY study_id");
    while (query.executeStep()) {
      studies_[query.getColumn(0).getInt64()] = result_.studies.size();
      result_.studies.push_back({.name = text_of(query, 1)});
    }
    SQLite::Statement directions(database_,
                                 "SELECT study_id, direction FROM study_directions ORDER BY study_id, objective");
    while (directions.executeStep()) {
      const auto study = studies_.find(directions.getColumn(0).getInt64());
      if (study == studies_.end()) continue;
      const bool more = text_of(directions, 1) == "MAXIMIZE";
      result_.studies[study->second].directions.push_back(more ? Direction::maximise : Direction::minimise);
    }
    read_study_attributes("study_user_attributes", &OptunaStudy::user_attributes);
    read_study_attributes("study_system_attributes", &OptunaStudy::system_attributes);
  }

  void read_study_attributes(const std::string& table,
                             std::vector<std::pair<std::string, std::string>> OptunaStudy::*attributes) {
    SQLite::Statement query(database_, fmt::format("SELECT study_id, \"key\", value_json FROM {}", table));
    while (query.executeStep()) {
      const auto study = studies_.find(query.getColumn(0).getInt64());
      if (study != studies_.end())
        (result_.studies[study->second].*attributes).emplace_back(text_of(query, 1), text_of(query, 2));
    }
  }

  void read_trials() {
    SQLite::Statement query(database_, "SELECT trial_id, study_id, number, state FROM trials ORDER BY trial_id");
    while (query.executeStep()) {
      const auto study = studies_.find(query.getColumn(1).getInt64());
      if (study == studies_.end()) continue;
      std::vector<OptunaStoredTrial>& trials = result_.studies[study->second].trials;
      trials_[query.getColumn(0).getInt64()] = {.study = study->second, .trial = trials.size()};
      trials.push_back({.number = query.getColumn(2).getInt64(), .state = state_of(text_of(query, 3), file_)});
    }
  }

  void read_parameters() {
    SQLite::Statement query(
        database_, "SELECT trial_id, param_name, distribution_json, param_value FROM trial_params ORDER BY param_id");
    while (query.executeStep()) {
      OptunaStoredTrial* const trial = trial_of(query.getColumn(0).getInt64());
      if (trial == nullptr) continue;
      trial->parameters.push_back({.name = result_.texts.index_of(text_of(query, 1)),
                                   .distribution = result_.texts.index_of(text_of(query, 2)),
                                   .value = query.getColumn(3).getDouble()});
    }
  }

  void read_values() {
    SQLite::Statement query(database_, "SELECT trial_id, objective, value, value_type FROM trial_values");
    while (query.executeStep()) {
      OptunaStoredTrial* const trial = trial_of(query.getColumn(0).getInt64());
      const std::int64_t objective = query.getColumn(1).getInt64();
      constexpr std::int64_t kMostObjectives = 1000;  // [chosen] far above any study
      if (trial == nullptr || objective < 0 || objective >= kMostObjectives) continue;
      const auto index = static_cast<std::size_t>(objective);
      if (trial->values.size() <= index) trial->values.resize(index + 1);
      trial->values[index] = typed_value(query.getColumn(2), text_of(query, 3));
    }
  }

  void read_trial_attributes(const std::string& table,
                             std::vector<std::pair<std::uint32_t, std::string>> OptunaStoredTrial::*attributes) {
    SQLite::Statement query(database_, fmt::format("SELECT trial_id, \"key\", value_json FROM {}", table));
    while (query.executeStep()) {
      OptunaStoredTrial* const trial = trial_of(query.getColumn(0).getInt64());
      if (trial != nullptr)
        (trial->*attributes).emplace_back(result_.texts.index_of(text_of(query, 1)), text_of(query, 2));
    }
  }

  void read_intermediate_values() {
    SQLite::Statement query(
        database_, "SELECT trial_id, step, intermediate_value, intermediate_value_type FROM trial_intermediate_values");
    while (query.executeStep()) {
      OptunaStoredTrial* const trial = trial_of(query.getColumn(0).getInt64());
      if (trial == nullptr || query.getColumn(1).getInt64() <= trial->last_step) continue;
      trial->last_step = query.getColumn(1).getInt64();
      trial->last_intermediate = typed_value(query.getColumn(2), text_of(query, 3));
    }
  }

  SQLite::Database& database_;
  const std::filesystem::path& file_;
  OptunaStudies result_;
  std::unordered_map<std::int64_t, std::size_t> studies_;
  std::unordered_map<std::int64_t, Place> trials_;
};

}  // namespace

std::uint32_t SharedTexts::index_of(const std::string& text) {
  const auto [entry, fresh] = indices_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
  if (fresh) texts_.push_back(text);
  return entry->second;
}

OptunaStudies read_optuna_studies(const std::filesystem::path& file) {
  constexpr int kBusyMilliseconds = 30'000;  // as long as a log waits
  return translating(nullptr, file, "opening it", [&] {
    SQLite::Database database(file.string(), SQLite::OPEN_READONLY, kBusyMilliseconds);
    return translating(database.getHandle(), file, "reading it", [&] {
      distrust(database);
      const ReadTransaction snapshot(database);
      require_layout(database, file);
      return Reader(database, file).read();
    });
  });
}

}  // namespace hindsight::log
