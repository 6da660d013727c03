/// Does an export say how its rows come back, keep names and numbers apart, and refuse a damaged log?
#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "apps/app_fixture.h"
#include "hindsight/core/text.h"

namespace hindsight::app::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class LogExport : public AppTest {
 protected:
  [[nodiscard]] std::string import(const std::string& csv_name, const std::string& csv, const std::string& objective,
                                   const std::string& log, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"log",   "import",  "--csv",       write(csv_name, csv),
                                       "--log", file(log), "--objective", objective};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = hindsight(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return file(log);
  }
  /// The printed command, as a shell reads it, gives a log of so many rows.
  void expect_comes_back(const std::string& err, std::size_t rows) const {
    const std::string marker = "back into a log: hindsight ";
    const std::size_t begin = err.find(marker);
    ASSERT_NE(begin, std::string::npos) << err;
    std::string command(trimmed(err.substr(begin + marker.size())));
    command = command.substr(0, command.find('\n'));
    const std::string shown = "NEW.sqlite";
    command.replace(command.find(shown), shown.size(), "'" + file("back.db") + "'");
    std::filesystem::remove(file("back.db"));
    const std::string shell = "printf '%s\\n' " + command + " > '" + file("words") + "'";
    ASSERT_EQ(std::system(shell.c_str()), 0) << shell;
    std::vector<std::string> arguments;
    for (const std::string& word : split(read_file(file("words")), '\n')) {
      if (!word.empty()) arguments.push_back(word);
    }
    const Outcome imported = hindsight(arguments);
    EXPECT_EQ(imported.exit_code, 0) << imported.err;
    EXPECT_EQ(SQLite::Database(file("back.db")).execAndGet("SELECT count(*) FROM evaluations").getInt64(),
              static_cast<std::int64_t>(rows));
  }
};

constexpr const char* kTimes = "tile,unroll,time_ms,aux\n1,2,5,1\n2,2,4,2\n4,2,3,3\n8,2,6,4\n";
constexpr const char* kScores = "depth,score_x,aux\n1,5,1\n2,4,2\n3,7,3\n";

TEST_F(LogExport, TheHintNamesTheObjectiveOfTheSelectedRows) {
  const std::string a = import("p1.csv", kTimes, "time_ms", "a.db", {"--constraint", "aux"});
  const std::string b = import("p2.csv", kScores, "score_x", "b.db", {"--constraint", "aux"}), both = file("both.db");
  ASSERT_EQ(hindsight({"log", "merge", a, b, "--out", both}).exit_code, 0);
  const Outcome second = hindsight({"log", "export", both, "--space", "p2", "--out", file("o2.csv")});
  EXPECT_THAT(second.err, HasSubstr("--objective score_x "));
  expect_comes_back(second.err, 3);
  const Outcome first = hindsight({"log", "export", both, "--space", "p1", "--out", file("o 'q' 1.csv")});
  EXPECT_THAT(first.err, HasSubstr("--objective time_ms "));
  expect_comes_back(first.err, 4);
  const Outcome study =
      hindsight({"log", "export", both, "--space", "p2", "--format", "optuna", "--out", file("s\"2.db")});
  EXPECT_EQ(study.exit_code, 0) << study.err;
  EXPECT_THAT(study.err,
              AllOf(HasSubstr("to minimise score_x (--maximise: more is better)"), HasSubstr("s\\\"2.db\")")));
}

TEST_F(LogExport, AStudyIsMaximisedWhenAsked) {
  const std::string log = import("p2.csv", kScores, "score_x", "b.db"), out = file("s.db");
  const Outcome study = hindsight({"log", "export", log, "--format", "optuna", "--maximise", "--out", out});
  EXPECT_EQ(study.exit_code, 0) << study.err;
  EXPECT_THAT(study.err, HasSubstr("to maximise score_x"));
  EXPECT_EQ(SQLite::Database(out).execAndGet("SELECT direction FROM study_directions").getString(), "MAXIMIZE");
  expect_one_line_error(hindsight({"log", "export", log, "--maximise"}), 2, "--maximise are of --format optuna");
  expect_one_line_error(hindsight({"log", "export", log, "--out", ""}), 2, "--out");
}

