/// Does each format of other tools become the rows that it says, and is what cannot be read refused by its place?
#include <SQLiteCpp/SQLiteCpp.h>
#include <zlib.h>

#include <nlohmann/json.hpp>

#include "apps/app_fixture.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/gzip.h"

namespace hindsight::app::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

/// A zip archive with one stored file, by hand: APPNOTE 4.3.7, 4.3.12, 4.3.16.
std::string zipped(const std::string& name, const std::string& text) {
  const auto number = [](std::uint64_t value, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xffU);
    return out;
  };
  const std::uint64_t crc =
      crc32(0, reinterpret_cast<const unsigned char*>(text.data()), static_cast<uInt>(text.size()));
  const std::string sizes = number(crc, 4) + number(text.size(), 4) + number(text.size(), 4) + number(name.size(), 2);
  const std::string local = "PK\x03\x04" + number(20, 2) + number(0, 8) + sizes + number(0, 2) + name + text;
  const std::string entry = "PK\x01\x02" + number(20, 2) + number(20, 2) + number(0, 8) + sizes + number(0, 8) +
                            number(0, 4) + number(0, 4) + name;
  return local + entry + "PK\x05\x06" + number(0, 4) + number(1, 2) + number(1, 2) + number(entry.size(), 4) +
         number(local.size(), 4) + number(0, 2);
}

class LogImport : public AppTest {
 protected:
  [[nodiscard]] std::string log() const { return file("a.sqlite"); }
  [[nodiscard]] Outcome import(const std::string& from, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"log", "import", from, "--log", log()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return hindsight(arguments);
  }
  [[nodiscard]] Json imported(const std::string& from, std::vector<std::string> more = {}) const {
    more.emplace_back("--json");
    const Outcome outcome = import(from, more);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.exit_code == 0 ? Json::parse(outcome.out) : Json();
  }
  [[nodiscard]] static std::string content(const std::string& log) {
    return hindsight({"log", "hash", log}).out.substr(0, 64);
  }
  [[nodiscard]] static std::string value(const std::string& log, const std::string& sql) {
    return SQLite::Database(log).execAndGet(sql).getString();
  }
  /// Refused, and no log is there.
  void expect_refused(const std::string& from, const std::string& part, std::vector<std::string> more = {},
                      int exit_code = 2) const {
    expect_one_line_error(import(from, more), exit_code, part);
    EXPECT_FALSE(std::filesystem::exists(log())) << part;
  }
  /// A study with trials in every state.
  [[nodiscard]] std::string optuna_database(const std::string& name) const {
    SQLite::Database database(file(name), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec(R"sql(
CREATE TABLE studies (study_id INTEGER PRIMARY KEY, study_name VARCHAR(512));
CREATE TABLE study_directions (study_direction_id INTEGER PRIMARY KEY, direction VARCHAR(8),
  study_id INTEGER, objective INTEGER);
CREATE TABLE study_user_attributes (id INTEGER PRIMARY KEY, study_id INTEGER, "key" VARCHAR(512),
  value_json TEXT);
CREATE TABLE study_system_attributes (id INTEGER PRIMARY KEY, study_id INTEGER, "key" VARCHAR(512),
  value_json TEXT);
CREATE TABLE trials (trial_id INTEGER PRIMARY KEY, number INTEGER, study_id INTEGER, state VARCHAR(8),
  datetime_start DATETIME, datetime_complete DATETIME);
CREATE TABLE trial_user_attributes (id INTEGER PRIMARY KEY, trial_id INTEGER, "key" VARCHAR(512),
  value_json TEXT);
CREATE TABLE trial_system_attributes (id INTEGER PRIMARY KEY, trial_id INTEGER, "key" VARCHAR(512),
  value_json TEXT);
CREATE TABLE trial_params (param_id INTEGER PRIMARY KEY, trial_id INTEGER, param_name VARCHAR(512),
  param_value FLOAT, distribution_json TEXT);
CREATE TABLE trial_values (trial_value_id INTEGER PRIMARY KEY, trial_id INTEGER, objective INTEGER,
  value FLOAT, value_type VARCHAR(7));
CREATE TABLE trial_intermediate_values (id INTEGER PRIMARY KEY, trial_id INTEGER, step INTEGER,
  intermediate_value FLOAT, intermediate_value_type VARCHAR(7));
INSERT INTO studies VALUES (1, 'tune');
INSERT INTO study_directions VALUES (1, 'MINIMIZE', 1, 0);
INSERT INTO trials VALUES (1, 0, 1, 'COMPLETE', NULL, NULL), (2, 1, 1, 'COMPLETE', NULL, NULL), (3, 2, 1,
  'COMPLETE', NULL, NULL),
  (4, 3, 1, 'FAIL', NULL, NULL), (5, 4, 1, 'PRUNED', NULL, NULL), (6, 5, 1, 'RUNNING', NULL, NULL), (7, 6, 1,
  'WAITING', NULL, NULL);
INSERT INTO trial_params SELECT NULL, trial_id, 'tile', trial_id, '{"name": "IntDistribution",
  "attributes": {"log": false, "step": 1, "low": 1, "high": 16}}' FROM trials WHERE trial_id < 7;
INSERT INTO trial_params SELECT NULL, trial_id, 'mode', trial_id % 2, '{"name": "CategoricalDistribution",
  "attributes": {"choices": ["ws", null]}}' FROM trials WHERE trial_id < 7;
INSERT INTO trial_values VALUES (1, 1, 0, 2.5, 'FINITE'), (2, 2, 0, 1.5, 'FINITE'), (3, 3, 0, NULL,
  'INF_POS'), (4, 5, 0, 7, 'FINITE');
INSERT INTO trial_intermediate_values VALUES (1, 5, 1, 9, 'FINITE'), (2, 5, 2, 7.5, 'FINITE');
INSERT INTO trial_system_attributes VALUES (1, 1, 'constraints', '[-1.0, 0.0]'), (2, 2, 'constraints',
  '[-1.0, 0.25]');
INSERT INTO trial_user_attributes VALUES (1, 1, 'area', '12.5');
)sql");
    return file(name);
  }
};

