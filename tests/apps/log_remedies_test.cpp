/// Does what a message about a log, a table or a question says to do work when somebody does it?
#include <SQLiteCpp/SQLiteCpp.h>

#include "apps/app_fixture.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class LogRemedies : public AppTest {
 protected:
  [[nodiscard]] std::string swept(const std::string& name, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"sweep",     "--workloads", "m6",    "--space",  "tiny",
                                       "--samples", "5",           "--log", file(name), "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(hindsight(arguments).exit_code, 0);
    return file(name);
  }
  static void change(const std::string& log, const std::string& sql) {
    SQLite::Database(log, SQLite::OPEN_READWRITE).exec("PRAGMA foreign_keys = OFF; " + sql);
  }
  [[nodiscard]] std::string table() const { return write("t.csv", "a,b,time\n1,2,3\n2,2,4\n3,2,nan\n"); }
  [[nodiscard]] Outcome import(const std::string& from, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"log", "import", from, "--log", file("i.db"), "--objective", "time"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return hindsight(arguments);
  }
};

TEST_F(LogRemedies, ADamagedSchemaIsRescuedByTheCommandThatIsPrinted) {
  for (const char* sql : {"DROP TABLE evaluation_violations", "PRAGMA user_version = 0", "PRAGMA user_version = -7"}) {
    std::filesystem::remove(file("NEW.sqlite"));
    std::filesystem::remove(file("my log.db"));
    const std::string log = swept("my log.db");
    change(log, sql);
    const std::string command = "hindsight log repair '" + log + "' --out NEW.sqlite";
    expect_one_line_error(hindsight({"log", "show", log}), 4, "or rescue its rows: `" + command + "`");
    const Outcome repaired = hindsight({"log", "repair", log, "--out", "NEW.sqlite"}, {.folder = folder_});
    EXPECT_EQ(repaired.exit_code, 0) << sql << ": " << repaired.err;
    EXPECT_EQ(hindsight({"log", "verify", file("NEW.sqlite")}).exit_code, 0) << sql;
    if (std::string(sql).starts_with("PRAGMA")) {  // no row is lost with the number of a version
      EXPECT_EQ(SQLite::Database(file("NEW.sqlite")).execAndGet("SELECT count(*) FROM evaluations").getInt(), 5) << sql;
    }
  }
}

TEST_F(LogRemedies, CommandsNameTheirLog) {
  const std::string log = swept("a.db");
  expect_one_line_error(hindsight({"log", "show", log, "--run", "9"}), 2, "`hindsight log show " + log + "` lists");
  expect_one_line_error(hindsight({"log", "show", log, "--design", "0123456789abcdef"}), 2,
                        "`hindsight log show " + log + "` shows");
  expect_one_line_error(hindsight({"log", "export", log, "--run", "9"}), 2, "`hindsight log show " + log + "`");
  change(log, "DELETE FROM workloads");
  expect_one_line_error(hindsight({"log", "export", log}), 4, "`hindsight log verify " + log + "` lists");
  expect_one_line_error(hindsight({"log", "merge", log, "--out", file("m.db")}), 4, "`hindsight log repair " + log);
}

TEST_F(LogRemedies, TheSameProblemOfManyRowsIsSaidOnce) {
  const std::string log = swept("a.db");
  change(log, "DELETE FROM workloads");
  const Outcome said = hindsight({"log", "verify", log});
  EXPECT_EQ(said.exit_code, 4);
  const std::string problem = "a row of evaluations names a row of workloads that does not exist";
  EXPECT_THAT(said.out, HasSubstr(problem));
  EXPECT_THAT(said.out, HasSubstr("(5 times)"));
  EXPECT_EQ(said.out.find(problem), said.out.rfind(problem)) << said.out;
}

TEST_F(LogRemedies, AFolderWithAQuoteIsMadeByTheCommandThatIsPrinted) {
  expect_one_line_error(hindsight({"log", "export", swept("a.db"), "--out", file("it's/x.csv")}), 2,
                        "mkdir -p '" + file("it'\\''s") + "'");
}

TEST_F(LogRemedies, AskOffersNoEvaluatorThatItRefuses) {
  const std::string log = swept("a.db");
  EXPECT_EQ(swept("a.db", {"--technology", "7nm"}), log);
  const Outcome refused = hindsight({"ask", "--log", log, "-n", "1"});
  expect_one_line_error(refused, 2, "Name your own simulator, as you call it: --evaluator simulator");
  EXPECT_THAT(refused.err, Not(HasSubstr("Choose one")));
  EXPECT_EQ(hindsight({"ask", "--log", log, "-n", "1", "--evaluator", "simulator"}).exit_code, 0);
  const Outcome again = hindsight({"ask", "--log", log, "-n", "1"});
  EXPECT_EQ(again.exit_code, 0) << "who was asked before: " << again.err;
}

