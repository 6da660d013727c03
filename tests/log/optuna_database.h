/// SQLite files as releases of Optuna made them: the tables of each revision of its schema, and studies in them.
///
/// Columns and types: read off what the migrations of Optuna 3.1.0 make of an empty file, and what it makes itself;
/// v3.2.0.a adds an index. Left out: checks of words (state, direction), which SQLAlchemy before 1.4 wrote.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace hindsight::test {

/// In their order; compare with <.
enum class OptunaRevision {
  v0_9_0_a,  ///< trials.value, studies.direction, trial_values by step; a trial's number is a system attribute
  v1_2_0_a,  ///< trials may wait
  v1_3_0_a,  ///< trials.number
  v2_4_0_a,  ///< several objectives: study_directions, trial_values by objective, trial_intermediate_values
  v2_6_0_a,  ///< texts of any length
  v3_0_0_a,  ///< FloatDistribution and IntDistribution in place of five others
  v3_0_0_b,  ///< an intermediate value may be no number
  v3_0_0_c,  ///< kinds of intermediate values: infinities
  v3_0_0_d,  ///< kinds of values
  v3_2_0_a,  ///< an index
};

struct OptunaRelease {
  OptunaRevision revision;
  const char* id;       ///< as alembic_version has it
  const char* release;  ///< one that makes files of this revision
};
inline constexpr std::array<OptunaRelease, 10> kOptunaReleases{{
    {OptunaRevision::v0_9_0_a, "v0.9.0.a", "0.19.0"},
    {OptunaRevision::v1_2_0_a, "v1.2.0.a", "1.2.0"},
    {OptunaRevision::v1_3_0_a, "v1.3.0.a", "2.3.0"},
    {OptunaRevision::v2_4_0_a, "v2.4.0.a", "2.5.0"},
    {OptunaRevision::v2_6_0_a, "v2.6.0.a", "2.10.1"},
    {OptunaRevision::v3_0_0_a, "v3.0.0.a", "3.0.0b0"},
    {OptunaRevision::v3_0_0_b, "v3.0.0.b", "3.0.0b1"},
    {OptunaRevision::v3_0_0_c, "v3.0.0.c", "3.0.0b1.dev"},
    {OptunaRevision::v3_0_0_d, "v3.0.0.d", "3.1.0"},
    {OptunaRevision::v3_2_0_a, "v3.2.0.a", "4.2.0"},
}};

/// A parameter of a distribution that old releases called otherwise.
struct OptunaMadeParameter {
  const char* name;
  const char* before_3;          ///< distribution_json up to v2.6.0.a
  const char* since_3;           ///< and since v3.0.0.a
  std::array<double, 3> values;  ///< as stored; of "tile" those of the trials
};
/// One of each distribution that there was; "ways" has had its logarithmic one since Optuna 1.4.
inline constexpr std::array<OptunaMadeParameter, 6> kOptunaParameters{{
    {"x",
     R"({"name": "UniformDistribution", "attributes": {"low": -5, "high": 5}})",
     R"({"name": "FloatDistribution", "attributes": {"step": null, "low": -5.0, "high": 5.0, "log": false}})",
     {0.1, -1.5, 0.30000000000000004}},
    {"rate",
     R"({"name": "LogUniformDistribution", "attributes": {"low": 1e-05, "high": 0.001}})",
     R"({"name": "FloatDistribution", "attributes": {"step": null, "low": 1e-05, "high": 0.001, "log": true}})",
     {0.00025, 1e-05, 0.001}},
    {"share",
     R"({"name": "DiscreteUniformDistribution", "attributes": {"low": 0, "high": 1, "q": 0.25}})",
     R"({"name": "FloatDistribution", "attributes": {"step": 0.25, "low": 0.0, "high": 1.0, "log": false}})",
     {0.75, 0, 1}},
    {"tile",
     R"({"name": "IntUniformDistribution", "attributes": {"low": 1, "high": 16, "step": 1}})",
     R"({"name": "IntDistribution", "attributes": {"log": false, "step": 1, "low": 1, "high": 16}})",
     {}},
    {"ways",
     R"({"name": "IntLogUniformDistribution", "attributes": {"low": 1, "high": 64, "step": 1}})",
     R"({"name": "IntDistribution", "attributes": {"log": true, "step": 1, "low": 1, "high": 64}})",
     {2, 64, 4}},
    {"mode",
     R"({"name": "CategoricalDistribution", "attributes": {"choices": ["ws", null, true, 2, 0.5]}})",
     R"({"name": "CategoricalDistribution", "attributes": {"choices": ["ws", null, true, 2, 0.5]}})",
     {1, 0, 4}},
}};

/// As Optuna 2.5 to 2.10 store an infinity: the largest number of 32 bits.
inline constexpr double kOptunaLargest = std::numeric_limits<float>::max();