TEST_F(LogImport, TabsAndSemicolonsAreRecognised) {
  const std::string comma = write("t.csv", "a,mode,ms\n1,x,2.5\n2,y,\n"),
                    tab = write("u/t.tsv", "a\tmode\tms\n1\tx\t2.5\n2\ty\t\n");
  const std::string semicolon = write("v/t.csv",
                                      "\xef\xbb\xbf"
                                      "a;mode;ms\r\n1;x;2,5\r\n2;y;\r\n");
  EXPECT_EQ(imported(comma, {"--objective", "ms"}).at("format"), "CSV table");
  const std::string hash = content(log());
  for (const auto& [table, format] : {std::pair(tab, "TSV table"), std::pair(semicolon, "table with semicolons")}) {
    std::filesystem::remove(log());
    const Json said = imported(table, {"--objective", "ms"});
    EXPECT_EQ(said.at("format"), format);
    EXPECT_EQ(said.at("infeasible"), Json::parse(R"({"infeasible": 1})"));
    EXPECT_EQ(content(log()), hash) << format << ": the same rows, with a decimal comma too";
  }
  std::filesystem::remove(log());
  expect_refused(tab, "1:1: one column", {"--format", "csv", "--objective", "a"});
  expect_refused(tab, "which column is optimised? Name it: --objective COLUMN (a, mode, ms)");
  expect_refused(tab, "Did you mean 'tsv'?", {"--format", "tsvv"});
}

TEST_F(LogImport, DecimalCommasAreLeftWhereThereArePoints) {
  const std::string table = write("t.csv", "a;ms\n1;2.5\n2;3,5\n");
  const Json said = imported(table, {"--objective", "ms"});
  EXPECT_EQ(said.at("rejected_count"), 1);
  EXPECT_THAT(said.at("rejected").at(0).get<std::string>(), HasSubstr("t.csv:3:3: ms is '3,5', which is not a number"));
}

TEST_F(LogImport, ADecimalCommaIsNamedAsTheCause) {
  const std::string cause = "which is not a number (a decimal comma? Write a point)";
  const std::string tabs = write("t.tsv", "a\tms\n1\t3,5\n2\t4,5\n");
  expect_refused(tabs, "t.tsv:2:3: ms is '3,5', " + cause + "\n", {"--objective", "ms"});
  expect_refused(write("s.csv", "a;ms\n1;1.234,5\n"), "(a decimal comma, and points between thousands? Write 1234.5)",
                 {"--objective", "ms"});
  expect_refused(write("k.tsv", "a\tms\n1\t-1,234\n"),
                 "(a comma between thousands, or a decimal one? Write -1234 or -1.234)", {"--objective", "ms"});
  expect_refused(write("w.csv", "a;ms\n1;3 ms\n"), "ms is '3 ms', which is not a number. Check the roles",
                 {"--objective", "ms"});
  const std::string space = write("s.yaml", "name: t\nparameters:\n  - {name: a, unit: none, values: [0.5, 1]}\n");
  expect_refused(write("p.tsv", "a\tms\n0,5\t3\n"), "a is '0,5', which the space does not have. A decimal comma?",
                 {"--objective", "ms", "--space", space});
}

