/// Are designs asked for once, and answers told or refused whole?
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <chrono>
#include <set>
#include <thread>

#include "apps/learn_fixture.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSpace = R"(name: mine
description: A space of somebody's simulator
parameters:
  - {name: width, unit: count, kind: ordinal, values: [1, 2, 4, 8, 16]}
  - {name: depth, unit: count, kind: ordinal, values: [1, 2, 3, 4, 5, 6]}
  - {name: mode, unit: none, kind: categorical, values: [fast, small, odd]}
)";

using Cells = std::vector<std::vector<std::string>>;

class Ask : public Learn {
 protected:
  [[nodiscard]] std::string quick() const {
    return write("quick.yaml", "method: margins\nhidden: [16]\nensemble: 2\nsteps: 60\nfinal_steps: 20\n");
  }
  [[nodiscard]] Outcome ask(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"ask", "--log", log(), "--recipe", quick(), "--objective", "time_ms"};
    if (!std::filesystem::exists(log())) {
      arguments.insert(arguments.end(), {"--space", write("mine.yaml", kSpace), "--application", "kernel"});
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    return hindsight(arguments);
  }
  [[nodiscard]] Outcome tell(const std::string& csv, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"tell", write("done.csv", csv), "--log", log(), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return hindsight(arguments);
  }
  static Cells cells_of(const std::string& csv) {
    Cells cells;
    for (const std::string& line : split(csv, '\n')) {
      if (!line.empty()) cells.push_back(split(line, ','));
    }
    return cells;
  }
  static std::string csv_of(const Cells& cells) {
    std::string text;
    for (const auto& row : cells) text += join(row, ",") + "\n";
    return text;
  }
  /// Somebody's simulator: odd designs that are wide fail.
  static std::string answered(const std::string& csv) {
    Cells cells = cells_of(csv);
    for (std::size_t i = 1; i < cells.size(); ++i) {
      const double width = *parse_double(cells[i][2]), depth = *parse_double(cells[i][3]);
      const bool fails = cells[i][4] == "odd" && width >= 8;
      cells[i][7] = fails ? "" : shortest(64 / width + depth + (cells[i][4] == "small" ? 3 : 0));
      cells[i][8] = fails ? "Timing not met" : "";
    }
    return csv_of(cells);
  }
  [[nodiscard]] std::string hash() const { return hindsight({"log", "hash", log()}).out.substr(0, 64); }
  [[nodiscard]] std::int64_t count(const std::string& sql) const {
    const SQLite::Database database(log(), SQLite::OPEN_READONLY);
    SQLite::Statement query(database, sql);
    return query.executeStep() ? query.getColumn(0).getInt64() : -1;
  }
  /// A table of ask that nobody has answered, on a log that answers were told to before.
  [[nodiscard]] std::string asked_again() const {
    EXPECT_EQ(tell(answered(ask({"-n", "12"}).out)).exit_code, 0);
    return ask({"-n", "6"}).out;
  }
  void expect_refused(const std::string& csv, const std::string& part, const std::vector<std::string>& more = {}) {
    const std::string before = hash();
    const std::int64_t runs = count("SELECT count(*) FROM runs");
    expect_one_line_error(tell(csv, more), 2, part);
    EXPECT_EQ(hash(), before);
    EXPECT_EQ(count("SELECT count(*) FROM runs"), runs);
  }
};

TEST_F(Ask, TablesAreFilledInAndTold) {
  const Outcome asked = ask({"-n", "10"});
  ASSERT_EQ(asked.exit_code, 0) << asked.err;
  EXPECT_THAT(asked.err, HasSubstr("10 designs chosen by drawing"));
  EXPECT_TRUE(asked.out.starts_with("design,workload,width,depth,mode,predicted,p_feasible,time_ms,reason\n"))
      << asked.out;
  EXPECT_EQ(cells_of(asked.out).size(), 11U);
  const Outcome told = tell(answered(asked.out));
  ASSERT_EQ(told.exit_code, 0) << told.err;
  const Json summary = Json::parse(told.out);
  EXPECT_EQ(summary.at("inserted"), 10);
  EXPECT_EQ(summary.at("unasked"), 0);
  EXPECT_EQ(summary.at("pending"), 0);
  EXPECT_EQ(summary.at("evaluator"), "simulator");
  EXPECT_EQ(count("SELECT count(*) FROM evaluations WHERE feasible = 0"),
            count("SELECT count(*) FROM evaluation_violations WHERE code = 'timing_not_met'"));
  EXPECT_EQ(hindsight({"log", "verify", log()}).exit_code, 0);
}

TEST_F(Ask, AnswersAreToldAsJsonToo) {
  const Cells asked = cells_of(ask({"-n", "3"}).out);
  ASSERT_EQ(asked.size(), 4U);
  const auto object = [&](std::size_t row, const std::string& value) {
    return R"({"design": ")" + asked[row][0] + R"(", "workload": "kernel", "time_ms": )" + value + "}";
  };
  EXPECT_EQ(Json::parse(tell(object(1, "3.5") + "\n" + object(2, "null") + "\n").out).at("inserted"), 1);
  expect_refused(object(2, "4") + "\n" + object(3, "\"3 ms\"") + "\n", "done.csv:2: time_ms is '3 ms'");
  expect_refused("[" + object(3, "\"3 ms\"") + "]", "done.csv: item 1: time_ms is '3 ms'");
  const std::string marked = "\xef\xbb\xbf[" + object(2, "4") + ", " + object(3, "5") + "]";  // by editors of Windows
  EXPECT_EQ(Json::parse(tell(marked).out).at("inserted"), 2);
}