/// A new file of one revision, without rows but those of the versions.
class OptunaDatabase {
 public:
  OptunaDatabase(const std::filesystem::path& file, const OptunaRelease& release)
      : revision_(release.revision), database_(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE) {
    database_.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
    database_.exec(tables(release.revision));
    insert("INSERT INTO version_info VALUES (1, 12, ?)", release.release);
    insert("INSERT INTO alembic_version VALUES (?)", release.id);
  }

  std::int64_t add_study(const std::string& name, const std::vector<std::string>& directions) {
    const std::int64_t id = next_study_++;
    if (since(OptunaRevision::v2_4_0_a)) {
      insert("INSERT INTO studies (study_id, study_name) VALUES (?, ?)", id, name);
      for (std::size_t i = 0; i < directions.size(); ++i) {
        insert("INSERT INTO study_directions (direction, study_id, objective) VALUES (?, ?, ?)", directions[i], id,
               static_cast<std::int64_t>(i));
      }
    } else {
      insert("INSERT INTO studies (study_id, study_name, direction) VALUES (?, ?, ?)", id, name, directions.at(0));
    }
    return id;
  }

  std::int64_t add_trial(std::int64_t study, std::int64_t number, const std::string& state) {
    const std::int64_t id = next_trial_++;
    insert("INSERT INTO trials (trial_id, study_id, state, datetime_start) VALUES (?, ?, ?, '2020-01-31 12:00:00.5')",
           id, study, state);
    if (since(OptunaRevision::v1_3_0_a)) {
      insert("UPDATE trials SET number = ? WHERE trial_id = ?", number, id);
    } else {
      add_trial_attribute("system", id, "_number", std::to_string(number));
    }
    return id;
  }

  /// The `choice`-th value of every parameter, but `tile`, by which trials are told apart.
  void add_parameters(std::int64_t trial, std::size_t choice, std::int64_t tile) {
    for (const OptunaMadeParameter& parameter : kOptunaParameters) {
      insert("INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) VALUES (?, ?, ?, ?)",
             trial, parameter.name,
             parameter.name == std::string("tile") ? static_cast<double>(tile) : parameter.values.at(choice),
             distribution(parameter));
    }
  }
  [[nodiscard]] std::string distribution(const OptunaMadeParameter& parameter) const {
    if (since(OptunaRevision::v3_0_0_a)) return parameter.since_3;
    const bool is_log_int = parameter.name == std::string("ways");
    if (!is_log_int || since(OptunaRevision::v1_3_0_a)) return parameter.before_3;
    return R"({"name": "IntUniformDistribution", "attributes": {"low": 1, "high": 64}})";
  }

  void add_value(std::int64_t trial, std::int64_t objective, double value) {
    if (since(OptunaRevision::v3_0_0_d)) {
      insert("INSERT INTO trial_values (trial_id, objective, value, value_type) VALUES (?, ?, ?, ?)", trial, objective,
             finite(value), kind(value));
    } else if (since(OptunaRevision::v2_4_0_a)) {
      insert("INSERT INTO trial_values (trial_id, objective, value) VALUES (?, ?, ?)", trial, objective,
             clipped(value));
    } else {
      insert("UPDATE trials SET value = ? WHERE trial_id = ?", value, trial);
    }
  }

  /// Not a number only where the revision can have it: keeps_nan().
  void add_intermediate(std::int64_t trial, std::int64_t step, double value) {
    if (since(OptunaRevision::v3_0_0_c)) {
      insert(
          "INSERT INTO trial_intermediate_values (trial_id, step, intermediate_value, intermediate_value_type) VALUES "
          "(?, ?, ?, ?)",
          trial, step, finite(value), kind(value));
    } else if (since(OptunaRevision::v2_4_0_a)) {
      insert("INSERT INTO trial_intermediate_values (trial_id, step, intermediate_value) VALUES (?, ?, ?)", trial, step,
             clipped(value));
    } else {
      insert("INSERT INTO trial_values (trial_id, step, value) VALUES (?, ?, ?)", trial, step, value);
    }
  }
  [[nodiscard]] bool keeps_nan() const { return !since(OptunaRevision::v2_4_0_a) || since(OptunaRevision::v3_0_0_b); }

  /// `kind`: user or system.
  void add_trial_attribute(const std::string& kind, std::int64_t trial, const std::string& key,
                           const std::string& json) {
    insert("INSERT INTO trial_" + kind + "_attributes (trial_id, \"key\", value_json) VALUES (?, ?, ?)", trial, key,
           json);
  }
  void add_study_attribute(const std::string& kind, std::int64_t study, const std::string& key,
                           const std::string& json) {
    insert("INSERT INTO study_" + kind + "_attributes (study_id, \"key\", value_json) VALUES (?, ?, ?)", study, key,
           json);
  }

