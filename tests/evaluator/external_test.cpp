/// Do simulators outside of this program answer as they should: in order, side by side, again after a fault?
#include "hindsight/evaluator/external.h"

#include <cstdlib>
#include <filesystem>

#include "evaluator/external_fixture.h"
#include "hindsight/evaluator/noisy.h"

namespace hindsight::evaluator::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(ExternalTest, AnswersEveryDesignOnEveryWorkloadInOrder) {
  const auto evaluator = make_shell({.text = answering(kGood)});
  const std::vector<Row> rows = evaluator->evaluate(sizes({5, 2, 8}), one_layer());
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_TRUE(rows[0].feasible);
  EXPECT_EQ(metric_of(rows[0], "latency_s"), 5);
  EXPECT_EQ(metric_of(rows[1], "latency_s"), 2);
  EXPECT_EQ(metric_of(rows[2], "latency_s"), 8);
  EXPECT_EQ(metric_of(evaluator->evaluate(sizes({7}), one_layer()).front(), "latency_s"), 7);
}

TEST_F(ExternalTest, OneProcessAnswersAllQuestionsOfAWorker) {
  const auto evaluator = make_shell({.text = "echo $$ >> " + file("pids") + "; " + answering(kGood)});
  (void)evaluator->evaluate(sizes({1, 2, 3, 4}), one_layer());
  EXPECT_EQ(lines_of("pids").size(), 1U);
}

TEST_F(ExternalTest, RowsStandInTheOrderOfTheDesignsWhateverTheOrderOfTheAnswers) {
  // The first design answers only after the second one has been asked, by another process.
  const std::string wait = "touch " + file("$size") + "; if [ $size = 1 ]; then while [ ! -e " + file("2") +
                           " ]; do sleep 0.01; done; fi; " + kGood;
  const auto evaluator = make_shell({.text = answering(wait), .workers = 3});
  const std::vector<Row> rows = evaluator->evaluate(sizes({1, 2, 3, 4, 5, 6}), one_layer());
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(metric_of(rows[i], "latency_s"), static_cast<double>(i + 1));
}

TEST_F(ExternalTest, WhatWasAnnouncedIsAskedOnce) {
  const auto evaluator = make_shell({.text = answering("echo $size >> " + file("asked") + "; " + kGood)});
  evaluator->announce(sizes({3, 4}), one_layer());
  EXPECT_EQ(metric_of(evaluator->evaluate(sizes({4}), one_layer()).front(), "latency_s"), 4);
  EXPECT_EQ(metric_of(evaluator->evaluate(sizes({3}), one_layer()).front(), "latency_s"), 3);
  EXPECT_THAT(lines_of("asked"), ElementsAre("3", "4"));
  EXPECT_EQ(evaluator->designs_at_once(), 1U);
}

TEST_F(ExternalTest, AReasonIsData) {
  const auto evaluator =
      make_shell({.text = answering("echo \"{\\\"id\\\":$id,\\\"infeasible\\\":\\\"too large: $size > 0\\\"}\"")});
  const Row row = evaluator->evaluate(sizes({5}), one_layer()).front();
  EXPECT_FALSE(row.feasible);
  ASSERT_EQ(row.violations.size(), 1U);
  EXPECT_EQ(row.violations[0].code, "too large");
  EXPECT_EQ(row.violations[0].message, "too large: 5 > 0");
}

TEST_F(ExternalTest, AProcessThatDiedIsStartedAgain) {
  const std::string once = "if [ ! -e " + file("died") + " ]; then touch " + file("died") + "; exit 9; fi; " + kGood;
  const auto evaluator = make_shell({.text = answering(once)});
  EXPECT_EQ(metric_of(evaluator->evaluate(sizes({6}), one_layer()).front(), "latency_s"), 6);
}

TEST_F(ExternalTest, AProcessMayEndAfterEachAnswer) {
  const auto evaluator = make_shell({.text = answering(kGood + "; exit 0"), .retries = 1});
  const std::vector<Row> rows = evaluator->evaluate(sizes({1, 2, 3, 4, 5}), one_layer());
  EXPECT_EQ(metric_of(rows[4], "latency_s"), 5);
}

TEST_F(ExternalTest, DesignsThatCrashOrHangAreRowsOnceItHasAnswered) {
  const std::string body = "if [ $size = 2 ]; then exit 3; fi; if [ $size = 4 ]; then sleep 1000; fi; " + kGood;
  const auto evaluator = make_shell({.text = answering(body), .timeout_s = 2, .retries = 0});
  const std::vector<Row> rows = evaluator->evaluate(sizes({1, 2, 3, 4, 5}), one_layer());
  EXPECT_EQ(metric_of(rows[2], "latency_s"), 3);
  EXPECT_EQ(metric_of(rows[4], "latency_s"), 5);
  ASSERT_FALSE(rows[1].feasible);
  EXPECT_EQ(rows[1].violations[0].code, "crash");
  EXPECT_THAT(rows[1].violations[0].message, HasSubstr("exited with 3"));
  ASSERT_FALSE(rows[3].feasible);
  EXPECT_EQ(rows[3].violations[0].code, "timeout");
}