/// A table that holds answers is not written over before they are told; one that was told is.
TEST_F(Ask, OutKeepsAnswersThatNobodyHasTold) {
  const std::string next = file("next.csv");
  ASSERT_EQ(ask({"-n", "4", "--out", next}).exit_code, 0);
  const std::string empty = read_file(next);
  EXPECT_EQ(hindsight({"ask", "--log", log(), "--pending", "--out", next}).exit_code, 0) << "no answer is in it";
  const std::string filled = answered(empty);
  write("next.csv", filled);
  const std::string before = hash();
  for (const std::vector<std::string>& again : {std::vector<std::string>{"-n", "4"}, {"--pending"}}) {
    std::vector<std::string> arguments{"ask", "--log", log(), "--out", next};
    arguments.insert(arguments.end(), again.begin(), again.end());
    expect_one_line_error(hindsight(arguments), 2, "holds 4 answers that the log awaits. First hindsight tell");
    EXPECT_EQ(read_file(next), filled);
  }
  EXPECT_EQ(hash(), before) << "and nothing is asked for";
  std::string semicolons = filled;
  std::replace(semicolons.begin(), semicolons.end(), ',', ';');
  write("next.csv", semicolons);
  expect_one_line_error(hindsight({"ask", "--log", log(), "--out", next}), 2, "holds 4 answers");
  ASSERT_EQ(hindsight({"tell", next, "--log", log()}).exit_code, 0) << "as a spreadsheet saves it";
  EXPECT_EQ(ask({"-n", "4", "--out", next}).exit_code, 0);
  EXPECT_NE(read_file(next), filled);
}

TEST_F(Ask, NoDesignIsAskedForTwiceAndAModelChoosesOnceItCan) {
  std::set<std::string> designs;
  std::size_t rows = 0;
  for (int round = 0; round < 4; ++round) {
    const Outcome asked = ask({"-n", "10"});
    ASSERT_EQ(asked.exit_code, 0) << asked.err;
    for (const auto& row : cells_of(asked.out)) designs.insert(row[2] + "|" + row[3] + "|" + row[4]);
    rows += 10;
    EXPECT_EQ(designs.size(), rows + 1);  // and the header
    EXPECT_THAT(asked.err, HasSubstr(round < 2 ? "drawing" : "a model of"));
    EXPECT_EQ(asked.err.find(" steps  ") != std::string::npos, round >= 2) << "a training says how far it is";
    // The first answers come after the second table was asked for: 10 designs are pending meanwhile.
    if (round == 1) {
      EXPECT_EQ(tell(answered(hindsight({"ask", "--log", log(), "--pending"}).out)).exit_code, 0);
    }
  }
  EXPECT_EQ(Json::parse(tell(answered(hindsight({"ask", "--log", log(), "--pending"}).out)).out).at("inserted"), 20);
}

TEST_F(Ask, LearnsWhatIsBest) {
  for (int round = 0; round < 4; ++round) ASSERT_EQ(tell(answered(ask({"-n", "10"}).out)).exit_code, 0);
  // The best design is 64 / 16 + 1: of 90 designs 40 were asked for.
  EXPECT_EQ(count("SELECT min(value) FROM evaluation_metrics WHERE name = 'time_ms'"), 5);
}

TEST_F(Ask, AnswersMayBePartialLateRepeatedAndUnasked) {
  const std::string table = ask({"-n", "6"}).out;
  Cells cells = cells_of(answered(table));
  Cells part = {cells[0], cells[1], cells_of(table)[2]};
  const Json first = Json::parse(tell(csv_of(part)).out);
  EXPECT_EQ(first.at("inserted"), 1);
  EXPECT_EQ(first.at("unanswered"), 1);
  EXPECT_EQ(first.at("pending"), 5);
  EXPECT_EQ(cells_of(hindsight({"ask", "--log", log(), "--pending"}).out).size(), 6U);
  const Json all = Json::parse(tell(csv_of(cells)).out);
  EXPECT_EQ(all.at("inserted"), 5);
  EXPECT_EQ(all.at("already_present"), 1);
  const Json again = Json::parse(tell(csv_of(cells)).out);
  EXPECT_EQ(again.at("inserted"), 0);
  EXPECT_EQ(again.at("already_present"), 6);
  // Without ask's own columns, in another order, of a design that nobody asked for.
  std::set<std::string> asked;
  for (const auto& row : cells) asked.insert(row[2] + row[3] + row[4]);
  const std::string depth = asked.contains("23small") ? "4" : "3";
  ASSERT_FALSE(asked.contains("2" + depth + "small"));
  const Json unasked = Json::parse(tell("time_ms,mode,width,depth\n38,small,2," + depth + "\n").out);
  EXPECT_EQ(unasked.at("inserted"), 1);
  EXPECT_EQ(unasked.at("unasked"), 1);
}

TEST_F(Ask, ASecondAnswerNeedsRepeat) {
  const std::string table = asked_again();
  Cells cells = cells_of(answered(table));
  cells.resize(2);
  cells[1][7] = "9.5";
  cells[1][8] = "";
  ASSERT_EQ(tell(csv_of(cells)).exit_code, 0);
  cells[1][7] = "9.5004";
  EXPECT_EQ(Json::parse(tell(csv_of(cells)).out).at("already_present"), 1) << "9.5 is it in four digits";
  cells[1][7] = "9.75";
  expect_refused(csv_of(cells), "time_ms is 9.5 there, 9.75 here. If it was measured again, add --repeat");
  ASSERT_EQ(tell(csv_of(cells), {"--repeat"}).exit_code, 0);
  EXPECT_EQ(count("SELECT max(repeat) FROM evaluations"), 1);
  cells.push_back(cells[1]);
  cells[2][7] = "9.8";
  cells[1][7] = "9.7";
  expect_refused(csv_of(cells), "done.csv:2:1: ");
  ASSERT_EQ(tell(csv_of(cells), {"--repeat"}).exit_code, 0);
  EXPECT_EQ(count("SELECT max(repeat) FROM evaluations"), 3);
}