  [[nodiscard]] bool since(OptunaRevision revision) const { return revision_ >= revision; }

 private:
  template <class... Values>
  void insert(const std::string& sql, const Values&... values) {
    SQLite::Statement statement(database_, sql);
    int place = 1;
    (statement.bind(place++, values), ...);  // SQLite keeps a NaN as NULL, as it does for Optuna
    statement.exec();
  }
  static double finite(double value) { return std::isfinite(value) ? value : std::nan(""); }
  static std::string kind(double value) {
    return std::isnan(value) ? "NAN" : std::isfinite(value) ? "FINITE" : value > 0 ? "INF_POS" : "INF_NEG";
  }
  static double clipped(double value) { return std::isinf(value) ? std::copysign(kOptunaLargest, value) : value; }

  static std::string tables(OptunaRevision revision);

  OptunaRevision revision_;
  SQLite::Database database_;
  std::int64_t next_study_ = 1, next_trial_ = 1;
};

inline std::string optuna_attributes_table(const std::string& of, const std::string& kind, const std::string& json) {
  const std::string name = of + "_" + kind + "_attribute", owner = of == "study" ? "studies" : "trials";
  return "CREATE TABLE " + name + "s (" + name + "_id INTEGER NOT NULL, " + of + "_id INTEGER, \"key\" VARCHAR(512), " +
         "value_json " + json + ", PRIMARY KEY (" + name + "_id), UNIQUE (" + of + "_id, \"key\"), FOREIGN KEY(" + of +
         "_id) REFERENCES " + owner + " (" + of + "_id));\n";
}

/// The tables of several objectives; `of_steps`: those of intermediate values alone.
inline std::string optuna_value_tables(OptunaRevision revision) {
  using enum OptunaRevision;
  if (revision < v2_4_0_a) {
    return "CREATE TABLE trial_values (trial_value_id INTEGER NOT NULL, trial_id INTEGER, step INTEGER, value FLOAT, "
           "PRIMARY KEY (trial_value_id), UNIQUE (trial_id, step), FOREIGN KEY(trial_id) REFERENCES trials "
           "(trial_id));\n";
  }
  return std::string(
             "CREATE TABLE study_directions (study_direction_id INTEGER NOT NULL, direction VARCHAR(8) NOT NULL, "
             "study_id INTEGER NOT NULL, objective INTEGER NOT NULL, PRIMARY KEY (study_direction_id), UNIQUE "
             "(study_id, objective), FOREIGN KEY(study_id) REFERENCES studies (study_id));\n"
             "CREATE TABLE trial_values (trial_value_id INTEGER NOT NULL, trial_id INTEGER NOT NULL, objective INTEGER "
             "NOT NULL, value FLOAT") +
         (revision >= v3_0_0_d ? ", value_type VARCHAR(7) NOT NULL" : " NOT NULL") +
         ", PRIMARY KEY (trial_value_id), UNIQUE (trial_id, objective), FOREIGN KEY(trial_id) REFERENCES trials "
         "(trial_id));\n"
         "CREATE TABLE trial_intermediate_values (trial_intermediate_value_id INTEGER NOT NULL, trial_id INTEGER NOT "
         "NULL, step INTEGER NOT NULL, intermediate_value FLOAT" +
         (revision >= v3_0_0_b ? "" : " NOT NULL") +
         (revision >= v3_0_0_c ? ", intermediate_value_type VARCHAR(7) NOT NULL" : "") +
         ", PRIMARY KEY (trial_intermediate_value_id), UNIQUE (trial_id, step), FOREIGN KEY(trial_id) REFERENCES "
         "trials (trial_id));\n";
}