// They were words, and so the reason of a design that failed.
TEST_F(LogImport, ANumberWithCharactersOfTypesettingIsNoFailure) {
  const std::string table = write("t.csv", "a,ms\n1,2.5\n2,\u22121.5\n3,\u00a04.5\n4,1\u202f500\n5,\u2013\n");
  const Json said = imported(table, {"--objective", "ms"});
  EXPECT_EQ(said.at("rejected_count"), 3);
  std::string refused;
  for (const Json& one : said.at("rejected")) refused += one.get<std::string>() + "\n";
  for (const char* typed : {"-1.5", "4.5", "1500"}) {
    EXPECT_THAT(refused,
                HasSubstr(std::string("which is not a number (a sign or a blank of typesetting? Write ") + typed));
  }
}

TEST_F(LogImport, AnObjectiveOfWhichMoreIsBetterIsSaidByAnOption) {
  const std::string table = write("t.csv", "a,gops\n1,5\n2,9\n3,7\n");
  ASSERT_EQ(import(table, {"--objective", "gops", "--maximise"}).exit_code, 0);
  EXPECT_THAT(hindsight({"log", "stats", log()}).out, HasSubstr("best by gops, largest first"));
}

TEST_F(LogImport, TwoObjectivesInOneLogAreRemarkedOn) {
  const std::string table = write("wide.csv", "a,bert_ms,resnet_ms\n1,5,50\n2,9,90\n");
  const auto application = [&](const std::string& one, const std::string& other) {
    return import(table, {"--objective", one + "_ms", "--ignore", other + "_ms", "--workload", one});
  };
  EXPECT_EQ(application("bert", "resnet").err, "");
  const Outcome second = application("resnet", "bert");
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(second.err,
              HasSubstr("rows of space wide are optimised for bert_ms and for resnet_ms: a model learns one "
                        "of them (train --workloads resnet)"));
}

TEST_F(LogImport, ASpaceIsInferredFromTheTablesThatAreImported) {
  const std::string table = write("odd.csv", "Size;mode;ms\n0,5;x;2,5\n1;y;3\n");
  const Outcome inferred = hindsight({"space", "infer", table, "--objective", "ms"});
  ASSERT_EQ(inferred.exit_code, 0) << inferred.err;
  EXPECT_THAT(inferred.out, HasSubstr("values: [0.5, 1]"));
  ASSERT_EQ(import(table, {"--objective", "ms", "--space", write("odd.yaml", inferred.out)}).exit_code, 0);
  // Where commas stay they are texts, and that is said.
  const Outcome tabs = hindsight({"space", "infer", write("t.tsv", "size\tms\n0,5\t2\n1,5\t3\n"), "--objective", "ms"});
  EXPECT_THAT(tabs.err, HasSubstr("t.tsv:2:1: column 'size': '0,5' is text, and the column categorical. If it is a "
                                  "number with a decimal comma, write a point"));
}

