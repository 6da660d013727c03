/// Is a value refused for what its metric measures, and for nothing else?
#include "hindsight/log/metric_values.h"

#include <gtest/gtest.h>

#include <limits>

namespace hindsight::log::test {
namespace {

TEST(MetricValues, NothingTakesNoTime) {
  EXPECT_EQ(impossible_value("latency_s", 0), "latency_s is 0, and nothing takes no time");
  EXPECT_EQ(impossible_value("latency_s", -1), "latency_s is -1, and nothing takes no time");
  EXPECT_EQ(impossible_value("latency_s", std::numeric_limits<double>::denorm_min()), "");
}

TEST(MetricValues, StandardTimesEnergiesPowersAndAreasAreNotBelowZero) {
  EXPECT_EQ(impossible_value("latency_cycles", -1), "latency_cycles is -1, and no time is below 0");
  EXPECT_EQ(impossible_value("energy_j", -0.5), "energy_j is -0.5, and no energy is below 0");
  EXPECT_EQ(impossible_value("peak_power_w", -2), "peak_power_w is -2, and no power is below 0");
  EXPECT_EQ(impossible_cell("area_mm2", -3), "area_mm2 is -3, and no area is below 0");
  for (const char* metric : {"latency_cycles", "energy_j", "average_power_w", "area_mm2"}) {
    EXPECT_EQ(impossible_value(metric, 0), "") << "rounded, or not known by the tool";
  }
}

TEST(MetricValues, OfATableAlsoPlainQuantitiesAreNotBelowZero) {
  EXPECT_EQ(impossible_cell("latency_s", 0), "latency_s is 0, and nothing takes no time");
  EXPECT_EQ(impossible_cell("runtime_ms", -4), "runtime_ms is -4, and no time is below 0");
  EXPECT_EQ(impossible_cell("Area_um2", -3), "Area_um2 is -3, and no area is below 0");
  for (const char* metric : {"time", "latency_ns", "duration_us", "energy_mj", "power_w", "area"}) {
    EXPECT_NE(impossible_cell(metric, -1), "") << metric;
    EXPECT_EQ(impossible_cell(metric, 0), "") << metric;
    EXPECT_EQ(impossible_value(metric, -1), "") << metric << ": an evaluator knows what it means";
  }
}

TEST(MetricValues, OthersMayBeBelowZero) {
  for (const char* metric : {"score",
                             "accuracy",
                             "ms",
                             "wns_ns",
                             "slack_ps",
                             "energy_saving_j",
                             "log_time_s",
                             "delta_w",
                             "gb_per_s",
                             "gflops_per_w",
                             "bias_bytes",
                             "cost",
                             "",
                             "_",
                             "hold_ns",
                             "setup_ns",
                             "arrival_ns",
                             "improvement_ms",
                             "reduction_mj",
                             "net_energy_j",
                             "benefit_w",
                             "regret_s",
                             "bias_ns",
                             "lag_s",
                             "time_score"}) {
    EXPECT_EQ(impossible_value(metric, -1), "") << metric;
    EXPECT_EQ(impossible_cell(metric, -1), "") << metric;
  }
}

}  // namespace
}  // namespace hindsight::log::test