TEST_F(ExternalTest, ADesignWithoutANumberIsARowAsACrashIs) {
  const std::string body =
      "value=$size; case $size in 2) value=NaN;; 3) value=-inf;; 4) value=null;; esac; "
      "echo \"{\\\"id\\\":$id,\\\"metrics\\\":{\\\"latency_s\\\":$value}}\"";
  const auto evaluator = make_shell({.text = answering("echo asked >> " + file("asked") + "; " + body)});
  const std::vector<Row> rows = evaluator->evaluate(sizes({1, 2, 3, 4, 5}), one_layer());
  EXPECT_EQ(metric_of(rows[4], "latency_s"), 5);
  for (const std::size_t i : {1, 2, 3}) {
    ASSERT_FALSE(rows[i].feasible);
    EXPECT_EQ(rows[i].violations.at(0).code, "not_finite");
    EXPECT_TRUE(rows[i].metrics.empty());
  }
  EXPECT_EQ(rows[1].violations[0].message, "latency_s is NaN, not a finite number");
  EXPECT_EQ(rows[2].violations[0].message, "latency_s is -inf, not a finite number");
  EXPECT_EQ(lines_of("asked").size(), 5U) << "it is not asked again, and its process goes on";
  const auto recording = make_shell({.text = answering(body), .faults = Faults::record});
  EXPECT_EQ(recording->evaluate(sizes({2}), one_layer()).front().violations.at(0).code, "not_finite");
  const auto stopping = make_shell({.text = answering(body), .faults = Faults::stop});
  (void)stopping->evaluate(sizes({1}), one_layer());
  const auto error = error_of([&] { (void)stopping->evaluate(sizes({2}), one_layer()); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), HasSubstr("not_finite: latency_s is NaN, not a finite number (--evaluator-faults stop)"));
}

TEST_F(ExternalTest, TenFaultsInARowAreTheEvaluators) {
  const auto evaluator = make_shell({.text = answering("if [ $size = 2 ]; then exit 3; fi; " + kGood), .retries = 0});
  (void)evaluator->evaluate(sizes({1}), one_layer());
  for (unsigned i = 1; i < kMostFaultsInARow; ++i) {
    EXPECT_FALSE(evaluator->evaluate(sizes({2}), one_layer()).front().feasible);
  }
  const auto error = error_of([&] { (void)evaluator->evaluate(sizes({2}), one_layer()); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), HasSubstr("10 in a row"));
  const auto next = error_of([&] { (void)evaluator->evaluate(sizes({1}), one_layer()); });
  ASSERT_TRUE(next) << "it is asked nothing more";
}

TEST_F(ExternalTest, FaultsCanBeRecordedOrRefusedFromTheFirst) {
  const std::string text = answering("if [ $size = 2 ]; then exit 3; fi; " + kGood);
  const auto recording = make_shell({.text = text, .retries = 0, .faults = Faults::record});
  EXPECT_EQ(recording->evaluate(sizes({2}), one_layer()).front().violations.at(0).code, "crash");
  const auto stopping = make_shell({.text = text, .retries = 0, .faults = Faults::stop});
  (void)stopping->evaluate(sizes({1}), one_layer());
  EXPECT_TRUE(error_of([&] { (void)stopping->evaluate(sizes({2}), one_layer()); }));
}

TEST_F(ExternalTest, OneProcessPerDesignReadsAndWritesFiles) {
  const std::string run = script("run.sh",
                                 "size=$(sed 's/.*\"size\":\\([0-9]*\\).*/\\1/' \"$1\")\n"
                                 "grep -q '\"name\":\"toy_net\"' \"$2\" || exit 9\n"
                                 "if [ $size = 3 ]; then echo 'no room' >&2; exit 7; fi\n"
                                 "if [ $size = 4 ]; then kill -SEGV $$; fi\n"
                                 "echo \"{\\\"metrics\\\":{\\\"latency_s\\\":$size}}\" > \"$3\"\n");
  const auto evaluator = make({.text = run + " {design.json} {workload.json} {out.json}", .workers = 2});
  const std::vector<Row> rows = evaluator->evaluate(sizes({1, 2, 3, 4, 5}), one_layer());
  EXPECT_EQ(metric_of(rows[0], "latency_s"), 1);
  EXPECT_EQ(metric_of(rows[1], "latency_s"), 2);
  EXPECT_EQ(metric_of(rows[4], "latency_s"), 5);
  ASSERT_FALSE(rows[2].feasible);
  EXPECT_EQ(rows[2].violations[0].code, "exit_code_7");
  EXPECT_EQ(rows[2].violations[0].message, "no room");
  ASSERT_FALSE(rows[3].feasible);
  EXPECT_EQ(rows[3].violations[0].code, "crash");
}

