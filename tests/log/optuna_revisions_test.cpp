/// Is a study read the same from the tables of every revision that Optuna's schema has had, and from such that an
/// upgrade left half done; or refused in words?
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>

#include "hindsight/core/files.h"
#include "hindsight/log/optuna_study.h"
#include "log/log_fixture.h"
#include "log/optuna_database.h"

namespace hindsight::log::test {
namespace {

using ::hindsight::test::kOptunaLargest;
using ::hindsight::test::kOptunaParameters;
using ::hindsight::test::kOptunaReleases;
using ::hindsight::test::make_optuna_database;
using ::hindsight::test::OptunaDatabase;
using ::hindsight::test::OptunaRelease;
using ::hindsight::test::OptunaRevision;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::array kStateWords{"running", "complete", "pruned", "fail", "waiting"};

std::string value_text(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : "none"; }

/// "3 fail x=0.1,rate=0.00025 value 2.5 last 10:7.5": what an import sees of a trial, numbers to the last bit.
std::string trial_text(const OptunaStudies& studies, const OptunaStoredTrial& trial) {
  std::string text = fmt::format("{} {} ", trial.number, kStateWords.at(static_cast<std::size_t>(trial.state)));
  for (const OptunaParameterValue& parameter : trial.parameters)
    text += fmt::format("{}={},", studies.texts[parameter.name], parameter.value);
  for (const auto& value : trial.values) text += " value " + value_text(value);
  if (trial.last_step >= 0) text += fmt::format(" last {}:{}", trial.last_step, value_text(trial.last_intermediate));
  for (const auto& [key, json] : trial.user_attributes) text += fmt::format(" {}:{}", studies.texts[key], json);
  for (const auto& [key, json] : trial.system_attributes) {
    if (studies.texts[key] != "_number") text += fmt::format(" {}:{}", studies.texts[key], json);
  }
  return text + "\n";
}

std::string studies_text(const OptunaStudies& studies) {
  std::string text;
  for (const OptunaStudy& study : studies.studies) {
    text += study.name + ":";
    for (const Direction direction : study.directions) text += direction == Direction::maximise ? " more" : " less";
    for (const auto& [key, json] : study.user_attributes) text += fmt::format(" {}:{}", key, json);
    text += "\n";
    for (const OptunaStoredTrial& trial : study.trials) text += trial_text(studies, trial);
  }
  return text;
}

/// A design of the made studies: the `choice`-th values.
std::string made_design(std::size_t choice, int tile) {
  constexpr std::array kBefore{"x=0.1,rate=0.00025,share=0.75", "x=-1.5,rate=1e-05,share=0",
                               "x=0.30000000000000004,rate=0.001,share=1"};
  constexpr std::array kBehind{"ways=2,mode=1,", "ways=64,mode=0,", "ways=4,mode=4,"};
  return fmt::format("{},tile={},{}", kBefore.at(choice), tile, kBehind.at(choice));
}

/// What make_optuna_database() makes, by hand.
std::string expected_text(OptunaRevision revision) {
  using enum OptunaRevision;
  const bool has_nan = revision < v2_4_0_a || revision >= v3_0_0_b;
  std::string text = "latency: less owner:\"team\"\n";
  text += "0 complete " + made_design(0, 1) + " value 2.5 area:12.5\n";
  text += "1 complete " + made_design(1, 2) + " value 0.30000000000000004\n";
  text += "2 complete " + made_design(2, 3) + " value inf\n3 complete " + made_design(2, 4) + " value -inf\n";
  text += "4 fail " + made_design(0, 5) + " fail_reason:\"it fell over\"\n";
  text += "5 pruned " + made_design(1, 6) + " value 7.5 last 10:7.5\n6 pruned " + made_design(2, 7) + " last 0:inf\n";
  if (has_nan) text += "7 pruned " + made_design(0, 8) + " last 1:none\n";
  text += has_nan ? "8 running " + made_design(0, 9) + "\n" : "7 running " + made_design(0, 8) + "\n";
  if (revision >= v1_2_0_a) text += fmt::format("{} waiting  fixed_params:{{\"tile\": 4}}\n", has_nan ? 9 : 8);
  text += "speed: more\n0 complete " + made_design(0, 4) + " value 10\n1 complete " + made_design(1, 4) +
          " value 11\nempty: less\n";
  if (revision >= v1_3_0_a) text += "pair: more less\n0 complete " + made_design(1, 4) + " value 0.5 value 1.5\n";
  if (revision >= v2_4_0_a) text += "both: less more\n0 complete " + made_design(2, 4) + " value 1.25 value 80\n";
  return text;
}

std::string without(std::string text, const std::string& part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part)) text.erase(at, part.size());
  return text;
}

