/// Do logs become one and keep their content, can their rows leave and come back, and can a query change nothing?
#include <SQLiteCpp/SQLiteCpp.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/app_fixture.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/log/query.h"
#include "repository.h"

namespace hindsight::app::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

class LogVerbs : public AppTest {
 protected:
  /// A sweep over two workloads; `more`: further options.
  std::string sweep(const std::string& name, std::vector<std::string> more = {}, const std::string& space = "tiny",
                    int samples = 120) const {
    std::vector<std::string> arguments{
        "sweep",  "--space", space,     "--workloads", "m4,unet", "--samples", std::to_string(samples),
        "--seed", "3",       "--quiet", "--log",       file(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = hindsight(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return file(name);
  }
  static std::string content_of(const std::string& log) {
    const Outcome outcome = hindsight({"log", "hash", log});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("  " + log + "\n"));
    return outcome.out.substr(0, 64);
  }
  static void exec(const std::string& log, const std::string& sql) {
    SQLite::Database database(log, SQLite::OPEN_READWRITE);
    database.exec(sql);
  }
  /// design, workload, feasible, first reason, and every metric, one text per row, whatever the workload is called.
  static std::set<std::string> rows_of(const std::string& file) {
    const log::Log log = log::Log::open(file, log::OpenMode::read_only);
    std::set<std::string> rows;
    std::map<std::int64_t, std::string> names;
    for (const log::WorkloadRecord& workload : log::workloads(log)) {
      names[workload.workload_id] = workload.name.substr(workload.name.find('=') + 1);
    }
    log::for_each_evaluation(log, {}, log::Detail::all, [&](const log::EvaluationRecord& row) {
      std::string text = row.design_text_id + " " + names[row.workload_id] + (row.feasible ? " 1" : " 0");
      text += row.violations.empty() ? "" : " " + row.violations.front().code;
      for (const double value : row.standard) text += " " + shortest(value);
      for (const auto& [name, value] : row.other_metrics) text += " " + name + "=" + shortest(value);
      rows.insert(text);
      return true;
    });
    return rows;
  }
  [[nodiscard]] std::set<std::string> files() const {
    std::set<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) names.insert(entry.path().filename());
    return names;
  }
};

TEST_F(LogVerbs, ShardsMergedAreTheSweepThatWasNotSharded) {
  const std::string whole = content_of(sweep("whole.db"));
  for (const int shards : {1, 2, 3, 5}) {
    std::vector<std::string> logs;
    for (int i = 0; i < shards; ++i) {
      const std::string name = std::to_string(shards) + "_" + std::to_string(i);
      logs.push_back(sweep(name + ".db", {"--shard", std::to_string(i) + "/" + std::to_string(shards)}));
    }
    const std::string out = file("merged" + std::to_string(shards) + ".db");
    for (const bool reversed : {false, true}) {
      if (reversed) std::reverse(logs.begin(), logs.end());
      fs::remove(out);
      std::vector<std::string> arguments{"log", "merge", "--json", "--out", out};
      arguments.insert(arguments.end(), logs.begin(), logs.end());
      const Outcome merged = hindsight(arguments);
      ASSERT_EQ(merged.exit_code, 0) << merged.err;
      const Json json = Json::parse(merged.out);
      EXPECT_EQ(json.at("created"), true);
      EXPECT_EQ(json.at("rows"), 240);
      EXPECT_EQ(json.at("inserted"), 240);
      EXPECT_EQ(json.at("inputs").size(), logs.size());
      EXPECT_EQ(content_of(out), whole) << shards << " shards";
      EXPECT_EQ(hindsight({"log", "verify", out}).exit_code, 0);
    }
  }
  const Outcome again = hindsight({"log", "merge", file("whole.db"), file("3_1.db"), "--out", file("merged3.db")});
  EXPECT_THAT(again.out, AllOf(HasSubstr("merged3.db extended: 0 rows and 0 designs added, 320 were there already"),
                               ContainsRegex("whole.db +240 +120")));
  EXPECT_EQ(content_of(file("merged3.db")), whole);
  EXPECT_THAT(hindsight({"log", "show", file("merged3.db")}).out, ContainsRegex("merge +finished"));
  const Json both = Json::parse(hindsight({"log", "hash", file("whole.db"), file("3_1.db"), "--json"}).out);
  EXPECT_EQ(both.at(0).at("content_sha256"), whole);
  EXPECT_EQ(both.at(1).at("evaluations"), 80);
  EXPECT_THAT(hindsight({"log", "hash", file("merged3.db"), "--json"}).out,
              AllOf(HasSubstr(whole), HasSubstr("\"evaluations\": 240")));
}

/// Its rows are selected, and the newest of all runs are others.
TEST_F(LogVerbs, ShowListsTheRunThatIsNamed) {
  const std::string log = sweep("a.db", {}, "tiny", 10);
  ASSERT_EQ(sweep("a.db", {}, "tiny", 20), log);
  const Json all = Json::parse(hindsight({"log", "show", log, "--runs", "1", "--json"}).out).at("runs");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.at(0).at("run_id"), 2);
  const Json one = Json::parse(hindsight({"log", "show", log, "--runs", "1", "--run", "1", "--json"}).out).at("runs");
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one.at(0).at("run_id"), 1);
  EXPECT_THAT(hindsight({"log", "show", log, "--run", "1"}).out, Not(ContainsRegex("\n *2  sweep ")));
}

