/// Does a table give the space its designs come from, in a file that reads back the same?
#include <gmock/gmock.h>

#include <cmath>

#include "dataset/dataset_fixture.h"
#include "hindsight/dataset/csv_import.h"

namespace hindsight::dataset {
namespace {

using test::error_of;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

space::DesignSpace infer(const std::string& text, const CsvRoles& roles = {.objective = "y"}) {
  return infer_space(parse_csv(text, "t.csv"), roles, "inferred");
}

std::string refusal(const std::string& text, const CsvRoles& roles = {.objective = "y"}) {
  const auto [kind, message] = error_of([&] { static_cast<void>(infer(text, roles)); });
  EXPECT_EQ(kind, ErrorKind::usage);
  return message;
}

void expect_reads_back(const space::DesignSpace& space) {
  const std::string yaml = to_yaml(space);
  const space::DesignSpace again = space::parse_space(yaml, "inferred.yaml");
  EXPECT_EQ(again.definition_hash(), space.definition_hash()) << yaml;
  EXPECT_EQ(again.name(), space.name());
  EXPECT_EQ(again.description(), space.description());
}

TEST(InferSpace, ColumnsOfOneNameAreNumberedPastThoseThatAreThere) {
  const space::DesignSpace space = infer("a,A,a_2,a!,y\n1,1,1,1,5\n2,2,2,2,6\n");
  std::vector<std::string> names;
  for (const space::Parameter& parameter : space.parameters()) names.push_back(parameter.name);
  EXPECT_THAT(names, ElementsAre("a", "a_2", "a_2_2", "a_3"));
}

TEST(SnakeCase, StableWords) {
  EXPECT_EQ(snake_case("block_size_x"), "block_size_x");
  EXPECT_EQ(snake_case("__PARA__L0"), "para_l0");
  EXPECT_EQ(snake_case("tileSizeX"), "tile_size_x");
  EXPECT_EQ(snake_case("Run time (ms)"), "run_time_ms");
  EXPECT_EQ(snake_case("Buffer (KiB)"), "buffer_kib");
  EXPECT_EQ(snake_case("bufferMiB, L2Size"), "buffer_mib_l2_size");
  EXPECT_EQ(snake_case("Power mW"), "power_mw");
  EXPECT_EQ(snake_case("NaN"), "nan");
  EXPECT_EQ(snake_case("clock_kHz"), "clock_khz");
  EXPECT_EQ(snake_case("bandwidth [GB/s]"), "bandwidth_gb_per_s");
  EXPECT_EQ(snake_case("GFLOP/W"), "gflop_per_w");
  EXPECT_EQ(snake_case("read/write"), "read_write");
  EXPECT_EQ(snake_case("time (\xC2\xB5s)"), "time_us");
  EXPECT_EQ(snake_case("area mm\xC2\xB2"), "area_mm2");
  EXPECT_EQ(snake_case("Compile failed: out of memory!"), "compile_failed_out_of_memory");
  EXPECT_EQ(snake_case("  \xc3\xa4  "), "");
  EXPECT_EQ(snake_case(std::string(200, 'x')).size(), 58U);
}

TEST(InferSpace, NumbersAreOrdinalAndWordsCategorical) {
  const space::DesignSpace space = infer("block,mode,scale,y\n8,b,0.5,1\n2,a,1e-1,2\n8,auto,0.50,3\n");
  ASSERT_EQ(space.parameters().size(), 3U);
  EXPECT_THAT(space.parameters()[0].values, ElementsAre(2, 8));
  EXPECT_EQ(space.parameters()[1].kind, space::ParameterKind::categorical);
  EXPECT_THAT(space.parameters()[1].labels, ElementsAre("a", "auto", "b"));
  EXPECT_THAT(space.parameters()[2].values, ElementsAre(0.1, 0.5));
  EXPECT_EQ(space.size(), 12U);
  expect_reads_back(space);
}

TEST(InferSpace, OddNumbersLeaveAColumnNumeric) {
  const InferredSpace inferred = infer_columns(
      parse_csv("a,m,y\n1,x,1\nnan,y,1\n0x10,4,1\n1e3,x,1\nINF,x,1\n", "t.csv"), {.objective = "y"}, "inferred");
  EXPECT_THAT(inferred.space.parameters()[0].values, ElementsAre(1, 1000));
  EXPECT_THAT(inferred.space.parameters()[1].labels, ElementsAre("4", "x", "y"));
  EXPECT_THAT(inferred.remarks,
              ElementsAre(HasSubstr("t.csv:3:1: column 'a': 'nan' is not a number, as the other cells are (3 cells"),
                          HasSubstr("t.csv:2:3: column 'm': 'x' stands beside numbers")));
  EXPECT_THAT(infer("a,y\nnan,1\n0x10,1\n").parameters()[0].labels, ElementsAre("0x10", "nan"));
}

TEST(InferSpace, WithoutAnObjectiveAllColumnsAreTold) {
  std::string text = "id,a,run_time,util_DSP\n";
  for (int row = 0; row < 120; ++row) text += std::to_string(row) + "," + std::to_string(row % 3) + ",1,2\n";
  const InferredSpace inferred = infer_columns(parse_csv(text, "t.csv"), {.objective = ""}, "inferred");
  EXPECT_THAT(inferred.left_out, ElementsAre("id"));
  EXPECT_THAT(inferred.result_like, ElementsAre("run_time", "util_DSP"));
  EXPECT_EQ(inferred.space.parameters().size(), 3U);
  EXPECT_THAT(refusal(text, {.objective = "run_time"}), HasSubstr("column 'id' has a value of its own"));
}

TEST(InferSpace, RolesAreNotParameters) {
  const space::DesignSpace space =
      infer("a,k,y,bad,why,area,id,reason\n1,x,2,0,,3,4,\n2,x,2,0,,3,5,\n", {.objective = "y",
                                                                             .infeasible = "bad",
                                                                             .reason = "why",
                                                                             .context = {"k"},
                                                                             .constraints = {"area"},
                                                                             .ignored = {"id", "reason"}});
  ASSERT_EQ(space.parameters().size(), 1U);
  EXPECT_EQ(space.parameters()[0].name, "a");
  // Left out, the column "reason" is the reason.
  EXPECT_EQ(infer("a,y,reason\n1,2,\n3,4,\n").parameters().size(), 1U);
}

TEST(InferSpace, NamesBecomeSnakeCaseAndUnique) {
  const space::DesignSpace space = infer("__PIPE__L0,TileX,tileX,2nd,\"?\",y\n1,1,2,3,4,1\n2,1,2,3,4,1\n");
  std::vector<std::string> names, descriptions;
  for (const space::Parameter& parameter : space.parameters()) names.push_back(parameter.name);
  EXPECT_THAT(names, ElementsAre("pipe_l0", "tile_x", "tile_x_2", "p2nd", "column_5"));
  EXPECT_EQ(space.parameters()[0].description, "Column '__PIPE__L0' of the table");
  EXPECT_EQ(space.parameters()[1].level_count(), 1U);  // constant columns are kept
  expect_reads_back(space);
}

TEST(InferSpace, UnitsAreThoseThatNamesPromise) {
  const space::DesignSpace space = infer(
      "block_size_x,buffer_kib,thread_count,share_count,clock_mhz,mode_ms,y\n"
      "1,64,2,0.5,100,a,1\n2,64,4,1.5,200,b,1\n");
  const auto unit = [&](std::size_t p) { return space.parameters()[p].name + ":" + space.parameters()[p].unit; };
  EXPECT_EQ(unit(0), "block_size_x:");
  EXPECT_EQ(unit(1), "buffer_kib:kib");
  EXPECT_EQ(unit(2), "thread_count:count");
  EXPECT_EQ(unit(3), "share_count_value:");  // 0.5 is no count
  EXPECT_EQ(unit(4), "clock_mhz:mhz");
  EXPECT_EQ(unit(5), "mode_ms:");
  expect_reads_back(space);
}

TEST(InferSpace, HardNumbersAndTextsReadBack) {
  expect_reads_back(infer("a,y\n-0,1\n0,1\n1e300,1\n-2.5e-7,1\n1e16,1\n9007199254740994,1\n1.2345678901234567e17,1\n"));
  expect_reads_back(
      infer("\"a \"\"b\"\"\",m,y\n1,null,1\n2,~,1\n3,true,1\n4,- x,1\n5,#c,1\n6,'q',1\n7,\xc3\xa4: b,1\n"
            "8,\"[1, 2]\",1\n9,{z},1\n"));
  std::string many = "a,b,y\n";
  for (int i = 0; i < 500; ++i) many += std::to_string(i / 2) + ".125,level " + std::to_string(i % 100) + ",1\n";
  expect_reads_back(infer(many));
  expect_reads_back(space::load_space("edge"));
}

/// Two of them would be one design.
TEST(InferSpace, RefusesWholeNumbersThatWouldBeRounded) {
  const std::string problem = "which a number holds the first digits only";
  EXPECT_THAT(
      refusal("a,y\n9223372036854775808,1\n9223372036854775809,2\n"),
      AllOf(HasSubstr("column 'a' has the value '9223372036854775809', of " + problem), HasSubstr("--ignore a,")));
  EXPECT_THAT(refusal("a,y\n-9007199254740993,1\n1,2\n"), HasSubstr(problem));
  EXPECT_THAT(refusal("a,y\n00000000009007199254740993,1\n1,2\n"), HasSubstr(problem));
  // Exactly kept: up to 2^53, powers of two, what says by an exponent that it is no exact count.
  EXPECT_THAT(infer("a,y\n9007199254740992,1\n18446744073709551616,2\n1e300,3\n0.1,4\n").parameters()[0].values,
              ElementsAre(0.1, 9007199254740992.0, 18446744073709551616.0, 1e300));
}

TEST(InferSpace, LabelsThatTextIdsCannotHold) {
  const space::DesignSpace space = infer("m,y\n\"a,b=c\",1\n\"x\\\"\"y\",1\n\xff,1\n" + std::string(80, 'z') + ",1\n");
  EXPECT_THAT(space.parameters()[0].labels, ElementsAre("_xff", "a_b_c", "x__y", std::string(64, 'z')));
  expect_reads_back(space);
  EXPECT_THAT(refusal("m,y\n\"a,b\",1\n\"a=b\",1\n"), HasSubstr("has the values 'a,b' and 'a=b', which would both be"));
}

TEST(InferSpace, SaysWhichValuesAreWrittenOtherwise) {
  const auto remarks = [](const std::string& text) {
    return infer_columns(parse_csv(text, "t.csv"), {.objective = "y"}, "inferred").remarks;
  };
  EXPECT_THAT(remarks("m,n,y\nplain,x,1\n\"loop i,j\",x,2\n"),
              ElementsAre(HasSubstr("t.csv: column 'm': 'loop i,j' becomes 'loop i_j' (commas,")));
  EXPECT_THAT(remarks("m,n,y\nplain,x,1\nloop i-j,x,2\n"), ElementsAre());
}

TEST(InferSpace, EmptyCellsAreNoValues) {
  const space::DesignSpace space = infer("a,m,y\n1,x,1\n,,1\n2,z,1\n");
  EXPECT_THAT(space.parameters()[0].values, ElementsAre(1, 2));
  EXPECT_THAT(space.parameters()[1].labels, ElementsAre("x", "z"));
}

TEST(InferSpace, RefusesIdentifiersAndMeasurements) {
  std::string text = "id,a,y\n";
  for (int i = 0; i < 100; ++i) text += std::to_string(i) + "," + std::to_string(i % 4) + ",1\n";
  EXPECT_THAT(refusal(text), HasSubstr("column 'id' has a value of its own in every one of 100 rows"));
  EXPECT_NO_THROW(static_cast<void>(infer(text, {.objective = "y", .ignored = {"id"}})));
  EXPECT_NO_THROW(static_cast<void>(infer(text, {.objective = "y", .ignored = {"a"}})));  // the only parameter may
  text = "id,a,y\n";
  for (int i = 0; i < 66'000; ++i) text += std::to_string(i) + ",1,1\n";
  EXPECT_THAT(refusal(text, {.objective = "y", .ignored = {"a"}}), HasSubstr("66,000 different values"));
}

TEST(InferSpace, RemarksOnNamesOfWhichEveryRowHasItsOwn) {
  const auto remarks = [](int rows, const std::string& before) {
    std::string text = "name,y\n";
    for (int i = 0; i < rows; ++i) text += before + std::to_string(i) + ",1\n";
    return infer_columns(parse_csv(text, "t.csv"), {.objective = "y"}, "inferred").remarks;
  };
  EXPECT_THAT(
      remarks(100, "n"),
      ElementsAre(HasSubstr("t.csv: 'name' is the only parameter, and has a value of its own in every one of "
                            "100 rows: what is learnt of one tells nothing of another. Split it into columns")));
  EXPECT_THAT(remarks(99, "n"), ::testing::IsEmpty()) << "a short list of designs";
  EXPECT_THAT(remarks(100, ""), ::testing::IsEmpty()) << "numbers have neighbours";
}

TEST(InferSpace, NamesAllIdentifiersAndMeasurementsAtOnce) {
  const auto table = [](const std::vector<std::string>& names) {
    std::string text = "a,y";
    for (const std::string& name : names) text += "," + name;
    for (int i = 0; i < 100; ++i) {
      text += "\n" + std::to_string(i % 4) + ",1";
      for (std::size_t n = 0; n < names.size(); ++n) text += "," + std::to_string(i);
    }
    return text + "\n";
  };
  EXPECT_THAT(refusal(table({"Design No"})),
              AllOf(HasSubstr("column 'Design No' has a value of its own in every one of 100 rows"),
                    HasSubstr(". Give it another role (--ignore 'Design No', --context, --constraint), or round")));
  EXPECT_THAT(refusal(table({"uuid", "when"})),
              AllOf(HasSubstr("column 'uuid' has a value of its own in every one of 100 rows"),
                    HasSubstr("Of 2 columns this holds. Give them another role (--ignore uuid,when)")));
  EXPECT_THAT(refusal(table({"hw_1", "hw_2", "hw_3", "hw_4", "hw_5"})), HasSubstr("Of 5 columns this holds"));
  EXPECT_THAT(refusal(table({"hw_1", "hw_2", "hw_3", "hw_4", "hw_5"})), HasSubstr("(--ignore 'hw_*')"));
  EXPECT_THAT(refusal(table({"v", "w", "x", "z", "zz"})), HasSubstr("(--ignore v,w,x,z,...)"));
  const std::string parameter_too = table({"hw_1", "hw_2", "hw_3", "hw_4", "hw_5"}).replace(0, 1, "hw_a");
  EXPECT_THAT(refusal(parameter_too), HasSubstr("(--ignore hw_1,hw_2,hw_3,hw_4,...)")) << "hw_* would be hw_a, too";
}

/// 12 designs, 6 of them failed; `more` adds cells, of the row and whether it failed.
template <class More>
std::string half_failed(const std::string& header, More&& more) {
  std::string text = "a,b,y" + header + "\n";
  for (int i = 0; i < 12; ++i) {
    const bool failed = i % 2 == 0;
    text += std::to_string(i % 3) + "," + std::to_string(i) + "," + (failed ? "" : "1") + more(i, failed) + "\n";
  }
  return text;
}

InferredSpace inferred_of(const std::string& text, const CsvRoles& roles = {.objective = "y"}) {
  return infer_columns(parse_csv(text, "t.csv"), roles, "inferred");
}

/// Whatever it is called: the values say so.
TEST(InferSpace, AColumnThatTellsWhatFailedIsRemarkedOn) {
  const std::string flag = half_failed(",ran", [](int, bool failed) { return failed ? ",0" : ",1"; });
  EXPECT_THAT(
      inferred_of(flag).remarks,
      ElementsAre("t.csv: column 'ran' is 0 in all 6 failed rows and in none of 6 others. If this says how rows "
                  "came out, and nobody chose it, it is no parameter: --infeasible ran=0"));
  EXPECT_EQ(inferred_of(flag).outcome_problem, "") << "a hard rule on a parameter looks the same";
  EXPECT_EQ(inferred_of(flag).space.parameters().size(), 3U);
  EXPECT_THAT(inferred_of(flag, {.objective = "y", .infeasible = "ran=0"}).remarks, ElementsAre()) << "as it says";
  const std::string causes =
      half_failed(",cause", [](int i, bool failed) { return failed ? (i % 4 == 0 ? ",lut" : ",timing") : ",none"; });
  EXPECT_THAT(inferred_of(causes).remarks, ElementsAre(HasSubstr("is none in all 6 other rows and in none of 6 "
                                                                 "failed ones")));
  EXPECT_THAT(inferred_of(causes).remarks, ElementsAre(HasSubstr("it is no parameter: --reason cause")));
  const std::string grund = half_failed(",Grund", [](int, bool failed) { return failed ? ",timing" : ","; });
  EXPECT_THAT(
      inferred_of(grund).remarks,
      ElementsAre(AllOf(HasSubstr("has a value in all 6 failed rows, none in 6 others"), HasSubstr("--reason Grund"))));
}

/// A word that marks failures and a note that explains some of them, however few failed.
TEST(InferSpace, WhatOnlyFailedRowsFillIsAnOutcome) {
  const std::string few = "a,y,state,note\n1,3,,\n2,4,,\n3,,FAIL,too hot\n4,,FAIL,timing\n5,,FAIL,\n";
  EXPECT_THAT(inferred_of(few).remarks,
              Contains(AllOf(HasSubstr("column 'state' has a value in all 3 failed rows, none in 2 others"),
                             HasSubstr("no parameter: --infeasible state=FAIL --reason note"))));
  EXPECT_THAT(inferred_of(few, {.objective = "y", .reason = "state"}).remarks,
              Contains(AllOf(HasSubstr("column 'note' has a value in 2 of 3 failed rows, none in 2 others"),
                             HasSubstr("no parameter: --infeasible state=FAIL --reason note"))))
      << "a reason of one word is a mark";
  EXPECT_THAT(inferred_of(few, {.objective = "y", .infeasible = "state=FAIL", .reason = "note"}).remarks,
              Each(Not(HasSubstr("no parameter"))));
}

TEST(InferSpace, WhatTellsNothingOrByChanceIsNotRemarkedOn) {
  EXPECT_THAT(inferred_of(half_failed("", [](int, bool) { return ""; })).remarks, ElementsAre())
      << "b has a value of its own in every row";
  EXPECT_THAT(inferred_of(half_failed(",m", [](int i, bool failed) { return failed || i == 1 ? ",0" : ",1"; })).remarks,
              ElementsAre())
      << "one row has 0 and did not fail";
  EXPECT_THAT(inferred_of("a,m,y\n1,0,\n2,0,\n3,0,\n4,0,\n5,1,1\n6,1,1\n7,1,1\n8,1,1\n9,1,1\n").remarks, ElementsAre())
      << "four failed rows are few";
}

TEST(InferSpace, ATellingColumnNamedLikeAnOutcomeIsAProblem) {
  const std::string both =
      half_failed(",success,oom", [](int, bool failed) { return failed ? ",no,true" : ",yes,false"; });
  const InferredSpace inferred = inferred_of(both);
  EXPECT_THAT(inferred.outcome_problem,
              AllOf(HasSubstr("column 'success' is no in all 6 failed rows and in none of 6 others (1 more column"),
                    HasSubstr("Give roles: --infeasible success=no --ignore oom ("), HasSubstr("--space")));
  EXPECT_LE(inferred.outcome_problem.size(), 400U);
  EXPECT_THAT(inferred.result_like, ElementsAre()) << "said once";
  EXPECT_EQ(inferred_of(both, {.objective = "y", .infeasible = "success=no", .ignored = {"oom"}}).outcome_problem, "");
}

TEST(InferSpace, ManyFractionsLookMeasuredThoughTheyRepeat) {
  const auto result_like = [](auto&& value) {
    std::string text = "a,b,x,power_w,y\n";
    for (int i = 0; i < 400; ++i) {
      text += std::to_string(i % 80) + "," + std::to_string(i / 80) + "," + std::to_string(value(i % 80)) + ",1,1\n";
    }
    return inferred_of(text).result_like;
  };
  EXPECT_THAT(result_like([](int i) { return 1 + std::fmod(0.731 * i * i, 29); }), ElementsAre("x", "power_w"))
      << "both, for one remedy";
  EXPECT_THAT(result_like([](int i) { return 0.5 + 0.25 * i; }), ElementsAre("power_w")) << "even steps are chosen";
  EXPECT_THAT(result_like([](int i) { return i * i; }), ElementsAre("power_w")) << "whole numbers may be sizes";
  EXPECT_THAT(result_like([](int i) { return 0.1 + i % 20 * (i % 20) * 0.013; }), ElementsAre("power_w"))
      << "20 levels";
}

TEST(InferSpace, RefusesRolesThatDoNotFit) {
  const std::string text = "a,y,z\n1,2,3\n2,2,3\n";
  EXPECT_THAT(refusal(text, {.objective = "yy"}), HasSubstr("has no column 'yy'"));
  EXPECT_THAT(refusal(text, {.objective = "y", .constraints = {"y"}}), HasSubstr("'y' is named as objective and as"));
  EXPECT_THAT(refusal(text, {.objective = "y", .ignored = {"a", "z"}}), HasSubstr("no column is left for the design"));
  EXPECT_THAT(refusal("a,y\n"), HasSubstr("has no rows"));
  EXPECT_THAT(refusal("a,b,y\n1,,1\n1,,1\n"),
              HasSubstr("column 'b' has no value in any row (a parameter needs one). Leave it out: --ignore b"));
  EXPECT_EQ(infer("a,b,y\n1,,1\n2,,1\n", {.objective = "y", .ignored = {"b"}}).parameters().size(), 1U);
  EXPECT_THAT(refusal("a,y,Y\n1,1,1\n", {.objective = "y", .constraints = {"Y"}}), HasSubstr("both be the metric 'y'"));
}

}  // namespace
}  // namespace hindsight::dataset
