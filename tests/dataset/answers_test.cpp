/// Is each row of a table of answers the design and the outcome that it says, and refused by cell where it cannot be?
#include "hindsight/dataset/answers.h"

#include <gmock/gmock.h>

#include "dataset/dataset_fixture.h"
#include "hindsight/core/text.h"
#include "hindsight/space/rules.h"

namespace hindsight::dataset {
namespace {

using test::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// `block` counts where `mode` is "tiled" alone.
const space::DesignSpace& answer_space() {
  static const space::DesignSpace space(
      "hand", "",
      {{.name = "mode",
        .unit = "",
        .description = "",
        .kind = space::ParameterKind::categorical,
        .values = {},
        .labels = {"tiled", "flat"}},
       {.name = "block", .unit = "count", .description = "", .values = {1, 2, 4}, .labels = {}}},
      {.constraints = {},
       .conditions = {{.name = "block", .text = "mode == \"tiled\"", .origin = {.what = "test", .file = {}}}},
       .derived = {}});
  return space;
}

AnswerWords answer_words() {
  return {.metrics = {"latency_s", "area_mm2"}, .ignored = {"note"}, .by_id = [](const std::string& id) {
            if (id == "first") return answer_space().parse_design("mode=tiled,block=1");
            throw Error(ErrorKind::usage, "no design '" + id + "'");
          }};
}

/// "mode=tiled,block=2 ok latency_s=3" of each row.
std::vector<std::string> answers_of(const std::string& text, const AnswerWords& words = answer_words()) {
  std::vector<std::string> texts;
  const CsvTable table = parse_csv(text, "t.csv");
  for (const Answer& answer : read_answers(table, answer_space(), words).rows) {
    std::string one = answer_space().text_id(answer.design) + (answer.workload.empty() ? "" : " " + answer.workload);
    if (answer.outcome.feasible) one += " ok";
    for (const log::ViolationRow& violation : answer.outcome.violations) one += " " + violation.code;
    for (const auto& [name, value] : answer.outcome.metrics) one += " " + name + "=" + shortest(value);
    texts.push_back(one);
  }
  return texts;
}

std::string answer_refusal(const std::string& text, const AnswerWords& words = answer_words()) {
  const auto [kind, message] = error_of([&] { (void)answers_of(text, words); });
  EXPECT_EQ(kind, ErrorKind::usage);
  return message;
}

TEST(Answers, RowsAreDesignsWithOutcomes) {
  const CsvTable table = parse_csv(
      "mode,block,workload,latency_s,area mm2,reason,note\n"
      "tiled,2,net,3,7,,x\nflat,,net,oom,,,\nflat,4,net,2,9,too big,\ntiled,1,net,,,,\n",
      "t.csv");
  const Answers answers = read_answers(table, answer_space(), answer_words());
  EXPECT_EQ(answers.unanswered, 1U);
  EXPECT_EQ(answers.workload_column, 2U);
  EXPECT_THAT(answers_of("mode,block,workload,latency_s,area mm2,reason,note\n"
                         "tiled,2,net,3,7,,x\nflat,,net,oom,,,\nflat,4,net,2,9,too big,\ntiled,1,net,,,,\n"),
              ElementsAre("mode=tiled,block=2 net ok latency_s=3 area_mm2=7", "mode=flat,block=1 net oom",
                          "mode=flat,block=1 net too_big area_mm2=9"))
      << "an infeasible design has no latency, and an inactive parameter its first value";
}

TEST(Answers, FlagsOfRows) {
  const std::string header = "mode,block,latency_s,feasible,infeasible\n";
  EXPECT_THAT(answers_of(header + "tiled,1,3,yes,\ntiled,2,3,,no\ntiled,4,3,0,\ntiled,1,3,,TRUE\n"),
              ElementsAre("mode=tiled,block=1 ok latency_s=3", "mode=tiled,block=2 ok latency_s=3",
                          "mode=tiled,block=4 infeasible", "mode=tiled,block=1 infeasible"));
  EXPECT_EQ(answer_refusal(header + "tiled,1,3,maybe,\n"),
            "t.csv:2:11: feasible is 'maybe'. Write 1 or 0, true or false, yes or no");
  EXPECT_EQ(answer_refusal(header + "tiled,1,3,1,1\n"),
            "t.csv:2:11: feasible and infeasible say the same. Leave one of the two out");
  EXPECT_EQ(answer_refusal(header + "tiled,1,,1,\n"),
            "t.csv:2:10: a feasible row without a metric. Fill one in, or give a reason");
  EXPECT_EQ(answer_refusal("mode,block,latency_s,feasible,reason\ntiled,1,3,1,hot\n"),
            "t.csv:2:13: a reason, though the row is said to be feasible. Leave one of the two out");
}

TEST(Answers, DesignsByTheirIds) {
  const std::string header = "design,block,latency_s\n";
  EXPECT_THAT(answers_of(header + "\"mode=tiled,block=2\",2,3\nfirst,,4\n\"mode=flat,block=1\",4,5\n"),
              ElementsAre("mode=tiled,block=2 ok latency_s=3", "mode=tiled,block=1 ok latency_s=4",
                          "mode=flat,block=1 ok latency_s=5"))
      << "what stands in the cell of an inactive parameter says nothing";
  EXPECT_EQ(answer_refusal(header + "second,1,3\n"), "t.csv:2:1: no design 'second'");
  EXPECT_EQ(answer_refusal(header + "first,2,3\n"), "t.csv:2:7: block is '2', and 1 of design 'first'");
  const std::string both = "design,mode,block,latency_s\n";
  EXPECT_THAT(answers_of(both + "\"mode=tiled,block=2\",tiled,2,3\n,tiled,4,3\n"),
              ElementsAre("mode=tiled,block=2 ok latency_s=3", "mode=tiled,block=4 ok latency_s=3"));
  EXPECT_THAT(answer_refusal(both + "\"mode=tiled,block=2\",tiled,4,3\n"),
              StartsWith("t.csv:2:1: 'mode=tiled,block=2' is not the design of this row's parameters, which is "));
}

TEST(Answers, TablesThatCannotBeAreRefusedByPlace) {
  AnswerWords words = answer_words();
  words.by_id = nullptr;
  EXPECT_EQ(answer_refusal("block,latency_s\n1,2\n", words),
            "t.csv: no column for parameter 'mode' of space 'hand'. Known: block, latency_s.");
  EXPECT_THAT(answer_refusal("block,latency_s\n1,2\n"), HasSubstr("of space 'hand', and no column 'design'."));
  EXPECT_EQ(answer_refusal("mode,block,workload\ntiled,1,net\n"),
            "t.csv: no column has true values. Add one that is named after what was measured (latency_s, area_mm2)");
  EXPECT_EQ(answer_refusal("mode,block,area_mm2,area mm2\ntiled,1,2,2\n"),
            "t.csv: columns 'area_mm2' and 'area mm2' are both area_mm2. Leave one of the two out");
  words.remedy = "Add --metric {}?";
  EXPECT_EQ(
      answer_refusal("mode,block,latency\ntiled,1,2\n", words),
      "t.csv: column 'latency' is no parameter of hand, no metric of the log, and none that `propose` writes. Did "
      "you mean 'latency_s'? Add --metric latency?");
  const std::string header = "mode,block,latency_s,workload\n";
  EXPECT_THAT(answer_refusal(header + "tiled,3,2,net\n"), StartsWith("t.csv:2:7: block is '3', which the space"));
  EXPECT_EQ(answer_refusal(header + ",1,2,net\n"), "t.csv:2:1: mode is empty");
  EXPECT_EQ(answer_refusal(header + "tiled,,2,net\n"), "t.csv:2:7: block is empty") << "it is active";
  EXPECT_EQ(answer_refusal(header + "tiled,1,2,\"a,b\"\n"),
            "t.csv:2:11: the workload is 'a,b', several applications. Write a row for each, with its own values");
  words.workloads = {"net", "a,b"};
  EXPECT_THAT(answers_of(header + "tiled,1,2,\"a,b\"\n", words), ElementsAre("mode=tiled,block=1 a,b ok latency_s=2"))
      << "one application of the log";
  EXPECT_EQ(answer_refusal(header + "tiled,1,3 ms,net\n"),
            "t.csv:2:9: latency_s is '3 ms', which is not a number. A design that failed has a reason instead");
  EXPECT_THAT(answer_refusal(header + "tiled,1,\u22123.5,net\n"),
              HasSubstr("which is not a number (a sign or a blank of typesetting? Write -3.5). A design that failed"));
  words.awaited = {"latency_s"};
  EXPECT_EQ(answer_refusal("mode,block,latency_us,area_mm2\ntiled,1,2,3\n", words),
            "t.csv: column 'latency_us' is no parameter of hand, no metric of the log, and none that `propose` writes. "
            "Answers need 'latency_s', which has no column: rename this one if it has these values in that unit, else "
            "add it");
  EXPECT_THAT(answer_refusal("mode,block,latency_s,areas\ntiled,1,2,3\n", words), HasSubstr("--metric areas?"))
      << "what is needed is there";
}

TEST(Answers, ValuesThatCannotBeAreRefusedByTheirCells) {
  const std::string header = "mode,block,latency_s,area_mm2,reason\n";
  EXPECT_EQ(answer_refusal(header + "tiled,1,0,2,\n"),
            "t.csv:2:9: latency_s is 0, and nothing takes no time. A design that failed has a reason instead");
  EXPECT_THAT(answer_refusal(header + "tiled,1,3,-2,\n"),
              StartsWith("t.csv:2:11: area_mm2 is -2, and no area is below 0."));
  EXPECT_THAT(answers_of(header + "tiled,1,-1,-1,hot\n"), ElementsAre("mode=tiled,block=1 hot"));
}

/// A measured design stays feasible where one of its other metrics is not known.
TEST(Answers, OnlyAWordInTheObjectiveIsAReason) {
  const std::string header = "mode,block,latency_s,area_mm2,reason\n";
  AnswerWords words = answer_words();
  words.awaited = {"latency_s"};
  EXPECT_THAT(answers_of(header + "tiled,1,5,n/a,\ntiled,2,5,-,\ntiled,4,5,NaN,\nflat,,oom,n/a,\n", words),
              ElementsAre("mode=tiled,block=1 ok latency_s=5", "mode=tiled,block=2 ok latency_s=5",
                          "mode=tiled,block=4 ok latency_s=5", "mode=flat,block=1 oom"));
  EXPECT_THAT(answers_of(header + "tiled,1,,n/a,\n", words), ::testing::IsEmpty()) << "its answer is awaited";
  EXPECT_THAT(answers_of(header + "tiled,1,oom,oom,\ntiled,2,5,oom,hot\n", words),
              ElementsAre("mode=tiled,block=1 oom", "mode=tiled,block=2 hot"));
  EXPECT_EQ(answer_refusal(header + "tiled,1,5,oom,\n", words),
            "t.csv:2:11: area_mm2 is 'oom', which is not a number. Leave it empty where it was not measured; a design "
            "that failed has a reason instead");
  EXPECT_THAT(answers_of("mode,block,latency_s,area_mm2,feasible\ntiled,1,5,n/a,1\n", words),
              ElementsAre("mode=tiled,block=1 ok latency_s=5"));
}

TEST(Answers, TheObjectiveIsTheOneThatADesignWasAskedFor) {
  const std::string header = "mode,block,latency_s,area_mm2\n";
  AnswerWords words = answer_words();
  words.awaited = {"latency_s"};
  words.asked = {{"mode=tiled,block=1", {"area_mm2"}}};
  EXPECT_THAT(answers_of(header + "tiled,1,n/a,3\ntiled,2,oom,3\n", words),
              ElementsAre("mode=tiled,block=1 ok area_mm2=3", "mode=tiled,block=2 oom area_mm2=3"));
  EXPECT_THAT(answers_of(header + "tiled,1,,oom\n", words), ElementsAre("mode=tiled,block=1 oom"));
  EXPECT_THAT(answers_of(header + "tiled,1,n/a,3\ntiled,2,oom,\n"),
              ElementsAre("mode=tiled,block=1 ok area_mm2=3", "mode=tiled,block=2 oom"))
      << "none is known: a row with a number did not fail";
}

TEST(Answers, FeasibleRowsHaveTheSameMetrics) {
  const CsvTable table = parse_csv("mode,block,latency_s,area_mm2\ntiled,1,2,3\ntiled,2,4,\nflat,,oom,\n", "t.csv");
  const Answers answers = read_answers(table, answer_space(), answer_words());
  EXPECT_EQ(error_of([&] { require_same_metrics(table, answers); }).second,
            "t.csv:3: has no area_mm2, which other feasible rows have. Fill it in, or give a reason");
}

TEST(Answers, ProposalsAreKnownByTheirColumns) {
  EXPECT_TRUE(is_proposal_table(parse_csv("rank,predicted,cautious,p_feasible\n1,2,3,4\n", "t.csv")));
  EXPECT_TRUE(is_proposal_table(parse_csv("design,predicted,p_feasible,reason\n1,2,3,4\n", "t.csv")));
  EXPECT_FALSE(is_proposal_table(parse_csv("rank,predicted,cautious\n1,2,3\n", "t.csv")));
}

}  // namespace
}  // namespace hindsight::dataset