class OptunaFileTest : public testing::Test {
 protected:
  void make(const OptunaRelease& release) {
    std::filesystem::remove(study_);
    make_optuna_database(study_, release);
  }
  void exec(const std::string& sql) const {
    SQLite::Database(study_.string(), SQLite::OPEN_READWRITE).exec("PRAGMA synchronous = OFF; " + sql);
  }
  [[nodiscard]] std::string read() const { return studies_text(read_optuna_studies(study_)); }
  void expect_refused(const std::string& words) const {
    const auto [kind, message] = error_of([&] { (void)read_optuna_studies(study_); });
    EXPECT_EQ(kind, ErrorKind::incompatible) << message;
    EXPECT_THAT(message, AllOf(HasSubstr(words), HasSubstr(study_.string()), Not(HasSubstr("\n"))));
    EXPECT_LE(message.size(), 400U) << message;
  }
  /// The first file of a revision with one objective: 1.3.0.a.
  void make_of_one_objective() { make(kOptunaReleases.at(static_cast<std::size_t>(OptunaRevision::v1_3_0_a))); }
  const std::string of_one_objective_ = expected_text(OptunaRevision::v1_3_0_a);

  hindsight::test::TemporaryFolder folder_;
  std::filesystem::path study_ = folder_ / "optuna.db";
};

class OptunaRevisions : public OptunaFileTest, public testing::WithParamInterface<OptunaRelease> {};

INSTANTIATE_TEST_SUITE_P(All, OptunaRevisions, testing::ValuesIn(kOptunaReleases), [](const auto& one) {
  std::string name = one.param.id;
  std::ranges::replace(name, '.', '_');
  return name;
});

TEST_P(OptunaRevisions, EveryTrialIsReadAsItIs) {
  make(GetParam());
  EXPECT_EQ(read(), expected_text(GetParam().revision));
}

TEST_P(OptunaRevisions, DistributionsAreThoseOfTheTime) {
  make(GetParam());
  const OptunaStudies studies = read_optuna_studies(study_);
  const OptunaStoredTrial& trial = studies.studies.at(0).trials.at(0);
  ASSERT_EQ(trial.parameters.size(), kOptunaParameters.size());
  const OptunaDatabase other(folder_ / "other.db", GetParam());
  for (std::size_t i = 0; i < kOptunaParameters.size(); ++i)
    EXPECT_EQ(studies.texts[trial.parameters[i].distribution], other.distribution(kOptunaParameters[i]));
}

// Whichever revision a file names: its columns decide.
TEST_P(OptunaRevisions, TheRevisionThatIsStatedMayBeWrong) {
  make(GetParam());
  for (const OptunaRelease& stated : kOptunaReleases) {
    exec(fmt::format("UPDATE alembic_version SET version_num = '{}'", stated.id));
    EXPECT_EQ(read(), expected_text(GetParam().revision)) << stated.id;
  }
  for (const char* sql : {"UPDATE alembic_version SET version_num = 'v9.9.9.z'", "DELETE FROM alembic_version",
                          "DROP TABLE alembic_version", "DROP TABLE version_info"}) {
    exec(sql);
    EXPECT_EQ(read(), expected_text(GetParam().revision)) << sql;
  }
}

