/// Are proposals held against the truth: mean latency, limits, prefixes, regret; and do the tasks say what they are?
#include "hindsight/check/play_score.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "hindsight/accel/optimum/optimum.h"
#include "hindsight/core/text.h"
#include "hindsight/workload/prime_applications.h"
#include "temporary_folder.h"

namespace hindsight::check {
namespace {

using hindsight::test::TemporaryFolder;

/// Proposals by their text ids, as a player writes them.
std::filesystem::path proposals(const TemporaryFolder& folder, const std::vector<std::string>& designs) {
  std::string csv;
  const auto evaluator = play_evaluator();
  for (const space::Parameter& parameter : evaluator->space().parameters()) csv += parameter.name + ",";
  csv.back() = '\n';
  for (const std::string& design : designs) {
    for (const std::string& piece : split(design, ',')) csv += piece.substr(piece.find('=') + 1) + ",";
    csv.back() = '\n';
  }
  return folder.write("proposals.csv", csv);
}

// Found by `hindsight search`: 25.9 mm2 and 12.3 W at the peak, and one of 8.6 mm2.
const std::string kLarge =
    "pes_x=4,pes_y=10,pe_memory_bytes=262144,cores_per_pe=8,core_memory_bytes=32768,compute_lanes=16,"
    "instruction_memory_entries=16384,parameter_memory_entries=8192,activation_memory_entries=1024,"
    "dram_bandwidth_gb_per_s=30";
const std::string kUnbuildable =
    "pes_x=32,pes_y=2,pe_memory_bytes=524288,cores_per_pe=4,core_memory_bytes=4096,compute_lanes=4,"
    "instruction_memory_entries=8192,parameter_memory_entries=16384,activation_memory_entries=4096,"
    "dram_bandwidth_gb_per_s=16";

const PlayScoring kNoRanks{.ranks = PlayRanks::none};  // kLarge is not good enough to be ranked quickly

double latency_of(const std::string& design, const std::string& application) {
  const auto evaluator = play_evaluator();
  const auto row =
      evaluator
          ->evaluate(evaluator->space().parse_design(design).levels, std::vector{workload::load_network(application)})
          .front();
  return evaluator::metric_of(row, "latency_s").value();
}

TEST(PlayScore, IsTheMeanLatencyOfTheAppliedApplications) {
  const TemporaryFolder folder;
  const PlayTask& task = find_play_task("multi/edge_v2_v3@29");
  const PlayScore score = score_play(task, proposals(folder, {kLarge}), kNoRanks);
  const double mean = (latency_of(kLarge, "mobilenet_edgetpu") + latency_of(kLarge, "mobilenet_v2") +
                       latency_of(kLarge, "mobilenet_v3_large")) /
                      3;
  EXPECT_DOUBLE_EQ(score.best.at(0).value_s.value(), mean);
  EXPECT_EQ(score.evaluations, 3U);
  const PlayScore unseen =
      score_play(find_play_task("zero_shot/edge_v3_to_v2@29"), proposals(folder, {kLarge}), kNoRanks);
  EXPECT_DOUBLE_EQ(unseen.best.at(0).value_s.value(), latency_of(kLarge, "mobilenet_v2"));
}

TEST(PlayScore, OfAPrefixIsThatOfItsBest) {
  const TemporaryFolder folder;
  std::vector<std::string> designs(12, kUnbuildable);
  designs[9] = kLarge;
  const PlayScore score = score_play(find_play_task("single/unet"), proposals(folder, designs), kNoRanks);
  EXPECT_FALSE(score.best.at(0).value_s.has_value());
  EXPECT_EQ(score.best.at(0).feasible, 0U);
  EXPECT_EQ(score.best.at(1).feasible, 1U);
  EXPECT_EQ(score.best.at(2).feasible, 1U);
  EXPECT_DOUBLE_EQ(score.best.at(1).value_s.value(), latency_of(kLarge, "unet"));
  EXPECT_THAT(score.designs.at(0).reasons, ::testing::Contains("noc_timing"));
  designs.erase(designs.begin());
  designs.insert(designs.begin(), 2, kUnbuildable);
  EXPECT_EQ(score_play(find_play_task("single/unet"), proposals(folder, designs), kNoRanks).best.at(1).feasible, 0U);
}

TEST(PlayScore, RanksByHowManyAreBetterAndRegretsByHowMuch) {
  const TemporaryFolder folder;
  const PlayTask& task = find_play_task("tight/power_m4");
  const auto evaluator = play_evaluator();
  const accel::Technology technology = play_technology();
  const workload::Network network = workload::load_network("m4");
  constexpr std::size_t kFirst = 300;  // many share a value
  const accel::optimum::Answer answer =
      accel::optimum::find_optimum({.space = &evaluator->space(),
                                    .technology = &technology,
                                    .networks = {&network},
                                    .limits = {{.metric = accel::find_metric("area_mm2"), .most = 27},
                                               {.metric = accel::find_metric("peak_power_w"), .most = 5}},
                                    .top = kFirst});
  ASSERT_EQ(answer.best.size(), kFirst);
  EXPECT_LT(answer.best.front().value, answer.best.back().value) << "or the ranks below are all 1";
  for (const std::size_t i : {std::size_t{0}, kFirst / 2, kFirst - 1}) {
    const double value = answer.best[i].value;
    std::size_t better = 0;
    for (const accel::optimum::Ranked& other : answer.best) better += other.value < value ? 1 : 0;
    const PlayedBest best =
        score_play(task, proposals(folder, {evaluator->space().text_id(answer.best[i].design)})).best.front();
    EXPECT_EQ(best.value_s, value);
    EXPECT_EQ(best.regret, value / answer.best.front().value);
    EXPECT_EQ(best.rank, better + 1);
  }
}

TEST(PlayScore, HoldsEveryLimitOfTheTask) {
  const TemporaryFolder folder;
  const std::filesystem::path csv = proposals(folder, {kLarge});
  EXPECT_TRUE(score_play(find_play_task("single/m4"), csv, kNoRanks).designs.at(0).value_s.has_value());
  EXPECT_THAT(score_play(find_play_task("tight/area_m4"), csv, kNoRanks).designs.at(0).reasons,
              ::testing::ElementsAre("area_mm2"));
  EXPECT_THAT(score_play(find_play_task("tight/power_m4"), csv, kNoRanks).designs.at(0).reasons,
              ::testing::ElementsAre("peak_power_w"));
}

TEST(PlayTasks, AreNamedOnceAndMadeOfShippedApplications) {
  std::set<std::string> names, applications;
  for (const workload::PrimeApplication& application : workload::prime_applications()) {
    applications.insert(std::string(application.name));
  }
  const auto evaluator = play_evaluator();
  for (const PlayTask& task : play_tasks()) {
    EXPECT_TRUE(names.insert(task.name).second) << task.name;
    EXPECT_EQ(find_play_task(task.name).name, task.name);
    EXPECT_GE(task.version, 1);
    EXPECT_GT(task.log.samples, 0U);
    for (const auto& list : {task.train, task.apply}) {
      EXPECT_FALSE(list.empty());
      for (const std::string& name : list) EXPECT_TRUE(applications.contains(name)) << name;
    }
    for (const sweep::FactLimit& bound : task.limits) {
      EXPECT_THAT(evaluator->fact_names(), ::testing::Contains(bound.fact));
      EXPECT_LT(evaluator->smallest_fact(bound.fact).value(), bound.limit) << task.name;
    }
  }
}

}  // namespace
}  // namespace hindsight::check