/// Whatever the folder of temporary files is called.
TEST_F(ExternalTest, PathsAreQuotedInTheTextOfAShell) {
  const std::string folder = file("a b;$(touch obeyed)'");
  std::filesystem::create_directories(folder);
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TMPDIR", folder.c_str(), 1);
  const auto evaluator = make_shell({.text = "echo '{\"metrics\":{\"latency_s\":1}}' > {out.json}"});
  const auto plain =
      make({.text = "cp " + folder_.write("answer", "{\"metrics\":{\"latency_s\":2}}").string() + " {out.json}"});
  EXPECT_EQ(metric_of(evaluator->evaluate(sizes({1}), one_layer()).front(), "latency_s"), 1);
  EXPECT_EQ(metric_of(plain->evaluate(sizes({1}), one_layer()).front(), "latency_s"), 2);
  kept.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", kept.c_str(), 1);
}

TEST_F(ExternalTest, WhatItSaysBesidesAnswersIsKeptAtItsEnd) {
  const auto evaluator = make_shell({.text = answering("echo \"step $size\" >&2; " + kGood)});
  (void)evaluator->evaluate(sizes({1, 2}), one_layer());
  (void)evaluator->evaluate(sizes({3}), one_layer());
  ASSERT_EQ(evaluator->remarks().size(), 1U);
  EXPECT_EQ(evaluator->remarks()[0].first, "evaluator_stderr");
  EXPECT_THAT(evaluator->remarks()[0].second, StartsWith("step 1\nstep 2"));
  EXPECT_EQ(make({.text = "cat"})->remarks().size(), 0U);
}

TEST_F(ExternalTest, AProcessMayFinishWhatItDoesAtTheEndOfItsInput) {
  (void)make_shell({.text = answering(kGood) + "; echo finished >> " + file("end"), .workers = 2})
      ->evaluate(sizes({1, 2}), one_layer());
  EXPECT_GE(lines_of("end").size(), 1U);
}

TEST_F(ExternalTest, ManyLinesOfStandardErrorAreBounded) {
  const auto evaluator =
      make_shell({.text = answering("head -c 3000000 /dev/zero | tr '\\0' x >&2; echo end >&2; " + kGood)});
  EXPECT_EQ(metric_of(evaluator->evaluate(sizes({1}), one_layer()).front(), "latency_s"), 1);
  EXPECT_LE(evaluator->remarks().at(0).second.size(), 5000U);
}

TEST_F(ExternalTest, NameAndVersionTellEvaluatorsApart) {
  const auto plain = make({.text = "cat"}), named = make({.text = "cat", .name = "sim"});
  EXPECT_EQ(plain->name(), "cat");
  EXPECT_EQ(named->name(), "sim");
  EXPECT_EQ(named->definition(), make({.text = "other words", .name = "sim", .workers = 3})->definition());
  EXPECT_NE(named->definition(), plain->definition());
  EXPECT_NE(named->definition(), make({.text = "cat", .name = "sim", .version = "2"})->definition());
  EXPECT_TRUE(plain->metrics().empty());
  EXPECT_TRUE(plain->fact_names().empty());
}

TEST_F(ExternalTest, NoiseStandsBeforeItToo) {
  const auto evaluator = noisy(make_shell({.text = answering(kGood)}), {.sigma = 0.1, .seed = 3});
  evaluator->announce(sizes({4}), one_layer());
  const auto value = metric_of(evaluator->evaluate(sizes({4}), one_layer()).front(), "latency_s");
  EXPECT_NE(value, 4);
  EXPECT_NEAR(*value, 4, 2);
  EXPECT_EQ(evaluator->designs_at_once(), 1U);
}

TEST_F(ExternalTest, CommandsThatCannotBeAreRefused) {
  const auto refused = [](const ExternalCommand& command) {
    const auto error = error_of([&] { (void)make(command); });
    return error && error->kind() == ErrorKind::usage ? std::string(error->what()) : "";
  };
  EXPECT_THAT(refused({.text = "  "}), HasSubstr("empty"));
  EXPECT_THAT(refused({.text = "run {desgin.json} {out.json}"}), HasSubstr("{design.json}"));
  EXPECT_THAT(refused({.text = "run {design.json}"}), HasSubstr("{out.json}"));
  EXPECT_THAT(refused({.text = "cat", .name = "a\nb"}), HasSubstr("--evaluator-name"));
  EXPECT_THAT(refused({.text = "cat", .metrics = {"a", "a"}}), HasSubstr("twice"));
  EXPECT_THAT(refused({.text = "cat", .timeout_s = 0}), HasSubstr("--evaluator-timeout"));
  EXPECT_THAT(refused({.text = "cat", .workers = 0}), HasSubstr("--evaluator-workers"));
  EXPECT_TRUE(error_of([] { (void)parse_faults("autp"); }));
}

}  // namespace
}  // namespace hindsight::evaluator::test
