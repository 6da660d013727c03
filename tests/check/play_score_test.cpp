/// Are proposals held against the truth: mean latency, limits, prefixes, regret; and do the tasks say what they are?
#include "hindsight/check/play_score.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "hindsight/accel/optimum/optimum.h"
#include "hindsight/core/text.h"
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

// Found by `hindsight optimum`: 16.1 mm2 and 2.49 W at the peak, and one that is too hot.
const std::string kLarge =
    "pes_x=2,pes_y=1,pe_memory_bytes=1048576,cores_per_pe=8,core_memory_bytes=8192,compute_lanes=32,"
    "instruction_memory_entries=8192,parameter_memory_entries=2048,activation_memory_entries=2048,"
    "dram_bandwidth_gb_per_s=16";
const std::string kUnbuildable =
    "pes_x=32,pes_y=2,pe_memory_bytes=524288,cores_per_pe=4,core_memory_bytes=4096,compute_lanes=4,"
    "instruction_memory_entries=8192,parameter_memory_entries=16384,activation_memory_entries=4096,"
    "dram_bandwidth_gb_per_s=16";

const PlayScoring kNoRanks{.ranks = PlayRanks::none};  // kLarge is not good enough to be ranked quickly

double metric_of(const std::string& metric, const std::string& design, const std::string& application) {
  const auto evaluator = play_evaluator();
  const auto row =
      evaluator
          ->evaluate(evaluator->space().parse_design(design).levels, std::vector{workload::load_network(application)})
          .front();
  return evaluator::metric_of(row, metric).value();
}
double latency_of(const std::string& design, const std::string& application) {
  return metric_of("latency_s", design, application);
}

TEST(PlayScore, IsTheMeanLatencyOfTheAppliedApplications) {
  const TemporaryFolder folder;
  const PlayTask& task = find_play_task("multi/edge_v2_v3@29");
  const PlayScore score = score_play(task, proposals(folder, {kLarge}), kNoRanks);
  const double mean = (latency_of(kLarge, "mobilenet_edgetpu") + latency_of(kLarge, "mobilenet_v2") +
                       latency_of(kLarge, "mobilenet_v3_large")) /
                      3;
  EXPECT_DOUBLE_EQ(score.best.at(0).value.value(), mean);
  EXPECT_EQ(score.evaluations, 3U);
  const PlayScore unseen =
      score_play(find_play_task("zero_shot/edge_v3_to_v2@29"), proposals(folder, {kLarge}), kNoRanks);
  EXPECT_DOUBLE_EQ(unseen.best.at(0).value.value(), latency_of(kLarge, "mobilenet_v2"));
}

TEST(PlayScore, OfAnEnergyDelayProductIsThat) {
  const TemporaryFolder folder;
  const PlayTask& task = find_play_task("edp/m6");
  const std::string cool =
      "pes_x=1,pes_y=1,pe_memory_bytes=1048576,cores_per_pe=8,core_memory_bytes=8192,compute_lanes=32,"
      "instruction_memory_entries=8192,parameter_memory_entries=2048,activation_memory_entries=2048,"
      "dram_bandwidth_gb_per_s=10";
  const PlayScore score = score_play(task, proposals(folder, {cool, kLarge}));
  const double product = metric_of("energy_j", cool, "m6") * latency_of(cool, "m6");
  EXPECT_DOUBLE_EQ(score.best.at(0).value.value(), product);
  EXPECT_THAT(score.designs.at(1).reasons, ::testing::ElementsAre("peak_power_w"));
  // by `hindsight optimum --objective edp` with the limits of the task, J s
  constexpr double kOptimum = 3.7299320542123246e-08;
  EXPECT_DOUBLE_EQ(score.ruler.optimum.value(), kOptimum);
  EXPECT_DOUBLE_EQ(score.best.at(0).regret.value(), product / kOptimum);
  EXPECT_GT(score.best.at(0).rank.value(), 1U);
}

TEST(PlayScore, OfAPrefixIsThatOfItsBest) {
  const TemporaryFolder folder;
  std::vector<std::string> designs(12, kUnbuildable);
  designs[9] = kLarge;
  const PlayScore score = score_play(find_play_task("single/unet"), proposals(folder, designs), kNoRanks);
  EXPECT_FALSE(score.best.at(0).value.has_value());
  EXPECT_EQ(score.best.at(0).feasible, 0U);
  EXPECT_EQ(score.best.at(1).feasible, 1U);
  EXPECT_EQ(score.best.at(2).feasible, 1U);
  EXPECT_DOUBLE_EQ(score.best.at(1).value.value(), latency_of(kLarge, "unet"));
  EXPECT_THAT(score.designs.at(0).reasons, ::testing::Contains("cooling"));
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
                                               {.metric = accel::find_metric("peak_power_w"), .most = 1.5}},
                                    .top = kFirst});
  ASSERT_EQ(answer.best.size(), kFirst);
  EXPECT_LT(answer.best.front().value, answer.best.back().value) << "or the ranks below are all 1";
  for (const std::size_t i : {std::size_t{0}, kFirst / 2, kFirst - 1}) {
    const double value = answer.best[i].value;
    std::size_t better = 0;
    for (const accel::optimum::Ranked& other : answer.best) better += other.value < value ? 1 : 0;
    const PlayedBest best =
        score_play(task, proposals(folder, {evaluator->space().text_id(answer.best[i].design)})).best.front();
    EXPECT_EQ(best.value, value);
    EXPECT_EQ(best.regret, value / answer.best.front().value);
    EXPECT_EQ(best.rank, better + 1);
  }
}

TEST(PlayScore, HoldsEveryLimitOfTheTask) {
  const TemporaryFolder folder;
  const std::filesystem::path csv = proposals(folder, {kLarge});
  EXPECT_TRUE(score_play(find_play_task("single/m4"), csv, kNoRanks).designs.at(0).value.has_value());
  EXPECT_THAT(score_play(find_play_task("tight/area_m4"), csv, kNoRanks).designs.at(0).reasons,
              ::testing::ElementsAre("area_mm2"));
  EXPECT_THAT(score_play(find_play_task("tight/power_m4"), csv, kNoRanks).designs.at(0).reasons,
              ::testing::ElementsAre("peak_power_w"));
}

TEST(PlayTasks, AreNamedOnceAndMadeOfShippedApplications) {
  std::set<std::string> names, applications;
  for (const workload::Network& network : workload::load_networks("zoo")) applications.insert(network.name());
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