TEST_F(LogImport, JsonLinesAndLists) {
  const std::string lines = write("r.jsonl",
                                  "{\"design\": {\"a\": 1, \"m\": \"x\"}, \"ms\": 2.5}\n\n"
                                  "{\"design\": {\"a\": 2, \"m\": \"y\"}, \"ms\": NaN}\n"
                                  "{\"design\": {\"a\": 3, \"m\": \"NaN\"}, \"ms\": null}\n");
  const Json said = imported(lines, {"--objective", "ms"});
  EXPECT_EQ(said.at("format"), "JSON lines");
  EXPECT_EQ(said.at("feasible"), 1);
  EXPECT_EQ(said.at("infeasible"), Json::parse(R"({"infeasible": 1, "nan": 1})"));
  EXPECT_EQ(value(log(), "SELECT text_id FROM designs ORDER BY 1 DESC"), "design_a=3,design_m=NaN");
  std::filesystem::remove(log());
  EXPECT_EQ(
      imported(write("l.json", "[{\"a\": 1, \"ms\": 2}, {\"a\": 2, \"ms\": 3}]"), {"--objective", "ms"}).at("rows"), 2);
  std::filesystem::remove(log());
  expect_refused(write("h.jsonl", "{\"a\": 1, \"ms\": 2}\n{\"a\": 2, \"ms\"\n"), "h.jsonl:2:", {"--objective", "ms"});
  expect_refused(write("n.jsonl", "{\"a\": 1}\n[1, 2]\n"), "n.jsonl:2: [1,2] is no JSON object", {"--objective", "a"});
  expect_refused(write("d.json", std::string(100'000, '[')), "nested deeper than 256", {"--objective", "a"});
}

TEST_F(LogImport, PackedFilesAreUnpackedOrRefused) {
  const std::string table = "a,ms\n1,2\n2,3\n", archive = zipped("t.csv", table);
  EXPECT_EQ(imported(write("t.zip", archive), {"--objective", "ms"}).at("inserted"), 2);
  EXPECT_EQ(imported(write("t.csv.gz", dataset::gzipped(table)), {"--objective", "ms"}).at("already_present"), 2);
  std::filesystem::remove(log());
  expect_refused(write("s.db.gz", dataset::gzipped(read_file(optuna_database("s.db")))), "Unpack it first");
  std::string damaged = archive;
  damaged[38] = 'x';
  expect_refused(write("d.zip", damaged), "its checksum differs", {"--objective", "ms"}, 4);
  for (std::size_t size = 4; size < archive.size(); size += 7) {
    const Outcome cut = import(write("c.zip", archive.substr(0, size)), {"--objective", "ms"});
    EXPECT_EQ(cut.exit_code, 4) << size << cut.err;
  }
}

TEST_F(LogImport, AnOptunaStudyInEveryState) {
  const std::string study = optuna_database("study.db");
  const Json said = imported(study);
  EXPECT_EQ(said.at("format"), "Optuna study");
  EXPECT_EQ(said.at("workloads"), Json::parse(R"(["tune"])"));
  EXPECT_EQ(said.at("feasible"), 1);
  EXPECT_EQ(said.at("infeasible"), Json::parse(R"({"constraint_1": 1, "inf": 1, "fail": 1, "pruned": 1})"));
  EXPECT_EQ(said.at("left_out"), Json::parse(R"({"still running": 1, "waiting to run": 1})"));
  EXPECT_EQ(value(log(),
                  "SELECT text_id || ' ' || value FROM evaluation_metrics JOIN evaluations USING (evaluation_id) "
                  "JOIN designs USING (design_id) WHERE name = 'value'"),
            "tile=1,mode=None 2.5");
  EXPECT_EQ(value(log(),
                  "SELECT quantity || ' ' || value || ' ' || limit_value FROM evaluation_violations WHERE code = "
                  "'constraint_1'"),
            "constraint_1 0.25 0.0");
  EXPECT_THAT(import(study).out, AllOf(HasSubstr("0 written"), HasSubstr("5 were there before"),
                                       HasSubstr("left out: 1 still running, 1 waiting to run")));
  std::filesystem::remove(log());
  EXPECT_EQ(imported(study, {"--pruned", "last", "--objective", "Latency (ms)"}).at("feasible"), 2);
  EXPECT_EQ(value(log(),
                  "SELECT group_concat(value, ' ') FROM (SELECT value FROM evaluation_metrics WHERE name = "
                  "'latency_ms' ORDER BY 1)"),
            "2.5 7.5");
  std::filesystem::remove(log());
  EXPECT_EQ(imported(study, {"--pruned", "skip", "--constraint", "area"}).at("left_out").at("pruned"), 1);
  EXPECT_EQ(value(log(), "SELECT value FROM evaluation_metrics WHERE name = 'area'"), "12.5");
  std::filesystem::remove(log());
  expect_refused(study, "no trial has a user attribute 'aera' that is a number. Did you mean 'area'?",
                 {"--constraint", "aera"});
  expect_refused(study, "has no study 'tun'. Did you mean 'tune'?", {"--study", "tun"});
}

TEST_F(LogImport, AStudyThatGoesOnIsImportedAgain) {
  const std::string study = optuna_database("study.db");
  ASSERT_EQ(import(study).exit_code, 0);
  SQLite::Database open_writer(study, SQLite::OPEN_READWRITE);
  open_writer.exec(
      "PRAGMA journal_mode = WAL; BEGIN IMMEDIATE; UPDATE trials SET state = 'COMPLETE' WHERE trial_id = 6;"
      "INSERT INTO trial_values VALUES (9, 6, 0, 4, 'FINITE')");
  EXPECT_EQ(imported(study).at("left_out").at("still running"), 1) << "what is not committed is not there";
  open_writer.exec("COMMIT");
  std::filesystem::remove(log());  // a space has the values that occur: this one has more
  const Json said = imported(study);
  EXPECT_EQ(said.at("inserted"), 6);
  EXPECT_FALSE(said.at("left_out").contains("still running"));
}

TEST_F(LogImport, DatabasesThatAreNoStudies) {
  const std::string cut_off = optuna_database("cut_off.db");
  SQLite::Database(cut_off, SQLite::OPEN_READWRITE).exec("ALTER TABLE trial_values DROP COLUMN objective");
  expect_refused(cut_off, "optuna storage upgrade --storage sqlite:///", {}, 4);
  const std::string other = file("other.db");
  SQLite::Database(other, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec("CREATE TABLE t (a)");
  expect_refused(other, "without Optuna's tables", {}, 4);
  ASSERT_EQ(import(write("t.csv", "a,ms\n1,2\n2,3\n"), {"--objective", "ms"}).exit_code, 0);
  expect_one_line_error(hindsight({"log", "import", log(), "--log", file("b.sqlite")}), 2,
                        "`hindsight log merge` brings");
  const std::string broken = optuna_database("broken.db");
  SQLite::Database(broken, SQLite::OPEN_READWRITE)
      .exec("UPDATE trial_params SET param_value = 5 WHERE param_name = 'mode'");
  std::filesystem::remove(log());
  expect_refused(broken, "trial 0: parameter 'mode' is choice 5, which its distribution does not have");
}

TEST_F(LogImport, AJournalSaysTheSameAsADatabase) {
  const std::string tile =
      R"("distribution": "{\"name\": \"IntDistribution\", \"attributes\": {\"log\": false, \"step\": 1,)"
      R"( \"low\": 1, \"high\": 16}}"})";
  const std::string journal =
      R"({"op_code": 0, "worker_id": "w", "study_name": "tune", "directions": [1]})"
      "\n"
      R"({"op_code": 4, "worker_id": "w", "study_id": 0, "datetime_start": "2026-01-01T00:00:00"})"
      "\n"
      R"({"op_code": 5, "worker_id": "w", "trial_id": 0, "param_name": "tile", "param_value_internal": 3, )" +
      tile + "\n" +
      R"({"op_code": 6, "worker_id": "w", "trial_id": 0, "state": 1, "values": [2.5]})"
      "\n"
      R"({"op_code": 6, "worker_id": "w", "trial_id": 0, "state": 3, "values": null})"
      "\n"
      R"({"op_code": 4, "worker_id": "w", "study_id": 0, "state": 3, "params": {"tile": 4},)"
      R"( "distributions": {"tile": "{\"name\": \"IntDistribution\", \"attributes\": {}}"}, "user_attrs": {},)"
      R"( "system_attrs": {}, "intermediate_values": {}})"
      "\n"
      R"({"op_code": 4, "worker_id": "w", "study_id": 0})"
      "\n"
      R"({"op_code": 5, "worker_id": "w", "trial_id": 2, "param_name": "tile", "param_value_internal": 5, )" +
      tile + "\n" +
      R"({"op_code": 6, "worker_id": "w", "trial_id": 2, "state": 1, "values": [Infinity]})"
      "\n"
      R"({"op_code": 4, "worker_id": "w", "study_id": 0})"
      "\n";
  const Json said = imported(write("j.log", journal + R"({"op_code": 5, "wor)"));
  EXPECT_EQ(said.at("format"), "Optuna journal");
  EXPECT_EQ(said.at("feasible"), 1) << "what is said of a finished trial does not count";
  EXPECT_EQ(said.at("infeasible"), Json::parse(R"({"fail": 1, "inf": 1})"));
  EXPECT_EQ(said.at("left_out"), Json::parse(R"({"still running": 1})"));
  EXPECT_THAT(said.at("remarks").at(0).get<std::string>(), HasSubstr("half written"));
  std::filesystem::remove(log());
  expect_refused(write("k.log", journal + "{\"op_code\": 5, \"wor\n" + journal), "k.log:11:");
  expect_refused(write("m.log", R"({"op_code": 5, "trial_id": 7, "param_name": "a"})"
                                "\n"),
                 "m.log:1: trial 7 was never created");
}

TEST_F(LogImport, AContinuousParameterIsRounded) {
  const std::string study = optuna_database("study.db");
  SQLite::Database(study, SQLite::OPEN_READWRITE)
      .exec(
          "DELETE FROM trial_params; DELETE FROM trials; WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM "
          "n "
          "WHERE i < 209) INSERT INTO trials SELECT i, i, 1, 'COMPLETE', NULL, NULL FROM n;"
          "INSERT INTO trial_values SELECT NULL, trial_id, 0, trial_id, 'FINITE' FROM trials;"
          "INSERT INTO trial_params SELECT NULL, trial_id, 'lr', trial_id * 0.001 + 0.0001, '{\"name\": "
          "\"FloatDistribution\", \"attributes\": {}}' FROM trials;"
          "INSERT INTO trial_params SELECT NULL, trial_id, 'tile', trial_id % 7, '{\"name\": \"IntDistribution\", "
          "\"attributes\": {}}' FROM trials");
  expect_refused(study, "Round it (--round lr=STEP), leave it out (--ignore lr)");
  const Json said = imported(study, {"--round", "lr=0.05", "--duplicates", "best"});
  EXPECT_EQ(value(log(), "SELECT count(DISTINCT lr) || ' ' || min(lr) || ' ' || max(lr) FROM designs_study"),
            "5 0 0.2");
  EXPECT_EQ(said.at("inserted"), 35);
  std::filesystem::remove(log());
  expect_refused(study, "--round lr: is not NAME=STEP", {"--round", "lr"});
  expect_refused(study, "the step 0 is not above 0", {"--round", "lr=0"});
}

constexpr const char* kCache =
    "{\n\"device_name\": \"A100\",\n\"kernel_name\": \"conv\",\n\"tune_params_keys\": [\"block\", \"mode\"],\n"
    "\"tune_params\": {\"block\": [1, 2, 4], \"mode\": [\"a\", \"b\"]},\n\"cache\": {\n"
    "\"1,a\": {\"block\": 1, \"mode\": \"a\", \"time\": 2.5, \"times\": [2.4, 2.6], \"GFLOP/s\": 10.0, "
    "\"compile_time\": 9},\n"
    "\"2,a\": {\"block\": 2, \"mode\": \"a\", \"time\": \"CompilationFailedConfig\"},\n"
    "\"4,a\": {\"block\": 4, \"mode\": \"a\", \"time\": 1e+20},\n"
    "\"4,b\": {\"block\": 4, \"mode\": \"b\", \"time\": 1.5, \"times\": [1.5], \"GFLOP/s\": 12.0}";

TEST_F(LogImport, KernelTunersCacheIsReadClosedUnclosedAndCutOff) {
  const Json said = imported(write("c.json", std::string(kCache) + "}}"));
  EXPECT_EQ(said.at("format"), "Kernel Tuner cache");
  EXPECT_EQ(said.at("feasible"), 2);
  EXPECT_EQ(said.at("infeasible"), Json::parse(R"({"compilation_failed_config": 1, "infeasible": 1})"));
  EXPECT_EQ(value(log(), "SELECT group_concat(DISTINCT name) FROM evaluation_metrics"), "gflop_per_s,time");
  EXPECT_EQ(value(log(), "SELECT min(text_id) FROM designs"), "block=1,mode=a");
  const std::string hash = content(log());
  for (const auto& [text, remark] : {std::pair<std::string, std::string>(",\n", "not closed: the tuning was not over"),
                                     {"", "not closed"},
                                     {",\n\"4,c\": {\"block\": 4, \"mo", "half an entry, is left out"}}) {
    std::filesystem::remove(log());
    const Json unclosed = imported(write("c.json", kCache + text));
    EXPECT_THAT(unclosed.at("remarks").at(0).get<std::string>(), HasSubstr(remark));
    EXPECT_EQ(content(log()), hash);
  }
  std::filesystem::remove(log());
  EXPECT_EQ(imported(write("c.json.zip", zipped("c.json", std::string(kCache) + "}}"))).at("rows"), 4);
  EXPECT_EQ(content(log()), hash);
  std::filesystem::remove(log());
  expect_refused(write("c.json", std::string(kCache) + "}}"),
                 "no configuration has 'energy'. Name what was tuned for by --objective. ", {"--objective", "energy"});
  expect_refused(write("e.json", "{\"tune_params_keys\": [\"a\"], \"cache\": {}}"), "has no row to import");
  expect_refused(write("f.json", "{\"tune_params_keys\": [], \"cache\": {}}"), "no names of parameters");
}

TEST_F(LogImport, KernelTunersResults) {
  const std::string results = R"({"schema_version": "1.0.0", "results": [
    {"configuration": {"block": 1}, "invalidity": "correct", "objectives": ["time"],
     "measurements": [{"name": "time", "value": 2.5, "unit": "ms"}]},
    {"configuration": {"block": 2}, "invalidity": "compile", "objectives": ["time"],
     "measurements": [{"name": "time", "value": "CompilationFailedConfig", "unit": ""}]},
    {"configuration": {"block": 4}, "invalidity": "correct", "objectives": ["time"], "measurements": []}]})";
  const Json said = imported(write("t4.json", results));
  EXPECT_EQ(said.at("format"), "Kernel Tuner results (T4)");
  EXPECT_EQ(said.at("feasible"), 1);
  EXPECT_EQ(said.at("infeasible"), Json::parse(R"({"compile": 1, "infeasible": 1})"));
}

TEST_F(LogImport, VizierInBothSpellings) {
  const std::string camel = R"({"trials": [
    {"id": "1", "state": "SUCCEEDED", "parameters": [{"parameterId": "a", "value": 1}, {"parameterId": "m",
     "value": "x"}], "finalMeasurement": {"metrics": [{"metricId": "lat", "value": 2.5}]}},
    {"id": "2", "state": "INFEASIBLE", "infeasibleReason": "out of memory",
     "parameters": [{"parameterId": "a", "value": 2}, {"parameterId": "m", "value": "y"}]},
    {"id": "3", "state": "ACTIVE", "parameters": [{"parameterId": "a", "value": 4}, {"parameterId": "m",
     "value": "y"}]}],
    "studySpec": {"metrics": [{"metricId": "lat", "goal": "MAXIMIZE"}]}})";
  const Json said = imported(write("v.json", camel));
  EXPECT_EQ(said.at("format"), "Vizier study");
  EXPECT_EQ(said.at("infeasible"), Json::parse(R"({"out_of_memory": 1})"));
  EXPECT_EQ(said.at("left_out"), Json::parse(R"({"still running": 1})"));
  EXPECT_THAT(said.at("remarks").at(0).get<std::string>(), HasSubstr("so do train and ask"));
  const std::string hash = content(log());
  std::filesystem::remove(log());
  const std::string snake =
      R"({"id": 1, "state": 4, "parameters": [{"parameter_id": "a", "value": {"number_value": 1}},)"
      R"( {"parameter_id": "m", "value": {"string_value": "x"}}],)"
      R"( "final_measurement": {"metrics": [{"metric_id": "lat", "value": 2.5}]}})"
      "\n"
      R"({"id": 2, "state": 5, "infeasible_reason": "out of memory", "parameters": [{"parameter_id": "a",)"
      R"( "value": {"number_value": 2}}, {"parameter_id": "m", "value": {"string_value": "y"}}]})"
      "\n";
  ASSERT_EQ(import(write("v.jsonl", snake)).exit_code, 0);
  EXPECT_EQ(content(log()), hash);
  std::filesystem::remove(log());
  expect_refused(write("w.json", R"([{"state": "DONE", "parameters": []}])"), "trial 1 is in the state 'DONE'");
}