TEST_F(LogExport, ADirectionGoesOutAndComesBack) {
  const std::string log = import("p2.csv", kScores, "score_x", "b.db", {"--constraint", "aux"}), out = file("s.db");
  ASSERT_EQ(hindsight({"log", "export", log, "--format", "optuna", "--maximise", "--out", out}).exit_code, 0);
  const Outcome back = hindsight({"log", "import", out, "--log", file("back.db"), "--json"});
  ASSERT_EQ(back.exit_code, 0) << back.err;
  EXPECT_EQ(Json::parse(back.out).at("remarks").at(0), "Optuna maximises score_x here: so do train and ask");
  EXPECT_EQ(hindsight({"log", "hash", file("back.db")}).out.substr(0, 64),
            hindsight({"log", "hash", log}).out.substr(0, 64));
  EXPECT_THAT(hindsight({"log", "stats", file("back.db")}).out, HasSubstr("best by score_x, largest first"));
  const std::string again = file("again.db");
  const Outcome exported = hindsight({"log", "export", file("back.db"), "--format", "optuna", "--out", again});
  EXPECT_THAT(exported.err, HasSubstr("to maximise score_x")) << "the log knows it";
  EXPECT_EQ(SQLite::Database(again).execAndGet("SELECT direction FROM study_directions").getString(), "MAXIMIZE");
}

TEST_F(LogExport, TheHintSaysThatMoreIsBetter) {
  const std::string log = import("p2.csv", kScores, "score_x", "b.db", {"--constraint", "aux", "--maximise"});
  const Outcome exported = hindsight({"log", "export", log, "--out", file("out.csv")});
  EXPECT_THAT(exported.err, HasSubstr("--objective score_x --maximise --log NEW.sqlite"));
  expect_comes_back(exported.err, 3);
  EXPECT_THAT(hindsight({"log", "stats", file("back.db")}).out, HasSubstr("best by score_x, largest first"));
}

/// (depth 1: 5, 1), (2: 4, 2), (3: 7, 3): of scores and aux. All small: 1 and 2 trade; with large scores 1 and 3.
TEST_F(LogExport, FrontsAndRanksTakeAStatedDirection) {
  const std::string log = import("p2.csv", kScores, "score_x", "b.db", {"--constraint", "aux"});
  const auto stats = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"log", "stats", log, "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = hindsight(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return Json::parse(outcome.out).at("workloads").at(0);
  };
  const auto scores = [](const Json& rows) {
    std::vector<double> values;
    for (const Json& row : rows) values.push_back(row.at("score_x"));
    return values;
  };
  EXPECT_EQ(scores(stats({"--pareto", "score_x,aux"}).at("pareto")), (std::vector<double>{4, 5}));
  const Json more = stats({"--pareto", "1/score_x,aux"});
  EXPECT_EQ(scores(more.at("pareto")), (std::vector<double>{7, 5}));
  EXPECT_EQ(more.at("pareto_directions"), (Json{"maximise", "minimise"}));
  EXPECT_EQ(scores(stats({}).at("best")), (std::vector<double>{4, 5, 7}));
  const Json best = stats({"--metric", "1/score_x"});
  EXPECT_EQ(best.at("best_direction"), "maximise");
  EXPECT_EQ(scores(best.at("best")), (std::vector<double>{7, 5, 4}));
  EXPECT_THAT(hindsight({"log", "stats", log, "--pareto", "1/score_x,aux"}).out,
              HasSubstr("Pareto front of score_x (more is better), aux (less is better) (2 designs)"));
  expect_one_line_error(hindsight({"log", "stats", log, "--metric=-score_x"}), 2,
                        "1/score_x where more of it is better");
}