TEST_F(LogVerbs, MergeRefusesInOneLineAndChangesNothing) {
  const std::string a = sweep("a.db", {"--shard", "0/2"}), b = sweep("b.db", {"--shard", "1/2"});
  const std::string out = file("out.db");
  fs::copy_file(b, file("other.db"));
  exec(file("other.db"), "UPDATE evaluations SET latency_s = latency_s * 2 WHERE feasible = 1");
  fs::copy_file(b, file("newer.db"));
  exec(file("newer.db"), "PRAGMA user_version = 99");
  const std::string whole = read_file(b);
  write("cut.db", whole.substr(0, whole.size() / 2 / 4096 * 4096));
  write("text.db", "not a log " + std::string(600, '.'));
  fs::create_symlink(a, file("link.db"));
  std::map<std::string, std::string> before;
  for (const std::string& name : files()) before[name] = hash_of(file(name));
  const auto refused = [&](std::vector<std::string> arguments, int exit_code, const std::string& words) {
    arguments.insert(arguments.begin(), {"log", "merge"});
    expect_one_line_error(hindsight(arguments), exit_code, words);
    std::map<std::string, std::string> after;
    for (const std::string& name : files()) after[name] = hash_of(file(name));
    EXPECT_EQ(after, before) << words;
  };
  refused({a, b, "--out", b}, 2, "is the file that log");
  refused({a, b, "--out", file("link.db")}, 2, "is the file that log");
  refused({b, file("other.db"), "--out", out}, 2, "other.db: ");
  refused({b, file("other.db"), "--out", a}, 2, "contradict");
  refused({file("other.db"), "--out", b}, 2, "--duplicates first keeps what was merged first");
  refused({a, file("newer.db"), "--out", out}, 4, "newer.db: schema version 99");
  refused({a, file("cut.db"), "--out", out}, 4, "cut.db: damaged log");
  refused({a, file("text.db"), "--out", out}, 4, "text.db: not a Hindsight log");
  refused({a, "--out", file("text.db")}, 4, "text.db: not a Hindsight log");
  refused({a, file("missing.db"), "--out", out}, 2, "missing.db: no such log");
  refused({a, "--out", file("nowhere/out.db")}, 2, "there is no folder");
  refused({a, "--out", folder_.string()}, 2, "is a folder");
  refused({a, "--out", out, "--duplicates", "frist"}, 2, "Did you mean 'first'?");
  refused({"--out", out}, 2, "logs");
  refused({a, "--out", "-"}, 2, "Name it: --out FILE");
  refused({a, "--out", ""}, 2, "Name it: --out FILE");
  const Outcome kept = hindsight({"log", "merge", b, file("other.db"), "--out", out, "--duplicates", "first"});
  EXPECT_EQ(kept.exit_code, 0) << kept.err;
  EXPECT_THAT(kept.out, ContainsRegex("[0-9]+ contradicted and left out"));
  EXPECT_EQ(content_of(out), content_of(b));
}