TEST_F(LogImport, AxWithBrokenConstraints) {
  const auto frame = [](int trial, double time, double area) {
    return Json::array(
        {0,
         {{"__type", "Data"},
          {"df",
           {{"__type", "DataFrame"},
            {"value", Json{{"arm_name", {{"0", std::to_string(trial) + "_0"}, {"1", std::to_string(trial) + "_0"}}},
                           {"metric_name", {{"0", "time"}, {"1", "area"}}},
                           {"mean", {{"0", time}, {"1", area}}},
                           {"trial_index", {{"0", trial}, {"1", trial}}}}
                          .dump()}}}}});
  };
  const auto trial = [](int index, const char* status, int tile) {
    return Json{{"__type", "Trial"},
                {"index", index},
                {"status", {{"__type", "TrialStatus"}, {"name", status}}},
                {"generator_run_structs",
                 Json::array({{{"generator_run",
                                {{"arms", Json::array({{{"name", std::to_string(index) + "_0"},
                                                        {"parameters", {{"tile", tile}, {"a", true}}}}})}}}}})}};
  };
  Json experiment{
      {"__type", "Experiment"},
      {"search_space", {{"parameters", Json::array({{{"name", "tile"}}, {{"name", "a"}}})}}},
      {"optimization_config",
       {{"objective", {{"metric", {{"name", "time"}}}, {"minimize", true}}},
        {"outcome_constraints",
         Json::array(
             {{{"metric", {{"name", "area"}}}, {"op", {{"name", "LEQ"}}}, {"bound", 10.0}, {"relative", false}}})}}},
      {"trials",
       {{"0", trial(0, "COMPLETED", 1)},
        {"1", trial(1, "COMPLETED", 2)},
        {"2", trial(2, "FAILED", 4)},
        {"10", trial(10, "RUNNING", 8)}}},
      {"data_by_trial",
       {{"0", {{"value", Json::array({frame(0, 2.5, 9)})}}}, {"1", {{"value", Json::array({frame(1, 1.5, 11)})}}}}}};
  const Json said = imported(write("ax.json", experiment.dump()));
  EXPECT_EQ(said.at("format"), "Ax experiment");
  EXPECT_EQ(said.at("feasible"), 1);
  EXPECT_EQ(said.at("infeasible"), Json::parse(R"({"area": 1, "failed": 1})"));
  EXPECT_EQ(said.at("left_out"), Json::parse(R"({"still running": 1})"));
  EXPECT_EQ(value(log(), "SELECT text_id FROM designs LIMIT 1"), "tile=1,a=true") << "in the order of the search space";
  std::filesystem::remove(log());
  EXPECT_EQ(imported(write("client.json", Json{{"_type", "AxClient"}, {"experiment", experiment}}.dump())).at("rows"),
            3);
}