TEST_F(LogExport, InfeasibleRowsAloneComeBack) {
  const std::string log =
      import("p.csv", "tile,time_ms,failed\n1,,1\n2,,1\n4,,1\n", "time_ms", "a.db", {"--infeasible", "failed"});
  const Outcome exported = hindsight({"log", "export", log, "--out", file("o.csv")});
  EXPECT_THAT(exported.err, HasSubstr("--objective time_ms "));
  expect_comes_back(exported.err, 3);
}

TEST_F(LogExport, InfeasibleRowsOfTheModelComeBackWithTheirFacts) {
  const std::string log = file("s.db");
  ASSERT_EQ(hindsight({"sweep", "--space", "tiny", "--workloads", "llama3_70b_decode", "--samples", "20", "--quiet",
                       "--log", log})
                .exit_code,
            0);
  const Outcome table = hindsight({"log", "export", log, "--out", file("o.csv")});
  EXPECT_THAT(table.err, HasSubstr("20 of them infeasible"));
  expect_comes_back(table.err, 20);
  ASSERT_EQ(hindsight({"log", "export", log, "--out", file("o.jsonl")}).exit_code, 0);
  const Outcome lines = hindsight({"log", "import", file("o.jsonl"), "--log", file("lines.db")});
  EXPECT_EQ(lines.exit_code, 0) << lines.err;
  EXPECT_THAT(hindsight({"log", "query", file("lines.db"), "SELECT count(area_mm2) FROM evaluations"}).out,
              HasSubstr("20"));
}

TEST_F(LogExport, RowsOfSeveralEvaluatorsGetAdviceInsteadOfACommand) {
  const std::string log = import("p.csv", kTimes, "time_ms", "a.db");
  SQLite::Database(log, SQLite::OPEN_READWRITE)
      .exec(
          "INSERT INTO evaluators (name, definition_hash, definition) VALUES ('other', 'h', 'd');"
          "UPDATE evaluations SET evaluator_id = 2 WHERE evaluation_id > 2");
  const Outcome all = hindsight({"log", "export", log, "--out", file("o.csv")});
  EXPECT_THAT(all.err, AllOf(HasSubstr("export one with --evaluator"), Not(HasSubstr("log import"))));
  const Outcome one = hindsight({"log", "export", log, "--evaluator", "other", "--out", file("o.csv")});
  expect_comes_back(one.err, 2);
}

TEST_F(LogExport, NamesThatLookLikeNumbersStayNames) {
  const std::string log =
      import("p.csv", "version,agent,size,cost\n1.10,007,1,5\n1.9,x,2,6\nv2,012,4,7\n1.10,x,4,8\n", "cost", "a.db");
  const Outcome exported = hindsight({"log", "export", log, "--format", "jsonl"});
  const Json first = Json::parse(exported.out.substr(0, exported.out.find('\n')));
  EXPECT_EQ(first.at("design"), Json::parse(R"({"version": "1.10", "agent": "007", "size": 1})"));
}

TEST_F(LogExport, ADamagedLogIsNamedAsSuch) {
  for (const char* table : {"workloads", "evaluators", "runs", "spaces"}) {
    const std::string log = import("p.csv", kTimes, "time_ms", std::string(table) + ".db");
    SQLite::Database(log, SQLite::OPEN_READWRITE).exec(std::string("PRAGMA foreign_keys = OFF; DELETE FROM ") + table);
    for (const char* format : {"csv", "jsonl", "optuna"}) {
      const Outcome outcome = hindsight({"log", "export", log, "--format", format, "--out", file("o")});
      EXPECT_EQ(outcome.err.find("internal"), std::string::npos) << outcome.err;
      EXPECT_NE(outcome.exit_code, 70) << table << " " << format;
      if (table == std::string("workloads") ||
          (table == std::string("evaluators") && format != std::string("optuna"))) {
        expect_one_line_error(outcome, 4, "which is not there. `hindsight log verify ");
      }
    }
  }
  const std::string sound = import("p.csv", kTimes, "time_ms", "sound.db");
  EXPECT_EQ(hindsight({"log", "export", sound, "--format", "jsonl", "--out", file("sound.jsonl")}).exit_code, 0);
}

}  // namespace
}  // namespace hindsight::app::test