// Optuna makes the tables that it misses before it looks which revision a file is of.
TEST_P(OptunaRevisions, ANewerOptunaThatOnlyLookedTakesNothingAway) {
  make(GetParam());
  const std::filesystem::path newest = folder_ / "newest.db";
  { const OptunaDatabase tables(newest, kOptunaReleases.back()); }
  SQLite::Database database(newest.string());
  SQLite::Statement table(database, "SELECT sql FROM sqlite_master WHERE type = 'table'");
  while (table.executeStep()) {
    std::string sql = table.getColumn(0).getString();
    exec(sql.replace(0, std::string("CREATE TABLE").size(), "CREATE TABLE IF NOT EXISTS"));
  }
  EXPECT_EQ(read(), expected_text(GetParam().revision));
}

TEST_P(OptunaRevisions, AMissingTableOrColumnIsRefusedByItsName) {
  make(GetParam());
  const std::string whole = read();
  SQLite::Database database(study_.string(), SQLite::OPEN_READWRITE);
  database.exec("PRAGMA synchronous = OFF");
  std::vector<std::pair<std::string, std::string>> columns;
  SQLite::Statement query(database,
                          "SELECT m.name, p.name FROM sqlite_master m, pragma_table_info(m.name) p WHERE m.type = "
                          "'table' AND m.name NOT IN ('version_info', 'alembic_version', 'trial_heartbeats')");
  while (query.executeStep()) columns.emplace_back(query.getColumn(0).getString(), query.getColumn(1).getString());
  query.reset();
  std::size_t refused = 0;
  for (const auto& [table, column] : columns) {
    if (column.ends_with("_type")) continue;  // no upgrade takes these away
    database.exec(fmt::format("ALTER TABLE {} RENAME COLUMN \"{}\" TO gone", table, column));
    // Ids and times that nobody needs, and numbers, which count up.
    const bool needless = column.starts_with("datetime") || column == "number" || column == "trial_value_id" ||
                          column == "study_direction_id" || column == "trial_intermediate_value_id" ||
                          column.ends_with("_attribute_id");
    if (needless) {
      EXPECT_EQ(read(), whole) << table << "." << column;
    } else {
      expect_refused("optuna storage upgrade --storage sqlite:///");
      expect_refused(fmt::format("made by Optuna {}, revision {}", GetParam().release, GetParam().id));
      ++refused;
    }
    database.exec(fmt::format("ALTER TABLE {} RENAME COLUMN gone TO \"{}\"", table, column));
  }
  // 22 of every revision; studies.direction, trials.value, 3 of trial_values by step; or 3 each of three tables.
  EXPECT_EQ(refused, GetParam().revision < OptunaRevision::v2_4_0_a ? 27U : 31U);
  database.exec("ALTER TABLE trial_params RENAME TO _alembic_tmp_trial_params");
  expect_refused("has no trial_params.param_id");
}

// The upgrade to several objectives commits after each of these steps, where a kill or a full disk may end it.
TEST_F(OptunaFileTest, AnUpgradeThatWasCutOffLosesNothing) {
  make_of_one_objective();
  ASSERT_EQ(read(), of_one_objective_);
  const std::vector<std::string> steps{
      "CREATE TABLE study_directions (study_direction_id INTEGER PRIMARY KEY, direction VARCHAR(8) NOT NULL, study_id "
      "INTEGER NOT NULL, objective INTEGER NOT NULL)",
      "CREATE TABLE trial_intermediate_values (trial_intermediate_value_id INTEGER PRIMARY KEY, trial_id INTEGER NOT "
      "NULL, step INTEGER NOT NULL, intermediate_value FLOAT)",
      "INSERT INTO study_directions SELECT NULL, direction, study_id, 0 FROM studies; INSERT INTO "
      "trial_intermediate_values SELECT NULL, trial_id, step, value FROM trial_values; DELETE FROM trial_values",
      "CREATE TABLE _alembic_tmp_trial_values (trial_value_id INTEGER PRIMARY KEY, trial_id INTEGER, step INTEGER, "
      "value FLOAT, objective INTEGER NOT NULL)",
      "DROP TABLE trial_values; ALTER TABLE _alembic_tmp_trial_values RENAME TO trial_values",
      "INSERT INTO trial_values (trial_id, value, objective) SELECT trial_id, value, 0 FROM trials",
      "ALTER TABLE studies RENAME TO old_studies; CREATE TABLE studies (study_id INTEGER PRIMARY KEY, study_name); "
      "INSERT INTO studies SELECT study_id, study_name FROM old_studies; DROP TABLE old_studies",
      "ALTER TABLE trial_values DROP COLUMN step",
      "ALTER TABLE trials DROP COLUMN value",
      "UPDATE alembic_version SET version_num = 'v2.4.0.a'"};
  for (const std::string& step : steps) {
    exec(step);
    // From some step on there is a row of values for every trial, without a number where there was no value.
    EXPECT_EQ(without(read(), " value none"), of_one_objective_) << "after " << step;
  }
}

