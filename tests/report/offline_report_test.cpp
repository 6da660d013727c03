/// Are the study's medians, ratios and best known values those of its cells?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hindsight/report/offline.h"

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

/// Three seeds by hand: best in log 1.0 ms; prime 0.4, 0.5, 0.8 ms, so its median is 0.5 ms and the ratio 2; supervised
/// infeasible twice of three, so its median is infeasible; the best known is 0.4 ms.
TEST(OfflineReport, MediansRatiosAndTheBestKnown) {
  check::OfflineStudy study;
  for (const std::uint64_t seed : {1U, 2U, 3U}) study.results.push_back(cell("best_in_log", seed, 1e-3));
  study.results.push_back(cell("prime", 1, 0.5e-3));
  study.results.push_back(cell("prime", 2, 0.4e-3));
  study.results.push_back(cell("prime", 3, 0.8e-3));
  study.results.push_back(cell("supervised", 1, std::nullopt));
  study.results.push_back(cell("supervised", 2, std::nullopt));
  study.results.push_back(cell("supervised", 3, 0.7e-3));
  study.cells = 12;
  const std::string text = offline_markdown(study);
  EXPECT_THAT(text, HasSubstr("0.5 (0.4)"));
  EXPECT_THAT(text, HasSubstr("infeasible (0.7)"));
  EXPECT_THAT(text, testing::ContainsRegex("single/m4[^\n]*0\\.4 \\|\n"));
  EXPECT_THAT(text, testing::ContainsRegex("prime[^\n]*2\\.000"));
  EXPECT_THAT(text, testing::ContainsRegex("supervised[^\n]*2 of 3"));
  EXPECT_THAT(text, HasSubstr("9 of 12 cells are finished"));
}

}  // namespace
}  // namespace hindsight::report