TEST_F(Ask, AnswersThatDoNotFitAreRefusedWhole) {
  const std::string table = asked_again();
  const Cells good = cells_of(answered(table));
  const auto with = [&](std::size_t column, const std::string& cell) {
    Cells cells = good;
    cells.back()[column] = cell;
    return csv_of(cells);
  };
  Cells other = good;
  other.back()[0] = good[1][0];
  expect_refused(csv_of(other), "is not the design of this row's parameters");
  expect_refused(with(1, "kernels"), "done.csv:7:10: the log has no workload 'kernels'. Did you mean 'kernel'?");
  Cells off = good;
  off.back()[0] = "";
  off.back()[2] = "7";
  expect_refused(csv_of(off), "width is '7', which the space does not have. Nearest: 8");
  off.back()[2] = "8";
  off.back()[4] = "fats";
  expect_refused(csv_of(off), "mode is 'fats', which the space does not have. Did you mean 'fast'? Nothing");
  expect_refused(with(7, "12ms"), "time_ms is '12ms', which is not a number");
  Cells unknown = good;
  unknown[0][7] = "time";
  expect_refused(
      csv_of(unknown),
      "column 'time' is no parameter of mine, no metric of the log, and none that `propose` writes. Answers need "
      "'time_ms', which has no column: rename this one");
  expect_refused("width,depth,time_ms\n1,1,3\n",
                 "no column for parameter 'mode' of space 'mine', and no column 'design'");
  expect_refused("design,workload,time_ms\nffffffff,kernel,3\n", "no design begins with 'ffffffff'");
  expect_refused(csv_of(good), "built-in model", {"--evaluator", "hindsight-accel 22nm"});
  expect_refused(csv_of(good), "no workload 'other'", {"--workload", "other"});
  EXPECT_EQ(Json::parse(tell(csv_of(good)).out).at("inserted"), 6) << "the table itself is fine";
}

TEST_F(Ask, DesignsMayBeNamedByTheirShortIds) {
  const Cells cells = cells_of(answered(asked_again()));
  std::string text = "design,workload,time_ms,reason\n";
  for (std::size_t i = 1; i < cells.size(); ++i) {
    text += cells[i][0].substr(0, 8) + ",kernel," + cells[i][7] + "," + cells[i][8] + "\n";
  }
  const Json told = Json::parse(tell(text).out);
  EXPECT_EQ(told.at("inserted"), 6);
  EXPECT_EQ(told.at("pending"), 0);
}