TEST_F(OptunaFileTest, ATableThatAnUpgradeTookAwayIsMissed) {
  make_of_one_objective();
  exec("ALTER TABLE trials RENAME TO _alembic_tmp_trials");
  expect_refused(
      "has no trials.trial_id, which Optuna 0.9 to 5 have (made by Optuna 2.3.0, revision v1.3.0.a; was an "
      "upgrade cut off?)");
}

// The last upgrades add a kind, FINITE everywhere, and then look which values are infinite.
TEST_F(OptunaFileTest, KindsThatAreNotSetYetAreNotBelieved) {
  for (const auto& [revision, sql] :
       {std::pair(
            OptunaRevision::v3_0_0_b,
            "ALTER TABLE trial_intermediate_values ADD COLUMN intermediate_value_type VARCHAR(7) NOT NULL DEFAULT "
            "'FINITE'"),
        std::pair(OptunaRevision::v3_0_0_c,
                  "ALTER TABLE trial_values ADD COLUMN value_type VARCHAR(7) NOT NULL DEFAULT 'FINITE'")}) {
    make(kOptunaReleases.at(static_cast<std::size_t>(revision)));
    exec(sql);
    EXPECT_EQ(read(), expected_text(revision)) << sql;
  }
}

TEST_F(OptunaFileTest, ALargeValueIsInfiniteOnlyWhereOptunaTakesItSo) {
  const auto value_of = [&](OptunaRevision revision, double value) {
    std::filesystem::remove(study_);
    OptunaDatabase made(study_, kOptunaReleases.at(static_cast<std::size_t>(revision)));
    made.add_value(made.add_trial(made.add_study("s", {"MINIMIZE"}), 0, "COMPLETE"), 0, value);
    return read_optuna_studies(study_).studies.at(0).trials.at(0).values.at(0).value();
  };
  for (const OptunaRelease& release : kOptunaReleases) {
    const bool has_kinds = release.revision >= OptunaRevision::v3_0_0_d;
    for (const double sign : {1.0, -1.0}) {
      EXPECT_EQ(value_of(release.revision, sign * kOptunaLargest),
                has_kinds ? sign * kOptunaLargest : sign * std::numeric_limits<double>::infinity());
      // Two sides of the tolerance: 1e-5 of the largest.
      EXPECT_EQ(std::isinf(value_of(release.revision, sign * kOptunaLargest * (1 - 0.9e-5))), !has_kinds);
      EXPECT_EQ(value_of(release.revision, sign * kOptunaLargest * (1 - 1.1e-5)), sign * kOptunaLargest * (1 - 1.1e-5));
    }
    EXPECT_EQ(value_of(release.revision, 1e300), 1e300);
  }
}

// Trials of the first releases have no number: it is how many of the study are older.
TEST_F(OptunaFileTest, TrialsWithoutANumberCountUp) {
  make(kOptunaReleases.front());
  exec("DELETE FROM trial_system_attributes WHERE \"key\" = '_number'");
  EXPECT_EQ(read(), expected_text(OptunaRevision::v0_9_0_a));
  make_of_one_objective();
  exec("UPDATE trials SET number = NULL");
  EXPECT_EQ(read(), of_one_objective_);
}

TEST_F(OptunaFileTest, ANumberThatIsStatedIsTaken) {
  make(kOptunaReleases.front());
  exec("UPDATE trial_system_attributes SET value_json = '41' WHERE \"key\" = '_number' AND trial_id = 1");
  EXPECT_THAT(read(), HasSubstr("41 complete"));
}

