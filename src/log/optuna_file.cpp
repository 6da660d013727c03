/// Optuna's tables, written by SQLite alone.
#include "hindsight/log/optuna_file.h"

#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>

#include <map>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "log/connection.h"
#include "log/database.h"
#include "log/draft_file.h"

namespace hindsight::log {
namespace {

/// As Optuna 3.1.0 makes them.
constexpr const char* kTables = R"sql(
CREATE TABLE studies (study_id INTEGER NOT NULL, study_name VARCHAR(512) NOT NULL, PRIMARY KEY (study_id));
CREATE UNIQUE INDEX ix_studies_study_name ON studies (study_name);
CREATE TABLE version_info (version_info_id INTEGER NOT NULL, schema_version INTEGER, library_version VARCHAR(256),
  PRIMARY KEY (version_info_id), CHECK (version_info_id=1));
CREATE TABLE study_directions (study_direction_id INTEGER NOT NULL, direction VARCHAR(8) NOT NULL,
  study_id INTEGER NOT NULL, objective INTEGER NOT NULL, PRIMARY KEY (study_direction_id),
  UNIQUE (study_id, objective), FOREIGN KEY(study_id) REFERENCES studies (study_id));
CREATE TABLE study_user_attributes (study_user_attribute_id INTEGER NOT NULL, study_id INTEGER, "key" VARCHAR(512),
  value_json TEXT, PRIMARY KEY (study_user_attribute_id), UNIQUE (study_id, "key"),
  FOREIGN KEY(study_id) REFERENCES studies (study_id));
CREATE TABLE study_system_attributes (study_system_attribute_id INTEGER NOT NULL, study_id INTEGER,
  "key" VARCHAR(512), value_json TEXT, PRIMARY KEY (study_system_attribute_id), UNIQUE (study_id, "key"),
  FOREIGN KEY(study_id) REFERENCES studies (study_id));
CREATE TABLE trials (trial_id INTEGER NOT NULL, number INTEGER, study_id INTEGER, state VARCHAR(8) NOT NULL,
  datetime_start DATETIME, datetime_complete DATETIME, PRIMARY KEY (trial_id),
  FOREIGN KEY(study_id) REFERENCES studies (study_id));
CREATE TABLE trial_user_attributes (trial_user_attribute_id INTEGER NOT NULL, trial_id INTEGER, "key" VARCHAR(512),
  value_json TEXT, PRIMARY KEY (trial_user_attribute_id), UNIQUE (trial_id, "key"),
  FOREIGN KEY(trial_id) REFERENCES trials (trial_id));
CREATE TABLE trial_system_attributes (trial_system_attribute_id INTEGER NOT NULL, trial_id INTEGER,
  "key" VARCHAR(512), value_json TEXT, PRIMARY KEY (trial_system_attribute_id), UNIQUE (trial_id, "key"),
  FOREIGN KEY(trial_id) REFERENCES trials (trial_id));
CREATE TABLE trial_params (param_id INTEGER NOT NULL, trial_id INTEGER, param_name VARCHAR(512), param_value FLOAT,
  distribution_json TEXT, PRIMARY KEY (param_id), UNIQUE (trial_id, param_name),
  FOREIGN KEY(trial_id) REFERENCES trials (trial_id));
CREATE TABLE trial_values (trial_value_id INTEGER NOT NULL, trial_id INTEGER NOT NULL, objective INTEGER NOT NULL,
  value FLOAT, value_type VARCHAR(7) NOT NULL, PRIMARY KEY (trial_value_id), UNIQUE (trial_id, objective),
  FOREIGN KEY(trial_id) REFERENCES trials (trial_id));
CREATE TABLE trial_intermediate_values (trial_intermediate_value_id INTEGER NOT NULL, trial_id INTEGER NOT NULL,
  step INTEGER NOT NULL, intermediate_value FLOAT, intermediate_value_type VARCHAR(7) NOT NULL,
  PRIMARY KEY (trial_intermediate_value_id), UNIQUE (trial_id, step),
  FOREIGN KEY(trial_id) REFERENCES trials (trial_id));
CREATE TABLE trial_heartbeats (trial_heartbeat_id INTEGER NOT NULL, trial_id INTEGER NOT NULL,
  heartbeat DATETIME NOT NULL, PRIMARY KEY (trial_heartbeat_id), UNIQUE (trial_id),
  FOREIGN KEY(trial_id) REFERENCES trials (trial_id));
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL,
  CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num));
INSERT INTO version_info VALUES (1, 12, '3.1.0');
INSERT INTO alembic_version VALUES ('v3.0.0.d');
)sql";

/// Optuna needs a time of every finished trial; this one stands for one that is not known.
constexpr const char* kUnknownTime = "1970-01-01 00:00:00.000000";

/// "2026-11-23T15:49:48Z" as Optuna writes it.
std::string optuna_time(const std::string& iso) {
  constexpr std::size_t kSecondsEnd = 19;  // of yyyy-mm-ddThh:mm:ss
  if (iso.size() < kSecondsEnd || iso[10] != 'T') return kUnknownTime;
  return fmt::format("{} {}.000000", iso.substr(0, 10), iso.substr(11, kSecondsEnd - 11));
}

std::string distribution_json(const OptunaParameter& parameter) {
  return fmt::format(R"({{"name": "CategoricalDistribution", "attributes": {{"choices": [{}]}}}})",
                     join(parameter.choices_json, ", "));
}