TEST_F(LogImport, RowsGoToANamedApplication) {
  const std::string table = write("t.csv", "a,ms\n1,2\n2,3\n");
  EXPECT_EQ(imported(table, {"--objective", "ms", "--workload", "kernel"}).at("workloads"),
            Json::parse(R"(["kernel"])"));
  EXPECT_EQ(imported(table, {"--objective", "ms", "--workload", "kernel"}).at("already_present"), 2);
  ASSERT_EQ(import(table, {"--objective", "ms", "--workload", "unet"}).exit_code, 0);
  EXPECT_NE(value(log(), "SELECT json_array_length(layers_json) FROM workloads WHERE name = 'unet'"), "0")
      << "a network that ships is itself";
  expect_one_line_error(import(table, {"--objective", "ms", "--workload", "k", "--context", "a"}), 2,
                        "Name one of them");
  EXPECT_EQ(imported(table, {"--objective", "ms", "--evaluator", "my simulator"}).at("evaluator"), "my simulator");
}

TEST_F(LogImport, AFailureLeavesTheLogAsItWas) {
  ASSERT_EQ(import(write("t.csv", "a,ms\n1,2\n2,3\n"), {"--objective", "ms"}).exit_code, 0);
  const std::string before = content(log()), runs = value(log(), "SELECT count(*) FROM runs");
  expect_one_line_error(import(write("x/t.csv", "a,ms\n1,2\n2,4\n"), {"--objective", "ms"}), 2,
                        "t.csv:3: contradicts evaluation 2");
  const std::string another = write("y/t.csv", "a,b,ms\n1,1,2\n2,1,4\n");
  expect_one_line_error(import(another, {"--objective", "ms"}), 2, "has a space 't' of other parameters or values");
  const std::string space = write("t.yaml",
                                  "name: t\nparameters:\n  - {name: a, unit: count, values: [1, 2]}\n"
                                  "  - {name: b, unit: count, values: [1]}\n");
  expect_one_line_error(import(another, {"--objective", "ms", "--space", space}), 2, "already holds a design space");
  EXPECT_EQ(content(log()), before);
  EXPECT_EQ(value(log(), "SELECT count(*) FROM runs"), runs);
  EXPECT_EQ(value(log(), "SELECT count(*) FROM workloads"), "1");
}