TEST_F(OptunaFileTest, WhatWouldLoseAValueIsRefused) {
  make(kOptunaReleases.back());
  exec("DELETE FROM study_directions WHERE objective = 1");
  expect_refused("trial 0 of study 'both' has values of 2 objectives, and the study 1");
  make(kOptunaReleases.back());
  exec("UPDATE trial_values SET objective = 1000 WHERE trial_id = 1");
  expect_refused("a trial has a value of objective 1000");
  make(kOptunaReleases.back());
  exec("UPDATE trial_params SET param_value = NULL WHERE param_name = 'tile'");
  expect_refused("a parameter 'tile' has no number");
  make(kOptunaReleases.back());
  exec("UPDATE study_system_attributes SET value_json = '[]' WHERE \"key\" LIKE 'multi_objective%'");
  expect_refused("study 'pair' has no directions of its objectives");
  make(kOptunaReleases.back());
  exec(
      "UPDATE study_system_attributes SET value_json = '[\"maximize\", \"least\"]' WHERE \"key\" LIKE "
      "'multi_objective%'");
  expect_refused("study 'pair' has no directions of its objectives, \"minimize\" or \"maximize\"");
  make(kOptunaReleases.back());
  exec("UPDATE study_directions SET direction = 'maximise' WHERE objective = 1");
  expect_refused("study 'both' has the direction 'maximise', which Optuna does not have");
  make(kOptunaReleases.front());
  exec("UPDATE studies SET direction = ''");
  expect_refused("has the direction '', which Optuna does not have");
  make(kOptunaReleases.back());
  exec("UPDATE trials SET state = 'PAUSED' WHERE trial_id = 1");
  expect_refused("a trial is in the state 'PAUSED', which Optuna 0.9 to 5 do not have");
}

TEST_F(OptunaFileTest, ASchemaOfTwoPlacesIsReadFromBoth) {
  make(kOptunaReleases.back());
  // A value that an old Optuna wrote into the old place, and one that stands in both.
  exec("ALTER TABLE trials ADD COLUMN value FLOAT; UPDATE trials SET value = 99");
  const std::string text = read();
  EXPECT_THAT(text, HasSubstr("0 complete " + made_design(0, 1) + " value 2.5 area")) << "the new place comes first";
  EXPECT_THAT(text, HasSubstr("6 pruned " + made_design(2, 7) + " value 99 last 0:inf"));
}

// Optuna upgrades what the tests make, and what it makes of it says the same.
TEST_F(OptunaFileTest, OptunaUpgradesTheseFilesToTheSame) {
  if (std::system("python3 -c 'import optuna' 2>/dev/null") != 0)
    GTEST_SKIP() << "python3-optuna is not installed: nothing shows that Optuna reads the files that the tests make";
  const std::filesystem::path script = folder_.write("upgrade.py", R"(import optuna, os, sqlite3, sys
for file in sys.argv[1:]:
    tables = sqlite3.connect(file)
    if "trial_intermediate_values" not in [name for name, in tables.execute("SELECT name FROM sqlite_master")]:
        tables.execute("DELETE FROM trial_values WHERE value IS NULL")  # Optuna 3.1.0 fails at them
        tables.commit()
    tables.close()
    storage = optuna.storages.RDBStorage("sqlite:///" + file, skip_compatibility_check=True, skip_table_creation=True)
    if storage.get_current_version() in storage.get_all_versions():
        storage.upgrade()
        studies = optuna.get_all_study_summaries("sqlite:///" + file)  # it is at home in it
        assert len(studies) >= 3 and storage.get_current_version() == storage.get_head_version()
)");
  std::string command = "python3 " + script.string();
  for (const OptunaRelease& release : kOptunaReleases) {
    make_optuna_database(folder_ / release.id, release);
    command += " " + (folder_ / release.id).string();
  }
  ASSERT_EQ(std::system((command + " >/dev/null 2>" + (folder_ / "err").string()).c_str()), 0)
      << read_file(folder_ / "err");
  for (const OptunaRelease& release : kOptunaReleases) {
    study_ = folder_ / release.id;
    EXPECT_EQ(without(without(read(), " value none"), " last 1:none"),
              without(expected_text(release.revision), " last 1:none"))
        << release.id;
  }
}

}  // namespace
}  // namespace hindsight::log::test