TEST_F(LogRemedies, DrawnIsWithinWhatIsAskedFor) {
  const std::string log = file("a.db");
  const std::vector<std::string> ask{"ask", "--log", log, "--space", "tiny", "--workload", "m6", "-n", "2", "--drawn"};
  const auto drawn = [&](std::vector<std::string> arguments, const std::string& number) {
    arguments.push_back(number);
    return hindsight(arguments);
  };
  expect_one_line_error(drawn(ask, "3"), 2, "--drawn 3: --count is 2. Give at most 2, or a larger --count");
  EXPECT_FALSE(std::filesystem::exists(log));
  EXPECT_EQ(drawn(ask, "2").exit_code, 0);
  expect_one_line_error(drawn({"campaign", "--workloads", "m6", "--log", file("c.db"), "--batch", "4", "--drawn"}, "5"),
                        2, "--drawn 5: a round has 4 designs. Give at most 4, or a larger --batch");
}

TEST_F(LogRemedies, AnObjectiveThatIsUnfinishedIsRefused) {
  for (const char* objective : {"latency_s*", "latency_s ^", "/ latency_s"}) {
    const Outcome refused = hindsight(
        {"ask", "--log", file("a.db"), "--space", "tiny", "--workload", "m6", "-n", "1", "--objective", objective});
    expect_one_line_error(refused, 2, std::string("objective '") + objective + "'");
  }
}

TEST_F(LogRemedies, AnotherTableOfTheSameNameGetsASpaceOfAnotherName) {
  EXPECT_EQ(import(table()).exit_code, 0);
  const std::string other = write("t.csv", "c,d,time\n1,2,3\n2,3,4\n");
  expect_one_line_error(import(other), 2,
                        "has a space 't' of other parameters or values. Use another log, or `hindsight space infer " +
                            other + " --objective time --name t_2 --out t_2.yaml` and --space t_2.yaml");
  ASSERT_EQ(
      hindsight({"space", "infer", other, "--objective", "time", "--name", "t_2", "--out", file("t_2.yaml")}).exit_code,
      0);
  const Outcome imported = import(other, {"--space", file("t_2.yaml")});
  EXPECT_EQ(imported.exit_code, 0) << imported.err;
  expect_one_line_error(import(other, {"--ignore", "c"}), 2, "--objective time --ignore c --name t_3 --out t_3.yaml`");
  expect_one_line_error(import(other, {"--round", "c=2"}), 2, "or name a --space with a name of its own");
}

TEST_F(LogRemedies, WhatAFormatHasNoUseForIsRefused) {
  expect_one_line_error(import(table(), {"--study", "s"}), 2,
                        "--study is about Optuna's studies, and this was read as CSV table. Leave it out");
  expect_one_line_error(import(table(), {"--pruned", "skip"}), 2, "--pruned is about Optuna's studies");
  EXPECT_EQ(import(table(), {"--pruned", "infeasible"}).exit_code, 0);
}

TEST_F(LogRemedies, AFormatThatATableIsNotIsNamed) {
  for (const char* format : {"jsonl", "vizier", "ax", "kernel-tuner", "optuna"}) {
    expect_one_line_error(import(table(), {"--format", format}), 2, "Name another --format, or none?");
  }
  for (const char* format : {"semicolon", "tsv"}) {
    expect_one_line_error(import(table(), {"--format", format}), 2,
                          "t.csv:1:1: one column, 'a,b,time' (its columns seem to be separated by something else). "
                          "Name another --format, or none?");
  }
  EXPECT_EQ(import(table()).exit_code, 0);
  expect_one_line_error(import(write("q.csv", "a;b;time\n1;2;3\n"), {"--format", "csv"}), 2, "Write commas");
}

TEST_F(LogRemedies, ALineOfJsonHasNoColumn) {
  const Outcome imported = import(write("m.jsonl", "{\"a\": 1, \"time\": 1}\n{\"a\": \"x\", \"time\": 2}\n"));
  EXPECT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_THAT(imported.err, HasSubstr("m.jsonl:2: column 'a': 'x' stands beside numbers"));
}