TEST_F(LogVerbs, AMergeThatIsKilledLeavesNoLogOfThatName) {
  const std::string a = sweep("a.db", {}, "edge", 3000), out = file("out.db");
  const std::string expected = content_of(a);
  for (int turn = 0; turn < 6; ++turn) {
    Process process({"log", "merge", a, "--out", out});
    ::usleep(static_cast<useconds_t>(10'000 * turn));
    process.send(turn % 2 == 0 ? SIGKILL : SIGINT);
    const Outcome outcome = process.wait();
    if (fs::exists(out)) {
      EXPECT_EQ(content_of(out), expected) << "whole, or not there";
    } else {
      EXPECT_NE(outcome.exit_code, 0);
    }
    fs::remove(out);
  }
  EXPECT_EQ(content_of(a), expected);
}

TEST_F(LogVerbs, ExportedRowsComeBackAsTheyWere) {
  const std::string log = sweep("a.db");
  for (const char* name : {"rows.csv", "rows.csv.gz"}) {
    const Outcome exported = hindsight({"log", "export", log, "--out", file(name)});
    ASSERT_EQ(exported.exit_code, 0) << exported.err;
    EXPECT_EQ(exported.out, "");
    EXPECT_THAT(exported.err, HasSubstr("240 rows written to "));
    // The options are those that it says.
    const std::string marker = "hindsight log import ";
    const std::size_t begin = exported.err.find(marker);
    ASSERT_NE(begin, std::string::npos);
    std::vector<std::string> arguments{"log", "import"};
    for (const std::string& word : split(trimmed(exported.err.substr(begin + marker.size())), ' ')) {
      arguments.push_back(word == "NEW.sqlite" ? file(std::string(name) + ".db") : word);
    }
    const Outcome imported = hindsight(arguments);
    ASSERT_EQ(imported.exit_code, 0) << imported.err;
    EXPECT_THAT(imported.out, HasSubstr("240 written"));
    EXPECT_EQ(rows_of(file(std::string(name) + ".db")), rows_of(log)) << name;
  }
  EXPECT_THAT(hindsight({"log", "export", log, "--out", file("rows.csv")}).err, HasSubstr(" --space tiny "));
  const Outcome some = hindsight({"log", "export", log, "--workload", "m4"});
  EXPECT_EQ(some.exit_code, 0) << some.err;
  EXPECT_EQ(std::count(some.out.begin(), some.out.end(), '\n'), 121);
  EXPECT_THAT(some.out, AllOf(StartsWith("workload,evaluator,repeat,pes_x,"), Not(HasSubstr("unet"))));
}

TEST_F(LogVerbs, AnImportedTableComesBackToo) {
  std::string csv = "Width,mode,cost_ms,util_BRAM,failed,repeat,why\n";
  for (int width = 1; width <= 12; ++width) {
    for (const char* mode : {"fast", "small"}) {
      csv += std::to_string(width) + "," + mode + "," + (width > 10 ? "" : std::to_string(100.0 / width)) + "," +
             std::to_string(width * 10) + (width > 10 ? ",1,1,out of memory\n" : ",0,2,\n");
    }
  }
  const std::string log = file("a.db"), out = file("out.csv");
  ASSERT_EQ(hindsight({"log", "import", "--csv", write("t.csv", csv), "--log", log, "--objective", "cost_ms",
                       "--infeasible", "failed", "--reason", "why", "--constraint", "util_BRAM"})
                .exit_code,
            0);
  const Outcome exported = hindsight({"log", "export", log, "--out", out});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_THAT(read_file(out), StartsWith("workload,evaluator,log_repeat,width,mode,repeat,feasible,reason,"));
  EXPECT_THAT(exported.err, HasSubstr("--objective cost_ms --infeasible feasible=0 --reason reason --context workload "
                                      "--constraint util_bram --ignore evaluator,log_repeat,"));
  const std::size_t begin = exported.err.find("log import ");
  std::vector<std::string> arguments;
  for (const std::string& word : split(trimmed(exported.err.substr(begin)), ' ')) {
    arguments.push_back(word == "NEW.sqlite" ? file("back.db") : word);
  }
  ASSERT_EQ(hindsight(arguments).exit_code, 0);
  EXPECT_EQ(rows_of(file("back.db")), rows_of(log));
  EXPECT_EQ(rows_of(log).size(), 24U);
}

TEST_F(LogVerbs, ExportedJsonLinesSayWhyDesignsFail) {
  const std::string log = sweep("a.db"), out = file("rows.jsonl");
  ASSERT_EQ(hindsight({"log", "export", log, "--out", out}).exit_code, 0);
  std::ifstream lines(out);
  std::size_t rows = 0, infeasible = 0;
  for (std::string line; std::getline(lines, line); ++rows) {
    const Json row = Json::parse(line);
    EXPECT_EQ(row.at("design").size(), 10U);
    EXPECT_TRUE(row.at("design").at("pes_x").is_number());
    EXPECT_EQ(row.at("feasible").get<bool>(), row.at("reasons").empty());
    EXPECT_EQ(row.at("feasible").get<bool>(), row.at("metrics").contains("latency_s"));
    for (const Json& reason : row.at("reasons")) {
      EXPECT_FALSE(reason.at("code").get<std::string>().empty());
      EXPECT_GT(reason.at("value").get<double>(), 0);
      EXPECT_GT(reason.at("limit").get<double>(), 0);
      infeasible += reason == row.at("reasons").front() ? 1 : 0;
    }
  }
  EXPECT_EQ(rows, 240U);
  EXPECT_GT(infeasible, 10U);
  // The CSV says the same of the first reason, and keeps the others.
  const Outcome csv = hindsight({"log", "export", log});
  const auto lines_of = split(csv.out, '\n');
  EXPECT_THAT(lines_of.at(0), HasSubstr("feasible,reason,reason_quantity,reason_value,reason_limit,reason_layer,"));
  EXPECT_THAT(csv.out, ContainsRegex(",0,[a-z_]+,[a-z_]+,[0-9.e+-]+,[0-9.e+-]+,"));
}

TEST_F(LogVerbs, ExportedStudiesHaveTheValuesOfTheLog) {
  const std::string log = sweep("a.db"), out = file("study.db");
  const Outcome exported = hindsight({"log", "export", log, "--format", "optuna", "--out", out, "--metric", "energy"});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_THAT(exported.err, HasSubstr("240 trials of 2 studies written"));
  SQLite::Database study(out);
  const auto text = [&](const std::string& sql) { return study.execAndGet(sql).getString(); };
  EXPECT_EQ(text("SELECT group_concat(study_name || ' ' || direction, ', ') FROM studies JOIN study_directions "
                 "USING (study_id)"),
            "m4 MINIMIZE, unet MINIMIZE");
  const auto in_log = [&](const std::string& sql) { return SQLite::Database(log).execAndGet(sql).getString(); };
  EXPECT_EQ(text("SELECT sum(value) FROM trial_values"), in_log("SELECT sum(energy_j) FROM evaluations"));
  EXPECT_EQ(text("SELECT count(*) FROM trials WHERE state = 'FAIL'"),
            in_log("SELECT count(*) FROM evaluations WHERE feasible = 0"));
  // The levels that the choices are stand in the text id.
  EXPECT_EQ(
      text("SELECT count(*) FROM trial_params p JOIN trial_user_attributes a ON a.trial_id = p.trial_id AND a.key = "
           "'design' WHERE instr(replace(a.value_json, '\"', ','), ',' || p.param_name || '=' || json_extract("
           "p.distribution_json, '$.attributes.choices[' || CAST(p.param_value AS INTEGER) || ']') || ',') > 0"),
      "2400");
  EXPECT_EQ(
      text("SELECT count(*) FROM trials t WHERE (state = 'FAIL') <> EXISTS (SELECT 1 FROM trial_user_attributes a "
           "WHERE a.trial_id = t.trial_id AND key = 'reasons' AND value_json LIKE '%, limit %')"),
      "0");
  expect_one_line_error(hindsight({"log", "export", log, "--format", "optuna", "--out", out}), 2, "is there already");
  expect_one_line_error(hindsight({"log", "export", log, "--format", "optuna"}), 2, "Name it: --out FILE");
  expect_one_line_error(
      hindsight({"log", "export", log, "--format", "optuna", "--out", file("b.db"), "--metric", "energi_j"}), 2,
      "Did you mean 'energy_j'?");
  EXPECT_EQ(files(), (std::set<std::string>{"a.db", "study.db"}));
}

TEST_F(LogVerbs, OptunaOpensAnExportedStudy) {
  if (std::system("python3 -c 'import optuna' 2>/dev/null") != 0) {
    GTEST_SKIP() << "python3-optuna is not installed: nothing shows that Optuna opens the file";
  }
  const std::string log = sweep("a.db"), out = file("study.db");
  ASSERT_EQ(hindsight({"log", "export", log, "--format", "optuna", "--out", out}).exit_code, 0);
  const std::string script = write("read.py", R"(import optuna, sys
storage = "sqlite:///" + sys.argv[1]
study = optuna.load_study(study_name="m4", storage=storage)
states = [trial.state.name for trial in study.trials]
print(len(optuna.get_all_study_summaries(storage)), states.count("COMPLETE"), states.count("FAIL"))
print(repr(study.best_value), study.best_trial.user_attrs["design"])
design = study.best_trial.user_attrs["design"]
print(",".join(f"{name}={study.best_params[name]}" for name in [part.split("=")[0] for part in design.split(",")]))
study.optimize(lambda trial: trial.suggest_categorical("pes_x", [2, 4, 8]), n_trials=1)
print(len(study.trials))
)");
  ASSERT_EQ(std::system(("python3 " + script + " " + out + " > " + file("said") + " 2>/dev/null").c_str()), 0);
  const auto said = split(read_file(file("said")), '\n');
  const log::Log opened = log::Log::open(log, log::OpenMode::read_only);
  const auto best = log::best_designs(opened, "m4", "latency_s", 1);
  const auto stats = log::workload_stats(opened, {.workload = "m4"});
  EXPECT_EQ(said.at(0), "2 " + std::to_string(stats.at(0).feasible) + " " + std::to_string(120 - stats.at(0).feasible));
  EXPECT_EQ(said.at(1), shortest(best.at(0).values.at(0)) + " " + best.at(0).design_text_id);
  EXPECT_EQ(said.at(2), best.at(0).design_text_id);
  EXPECT_EQ(said.at(3), "121") << "and the study goes on";
}

TEST_F(LogVerbs, ExportSaysWhatItCannotDo) {
  const std::string log = sweep("a.db");
  expect_one_line_error(hindsight({"log", "export", log, "--out", file("rows.xls")}), 2,
                        "Add --format csv, jsonl or optuna");
  expect_one_line_error(hindsight({"log", "export", log, "--format", "cvs"}), 2, "Did you mean 'csv'?");
  expect_one_line_error(hindsight({"log", "export", log, "--workload", "unett"}), 2, "Did you mean 'unet'?");
  expect_one_line_error(hindsight({"log", "export", log, "--format", "csv", "--out", log}), 2, "is the file that");
  expect_one_line_error(hindsight({"log", "export", write("no.db", std::string(600, 'x'))}), 4, "not a Hindsight log");
  sweep("a.db", {}, "edge");
  expect_one_line_error(hindsight({"log", "export", log}), 2, "Choose one by --space (tiny, edge)");
  EXPECT_EQ(hindsight({"log", "export", log, "--space", "edge"}).exit_code, 0);
  EXPECT_EQ(hindsight({"log", "export", log, "--format", "jsonl"}).exit_code, 0);
  EXPECT_THAT(files(), ::testing::UnorderedElementsAre("a.db", "no.db"));
}

TEST_F(LogVerbs, QueryAnswersAsTableCsvAndJson) {
  const std::string log = sweep("a.db");
  const std::string sql = "SELECT name, evaluations, 0.5 AS half, NULL AS none FROM v_workloads ORDER BY name";
  EXPECT_EQ(hindsight({"log", "query", log, sql}).out,
            "name  evaluations  half  none\n"
            "-----------------------------\n"
            "m4            120   0.5  NULL\n"
            "unet          120   0.5  NULL\n");
  EXPECT_EQ(hindsight({"log", "query", log, sql, "--csv"}).out,
            "name,evaluations,half,none\nm4,120,0.5,\nunet,120,0.5,\n");
  const Json json = Json::parse(hindsight({"log", "query", log, sql, "--json"}).out);
  EXPECT_EQ(json, Json::parse(R"([{"name": "m4", "evaluations": 120, "half": 0.5, "none": null},
                                  {"name": "unet", "evaluations": 120, "half": 0.5, "none": null}])"));
  EXPECT_EQ(Json::parse(hindsight({"log", "query", log, "SELECT 1 WHERE 0", "--json"}).out), Json::array());

  const std::string all = "SELECT evaluation_id FROM evaluations";
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  const Outcome bounded = hindsight({"log", "query", log, all});
  EXPECT_EQ(lines(bounded.out), 102);
  EXPECT_THAT(bounded.err, HasSubstr("these are the first 100 rows, and there are more. --rows N shows N"));
  const Outcome five = hindsight({"log", "query", log, all, "--csv", "--rows", "5"});
  EXPECT_EQ(lines(five.out), 6);
  EXPECT_THAT(five.err, AllOf(HasSubstr("the first 5 rows"), Not(HasSubstr("show all"))));
  EXPECT_EQ(hindsight({"log", "query", log, "SELECT char(7) AS bell", "--csv"}).out, "bell\n\a\n");
  const Outcome every = hindsight({"log", "query", log, all, "--rows", "240"});
  EXPECT_EQ(lines(every.out), 242);
  EXPECT_EQ(every.err, "");
  EXPECT_EQ(lines(hindsight({"log", "query", log, all, "--csv"}).out), 241);
}

TEST_F(LogVerbs, QueryChangesNothing) {
  const std::string log = sweep("a.db"), before = hash_of(log);
  for (const char* sql : {"DELETE FROM evaluations", "DROP TABLE runs", "PRAGMA user_version = 1", "VACUUM",
                          "ATTACH 'b.db' AS b", "SELECT 1; DELETE FROM runs", "PRAGMA journal_mode = DELETE"}) {
    expect_one_line_error(hindsight({"log", "query", log, sql}), 2, "a query only reads");
    EXPECT_EQ(hash_of(log), before) << sql;
  }
  expect_one_line_error(hindsight({"log", "query", log, "SELECT latency FROM evaluations"}), 2,
                        "no such column: latency");
  expect_one_line_error(hindsight({"log", "query", log, "SELECT 1", "--csv", "--json"}), 2, "Name one");
  expect_one_line_error(hindsight({"log", "query", file("none.db"), "SELECT 1"}), 2, "no such log");
  EXPECT_EQ(files(), std::set<std::string>{"a.db"});
}

TEST_F(LogVerbs, VerifyNamesValuesThatContradictEachOther) {
  const std::string log = sweep("a.db");
  EXPECT_EQ(hindsight({"log", "verify", log}).exit_code, 0);
  exec(log,
       "UPDATE evaluations SET average_power_w = average_power_w * 1.001 WHERE evaluation_id = "
       "(SELECT min(evaluation_id) FROM evaluations WHERE feasible = 1)");
  const Outcome power = hindsight({"log", "verify", log});
  EXPECT_EQ(power.exit_code, 4);
  EXPECT_THAT(power.out, ContainsRegex("evaluation [0-9]+: average_power_w is .*, but energy_j / latency_s is "));
  EXPECT_EQ(std::count(power.out.begin(), power.out.end(), '\n'), 2) << "a problem, and what to do";
  exec(log, "UPDATE evaluations SET latency_s = -latency_s WHERE feasible = 1");
  EXPECT_THAT(hindsight({"log", "verify", log}).out, ContainsRegex("evaluation [0-9]+: latency_s is -"));
  EXPECT_THAT(hindsight({"log", "verify", log}).out, HasSubstr("hindsight log repair " + log + " --out NEW.sqlite"));
  EXPECT_EQ(hindsight({"log", "repair", log, "--out", file("repaired.sqlite")}).exit_code, 0) << "as the advice says";
  EXPECT_EQ(hindsight({"log", "verify", file("repaired.sqlite"), "--deep"}).exit_code, 0);
  const Outcome deep = hindsight({"log", "verify", log, "--deep", "--json"});
  EXPECT_EQ(deep.exit_code, 4);
  const Json json = Json::parse(deep.out);
  EXPECT_FALSE(json.at("sound").get<bool>());
  EXPECT_EQ(json.at("findings").at(0).at("kind"), "integrity");
  EXPECT_THAT(json.at("findings").at(0).at("remedy").get<std::string>(), HasSubstr("log repair"));
}

/// Of one technology's name, from the file that ships and from an edited one.
TEST_F(LogVerbs, EvaluatorsOfOneNameAreToldApart) {
  std::string text = read_file(hindsight::test::repository() / "data/technology/22nm-silicon.yaml");
  const std::string from = "peak_activity: 1.72";
  ASSERT_NE(text.find(from), std::string::npos);
  const std::string edited = write("mine.yaml", text.replace(text.find(from), from.size(), "peak_activity: 1.8"));
  const std::string log = sweep("a.db", {"--technology", "22nm-silicon"}, "tiny", 10);
  EXPECT_THAT(hindsight({"log", "show", log}).out, Not(HasSubstr("22nm-silicon@")));
  sweep("a.db", {"--technology", edited}, "tiny", 20);
  EXPECT_THAT(hindsight({"log", "show", log}).out, ContainsRegex("hindsight-accel 4 22nm-silicon@[0-9a-f]{8} \\("));
}

}  // namespace
}  // namespace hindsight::app::test