TEST_F(LogImport, MoreRowsOfAnotherFileJoinTheSpaceOfItsName) {
  ASSERT_EQ(import(write("t.csv", "a,ms\n1,2\n2,3\n4,5\n"), {"--objective", "ms"}).exit_code, 0);
  const Json said = imported(write("x/t.csv", "a,ms\n1,7\n4,8\n"), {"--objective", "ms", "--workload", "other"});
  EXPECT_EQ(said.at("inserted"), 2);
  EXPECT_EQ(value(log(), "SELECT count(*) FROM spaces"), "1");
}

TEST_F(LogImport, ASpaceOfTheLogTakesATableOfAnotherName) {
  ASSERT_EQ(import(write("monday.csv", "a,ms\n1,2\n2,3\n4,5\n"), {"--objective", "ms"}).exit_code, 0);
  const std::string tuesday = write("tuesday.csv", "a,ms\n1,7\n4,8\n");
  const Outcome apart = import(tuesday, {"--objective", "ms", "--dry-run"});
  EXPECT_THAT(apart.err,
              HasSubstr("a space of their own, tuesday, and a model learns from one space. All are designs of "
                        "the log's monday, too: --space monday takes them in there"));
  const Outcome same = import(write("wednesday.csv", "a,ms\n1,7\n2,8\n4,9\n"), {"--objective", "ms", "--dry-run"});
  EXPECT_THAT(same.err, Not(HasSubstr("space of their own"))) << "all its values make it the same space";
  EXPECT_EQ(imported(tuesday, {"--objective", "ms", "--space", "monday"}).at("inserted"), 2);
  EXPECT_EQ(value(log(), "SELECT count(*) FROM spaces"), "1");
  expect_one_line_error(import(tuesday, {"--objective", "ms", "--space", "sunday"}), 2,
                        "unknown design space 'sunday'");
}

}  // namespace
}  // namespace hindsight::app::test