TEST_F(LogRemedies, AnEmptyNameIsNoDefault) {
  const std::string log = swept("a.db");
  for (const char* option : {"--workload", "--space", "--evaluator", "--design"}) {
    expect_one_line_error(hindsight({"log", "show", log, option, ""}), 2,
                          std::string(option) + ": the text is empty. Is a variable not set?");
  }
  for (const char* option : {"--workload", "--space", "--evaluator", "--study"}) {
    expect_one_line_error(import(table(), {option, ""}), 2, "the text is empty. Is a variable not set?");
  }
}

TEST_F(LogRemedies, AMisspeltOptionIsNamedBeforeTheOneThatIsMissing) {
  expect_one_line_error(hindsight({"simulate", "--desing", "coral_edge_tpu", "--workload", "m6"}), 2,
                        "unknown option '--desing'. Did you mean '--design'?");
  expect_one_line_error(hindsight({"simulate", "--workload", "m6"}), 2, "--design is required");
}

TEST_F(LogRemedies, AnApplicationIsNamedByWorkloads) {
  const std::vector<std::string> campaign{"campaign", "--space", "tiny", "--log", file("c.db")};
  const auto with = [](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return hindsight(words);
  };
  const std::string said = "unknown option '--application'. An application is named by --workloads";
  expect_one_line_error(with(campaign, {"--application", "mine"}), 2, said + ", a network or a file of one");
  expect_one_line_error(with(campaign, {"--workloads", "m6", "--application=mine"}), 2, "`hindsight ask`");
  expect_one_line_error(hindsight({"train", "--log", "a.db", "--out", "m.safetensors", "--application", "mine"}), 2,
                        said + ". See");
  EXPECT_EQ(with(campaign, {"--workloads", "m6", "--dry-run"}).exit_code, 0) << "which it then takes";
}

TEST_F(LogRemedies, AFrontNamesEachMetricOnce) {
  expect_one_line_error(hindsight({"log", "stats", swept("a.db"), "--pareto", "latency,latency_s"}), 2,
                        "a Pareto front names latency_s twice. Leave one of them out");
  expect_one_line_error(hindsight({"optimum", "--workloads", "m6", "--space", "tiny", "--pareto", "latency,latency"}),
                        2, "twice. Leave one of them out");
}

TEST_F(LogRemedies, ACheckedSpaceHasATechnologyThatIsThere) {
  const std::string space =
      write("s.yaml", "name: s\ntechnology: 17nm\nparameters:\n  - {name: a, unit: count, values: [1, 2]}\n");
  expect_one_line_error(hindsight({"space", "check", space}), 2, "unknown technology '17nm'");
}

TEST_F(LogRemedies, ASweepSaysWhatIsMissing) {
  const std::vector<std::string> sweep{"sweep", "--workloads", "m6", "--space", "tiny", "--log", file("a.db")};
  expect_one_line_error(hindsight(sweep), 2, "--samples is missing");
  std::vector<std::string> one = sweep;
  one.insert(one.end(), {"--samples", "4", "--networks-per-design", "3"});
  expect_one_line_error(hindsight(one), 2, "there is 1 network to choose from. Give at most 1?");
}

TEST_F(LogRemedies, AWholeNumberIsWrittenInDigits) {
  const auto samples = [&](const std::string& number) {
    return hindsight({"sweep", "--workloads", "m6", "--space", "tiny", "--log", file("a.db"), "--samples", number});
  };
  for (const char* number : {"1e3", "1,000", "1000.0"}) {
    expect_one_line_error(samples(number), 2, "is not written as a whole number. Write 1000.");
  }
  expect_one_line_error(samples("1.5"), 2, "--samples: 1.5 is no whole number. Give a whole number from 1 to ");
  expect_one_line_error(samples("0"), 2, "--samples: 0 is out of range. Give a whole number from 1 to ");
  expect_one_line_error(samples("1e99"), 2, "--samples: 1e99 is out of range");
  expect_one_line_error(samples("many"), 2, "--samples: 'many' is no number");
}

TEST_F(LogRemedies, ARoleWithoutAColumnIsNotMisspelt) {
  const Outcome refused = hindsight({"calibrate", "--gpu", "l4", "--measurements", table(), "--columns", "m"});
  expect_one_line_error(refused, 2, "'m' is no ROLE=COLUMN. Write m=COLUMN");
  EXPECT_THAT(refused.err, Not(HasSubstr("Did you mean")));
}

}  // namespace
}  // namespace hindsight::app::test