SQLite::Database created(const std::filesystem::path& output, const std::filesystem::path& draft) {
  if (std::error_code ignored; std::filesystem::exists(std::filesystem::symlink_status(output, ignored))) {
    throw Error(ErrorKind::usage, fmt::format("{}: is there already. Name a new file.", shown(output)));
  }
  return translating(nullptr, output, "creating it", [&] {
    SQLite::Database database(draft.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
    database.exec(kTables);
    return database;
  });
}

}  // namespace

struct OptunaFile::State {
  explicit State(const std::filesystem::path& file)
      : output(file), draft(file), database(std::make_unique<SQLite::Database>(created(file, draft.path()))) {
    begin();
  }
  void begin() {
    translating(database->getHandle(), output, "writing it", [&] {
      transaction = std::make_unique<SQLite::Transaction>(*database);
      insert_trial = std::make_unique<SQLite::Statement>(*database, "INSERT INTO trials VALUES (NULL, ?, ?, ?, ?, ?)");
      insert_parameter =
          std::make_unique<SQLite::Statement>(*database, "INSERT INTO trial_params VALUES (NULL, ?, ?, ?, ?)");
      insert_value =
          std::make_unique<SQLite::Statement>(*database, "INSERT INTO trial_values VALUES (NULL, ?, 0, ?, 'FINITE')");
      insert_attribute =
          std::make_unique<SQLite::Statement>(*database, "INSERT INTO trial_user_attributes VALUES (NULL, ?, ?, ?)");
    });
  }

  std::filesystem::path output;
  DraftFile draft;
  std::unique_ptr<SQLite::Database> database;
  std::unique_ptr<SQLite::Transaction> transaction;
  std::unique_ptr<SQLite::Statement> insert_trial, insert_parameter, insert_value, insert_attribute;
  std::map<std::int64_t, std::int64_t> trials;  ///< of each study: the number of the next
};

OptunaFile::OptunaFile(const std::filesystem::path& file) : state_(std::make_unique<State>(file)) {}
OptunaFile::~OptunaFile() = default;

std::int64_t OptunaFile::add_study(const std::string& name, Direction direction,
                                   const std::vector<std::pair<std::string, std::string>>& attributes_json) {
  return translating(state_->database->getHandle(), state_->output, "writing a study", [&] {
    SQLite::Statement study(*state_->database, "INSERT INTO studies (study_name) VALUES (?)");
    study.bind(1, name);
    study.exec();
    const std::int64_t id = state_->database->getLastInsertRowid();
    SQLite::Statement goal(*state_->database, "INSERT INTO study_directions VALUES (NULL, ?, ?, 0)");
    goal.bind(1, direction == Direction::minimise ? "MINIMIZE" : "MAXIMIZE");
    goal.bind(2, id);
    goal.exec();
    for (const auto& [key, json] : attributes_json) {
      SQLite::Statement attribute(*state_->database, "INSERT INTO study_user_attributes VALUES (NULL, ?, ?, ?)");
      attribute.bind(1, id);
      attribute.bind(2, key);
      attribute.bind(3, json);
      attribute.exec();
    }
    return id;
  });
}

void OptunaFile::add_trial(std::int64_t study, const std::vector<OptunaParameter>& parameters,
                           const OptunaTrial& trial) {
  HINDSIGHT_EXPECT(trial.choices.size() == parameters.size());
  translating(state_->database->getHandle(), state_->output, "writing a trial", [&] {
    const std::string time = optuna_time(trial.started_at);
    const ResetAtEnd reset_trial(*state_->insert_trial);
    state_->insert_trial->bind(1, state_->trials[study]++);
    state_->insert_trial->bind(2, study);
    state_->insert_trial->bind(3, trial.value ? "COMPLETE" : "FAIL");
    state_->insert_trial->bind(4, time);
    state_->insert_trial->bind(5, time);
    state_->insert_trial->exec();
    const std::int64_t id = state_->database->getLastInsertRowid();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const ResetAtEnd reset(*state_->insert_parameter);
      state_->insert_parameter->bind(1, id);
      state_->insert_parameter->bind(2, parameters[i].name);
      state_->insert_parameter->bind(3, static_cast<double>(trial.choices[i]));
      state_->insert_parameter->bind(4, distribution_json(parameters[i]));
      state_->insert_parameter->exec();
    }
    if (trial.value) {
      const ResetAtEnd reset(*state_->insert_value);
      state_->insert_value->bind(1, id);
      state_->insert_value->bind(2, *trial.value);
      state_->insert_value->exec();
    }
    for (const auto& [key, json] : trial.attributes_json) {
      const ResetAtEnd reset(*state_->insert_attribute);
      state_->insert_attribute->bind(1, id);
      state_->insert_attribute->bind(2, key);
      state_->insert_attribute->bind(3, json);
      state_->insert_attribute->exec();
    }
  });
}

void OptunaFile::publish() {
  translating(state_->database->getHandle(), state_->output, "writing it", [&] { state_->transaction->commit(); });
  state_->transaction.reset();
  for (auto* statement :
       {&state_->insert_trial, &state_->insert_parameter, &state_->insert_value, &state_->insert_attribute}) {
    statement->reset();
  }
  state_->database.reset();
  state_->draft.publish();
}

}  // namespace hindsight::log
