/// Are the committed optima those that the model gives today, and the known ones among them right?
#include "hindsight/check/optima.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"
#include "repository.h"
#include "tolerances.h"

namespace hindsight::check {
namespace {

std::vector<std::string> rows_of(const std::string& csv) {
  std::vector<std::string> rows;
  for (const std::string& line : split(csv, '\n')) {
    if (!line.empty() && line.front() != '#') rows.push_back(line);
  }
  return rows;
}

TEST(Optima, OfVersion1AreKeptForItsStudy) {
  const std::string committed = read_file(hindsight::test::repository() / "data/reference/optima-22nm.csv");
  const accel::Technology technology = accel::load_technology("22nm");
  const std::string today = optima_csv(task_optima(select_tasks({"single"}), {"latency_s"}, technology), technology);
  for (const std::string& row : rows_of(today)) EXPECT_THAT(rows_of(committed), testing::Contains(row));
  EXPECT_EQ(committed.substr(0, committed.find("task,")), today.substr(0, today.find("task,")));
}

TEST(Optima, TheCommittedOnesOfSingleApplicationsAreThoseOfToday) {
  // Regenerate all: hindsight bench optima --out data/reference/optima.csv
  const std::string committed = read_file(hindsight::test::repository() / "data/reference/optima.csv");
  const std::vector<std::string> rows = rows_of(committed);
  EXPECT_EQ(rows.size(), 1 + offline_tasks().size() * optima_objectives().size());
  const accel::Technology technology = study_technology();
  const std::string today =
      optima_csv(task_optima(select_tasks({"single", "zero_shot"}), {"latency_s"}, technology), technology);
  for (const std::string& row : rows_of(today)) EXPECT_THAT(rows, testing::Contains(row));
  EXPECT_EQ(committed.substr(0, committed.find("task,")), today.substr(0, today.find("task,")));
}

TEST(Optima, AreThoseOfAnIndependentEnumeration) {
  // ms, model version 1, every buildable design enumerated by another program on 2026-11-22
  constexpr double kHalfTheLastDigit = 0.5e-6;
  const std::map<std::string, double> known{{"single/mobilenet_v2", 0.054174},        {"single/m4", 0.150326},
                                            {"single/t_rnn_enc", 0.116733},           {"single/unet", 0.348834},
                                            {"zero_shot/edge_v3_to_v2@29", 0.052752}, {"multi/nine@100", 0.074157},
                                            {"multi/six_unet_enc@29", 0.196279}};
  for (const auto& [task, latency_ms] : known) {
    const std::vector<TaskOptimum> optima =
        task_optima(select_tasks({task}), {"latency_s"}, accel::load_technology("22nm"));
    ASSERT_EQ(optima.size(), 1U);
    EXPECT_NEAR(optima.front().value * 1e3, latency_ms, kHalfTheLastDigit) << task;
  }
}

std::string message_of(const std::string& text) {
  try {
    static_cast<void>(parse_optima(text, accel::load_technology("22nm"), "optima.csv"));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Optima, AreReadAsTheyWereWrittenForTheirOwnEvaluatorOnly) {
  OfflineTask task = select_tasks({"multi/six_enc@100"}).front();
  const std::string text = optima_csv({{.task = task, .objective = "latency_s", .value = 1.5e-3, .design = "a=1,b=2"}},
                                      accel::load_technology("22nm"));
  const auto optima = parse_optima(text, accel::load_technology("22nm"), "optima.csv");
  ASSERT_TRUE(optima);
  ASSERT_EQ(optima->size(), 1U);
  const TaskOptimum& one = optima->front();
  EXPECT_EQ(one.task.name, task.name);
  EXPECT_EQ(one.task.apply, task.apply);
  EXPECT_EQ(one.task.area_limit_mm2, 100);
  EXPECT_EQ(one.value, 1.5e-3);
  EXPECT_EQ(one.design, "a=1,b=2");
  EXPECT_FALSE(parse_optima(text, accel::load_technology("7nm"), "optima.csv")) << "another evaluator";
  EXPECT_THAT(message_of("nothing"), testing::HasSubstr("optima.csv: has no row of names"));
  std::string damaged = text;
  damaged.replace(damaged.find("0.0015"), 6, "x");
  EXPECT_THAT(message_of(damaged), testing::HasSubstr("optima.csv: row 1: limit and optimum"));
}

TEST(OfflineTruthTest, IsTheShippedOptimumOrAComputedOne) {
  OfflineStudy study;
  OfflineResult result;
  result.task = "single/mobilenet_v2";
  result.value = 2e-4;
  study.results = {result};
  add_truth(study, accel::load_technology("22nm"), nullptr);
  ASSERT_TRUE(study.results.front().truth);
  constexpr double kPrinted_ms = 0.5e-6;  // of the six digits that the study's page prints
  EXPECT_NEAR(study.results.front().truth->optimum * 1e3, 0.054174, kPrinted_ms);
  EXPECT_FALSE(study.results.front().truth->rank) << "no landscape";
  const accel::Technology small = accel::load_technology("7nm");
  add_truth(study, small, nullptr);
  EXPECT_EQ(study.results.front().truth->optimum, latency_optimum(select_tasks({result.task}).front(), small)->value);
}

TEST(OfflineTruthTest, AResultBelowTheOptimumIsOfAnotherSimulator) {
  OfflineStudy study;
  study.results.emplace_back().task = "single/mobilenet_v2";
  study.results.front().best_value = 5e-5;  // the optimum is 5.4e-5 s
  try {
    add_truth(study, accel::load_technology("22nm"), nullptr);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::incompatible);
    EXPECT_THAT(error.what(), testing::HasSubstr("less than the exact optimum"));
  }
}

TEST(OfflineTruthTest, CtrlCLeavesWhatIsNotKnownOpen) {
  OfflineStudy study;
  study.results.emplace_back().task = "single/mobilenet_v2";
  set_interrupt_requested(true);
  add_truth(study, accel::load_technology("7nm"), nullptr);  // would be computed
  set_interrupt_requested(false);
  EXPECT_FALSE(study.results.front().truth);
}

}  // namespace
}  // namespace hindsight::check
