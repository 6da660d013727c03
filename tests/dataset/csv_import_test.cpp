/// Does a table become a log that says the same, and are rows that cannot be true refused by line?
#include "hindsight/dataset/csv_import.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "dataset/dataset_fixture.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/import_source.h"
#include "hindsight/dataset/load.h"
#include "hindsight/log/query.h"

namespace hindsight::dataset {
namespace {

using test::error_of;
using test::selection;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kTable =
    "block,mode,time_ms,area,infeasible,reason\n"
    "1,a,4.0,10,0,\n"
    "2,a,3.0,20,0,\n"
    "4,a,,30,1,Out of memory\n"
    "1,b,2.5,11,0,\n"
    "2,b,,21,1,\n"
    "4,b,7.0,31,yes,timeout\n";

class ImportCsv : public test::DatasetTest {
 protected:
  static CsvRoles roles() {
    return {.objective = "time_ms",
            .infeasible = "infeasible",
            .reason = {},
            .context = {},
            .constraints = {"area"},
            .ignored = {}};
  }
  ImportResult import(const std::string& text, const CsvRoles& wanted, const std::string& name = "t.csv") const {
    const CsvTable table = parse_csv(text, name);
    return import_csv(table, wanted, infer_space(table, wanted, "inferred"), file_, Duplicates::error,
                      test::provenance());
  }
  /// Imports `text` with the space of `known`.
  ImportResult import_into(const std::string& known, const std::string& text, const CsvRoles& wanted,
                           Duplicates duplicates = Duplicates::error) const {
    const space::DesignSpace space = infer_space(parse_csv(known, "k.csv"), wanted, "inferred");
    return import_csv(parse_csv(text, "t.csv"), wanted, space, file_, duplicates, test::provenance());
  }
  [[nodiscard]] std::vector<std::string> reasons_of(const std::string& text, const CsvRoles& wanted) const {
    EXPECT_THAT(import(text, wanted).rejected, IsEmpty());
    std::vector<std::string> codes;
    log::for_each_evaluation(log::Log::open(file_, log::OpenMode::read_only), {}, log::Detail::all,
                             [&](const log::EvaluationRecord& record) {
                               codes.push_back(record.feasible ? "ok" : record.violations.front().code);
                               return true;
                             });
    return codes;
  }
};

TEST_F(ImportCsv, ATableBecomesADataset) {
  const ImportResult result = import(kTable, roles());
  EXPECT_EQ(result.rows, 6U);
  EXPECT_EQ(result.inserted, 6U);
  EXPECT_EQ(result.feasible, 3U);
  EXPECT_EQ(result.rejected_count, 0U);
  Selection wanted = selection("time_ms");
  wanted.constraints = {"area"};
  const Dataset data = load_dataset(file_, wanted);
  EXPECT_EQ(data.space.size(), 6U);
  EXPECT_THAT(data.feasible, ElementsAre(true, true, false, true, false, false));
  EXPECT_EQ(data.objective[3], 2.5);
  EXPECT_EQ(data.constraints(2, 0), 30);
  EXPECT_THAT(data.reason_names, ElementsAre("infeasible", "out_of_memory", "timeout"));
  EXPECT_THAT(data.reasons, ElementsAre(0, 0, 2, 0, 1, 4));
  ASSERT_THAT(data.contexts, SizeIs(1));
  EXPECT_EQ(data.contexts[0].name, "t");
  EXPECT_TRUE(log::Log::open(file_, log::OpenMode::read_only).verify().sound());
}

TEST_F(ImportCsv, TheReasonIsTheColumnOrTheWordOrInfeasible) {
  EXPECT_THAT(reasons_of("a,y\n1,3\n2,\n3,nan\n4,Compile-Error\n5,-inf\n6,OOM\n7,NaN\n", {.objective = "y"}),
              ElementsAre("ok", "infeasible", "nan", "compile_error", "inf", "oom", "nan"));
}

TEST_F(ImportCsv, AReasonMakesARowInfeasible) {
  EXPECT_THAT(reasons_of("a,y,Reason\n1,3,\n2,-1,hot spot\n3,-1,timeout\n4,5,\n", {.objective = "y"}),
              ElementsAre("ok", "hot_spot", "timeout", "ok"));
  std::filesystem::remove(file_);  // every table has a space of its own
  EXPECT_THAT(reasons_of("b,y,reason\n1,3,fine\n2,4,fine\n", {.objective = "y"}), ElementsAre("ok", "ok"))
      << "what every row has tells no failure";
  std::filesystem::remove(file_);
  EXPECT_THAT(reasons_of("c,y,bad,reason\n1,3,0,checked\n2,4,1,\n3,5,0,\n", {.objective = "y", .infeasible = "bad"}),
              ElementsAre("ok", "infeasible", "ok"))
      << "the flag says what failed";
}

TEST_F(ImportCsv, ANoteThatMakesMeasuredRowsFailedIsRemarkedOn) {
  const auto remarks = [&](const std::string& text, const CsvRoles& wanted) {
    std::filesystem::remove(file_);  // every table has a space of its own
    return import(text, wanted).remarks;
  };
  const std::string notes = "a,time,Reason\n1,10,\n2,12,baseline run\n3,8,\n";
  EXPECT_THAT(remarks(notes, {.objective = "time"}),
              ElementsAre("1 of 3 rows have a time and a text in Reason, and count as failed. If these were measured, "
                          "import into a new log with --ignore Reason"));
  std::filesystem::remove(file_);
  EXPECT_THAT(reasons_of(notes, {.objective = "time", .ignored = {"Reason"}}), ElementsAre("ok", "ok", "ok"));
  EXPECT_THAT(remarks("a,time,why\n1,10,\n2,12,baseline run\n3,8,\n", {.objective = "time", .reason = "why"}),
              ElementsAre(HasSubstr("with --ignore why instead of --reason")));
  EXPECT_THAT(remarks("a,y,Reason\n1,3,\n2,-1,hot spot\n3,-1,timeout\n4,5,\n", {.objective = "y"}), IsEmpty())
      << "-1 is no measurement";
  EXPECT_THAT(remarks("a,y,Reason\n1,3,\n2,,hot spot\n4,5,\n", {.objective = "y"}), IsEmpty());
}

TEST_F(ImportCsv, AMetricBesideTheObjectiveMayBeUnknown) {
  const CsvRoles wanted{.objective = "y", .constraints = {"area"}};
  EXPECT_THAT(reasons_of("a,y,area\n1,3,n/a\n2,4,-\n3,5,nan\n4,6,7\n", wanted), ElementsAre("ok", "ok", "ok", "ok"));
}

TEST_F(ImportCsv, FlagsInTheirSpellings) {
  EXPECT_THAT(reasons_of("a,y,bad\n1,3,0\n2,3,1\n3,3,false\n4,3,TRUE\n5,3,no\n6,3,Yes\n7,3,1.0\n",
                         {.objective = "y", .infeasible = "bad"}),
              ElementsAre("ok", "infeasible", "ok", "infeasible", "ok", "infeasible", "infeasible"));
}

TEST_F(ImportCsv, AnObjectiveMayBeZeroOrBelow) {
  EXPECT_THAT(reasons_of("a,y\n1,0\n2,-3.5\n3,1\n", {.objective = "y"}), ElementsAre("ok", "ok", "ok"));
}

TEST_F(ImportCsv, ValuesThatCannotBeAreRefusedByTheirCells) {
  const CsvRoles wanted{.objective = "latency_s", .constraints = {"area_mm2", "slack_ns"}};
  const ImportResult result =
      import("a,latency_s,area_mm2,slack_ns\n1,2,3,-1\n2,-1,3,1\n3,0,3,1\n4,2,-3,1\n5,oom,-1,-1\n6,2,0,1\n", wanted);
  EXPECT_THAT(result.rejected,
              ElementsAre(HasSubstr("t.csv:3:3: latency_s is -1, and nothing takes no time (a run that failed has an "
                                    "empty cell, or --infeasible says so)"),
                          HasSubstr("t.csv:4:3: latency_s is 0, and nothing takes no time"),
                          HasSubstr("t.csv:5:5: area_mm2 is -3, and no area is below 0")));
  EXPECT_EQ(result.feasible, 2U);
  EXPECT_THAT(result.infeasible, ElementsAre(::testing::Pair("oom", 1U))) << "a failed run may have left -1 behind";
  EXPECT_THAT(result.remarks, IsEmpty());
  EXPECT_TRUE(log::Log::open(file_, log::OpenMode::read_only).verify().sound());
  const Dataset data = load_dataset(file_, [] {
    Selection all = selection("latency_s");
    all.constraints = {"area_mm2"};
    return all;
  }());
  EXPECT_THAT(data.feasible, ElementsAre(true, false, true));
  EXPECT_TRUE(std::isnan(data.constraints(1, 0)));
}

TEST_F(ImportCsv, AsksAboutObjectivesOfExactlyZero) {
  CsvRoles wanted{.objective = "ms"};
  const ImportResult told = import("a,status,ms\n1,ok,2\n2,died,0\n3,ok,4\n4,died,0.0\n", wanted);
  EXPECT_EQ(told.feasible, 4U) << "a remark changes nothing";
  EXPECT_THAT(told.remarks, ElementsAre("2 of 4 rows have a ms of exactly 0 and count as feasible. If they are failed "
                                        "runs, mark them in a new log: --infeasible status=died"));
  const auto remarks = [&](const std::string& text) {
    std::filesystem::remove(file_);  // every table has a space of its own
    return import(text, wanted).remarks;
  };
  EXPECT_THAT(remarks("a,b,ms\n1,5,2\n2,6,0\n3,5,4\n4,7,0\n"),
              ElementsAre(HasSubstr("mark them in a new log: --infeasible ms=0")))
      << "no other column tells";
  EXPECT_THAT(remarks("a,b,ms\n1,8,0\n2,8,0\n"), ElementsAre(HasSubstr("2 of 2 rows"))) << "b tells nothing apart";
  EXPECT_THAT(remarks("a,b,ms\n1,9,0\n2,9,3\n"), IsEmpty()) << "one 0 may be the best there is";
  wanted.infeasible = "status=died";
  EXPECT_THAT(remarks("a,status,ms\n1,ok,0\n2,died,0\n3,ok,0\n"), IsEmpty()) << "the flag says what failed";
}

TEST_F(ImportCsv, AsksAboutWhatToolsWriteForFailedRuns) {
  const auto remarks = [&](const std::string& text) {
    std::filesystem::remove(file_);  // every table has a space of its own
    return import(text, {.objective = "GFLOP/s"}).remarks;
  };
  EXPECT_THAT(
      remarks("a,GFLOP/s\n1,7\n2,-1\n3,-1\n4,9\n"),
      ElementsAre("2 of 4 rows have a gflop_per_s of exactly -1 and count as feasible. If they are failed runs, "
                  "mark them in a new log: --infeasible GFLOP/s=-1"));
  EXPECT_THAT(remarks("a,GFLOP/s\n1,7\n2,99999999\n3,99999999\n4,9\n"),
              ElementsAre(HasSubstr("exactly 99999999 and count as feasible")));
  EXPECT_THAT(remarks("a,GFLOP/s\n1,7\n2,-1\n3,-1\n4,-0.5\n"), IsEmpty()) << "values may be below 0 here";
  EXPECT_THAT(remarks("a,GFLOP/s\n1,7\n2,-1\n3,3\n4,9\n"), IsEmpty()) << "a filler repeats";
  EXPECT_THAT(remarks("a,GFLOP/s\n1,7\n2,900\n3,900\n4,9\n"), IsEmpty()) << "not far above the next";
  EXPECT_THAT(remarks("a,GFLOP/s\n1,7\n2,7\n"), IsEmpty()) << "all are equal";
}

TEST_F(ImportCsv, RowsThatAFillerRefusesAreAskedAboutToo) {
  const std::string table = "a,Latency (ms)\n1,3\n2,-1\n3,-1\n4,5\n";
  const ImportResult told = import(table, {.objective = "Latency (ms)"});
  EXPECT_EQ(told.rejected_count, 2U);
  EXPECT_THAT(told.remarks, ElementsAre("2 of 4 rows have a latency_ms of exactly -1 and are refused. If they are "
                                        "failed runs, mark them in a new log: --infeasible 'Latency (ms)=-1'"));
  std::filesystem::remove(file_);
  const ImportResult marked = import(table, {.objective = "Latency (ms)", .infeasible = "Latency (ms)=-1"});
  EXPECT_EQ(marked.inserted, 4U) << "the remedy works";
  EXPECT_EQ(marked.feasible, 2U);
  EXPECT_THAT(marked.remarks, IsEmpty());
}

TEST_F(ImportCsv, OnlyAColumnWithoutARoleIsOfferedAsAMark) {
  const ImportResult told =
      import("a,y,energy\n1,7,3\n2,1e9,\n3,1e9,\n4,9,4\n", {.objective = "y", .constraints = {"energy"}});
  EXPECT_THAT(told.remarks, ElementsAre(HasSubstr("--infeasible y=1")));
}

/// What a design takes is 0 in failed runs as well: as a mark it would be no parameter, and others like it were.
TEST_F(ImportCsv, ACountIsNotOfferedAsAMark) {
  const auto remarks = [&](const std::string& valid) {
    std::filesystem::remove(file_);  // every table has a space of its own
    return import("a,util,valid,perf\n1,3,1,7\n2,0,0,0\n3,4,1,9\n4,0,0,0\n5,5," + valid + ",8\n", {.objective = "perf"})
        .remarks;
  };
  EXPECT_THAT(remarks("0"), ElementsAre(HasSubstr("mark them in a new log: --infeasible perf=0")));
  EXPECT_THAT(remarks("1"), ElementsAre(HasSubstr("mark them in a new log: --infeasible valid=0")));
}

TEST_F(ImportCsv, AValueOfTheObjectiveMayMarkFailedRuns) {
  const CsvRoles wanted{.objective = "y", .infeasible = "y=-1"};
  EXPECT_THAT(reasons_of("a,y\n1,3\n2,-1.0\n3,-1\n4,5\n", wanted), ElementsAre("ok", "infeasible", "infeasible", "ok"));
  EXPECT_THAT(error_of([&] { import("a,y\n1,3\n2,4\n", {.objective = "y", .infeasible = "y"}); }).second,
              HasSubstr("'y' is named as objective and as infeasible"));
}

TEST_F(ImportCsv, SaysThatNothingIsFeasible) {
  const auto remarks = [&](const std::string& text, const std::optional<std::string>& flag) {
    std::filesystem::remove(file_);  // every table has a space of its own
    return import(text, {.objective = "y", .infeasible = flag}).remarks;
  };
  EXPECT_THAT(remarks("a,y,status\n1,3,ok\n2,4,ok\n3,,died\n", "status=ok"),
              ElementsAre("no row is feasible, though 2 of 3 have a y: --infeasible names what a failed run has in "
                          "status, and not what a good one has"));
  EXPECT_THAT(remarks("a,y\n1,oom\n2,oom\n", std::nullopt),
              ElementsAre("no row is feasible, and from these alone nothing can be learnt"));
  std::filesystem::remove(file_);
  const std::string known = "a,y\n1,3\n2,4\n3,oom\n4,oom\n";
  import_into(known, "a,y\n1,3\n2,4\n", {.objective = "y"});
  EXPECT_THAT(import_into(known, "a,y\n3,oom\n4,oom\n", {.objective = "y"}).remarks, IsEmpty())
      << "the log has feasible rows beside these";
}

TEST_F(ImportCsv, ALogOfFailuresAloneIsNotWrittenWhereAllOthersAreRefused) {
  const auto refusal = [&](const std::string& text, const CsvRoles& wanted) {
    const auto [kind, message] = error_of([&] { import(text, wanted); });
    EXPECT_EQ(kind, ErrorKind::usage);
    EXPECT_FALSE(std::filesystem::exists(file_)) << text;
    return message;
  };
  EXPECT_THAT(refusal("a,y,status\n1,3,OK\n2,4,OK\n3,,FAILED\n", {.objective = "y", .constraints = {"status"}}),
              AllOf(HasSubstr("t.csv: 2 rows that did not fail cannot be imported, only failed ones could"),
                    HasSubstr("first: t.csv:2:5: status is 'OK'"), HasSubstr("Check the roles")));
  EXPECT_THAT(refusal("a,y\n1,\"37.825,42\"\n2,\"3.000,5\"\n3,\n", {.objective = "y"}),
              HasSubstr("(a decimal comma, and points between thousands? Write 37825.42)"));
  std::string grund = "a,y,Grund\n";
  for (int i = 0; i < 10; ++i) grund += std::to_string(i) + (i % 2 == 0 ? ",,timing\n" : ",7,\n");
  EXPECT_THAT(
      refusal(grund, {.objective = "y"}),
      HasSubstr("column 'Grund' has a value in all 5 failed rows, none in 5 others, so it is a result: --reason "
                "Grund"));
  EXPECT_EQ(import(grund, {.objective = "y", .reason = "Grund"}).feasible, 5U) << "as it says";
  const std::string marked = "a,y,state,note\n1,3,OK,\n2,4,OK,\n3,,FAIL,too hot\n4,,FAIL,timing\n";
  std::filesystem::remove(file_);
  EXPECT_THAT(refusal(marked, {.objective = "y", .reason = "state"}),
              HasSubstr("column 'note' has a value in all 2 failed rows, none in 2 others, so it is a result: "
                        "--infeasible state=FAIL --reason note"));
  EXPECT_EQ(import(marked, {.objective = "y", .infeasible = "state=FAIL", .reason = "note"}).feasible, 2U);
  const std::string known = "a,y\n1,3\n2,4\n3,oom\n";
  std::filesystem::remove(file_);
  import_into(known, "a,y\n1,3\n", {.objective = "y"});
  EXPECT_EQ(import_into(known, "a,y\n9,4\n3,oom\n", {.objective = "y"}).rejected_count, 1U)
      << "the log has feasible rows";
}

TEST_F(ImportCsv, AReasonIsWhatStandsBeforeItsColonAndAListHasSeveral) {
  import(
      "a,y,reason\n1,,\"thermal: too hot, 62.0 W; no phy\"\n2,,\"thermal: too hot, 49.5 W\"\n3,4,\n4,,lut;timing;lut\n",
      {.objective = "y"});
  std::vector<std::string> said;
  log::for_each_evaluation(log::Log::open(file_, log::OpenMode::read_only), {}, log::Detail::all,
                           [&](const log::EvaluationRecord& record) {
                             for (const log::ViolationRow& one : record.violations) {
                               said.push_back(one.code + "|" + one.message);
                             }
                             return true;
                           });
  EXPECT_THAT(said, ElementsAre("thermal|thermal: too hot, 62.0 W", "no_phy|no phy", "thermal|thermal: too hot, 49.5 W",
                                "lut|", "timing|"));
}

TEST_F(ImportCsv, ReasonsThatDifferInTheirNumbersAreOneWhereTheyAreMany) {
  const auto codes = [&](int failed) {
    std::filesystem::remove(file_);  // every table has a space of its own
    std::string text = "a,y,reason\n99,4,\n";
    for (int i = 0; i < failed; ++i) text += std::to_string(i) + ",,needs " + std::to_string(i) + ".5 W\n";
    return import(text, {.objective = "y"}).infeasible;
  };
  EXPECT_THAT(codes(9), ElementsAre(::testing::Pair("needs_w", 9U)));
  EXPECT_THAT(codes(8), SizeIs(8)) << "exit codes are few";
}

TEST_F(ImportCsv, TheBestOfWhatIsMaximisedIsTheLargest) {
  const CsvTable table = parse_csv("a,gops\n1,5\n1,7\n1,6\n2,1\n", "t.csv");
  ImportSource source;
  source.format = "CSV table";
  source.maker = "csv import";
  source.table = table;
  const CsvRoles wanted{.objective = "gops"};
  import_rows(source, wanted, infer_space(table, wanted, "inferred"), {.direction = Direction::maximise}, file_,
              Duplicates::best, test::provenance());
  EXPECT_EQ(load_dataset(file_, selection("gops")).objective[0], 7);
}

TEST_F(ImportCsv, AFlagMayHaveItsOwnWords) {
  const ImportResult result = import("a,y,s\n1,1,OK\n2,2,0\n", {.objective = "y", .infeasible = "s"});
  EXPECT_THAT(result.rejected, ElementsAre(HasSubstr("or name what failed rows have: --infeasible s=VALUE")));
}

TEST_F(ImportCsv, AResultThatIsEmptyInFailedRunsIsAskedAbout) {
  const auto remarks = [&](const std::string& text, const CsvRoles& wanted) {
    std::filesystem::remove(file_);  // every table has a space of its own
    return import(text, wanted).remarks;
  };
  const std::string table = "a,latency_ms,y,ok\n1,3,3,1\n2,4,4,1\n3,,,0\n4,,7,0\n5,3,,0\n";
  EXPECT_THAT(remarks(table, {.objective = "y", .infeasible = "ok=0"}),
              ElementsAre("2 rows of failed runs refused: latency_ms, taken as a parameter, is empty in them. If it is "
                          "a result, import into a new log with --constraint latency_ms, or --ignore latency_ms"));
  EXPECT_THAT(remarks("a,b,c,y\n1,3,3,1\n2,4,4,1\n3,,4,\n4,3,,\n", {.objective = "y"}),
              ElementsAre(HasSubstr("2 rows of failed runs refused: b, c, taken as parameters, are empty in them")));
  EXPECT_THAT(remarks(table, {.objective = "y", .infeasible = "ok=0", .constraints = {"latency_ms"}}), IsEmpty());
  EXPECT_THAT(remarks("a,b,y\n1,3,3\n2,,4\n3,,\n", {.objective = "y"}), IsEmpty()) << "a run without it succeeded";
}

TEST_F(ImportCsv, AFlagThatMeansTheOpposite) {
  EXPECT_THAT(reasons_of("a,y,valid\n1,3,1\n2,0.0,0\n3,5,0.0\n", {.objective = "y", .infeasible = "valid=0"}),
              ElementsAre("ok", "infeasible", "infeasible"));
}

TEST_F(ImportCsv, AFlagThatNoRowHas) {
  const auto refusal = [&](const std::string& flag) {
    return error_of([&] { import("a,y,status\n1,3,ok\n2,0,FAIL\n3,5,ok\n", {.objective = "y", .infeasible = flag}); })
        .second;
  };
  EXPECT_EQ(refusal("status=FAILED"),
            "t.csv: --infeasible status=FAILED: status is FAILED in no row. Did you mean 'FAIL'?");
  EXPECT_THAT(refusal("status=fail"), HasSubstr("Did you mean 'FAIL'?"));
  EXPECT_FALSE(std::filesystem::exists(file_));
  const auto remarks = [&](const std::string& text, const std::string& flag) {
    std::filesystem::remove(file_);  // every table has a space of its own
    return import(text, {.objective = "y", .infeasible = flag}).remarks;
  };
  EXPECT_THAT(remarks("a,y,code\n1,3,5\n2,3,6\n3,3,7\n4,3,8\n", "code=-1"), ElementsAre("code is -1 in no row"))
      << "nothing failed tonight";
  EXPECT_THAT(remarks("a,y,status\n1,3,PASSED\n2,4,warn\n", "status=FAILED"),
              ElementsAre("status is FAILED in no row"));
  EXPECT_THAT(remarks("a,y,status\n1,3,ok\n2,4,ok\n", "status=FAILED"),
              ElementsAre("status is FAILED in no row, but 'ok' in all"));
}

TEST_F(ImportCsv, AnInfeasibleDesignHasNoCost) {
  import("a,latency_s,energy_j,area_mm2,bad\n1,2,3,4,0\n2,2,3,4,1\n",
         {.objective = "latency_s", .infeasible = "bad", .constraints = {
            "energy_j",
            "area_mm2"
          }});
  const Dataset data = load_dataset(file_, [] {
    Selection wanted = selection("edp");
    wanted.constraints = {"area_mm2"};
    return wanted;
  }());
  EXPECT_EQ(data.objective[0], 6);  // standard metrics go to their columns
  EXPECT_EQ(data.constraints(1, 0), 4);
}

TEST_F(ImportCsv, ContextColumnsAreApplications) {
  const CsvRoles wanted{
      .objective = "y", .infeasible = {}, .reason = {}, .context = {"K", "kind"}, .constraints = {}, .ignored = {}};
  import("a,K,kind,y\n1,64,conv,1\n2,64,conv,2\n1,128,fully connected,3\n4,64.0,conv,fail\n3,64,conv,1\n", wanted);
  const Dataset data = load_dataset(file_, selection("y"));
  ASSERT_THAT(data.contexts, SizeIs(2));
  EXPECT_EQ(data.contexts[0].name, "K=64:kind=conv");
  EXPECT_EQ(data.contexts[1].name, "K=128:kind=fully_connected");
  EXPECT_THAT(data.contexts[0].feature_names, ElementsAre("k"));  // names are no features
  EXPECT_EQ(data.contexts[1].features[0], 128);
  EXPECT_THAT(data.context, ElementsAre(0, 0, 1, 0, 0));
}

TEST_F(ImportCsv, ContradictionsAreRejectedAndNamed) {
  const std::string known = "a,y\n1,1\n2,1\n3,1\n";
  const std::string text = "a,y\n1,1\n2,2\n1,1.0\n2,3\n1,oom\n";
  const ImportResult result = import_into(known, text, {.objective = "y"}, Duplicates::first);
  EXPECT_EQ(result.inserted, 2U);
  EXPECT_EQ(result.repeated, 1U);
  EXPECT_EQ(result.feasible, 2U);
  EXPECT_EQ(result.rejected_count, 2U);
  EXPECT_EQ(result.contradictions, 2U);
  EXPECT_THAT(result.rejected[0], HasSubstr("t.csv:5: contradicts line 3 for the same design and context: y is 2 "
                                            "there, 3 here (line 3 is kept)"));
  EXPECT_THAT(result.rejected[1], HasSubstr("t.csv:6: contradicts line 2"));
  EXPECT_THAT(result.rejected[1], HasSubstr("the design is feasible there, infeasible here"));
  const ImportResult again = import_into(known, "a,y\n1,1\n2,5\n3,1\n", {.objective = "y"}, Duplicates::last);
  EXPECT_EQ(again.inserted, 0U + 1U);
  EXPECT_THAT(again.rejected, ElementsAre(HasSubstr("contradicts evaluation 2 of the log")));
  const auto [kind, message] = error_of([&] { import_into(known, "a,y\n1,1\n2,5\n", {.objective = "y"}); });
  EXPECT_EQ(kind, ErrorKind::usage);
  EXPECT_THAT(message, HasSubstr("t.csv:3: contradicts evaluation 2 of the log"));
}

TEST_F(ImportCsv, ContradictionsEndAnImportBeforeAnythingIsWritten) {
  const auto [kind, message] = error_of([&] { import("a,y\n1,1\n1,2\n2,3\n2,oom\n", {.objective = "y"}); });
  EXPECT_EQ(kind, ErrorKind::usage);
  EXPECT_THAT(message, HasSubstr("t.csv:3: contradicts line 2 for the same design and context: y is 1 there, 2 here "
                                 "(the first of 2 such rows; nothing was imported)"));
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(ImportCsv, TheBestOrTheLastOfContradictoryRowsIsKept) {
  const std::string text = "a,y\n1,oom\n1,5\n1,4\n1,6\n2,1\n2,oom\n";
  const auto objectives = [&](Duplicates duplicates) {
    std::filesystem::remove(file_);
    const ImportResult result = import_into(text, text, {.objective = "y"}, duplicates);
    EXPECT_EQ(result.inserted, 2U);
    EXPECT_EQ(result.contradictions, 4U);
    std::vector<double> values;
    log::for_each_evaluation(log::Log::open(file_, log::OpenMode::read_only), {}, log::Detail::all,
                             [&](const log::EvaluationRecord& record) {
                               values.push_back(record.feasible ? record.other_metrics.front().second : 0);
                               return true;
                             });
    return values;
  };
  EXPECT_THAT(objectives(Duplicates::first), ElementsAre(0, 1));
  EXPECT_THAT(objectives(Duplicates::last), ElementsAre(6, 0));
  EXPECT_THAT(objectives(Duplicates::best), ElementsAre(4, 1));
}

TEST_F(ImportCsv, EveryMeasurementIsKeptUnderItsNumber) {
  const auto rows = [&] {
    std::vector<std::string> texts;
    log::for_each_evaluation(log::Log::open(file_, log::OpenMode::read_only), {}, log::Detail::all,
                             [&](const log::EvaluationRecord& record) {
                               texts.push_back(record.design_text_id + " " + std::to_string(record.repeat) + " " +
                                               (record.feasible ? shortest(record.other_metrics.front().second)
                                                                : record.violations.front().code));
                               return true;
                             });
    return texts;
  };
  const std::string text = "a,y\n1,5\n1,4\n2,1\n1,5\n1,oom\n";
  const ImportResult result = import_into(text, text, {.objective = "y"}, Duplicates::keep);
  EXPECT_EQ(result.inserted, 5U);
  EXPECT_EQ(result.contradictions, 0U);
  const std::vector<std::string> expected{"a=1 0 5", "a=1 1 4", "a=2 0 1", "a=1 2 5", "a=1 3 oom"};
  EXPECT_EQ(rows(), expected);
  // The same table again is there already; another measurement takes the next number.
  EXPECT_EQ(import_into(text, text, {.objective = "y"}, Duplicates::keep).already_present, 5U);
  const ImportResult more = import_into(text, "a,y\n1,4\n1,7\n", {.objective = "y"}, Duplicates::keep);
  EXPECT_EQ(more.already_present, 1U);
  EXPECT_EQ(more.inserted, 1U);
  EXPECT_EQ(rows().back(), "a=1 4 7");
  // One measurement per design again: what the log has is there, what it has not contradicts it.
  const auto [kind, message] =
      error_of([&] { import_into(text, "a,y\n1,4\n2,3\n", {.objective = "y"}, Duplicates::error); });
  EXPECT_EQ(kind, ErrorKind::usage);
  EXPECT_THAT(message, HasSubstr("t.csv:3: contradicts evaluation 3 of the log"));
  const Dataset data = load_dataset(file_, selection("y"));
  ASSERT_EQ(data.size(), 2U);
  EXPECT_EQ(data.objective[0], 5.25);  // mean of 5, 4, 5 and 7
}

TEST_F(ImportCsv, AnIgnoredColumnContradictsNothing) {
  const ImportResult result =
      import("a,host,y\n1,x,5\n1,z,5\n2,x,4\n",
             {.objective = "y", .infeasible = {}, .reason = {}, .context = {}, .constraints = {}, .ignored = {"host"}});
  EXPECT_EQ(result.inserted, 2U);
  EXPECT_EQ(result.repeated, 1U);
  EXPECT_EQ(result.contradictions, 0U);
}

TEST_F(ImportCsv, AnotherReasonContradicts) {
  const auto [kind, message] = error_of([&] { import("a,y\n1,oom\n1,timeout\n2,3\n", {.objective = "y"}); });
  EXPECT_EQ(kind, ErrorKind::usage);
  EXPECT_THAT(message, HasSubstr("the reason is oom there, timeout here"));
}

TEST_F(ImportCsv, SaysWhichNamesItMade) {
  const ImportResult result = import("Tile X,y (ms),util_BRAM\n1,1,3\n",
                                     {.objective = "y (ms)", .infeasible = {}, .constraints = {"util_BRAM"}});
  using Name = std::pair<std::string, std::string>;
  EXPECT_THAT(result.renamed,
              ElementsAre(Name("y (ms)", "y_ms"), Name("util_BRAM", "util_bram"), Name("Tile X", "tile_x")));
}

TEST_F(ImportCsv, ACellThatIsNoNumberRefusesItsRowByPlace) {
  CsvRoles wanted{.objective = "y", .infeasible = {}, .reason = {}, .context = {"k"}};
  const ImportResult result = import("k,a,y\n1,1,1\n1,nan,1\n1,0x10,1\n1,-inf,1\nNaN,2,1\n,2,1\n2,1e3,1\n", wanted);
  EXPECT_EQ(result.inserted, 2U);
  EXPECT_THAT(result.rejected,
              ElementsAre(HasSubstr("t.csv:3:3: a is 'nan'"), HasSubstr("t.csv:4:3: a is '0x10'"),
                          HasSubstr("t.csv:5:3: a is '-inf'"), HasSubstr("t.csv:6:1: context k is 'NaN'"),
                          HasSubstr("t.csv:7:1: context k is empty")));
}

TEST_F(ImportCsv, AWholeNumberThatWouldBeRoundedIsNoLevel) {
  const ImportResult result = import_into("a,y\n9007199254740992,1\n1,1\n",
                                          "a,y\n9007199254740993,1\n9007199254740992,1\n", {.objective = "y"});
  EXPECT_EQ(result.inserted, 1U);
  EXPECT_THAT(result.rejected, ElementsAre(HasSubstr("t.csv:2:1: a is '9007199254740993', which the space does not "
                                                     "have. Nearest: 9007199254740992")));
}

TEST_F(ImportCsv, ImportingAgainChangesNothing) {
  import(kTable, roles());
  const std::string before = load_dataset(file_, selection("time_ms")).content_hash();
  const ImportResult again = import(kTable, roles());
  EXPECT_EQ(again.inserted, 0U);
  EXPECT_EQ(again.already_present, 6U);
  EXPECT_EQ(again.rejected_count, 0U);
  EXPECT_EQ(load_dataset(file_, selection("time_ms")).content_hash(), before);
  // Another table of the same columns is another workload.
  EXPECT_EQ(import(kTable, roles(), "folder/other.csv.gz").inserted, 6U);
  EXPECT_THAT(load_dataset(file_, selection("time_ms")).contexts, SizeIs(2));
}

TEST_F(ImportCsv, RowsThatDoNotFitAreRejectedByLine) {
  const std::string known = "block,mode,y,area,bad\n1,fast,1,1,0\n4,slow,1,1,0\n";
  CsvRoles wanted{
      .objective = "y", .infeasible = "bad", .reason = {}, .context = {}, .constraints = {"area"}, .ignored = {}};
  const ImportResult result =
      import_into(known,
                  "block,mode,y,area,bad\n1,fast,1,1,0\n3,fast,1,1,0\n1,fsat,1,1,0\n,fast,1,1,0\n"
                  "x,fast,1,1,0\n1,slow,12 ms,1,0\n1,slow,1,big,0\n1,slow,1,1,maybe\n"
                  "1,,1,1,0\n4,slow,2,,0\n4,fast,,big,1\n",
                  wanted);
  EXPECT_EQ(result.inserted, 3U);
  EXPECT_EQ(result.rejected_count, 8U);
  EXPECT_THAT(
      result.rejected,
      ElementsAre(HasSubstr("t.csv:3:1: block is '3', which the space does not have. Nearest: 4"),
                  HasSubstr("t.csv:4:3: mode is 'fsat', which the space does not have. Did you mean 'fast'?"),
                  HasSubstr("t.csv:5:1: block is empty"), HasSubstr("t.csv:6:1: block is 'x'"),
                  HasSubstr("t.csv:7:8: y is '12 ms', which is not a number"),
                  HasSubstr("t.csv:8:10: area is 'big', which is not a number"),
                  HasSubstr("t.csv:9:12: the infeasible flag is 'maybe'"), HasSubstr("t.csv:10:3: mode is empty")));
}

TEST_F(ImportCsv, ManyRejectionsAreCountedAndTwentyListed) {
  std::string text = "a,y\n1,1\n";
  for (int i = 0; i < 50; ++i) text += "7,1\n";
  const ImportResult result = import_into("a,y\n1,1\n2,1\n", text, {.objective = "y"});
  EXPECT_EQ(result.rejected_count, 50U);
  EXPECT_THAT(result.rejected, SizeIs(20));
}

TEST_F(ImportCsv, LabelsAreMatchedAsTheyWereInferred) {
  import("m,tile,y\n\"[1,2]\",1,1\n\"[2,1]\",1,2\n", {.objective = "y"});
  const Dataset data = load_dataset(file_, selection("y"));
  EXPECT_EQ(data.space.text_id(data.space.design(data.levels(1, 0))), "m=[2_1],tile=1");
}

TEST_F(ImportCsv, NothingIsWrittenWhenTheColumnsDoNotFit) {
  const auto refusal = [&](const auto& body) {
    const auto [kind, message] = error_of(body);
    EXPECT_EQ(kind, ErrorKind::usage);
    EXPECT_FALSE(std::filesystem::exists(file_));
    return message;
  };
  EXPECT_THAT(refusal([&] { import_into("a,b,y\n1,1,1\n", "a,c,y\n1,1,1\n", {.objective = "y"}); }),
              HasSubstr("no column for parameter 'b' of space 'inferred'"));
  EXPECT_THAT(refusal([&] { import_into("a,y\n1,1\n", "a,c,y\n1,1,1\n", {.objective = "y"}); }),
              HasSubstr("column 'c' is no parameter"));
  EXPECT_THAT(refusal([&] { import_into("a,y\n1,1\n2,2\n", "a,y,status\n1,1,OK\n2,,FAILED\n", {.objective = "y"}); }),
              HasSubstr("It tells what failed: --infeasible status=FAILED."));
  EXPECT_THAT(refusal([&] { import_into("a,y\n1,1\n", "a,y\n2,1\n", {.objective = "y"}); }),
              HasSubstr("no row of 1 can be imported; first: t.csv:2:1: a is '2'"));
  EXPECT_THAT(refusal([&] { import_into("a,y\n1,1\n", "a,y\n", {.objective = "y"}); }), HasSubstr("no row of 0"));
  EXPECT_THAT(
      refusal([&] {
        import("a,k,y\n1,x y,1\n2,x?y,1\n",
               {.objective = "y", .infeasible = {}, .reason = {}, .context = {"k"}, .constraints = {}, .ignored = {}});
      }),
      HasSubstr("two contexts would both be named 'k=x_y'"));
}

TEST_F(ImportCsv, AnInterruptLeavesNothingBehind) {
  set_interrupt_requested(true);
  const auto [kind, message] = error_of([&] { import(kTable, roles()); });
  set_interrupt_requested(false);
  EXPECT_EQ(kind, ErrorKind::interrupted);
  EXPECT_THAT(message, HasSubstr("interrupted while reading rows"));
  EXPECT_FALSE(std::filesystem::exists(file_)) << "nor a log that was made for it";
  EXPECT_EQ(import(kTable, roles()).inserted, 6U);
}

TEST_F(ImportCsv, RunsAreRecorded) {
  import(kTable, roles());
  const log::RunInfo run = log::recent_runs(log::Log::open(file_, log::OpenMode::read_only), 1).front();
  EXPECT_EQ(run.kind, "import");
  EXPECT_EQ(run.status, "finished");
  EXPECT_EQ(run.evaluations_inserted, 6U);
  auto options = nlohmann::json::parse(run.options_json);
  EXPECT_EQ(options.at("evaluator_definition").get<std::string>().size(), 64U) << "SHA-256 of the columns' roles";
  options.erase("evaluator_definition");
  EXPECT_EQ(
      options.dump(),
      R"({"duplicates":"error","file":"t.csv","format":"CSV table","metric":"time_ms","objective":"time_ms","rows":6,"table":"t"})");
}

}  // namespace
}  // namespace hindsight::dataset
