/// Are the study's medians, ratios, regrets and ranks those of its cells?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hindsight/report/offline.h"
#include "tolerances.h"

namespace hindsight::report {
namespace {

using testing::HasSubstr;

check::OfflineResult cell(const std::string& method, std::uint64_t seed, std::optional<double> value) {
  check::OfflineResult result;
  result.task = "single/m4";
  result.method = method;
  result.seed = seed;
  result.value = result.best_value = value;
  return result;
}

/// Three seeds by hand over an optimum of 0.25 ms: best in log 1.0 ms; prime 0.4, 0.5, 0.8 ms, so its median is 0.5 ms,
/// twice the optimum and half of the log's best; supervised infeasible twice of three, so its median is infeasible. The
/// best of prime's other proposals has 0.3 ms, 1.2 times the optimum.
check::OfflineStudy three_seeds() {
  check::OfflineStudy study;
  for (const std::uint64_t seed : {1U, 2U, 3U}) study.results.push_back(cell("best_in_log", seed, 1e-3));
  study.results.push_back(cell("prime", 1, 0.5e-3));
  study.results.push_back(cell("prime", 2, 0.4e-3));
  study.results.push_back(cell("prime", 3, 0.8e-3));
  for (std::size_t i = 3; i < 6; ++i) study.results[i].best_value = 0.3e-3;
  study.results.push_back(cell("supervised", 1, std::nullopt));
  study.results.push_back(cell("supervised", 2, std::nullopt));
  study.results.push_back(cell("supervised", 3, 0.7e-3));
  for (check::OfflineResult& result : study.results) result.truth = check::OfflineTruth{.optimum = 0.25e-3};
  study.cells = 12;
  return study;
}

TEST(OfflineReport, MediansAndRatiosAreOverTheExactOptimum) {
  const std::string text = offline_markdown(three_seeds());
  EXPECT_THAT(text, HasSubstr("| 2.000 (1.600) |"));
  EXPECT_THAT(text, HasSubstr("infeasible (2.800)"));
  EXPECT_THAT(text, testing::ContainsRegex("single/m4[^\n]*0\\.250000 \\|\n"));
  EXPECT_THAT(text, HasSubstr("| single | prime | 2.000 of 1 | 1.200 of 1 | 2.000 of 1 | 0 of 3 |"));
  EXPECT_THAT(text, HasSubstr("| single | best_in_log | 4.000 of 1 | 4.000 of 1 | 1.000 of 1 | 0 of 3 |"));
  EXPECT_THAT(text, HasSubstr("| single | supervised | - | - | - | 2 of 3 |"));
  EXPECT_THAT(text, HasSubstr("9 of 12 cells are finished"));
  EXPECT_THAT(text, testing::Not(HasSubstr("Rank of")));
}

TEST(OfflineReport, RanksStandWhereALandscapeWasGiven) {
  check::OfflineStudy study = three_seeds();
  std::uint64_t better = 1233;
  for (check::OfflineResult& result : study.results) {
    if (!result.value) continue;
    result.truth->rank = accel::optimum::Rank{.feasible = 1'000'000, .better = better++, .best = 0.25e-3};
    result.truth->best_rank = accel::optimum::Rank{.feasible = 1'000'000, .better = 7, .best = 0.25e-3};
  }
  EXPECT_THAT(offline_markdown(study),
              HasSubstr("| single/m4 | 1,235 (1,234) | 1,238 (1,237) | infeasible (1,240) | 1,000,000 |"));
  const auto json = nlohmann::json::parse(offline_json(study)).at("results");
  EXPECT_EQ(json.at(4).at("rank"), 1238);
  EXPECT_EQ(json.at(4).at("best_rank"), 8);
  EXPECT_NEAR(json.at(4).at("regret").get<double>(), 1.6, hindsight::test::kRounding);
  EXPECT_TRUE(json.at(6).at("rank").is_null());
  EXPECT_TRUE(json.at(6).at("regret").is_null()) << "infeasible";
}

}  // namespace
}  // namespace hindsight::report