TEST_F(Ask, DesignsMayBeNamedByCapitals) {
  Cells cells = cells_of(answered(ask({"-n", "2"}).out));
  for (std::size_t i = 1; i < cells.size(); ++i) {
    for (char& c : cells[i][0]) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  EXPECT_EQ(Json::parse(tell("design,time_ms\n" + cells[1][0] + ",3\n").out).at("inserted"), 1);
  EXPECT_EQ(Json::parse(tell(csv_of({cells[0], cells[2]})).out).at("inserted"), 1) << "beside its parameters";
}

TEST_F(Ask, TablesMayAlsoBeImported) {
  const std::string table = answered(ask({"-n", "8"}).out);
  const auto import = [&](const std::string& csv) {
    return hindsight({"log", "import", write("more.csv", csv), "--log", log(), "--evaluator", "simulator"});
  };
  const Outcome first = import(table);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const Outcome second = import(answered(ask({"-n", "4"}).out));
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(count("SELECT count(*) FROM evaluations"), 12);
  EXPECT_EQ(count("SELECT count(*) FROM spaces"), 1);
  EXPECT_EQ(cells_of(hindsight({"ask", "--log", log(), "--pending"}).out).size(), 1U) << "nothing awaits an answer";
}

TEST_F(Ask, AnImportedTableAnswersWhatWasAsked) {
  const std::string table = write("next.csv", answered(ask({"-n", "8"}).out));
  const auto pending = [&] { return cells_of(hindsight({"ask", "--log", log(), "--pending"}).out).size() - 1; };
  const Outcome imported = hindsight({"log", "import", table, "--log", log()});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_THAT(imported.out, HasSubstr("evaluator simulator"));
  EXPECT_EQ(pending(), 0U);
  EXPECT_EQ(Json::parse(hindsight({"tell", table, "--log", log(), "--json"}).out).at("already_present"), 8);
  ASSERT_EQ(tell(answered(ask({"-n", "2"}).out)).exit_code, 0);
  EXPECT_EQ(count("SELECT count(*) FROM evaluators"), 1) << "one definition, whichever verb was first";
}

TEST_F(Ask, ATableGoesToWhomItWasAskedOf) {
  const std::string first = answered(ask({"-n", "3", "--evaluator", "old"}).out);
  const std::string second = answered(ask({"-n", "2", "--evaluator", "new"}).out);
  EXPECT_EQ(Json::parse(tell(first).out).at("evaluator"), "old") << "not the newest ask's";
  const Json again = Json::parse(tell(first).out);
  EXPECT_EQ(again.at("evaluator"), "old") << "though nothing awaits it";
  EXPECT_EQ(again.at("already_present"), 3);
  const Outcome imported = hindsight({"log", "import", write("second.csv", second), "--log", log()});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_THAT(imported.out, HasSubstr("evaluator new")) << "not that of the log's rows";
  ASSERT_EQ(ask({"-n", "2", "--evaluator", "old", "--out", file("old.csv")}).exit_code, 0);
  ASSERT_EQ(ask({"-n", "2", "--evaluator", "new", "--out", file("new.csv")}).exit_code, 0);
  Cells mixed = cells_of(answered(read_file(file("old.csv"))));
  const Cells others = cells_of(answered(read_file(file("new.csv"))));
  mixed.insert(mixed.end(), others.begin() + 1, others.end());
  expect_one_line_error(hindsight({"log", "import", write("mixed.csv", csv_of(mixed)), "--log", log()}), 2,
                        "several evaluators were asked for its designs: old, new. Name one by --evaluator");
  EXPECT_EQ(tell(csv_of(mixed)).exit_code, 2) << "nor is it known by tell";
}

/// Answers go to the version that the ask was of, though the log has a newer one of that name by now.
TEST_F(Ask, ATableGoesToTheVersionItWasAskedOf) {
  ASSERT_EQ(tell(answered(ask({"-n", "3", "--evaluator", "sim"}).out)).exit_code, 0);
  const std::string first = ask({"-n", "2", "--evaluator", "sim"}).out;
  log::Log opened = log::Log::open(log(), log::OpenMode::read_write);
  static_cast<void>(opened.add_evaluator("sim", "fedcba9876543210", "the next version"));
  const Outcome told = tell(answered(first));
  ASSERT_EQ(told.exit_code, 0) << told.err;
  const auto rows_of = [&](const std::string& hash) {
    return count("SELECT count(*) FROM evaluations JOIN evaluators USING (evaluator_id) WHERE definition_hash " + hash);
  };
  EXPECT_EQ(rows_of("LIKE 'fedc%'"), 0);
  EXPECT_EQ(rows_of("NOT LIKE 'fedc%'"), 5);
  // The same designs are new to the other version, and await its answers.
  const std::string second = ask({"-n", "4", "--evaluator", "sim@fedcba98"}).out;
  EXPECT_EQ(cells_of(hindsight({"ask", "--log", log(), "--pending", "--evaluator", "sim@fedcba98"}).out).size(), 5U);
  const log::EvaluatorSummary older = log::evaluators(opened).front();
  const std::string reference = log::evaluator_reference(log::evaluators(opened), older);
  ASSERT_EQ(ask({"-n", "1", "--evaluator", reference}).exit_code, 0);
  const Json summary = Json::parse(tell(answered(second)).out);
  EXPECT_EQ(summary.at("inserted"), 4);
  EXPECT_EQ(summary.at("unasked"), 0);
  EXPECT_EQ(summary.at("pending"), 1);
  EXPECT_EQ(rows_of("LIKE 'fedc%'"), 4);
}

/// What one version measures anew is no answer to what another was asked.
TEST_F(Ask, AnAnswerCountsForItsVersionAlone) {
  Cells first = cells_of(answered(ask({"-n", "3", "--evaluator", "sim"}).out));
  ASSERT_EQ(tell(csv_of(first)).exit_code, 0);
  log::Log opened = log::Log::open(log(), log::OpenMode::read_write);
  static_cast<void>(opened.add_evaluator("sim", "fedcba9876543210", "the next version"));
  const std::string second = ask({"-n", "3", "--evaluator", "sim@fedcba98"}).out;
  for (std::size_t i = 1; i < first.size(); ++i) {
    first[i][7] = "99";
    first[i][8] = "";
  }
  const std::vector<log::EvaluatorSummary> all = log::evaluators(opened);
  const Json again =
      Json::parse(tell(csv_of(first), {"--evaluator", log::evaluator_reference(all, all.front()), "--repeat"}).out);
  EXPECT_EQ(again.at("inserted"), 3);
  EXPECT_EQ(again.at("pending"), 3);
  const Json told = Json::parse(tell(answered(second)).out);
  EXPECT_EQ(told.at("inserted"), 3);
  EXPECT_EQ(told.at("pending"), 0);
}

/// One design that two versions were asked for, as a merged log has it.
TEST_F(Ask, TwoVersionsMayBeAskedForOneDesign) {
  static_cast<void>(ask({"-n", "3", "--evaluator", "sim"}));
  log::Log opened = log::Log::open(log(), log::OpenMode::read_write);
  const auto ask_again = [&](const std::string& evaluator) {
    EXPECT_EQ(hindsight({"ask", "--log", log(), "--forget"}).exit_code, 0);
    return ask({"-n", "3", "--evaluator", evaluator}).out;
  };
  static_cast<void>(opened.add_evaluator("sim", "0123456789abcdef", "the first version"));
  static_cast<void>(opened.add_evaluator("sim", "fedcba9876543210", "the next version"));
  const std::string older = ask_again("sim@01234567"), newer = ask_again("sim@fedcba98");
  ASSERT_EQ(older, newer) << "the same designs";
  SQLite::Database(log(), SQLite::OPEN_READWRITE)
      .exec("UPDATE proposals SET verdict_json = NULL WHERE run_id > (SELECT min(run_id) FROM runs)");
  EXPECT_EQ(cells_of(hindsight({"ask", "--log", log(), "--pending"}).out).size(), 4U) << "those of the newest ask";
  const std::string table = answered(newer);
  expect_refused(table, "several evaluators were asked for its designs: sim@01234567, sim@fedcba98. Name one by");
  expect_refused(table, "the log has several versions of 'sim': sim@01234567, sim@fedcba98. Name the one",
                 {"--evaluator", "sim"});
  const Json one = Json::parse(tell(table, {"--evaluator", "sim@fedcba98"}).out);
  EXPECT_EQ(one.at("inserted"), 3) << "the remedy works";
  EXPECT_EQ(one.at("pending"), 3) << "the other one's answers";
  const Json other = Json::parse(tell(table, {"--evaluator", "sim"}).out);
  EXPECT_EQ(other.at("inserted"), 3) << "of the version that still awaits them";
  EXPECT_EQ(other.at("pending"), 0);
  EXPECT_EQ(count("SELECT count(DISTINCT evaluator_id) FROM evaluations"), 2);
  expect_refused(csv_of({cells_of(table)[0], {"", "kernel", "16", "6", "fast", "", "", "7", ""}}), "several versions",
                 {"--evaluator", "sim"});
}

TEST_F(Ask, AnInactiveParameterNeedsNoCell) {
  const std::string space = write("branch.yaml", R"(name: branch
description: A parameter that only one mode has
parameters:
  - {name: mode, unit: none, kind: categorical, values: [plain, tiled]}
  - {name: tile, unit: count, kind: ordinal, values: [1, 2, 4], only_if: mode == "tiled"}
  - {name: width, unit: count, kind: ordinal, values: [1, 2]}
)");
  ASSERT_EQ(hindsight({"ask", "--log", log(), "-n", "2", "--space", space, "--application", "kernel", "--objective",
                       "time_ms"})
                .exit_code,
            0);
  const Outcome told = tell("mode,width,time_ms\nplain,1,3\nplain,2,4\n");
  ASSERT_EQ(told.exit_code, 0) << told.err;
  EXPECT_EQ(Json::parse(told.out).at("inserted"), 2);
  expect_refused("mode,width,time_ms\ntiled,1,3\n", "tile is empty");
  expect_refused("mode,tile,width,time_ms\ntiled,,1,3\n", "done.csv:2:7: tile is empty");
  expect_refused("mode,tile,time_ms\nplain,,3\n", "no column for parameter 'width'");
  EXPECT_EQ(Json::parse(tell("mode,tile,width,time_ms\ntiled,4,1,3\nplain,,1,3\n").out).at("inserted"), 1);
}

TEST_F(Ask, WhatARowSaysBesidesAnIdMustAgree) {
  const Cells cells = cells_of(answered(ask({"-n", "2"}).out));
  const std::string other = cells[1][2] == "1" ? "2" : "1";
  expect_refused("design,width,time_ms\n" + cells[1][0] + "," + other + ",3\n",
                 "done.csv:2:10: width is '" + other + "', and " + cells[1][2] + " of design");
  EXPECT_EQ(Json::parse(tell("design,width,time_ms\n" + cells[1][0] + "," + cells[1][2] + ",3\n").out).at("inserted"),
            1);
}

TEST_F(Ask, ADirectionStaysWithItsMetric) {
  static_cast<void>(ask({"-n", "4", "--maximise"}));
  EXPECT_EQ(Json::parse(ask({"-n", "1", "--json"}).out).at("objective"), "time_ms^-1");
  EXPECT_THAT(hindsight({"log", "show", log()}).out,
              ::testing::AllOf(HasSubstr("4 designs for time_ms;"), ::testing::Not(HasSubstr("time_ms^-1"))));
  ASSERT_EQ(tell(answered(hindsight({"ask", "--log", log(), "--pending"}).out)).exit_code, 0);
  const Json best = Json::parse(hindsight({"log", "show", log(), "--json"}).out).at("workloads").at(0).at("best");
  EXPECT_EQ(best.at(0).at("time_ms").get<double>(),
            static_cast<double>(count("SELECT max(value) FROM evaluation_metrics WHERE name = 'time_ms'")));
}

TEST_F(Ask, WhatIsForgottenMayBeAskedForAgain) {
  const std::string first = ask({"-n", "6"}).out;
  EXPECT_EQ(hindsight({"ask", "--log", log(), "--forget"}).exit_code, 0);
  EXPECT_EQ(cells_of(hindsight({"ask", "--log", log(), "--pending"}).out).size(), 1U);
  EXPECT_EQ(ask({"-n", "6"}).out, first);
}

TEST_F(Ask, LimitsOfMetricsAreLearned) {
  static_cast<void>(asked_again());
  const Outcome asked = ask({"-n", "4", "--max", "power_w=3", "--max", "width=4", "--set", "mode=fast"});
  ASSERT_EQ(asked.exit_code, 2) << "the log has no power_w";
  const Outcome bounded = ask({"-n", "4", "--max", "width=4", "--set", "mode=fast"});
  ASSERT_EQ(bounded.exit_code, 0) << bounded.err;
  const Cells cells = cells_of(bounded.out);
  for (std::size_t i = 1; i < cells.size(); ++i) {
    EXPECT_LE(*parse_double(cells[i][2]), 4);
    EXPECT_EQ(cells[i][4], "fast");
  }
}

TEST_F(Ask, DrawnDesignsMayBeBeyondWhatOnlyAnswersTell) {
  const Outcome asked = ask({"-n", "2", "--metric", "power_w", "--max", "power_w=0.0003"});
  ASSERT_EQ(asked.exit_code, 0) << asked.err;
  EXPECT_THAT(asked.err, HasSubstr("drawn designs may be beyond --max power_w=0.0003, which only answers tell"));
  EXPECT_THAT(ask({"-n", "1", "--max", "width=4"}).err, ::testing::Not(HasSubstr("may be beyond")));
}

TEST_F(Ask, KeepsItsObjectiveUntilAnotherIsNamed) {
  const std::string first = ask({"-n", "10"}).out;
  const Outcome second = hindsight({"ask", "--log", log(), "-n", "2", "--recipe", quick()});
  EXPECT_EQ(cells_of(second.out)[0][7], "time_ms") << second.err;
  ASSERT_EQ(tell(answered(first)).exit_code, 0);
  ASSERT_EQ(tell(answered(second.out)).exit_code, 0);
  EXPECT_EQ(cells_of(hindsight({"ask", "--log", log(), "-n", "2", "--recipe", quick()}).out)[0][7], "time_ms");
  EXPECT_THAT(hindsight({"log", "stats", log()}).out, HasSubstr("best by time_ms"));
}

TEST_F(Ask, MaximiseAloneTurnsTheObjectiveRound) {
  static_cast<void>(ask({"-n", "2"}));
  EXPECT_EQ(hindsight({"ask", "--log", log(), "-n", "1", "--maximise", "--objective", "time_ms", "--recipe", quick()})
                .exit_code,
            0);
  const Outcome alone = hindsight({"ask", "--log", log(), "-n", "1", "--maximise", "--json", "--recipe", quick()});
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_EQ(Json::parse(alone.out).at("objective"), "time_ms^-1") << alone.out;
}

TEST_F(Ask, SeveralAtOnceAskForDifferentDesigns) {
  ASSERT_EQ(tell(answered(ask({"-n", "12"}).out)).exit_code, 0);
  const std::vector<std::string> arguments{"ask", "--log", log(), "-n", "5", "--recipe", quick()};
  Process a(arguments), b(arguments), c(arguments);
  std::set<std::string> designs;
  for (Process* process : {&a, &b, &c}) {
    const Outcome outcome = process->wait();
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    for (const auto& row : cells_of(outcome.out)) designs.insert(row[0]);
  }
  EXPECT_EQ(designs.size(), 15U + 1U);
}

/// While a model chooses five of 78 designs, sixty of them are asked for and answered.
TEST_F(Ask, WhatWasAnsweredMeanwhileIsNotAskedFor) {
  ASSERT_EQ(tell(answered(ask({"-n", "12"}).out)).exit_code, 0);
  const std::string slow =
      write("slow.yaml", "method: margins\nhidden: [64]\nensemble: 4\nsteps: 6000\nfinal_steps: 2000\n");
  Process choosing({"ask", "--log", log(), "-n", "5", "--recipe", slow});
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  ASSERT_EQ(tell(answered(ask({"-n", "60"}).out)).exit_code, 0);
  const Outcome outcome = choosing.wait();
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(count("SELECT count(*) FROM proposals"), 77);
  EXPECT_EQ(count("SELECT count(*) FROM proposals p WHERE NOT EXISTS "
                  "(SELECT 1 FROM evaluations e WHERE e.design_id = p.design_id)"),
            5);
}

TEST_F(Ask, SeveralTellAtOnce) {
  const std::string done = write("at_once.csv", answered(ask({"-n", "10"}).out));
  Process a({"tell", done, "--log", log(), "--json"}), b({"tell", done, "--log", log(), "--json"});
  const Json one = Json::parse(a.wait().out), two = Json::parse(b.wait().out);
  EXPECT_EQ(one.at("inserted").get<int>() + two.at("inserted").get<int>(), 10);
  EXPECT_EQ(one.at("already_present").get<int>() + two.at("already_present").get<int>(), 10);
  for (const Json& told : {one, two}) EXPECT_LE(told.at("feasible"), told.at("inserted"));
}

TEST_F(Ask, PredictsInTheUnitOfAMetricOfWhichMoreIsBetter) {
  std::string csv = "a,b,score\n";
  for (int a = 1; a <= 8; ++a) {
    for (int b = 1; b <= 5; ++b) csv += fmt::format("{},{},{}\n", a, b, 10 * a + 3 * b);
  }
  ASSERT_EQ(hindsight({"log", "import", write("t.csv", csv), "--objective", "score", "--log", log()}).exit_code, 0);
  const Outcome asked = hindsight({"ask", "--log", log(), "-n", "1", "--drawn", "0", "--objective", "score",
                                   "--maximise", "--set", "a=8", "--recipe", quick()});
  EXPECT_EQ(asked.exit_code, 3) << "the log has all";
  csv.erase(csv.rfind("8,5,"));
  std::filesystem::remove(log());
  ASSERT_EQ(
      hindsight({"log", "import", write("t.csv", csv + "1,1,13\n"), "--objective", "score", "--log", log()}).exit_code,
      0);
  const Cells cells = cells_of(hindsight({"ask", "--log", log(), "-n", "1", "--drawn", "0", "--objective", "score",
                                          "--maximise", "--recipe", quick()})
                                   .out);
  ASSERT_EQ(cells.size(), 2U);
  EXPECT_NEAR(*parse_double(cells[1][4]), 95, 30);
}

TEST_F(Ask, AReasonOfAnyLettersIsAReason) {
  Cells cells = cells_of(ask({"-n", "3"}).out);
  cells[1].back() = "zu groß";
  cells[2].back() = "大きい";
  const Json told = Json::parse(tell(csv_of(cells)).out);
  EXPECT_EQ(told.at("inserted"), 2);
  EXPECT_EQ(told.at("unanswered"), 1);
  EXPECT_EQ(count("SELECT count(*) FROM evaluation_violations WHERE code = 'infeasible' AND message = '大きい'"), 1);
}

/// As in every table that is imported.
TEST_F(Ask, AWordInsteadOfAValueIsAReason) {
  Cells cells = cells_of(ask({"-n", "2"}).out);
  cells[1][7] = "OOM";
  cells[2][7] = "nan";
  const Json told = Json::parse(tell(csv_of(cells)).out);
  EXPECT_EQ(told.at("inserted"), 2);
  EXPECT_EQ(told.at("feasible"), 0);
  EXPECT_EQ(count("SELECT count(*) FROM evaluation_violations WHERE code IN ('oom', 'nan')"), 2);
}

/// A column of ask that need not be filled in takes no measured design from the log.
TEST_F(Ask, AMetricThatNobodyAwaitsMayBeUnknown) {
  Cells cells = cells_of(ask({"-n", "4", "--metric", "energy_mj"}).out);
  ASSERT_EQ(cells[0][8], "energy_mj");
  for (std::size_t i = 1; i < cells.size(); ++i) cells[i][7] = std::to_string(4 + i);
  cells[1][8] = "n/a";
  cells[2][8] = "-";
  const Json told = Json::parse(tell(csv_of({cells[0], cells[1], cells[2]})).out);
  EXPECT_EQ(told.at("inserted"), 2);
  EXPECT_EQ(told.at("feasible"), 2);
  const auto import = [&] {
    return hindsight({"log", "import", write("rest.csv", csv_of({cells[0], cells[3], cells[4]})), "--log", log()});
  };
  cells[4][8] = "OOM";
  expect_refused(csv_of(cells), "done.csv:5:");
  expect_refused(csv_of(cells), "energy_mj is 'OOM', which is not a number. Leave it empty");
  expect_one_line_error(import(), 2, "energy_mj is 'OOM', which is not a number. Leave it empty");
  cells[3][8] = cells[4][8] = "n/a";
  const Outcome imported = import();
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(count("SELECT count(*) FROM evaluations WHERE feasible = 1"), 4) << "as they are told";
}

/// Where a column says how a run ended, words of all metrics are of that.
TEST_F(Ask, WhatIsSaidOfFeasibilityDecidesWhatAWordIs) {
  Cells cells = cells_of(ask({"-n", "2", "--metric", "energy_mj"}).out);
  ASSERT_EQ(cells[0][8], "energy_mj");
  cells[0].push_back("feasible");
  cells[1][7] = "OOM";
  cells[1][8] = "n/a";
  cells[1].push_back("false");
  cells[2][7] = "5";
  cells[2][8] = "n/a";
  cells[2].push_back("true");
  const Json told = Json::parse(tell(csv_of(cells)).out);
  EXPECT_EQ(told.at("feasible"), 1) << "what was not measured beside it is no reason";
  EXPECT_EQ(count("SELECT count(*) FROM evaluation_violations WHERE code = 'oom'"), 1) << "the word that says more";
}

TEST_F(Ask, WholeNumbersAreComparedByAllDigits) {
  Cells cells = cells_of(ask({"-n", "1"}).out);
  cells[1][7] = "10000";
  ASSERT_EQ(tell(csv_of(cells)).exit_code, 0);
  cells[1][7] = "10004";
  expect_refused(csv_of(cells), "10004 here. If it was measured again, add --repeat");
  ASSERT_EQ(tell(csv_of(cells), {"--repeat"}).exit_code, 0);
  cells[1][7] = "10004.3";
  EXPECT_EQ(Json::parse(tell(csv_of(cells)).out).at("already_present"), 1) << "10004 is it without its fraction";
}

TEST_F(Ask, AWholeNumberOfSixDigitsIsALongerOneAsProgramsPrintIt) {
  Cells cells = cells_of(ask({"-n", "1"}).out);
  cells[1][7] = "1234567";
  ASSERT_EQ(tell(csv_of(cells)).exit_code, 0);
  cells[1][7] = "1.23457e+06";
  EXPECT_EQ(Json::parse(tell(csv_of(cells)).out).at("already_present"), 1);
  cells[1][7] = "1234587";
  expect_refused(csv_of(cells), "1234587 here. If it was measured again, add --repeat");
}

/// What another evaluator measured of a design is not known of the one that the rows go to.
TEST_F(Ask, WhatALackingMetricIsKnownFromIsTheSameEvaluator) {
  Cells cells = cells_of(ask({"-n", "2", "--metric", "energy_mj", "--evaluator", "old"}).out);
  for (std::size_t i = 1; i < cells.size(); ++i) cells[i][7] = cells[i][8] = std::to_string(i);
  ASSERT_EQ(tell(csv_of(cells)).exit_code, 0);
  cells[2][8] = "";
  const auto import_of = [&](const std::string& evaluator) {
    return hindsight({"log", "import", write("lacks.csv", csv_of(cells)), "--log", log(), "--evaluator", evaluator});
  };
  expect_one_line_error(import_of("new"), 2, "lacks.csv:3: has no energy_mj, which other feasible rows have");
  const Outcome known = import_of("old");
  EXPECT_EQ(known.exit_code, 0) << known.err;
}

TEST_F(Ask, APendingTableIsTheOneThatWasAskedFor) {
  ASSERT_EQ(tell(answered(ask({"-n", "30"}).out)).exit_code, 0);
  const Outcome asked = ask({"-n", "6"});
  ASSERT_THAT(asked.err, HasSubstr("a model of")) << asked.err;
  EXPECT_FALSE(cells_of(asked.out)[1][6].empty()) << "it has a probability";
  EXPECT_EQ(hindsight({"ask", "--log", log(), "--pending"}).out, asked.out);
}

TEST_F(Ask, TablesOfOtherSpacesAndEvaluatorsStayApart) {
  const std::string first = ask({"-n", "3"}).out;
  ASSERT_EQ(hindsight({"ask", "--log", log(), "-n", "2", "--space", "tiny", "--application", "other", "--evaluator",
                       "mine", "--objective", "latency"})
                .exit_code,
            0);
  const Outcome pending = hindsight({"ask", "--log", log(), "--pending"});
  EXPECT_EQ(cells_of(pending.out).size(), 3U);
  EXPECT_THAT(pending.err, HasSubstr("3 answers more of other spaces or evaluators"));
  EXPECT_EQ(cells_of(hindsight({"ask", "--log", log(), "--pending", "--space", "mine"}).out).size(), 4U);
  ASSERT_EQ(hindsight({"ask", "--log", log(), "--forget", "--evaluator", "mine"}).exit_code, 0);
  const Outcome told = tell(answered(first));
  ASSERT_EQ(told.exit_code, 0) << told.err;
  EXPECT_EQ(Json::parse(told.out).at("pending"), 0);
}

/// A log that was asked in two spaces: the newest ask is of another one than the table.
TEST_F(Ask, ATableGoesToTheSpaceItWasAskedIn) {
  const Cells first = cells_of(answered(ask({"-n", "4"}).out));
  const std::string part =
      "name: part\nparameters:\n  - {name: width, unit: count, values: [1, 2, 4, 8, 16]}\n"
      "  - {name: mode, unit: none, kind: categorical, values: [fast, small, odd]}\n";
  ASSERT_EQ(hindsight({"ask", "--log", log(), "-n", "2", "--space", write("part.yaml", part), "--application", "kernel",
                       "--objective", "time_ms"})
                .exit_code,
            0);
  const auto tells = [&](const std::string& csv) {
    const Outcome told = tell(csv);
    EXPECT_EQ(told.exit_code, 0) << told.err;
    return told.exit_code == 0 ? Json::parse(told.out).at("unasked") : Json();
  };
  EXPECT_EQ(tells(csv_of({first[0], first[1]})), 0) << "has the parameters of both spaces";
  EXPECT_EQ(tells("design,time_ms\n" + first[2][0] + ",3\n"), 0) << "names designs by their ids";
  EXPECT_EQ(tells("design,time_ms\n" + first[3][0].substr(0, 5) + ",3\n"), 0) << "or by the beginnings of these";
  EXPECT_EQ(tells("width,depth,mode,time_ms\n16,6,fast,7\n"), 1) << "no ids: of the space that has all parameters";
  EXPECT_EQ(count("SELECT count(*) FROM evaluations JOIN designs USING (design_id) JOIN spaces s USING (space_id) "
                  "WHERE s.name = 'mine'"),
            4);
  EXPECT_EQ(tells("width,mode,time_ms\n2,fast,7\n").is_number(), true) << "of the other one";
  EXPECT_EQ(count("SELECT count(*) FROM evaluations JOIN designs USING (design_id) JOIN spaces s USING (space_id) "
                  "WHERE s.name = 'part'"),
            1);
}

TEST_F(Ask, ARefusedOneLeavesNoLog) {
  expect_one_line_error(ask({"--max", "nothing=3"}), 2, "nothing");
  EXPECT_FALSE(std::filesystem::exists(log()));
  const Outcome limited = ask({"-n", "2", "--metric", "power_w", "--max", "power_w=3"});
  ASSERT_EQ(limited.exit_code, 0) << limited.err;
  EXPECT_THAT(limited.out, HasSubstr(",time_ms,power_w,reason\n"));
}

/// What the log's rows have beside the objective is asked for again, and what --metric names; it may stay empty.
TEST_F(Ask, TablesHaveTheMetricsThatTheLogHas) {
  const Outcome first = ask({"-n", "4", "--metric", "energy_mj,area_mm2"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr(",time_ms,energy_mj,area_mm2,reason\n"));
  Cells cells = cells_of(first.out);
  for (std::size_t i = 1; i < cells.size(); ++i) {
    cells[i][7] = std::to_string(i);
    if (i > 1) cells[i][8] = "2.5";
  }
  ASSERT_EQ(tell(csv_of(cells)).exit_code, 0);
  EXPECT_EQ(count("SELECT count(*) FROM evaluation_metrics WHERE name = 'energy_mj'"), 3) << "one was left empty";
  const Outcome second = ask({"-n", "2"});
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(second.out, HasSubstr(",time_ms,energy_mj,reason\n")) << "no row has area_mm2";
  EXPECT_THAT(ask({"-n", "2", "--evaluator", "another"}).out, HasSubstr(",time_ms,reason\n"));
}

/// The newest ask is for less than the one before: the table of that one is answered, and shown, as it was asked for.
TEST_F(Ask, ALateTableHasTheMetricsOfItsOwnAsk) {
  Cells cells = cells_of(ask({"-n", "2", "--metric", "energy_mj"}).out);
  ASSERT_EQ(ask({"-n", "2"}).exit_code, 0);
  EXPECT_THAT(hindsight({"ask", "--log", log(), "--pending"}).out, HasSubstr(",time_ms,energy_mj,reason\n"));
  for (std::size_t i = 1; i < cells.size(); ++i) cells[i][7] = cells[i][8] = std::to_string(i);
  const Outcome told = tell(csv_of(cells));
  ASSERT_EQ(told.exit_code, 0) << told.err;
  EXPECT_EQ(count("SELECT count(*) FROM evaluation_metrics WHERE name = 'energy_mj'"), 2);
  expect_refused("width,depth,mode,time_ms,energy_nj\n1,1,fast,3,4\n", "energy_nj");
}

TEST_F(Ask, ApplicationsAreAListOrTheLogs) {
  const std::string space = write("mine.yaml", kSpace);
  const auto asked = [&](const std::string& names) {
    return hindsight(
        {"ask", "--log", log(), "-n", "1", "--space", space, "--application", names, "--objective", "time_ms"});
  };
  const Outcome two = asked("bert, conv");
  ASSERT_EQ(two.exit_code, 0) << two.err;
  EXPECT_EQ(cells_of(two.out)[1][1] + " " + cells_of(two.out)[2][1], "bert conv");
  EXPECT_EQ(asked("bert").exit_code, 0);
  expect_one_line_error(asked("bert,,conv"), 2, "--application: the name is empty");
  EXPECT_EQ(count("SELECT count(*) FROM workloads"), 2);
  // As `log import --context app` names one.
  const std::string table = write("t.csv", "width,depth,mode,app,time_ms\n1,1,fast,left,3\n1,2,odd,left,4\n");
  ASSERT_EQ(hindsight({"log", "import", table, "--objective", "time_ms", "--context", "app", "--space", space, "--log",
                       log()})
                .exit_code,
            0);
  const Outcome known = asked("app=left");
  EXPECT_EQ(known.exit_code, 0) << known.err;
  EXPECT_EQ(count("SELECT count(*) FROM workloads"), 3) << "it is the log's";
  ASSERT_EQ(hindsight({"log", "import", table, "--objective", "time_ms", "--workload", "a,b", "--ignore", "app",
                       "--space", space, "--log", log()})
                .exit_code,
            0);
  EXPECT_EQ(count("SELECT count(*) FROM workloads"), 4);
  const Outcome with_comma = asked("bert,a,b");
  EXPECT_EQ(with_comma.exit_code, 0) << with_comma.err;
  EXPECT_EQ(count("SELECT count(*) FROM workloads"), 4) << "the two of them are the log's";
}

TEST_F(Ask, RefusesQuestionsThatMakeNoSense) {
  expect_one_line_error(hindsight({"ask", "--log", log()}), 2, "there is no such log. Name its space with --space");
  const std::string remedy = "no such log. Check the path, or begin one with `hindsight ask --space SPACE";
  expect_one_line_error(tell("width,time_ms\n1,2\n"), 2, remedy);
  expect_one_line_error(hindsight({"ask", "--log", log(), "--pending"}), 2, remedy);
  expect_one_line_error(hindsight({"ask", "--log", log(), "--forget"}), 2, remedy);
  expect_one_line_error(hindsight({"ask", "--log", file(std::string(130, 'a')), "--pending"}), 2,
                        "--objective METRIC --log FILE`");
  EXPECT_FALSE(std::filesystem::exists(log()));
  ASSERT_EQ(sweep("m6", "20").exit_code, 0);
  expect_one_line_error(hindsight({"ask", "--log", log()}), 2, "is the built-in model, which answers by itself");
  expect_one_line_error(hindsight({"ask", "--log", log(), "--workload", "m7", "--evaluator", "mine"}), 2, "m7");
  expect_one_line_error(hindsight({"ask", "--log", log(), "--pending"}), 2, "nothing was asked for yet");
}

}  // namespace
}  // namespace hindsight::app::test