inline std::string OptunaDatabase::tables(OptunaRevision revision) {
  using enum OptunaRevision;
  const std::string text = revision >= v2_6_0_a ? "TEXT" : "VARCHAR(2048)";
  const bool one_objective = revision < v2_4_0_a;
  std::string sql = "CREATE TABLE studies (study_id INTEGER NOT NULL, study_name VARCHAR(512) NOT NULL" +
                    std::string(one_objective ? ", direction VARCHAR(8) NOT NULL" : "") +
                    ", PRIMARY KEY (study_id));\n" +
                    "CREATE UNIQUE INDEX ix_studies_study_name ON studies (study_name);\n"
                    "CREATE TABLE version_info (version_info_id INTEGER NOT NULL, schema_version INTEGER, "
                    "library_version VARCHAR(256), PRIMARY KEY (version_info_id), CHECK (version_info_id=1));\n"
                    "CREATE TABLE trials (trial_id INTEGER NOT NULL, " +
                    (revision >= v1_3_0_a ? "number INTEGER, " : "") + "study_id INTEGER, state VARCHAR(8) NOT NULL, " +
                    (one_objective ? "value FLOAT, " : "") +
                    "datetime_start DATETIME, datetime_complete DATETIME, PRIMARY KEY (trial_id), FOREIGN "
                    "KEY(study_id) REFERENCES studies (study_id));\n"
                    "CREATE TABLE trial_params (param_id INTEGER NOT NULL, trial_id INTEGER, param_name VARCHAR(512), "
                    "param_value FLOAT, distribution_json " +
                    text +
                    ", PRIMARY KEY (param_id), UNIQUE (trial_id, param_name), FOREIGN KEY(trial_id) REFERENCES trials "
                    "(trial_id));\n";
  for (const char* of : {"study", "trial"}) {
    for (const char* kind : {"user", "system"}) sql += optuna_attributes_table(of, kind, text);
  }
  sql += optuna_value_tables(revision);
  if (revision >= v2_6_0_a) {
    sql +=
        "CREATE TABLE trial_heartbeats (trial_heartbeat_id INTEGER NOT NULL, trial_id INTEGER NOT NULL, heartbeat "
        "DATETIME NOT NULL, PRIMARY KEY (trial_heartbeat_id), UNIQUE (trial_id), FOREIGN KEY(trial_id) REFERENCES "
        "trials (trial_id));\n";
  }
  if (revision >= v3_2_0_a) sql += "CREATE INDEX ix_trials_study_id ON trials (study_id);\n";
  return sql +
         "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY "
         "(version_num));\n";
}

/// Studies with everything that the revision can have: 'latency' (trials in every state, their tile one more than their
/// number), 'speed' (maximised, between the trials of the other), 'empty', where there are several objectives 'both',
/// and from Optuna 1.4 on 'pair' of optuna.multi_objective, whose values are intermediate values.
inline void make_optuna_database(const std::filesystem::path& file, const OptunaRelease& release) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  OptunaDatabase made(file, release);
  const std::int64_t latency = made.add_study("latency", {"MINIMIZE"}), speed = made.add_study("speed", {"MAXIMIZE"});
  made.add_study("empty", {made.since(OptunaRevision::v2_4_0_a) ? "MINIMIZE" : "NOT_SET"});
  made.add_study_attribute("user", latency, "owner", R"("team")");
  std::int64_t number = 0;
  const auto add = [&](const std::string& state, std::size_t choice) {
    const std::int64_t trial = made.add_trial(latency, number++, state);
    made.add_parameters(trial, choice, number);
    return trial;
  };
  const std::int64_t first = add("COMPLETE", 0);
  made.add_value(first, 0, 2.5);
  made.add_trial_attribute("user", first, "area", "12.5");
  for (const std::int64_t i : {0, 1}) {
    const std::int64_t other = made.add_trial(speed, i, "COMPLETE");
    made.add_parameters(other, static_cast<std::size_t>(i), 4);
    made.add_value(other, 0, 10.0 + static_cast<double>(i));
  }
  made.add_value(add("COMPLETE", 1), 0, 0.30000000000000004);
  made.add_value(add("COMPLETE", 2), 0, kInfinite);
  made.add_value(add("COMPLETE", 2), 0, -kInfinite);
  made.add_trial_attribute("system", add("FAIL", 0), "fail_reason", R"("it fell over")");
  const std::int64_t pruned = add("PRUNED", 1);
  made.add_intermediate(pruned, 10, 7.5);
  made.add_intermediate(pruned, 2, 9);
  made.add_value(pruned, 0, 7.5);
  made.add_intermediate(add("PRUNED", 2), 0, kInfinite);
  if (made.keeps_nan()) made.add_intermediate(add("PRUNED", 0), 1, std::nan(""));
  add("RUNNING", 0);
  if (made.since(OptunaRevision::v1_2_0_a)) {
    made.add_trial_attribute("system", made.add_trial(latency, number++, "WAITING"), "fixed_params", R"({"tile": 4})");
  }
  if (made.since(OptunaRevision::v1_3_0_a)) {
    const std::int64_t pair = made.add_study("pair", {"MINIMIZE"});
    made.add_study_attribute("system", pair, "multi_objective:study:directions", R"(["maximize", "minimize"])");
    const std::int64_t trial = made.add_trial(pair, 0, "COMPLETE");
    made.add_parameters(trial, 1, 4);
    made.add_value(trial, 0, 0);
    for (const std::int64_t i : {0, 1, 2, 3}) made.add_intermediate(trial, i, 0.5 + static_cast<double>(i));
  }
  if (made.since(OptunaRevision::v2_4_0_a)) {
    const std::int64_t both = made.add_study("both", {"MINIMIZE", "MAXIMIZE"});
    const std::int64_t trial = made.add_trial(both, 0, "COMPLETE");
    made.add_parameters(trial, 2, 4);
    made.add_value(trial, 0, 1.25);
    made.add_value(trial, 1, 80);
  }
}

}  // namespace hindsight::test
