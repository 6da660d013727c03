/// Is power right although the counter steps slowly, wraps, or is reset?
#include "hindsight/measure/energy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hindsight/measure/board.h"
#include "tolerances.h"

namespace hindsight::measure {
namespace {

using test::kRounding;
using test::relative_error;

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();

TEST(Energy, CounterDifferences) {
  EXPECT_EQ(counter_difference_mj(100, 350, 1000), 250U);
  // 2^64 - 100 to 50: 150 steps through the wrap.
  EXPECT_EQ(counter_difference_mj(kLargest - 99, 50, 1000), 150U);
  // A 32-bit counter: 2^32 - 100 to 50.
  EXPECT_EQ(counter_difference_mj(0xffffffffU - 99U, 50, 1000), 150U);
  EXPECT_EQ(counter_difference_mj(5'000'000, 10, 1000), std::nullopt) << "reset, not wrapped";
  EXPECT_EQ(counter_difference_mj(0, 2000, 1000), std::nullopt) << "more than the board can use";
}

/// A board of 400 W whose counter steps every 100 ms, read every millisecond.
TEST(Energy, StepsDoNotBiasThePower) {
  EnergyWindow window(1000);
  EXPECT_EQ(window.power_w(), std::nullopt);
  for (int ms = 0; ms <= 1234; ++ms) {
    const auto step = static_cast<std::uint64_t>((ms + 37) / 100);
    window.add(1e-3 * ms, 7'000 + step * 40'000);  // 40 J per step
  }
  // First step at 63 ms, last at 1163 ms: 11 steps of 40 J in 1.1 s. First and last reading alone would give
  // 480 J / 1.234 s = 389 W.
  ASSERT_TRUE(window.power_w().has_value());
  EXPECT_LE(relative_error(*window.power_w(), 400), kRounding);
  EXPECT_LE(relative_error(window.window_s(), 1.1), kRounding);
}

TEST(Energy, ResetCounterGivesNoPower) {
  EnergyWindow window(1000);
  for (int i = 0; i < 5; ++i) window.add(0.1 * i, 1'000'000 + 30'000U * static_cast<unsigned>(i));
  ASSERT_TRUE(window.power_w().has_value());
  window.add(0.5, 12);
  EXPECT_EQ(window.power_w(), std::nullopt);
  window.restart();
  for (int i = 0; i < 5; ++i) window.add(1.0 + 0.1 * i, 30'000U * static_cast<unsigned>(i));
  EXPECT_LE(relative_error(window.power_w().value_or(0), 300), kRounding);
}

/// Clocks of 1.0, 1.5 and 2.0 GHz in turn; throttling only in the second reading.
class FakeBoard final : public Board {
 public:
  std::optional<std::uint64_t> energy_mj() override { return 20'000 * ++energy_reads_; }
  BoardReading read() override {
    ++reads_;
    return {
        .sm_clock_hz = 0.5e9 * (1 + reads_), .temperature_c = 80.0 - reads_, .throttle_reasons = reads_ == 2 ? 4U : 1U};
  }
  std::optional<double> power_limit_w() override { return 700; }
  std::optional<double> default_power_limit_w() override { return 700; }
  std::optional<double> boost_hz() override { return 2e9; }
  std::string driver_version() override { return "1"; }
  int reads_ = 0;
  std::uint64_t energy_reads_ = 0;
};

TEST(Energy, MonitorSummarises) {
  FakeBoard board;
  BoardMonitor monitor(&board);
  // The slow sensors are read at 0, 0.05 and 0.1 s; the counter each time: five steps of 20 J, 25 ms apart.
  for (int i = 0; i < 5; ++i) monitor.poll(0.025 * i);
  const BoardSummary summary = monitor.summary();
  EXPECT_EQ(board.reads_, 3);
  EXPECT_DOUBLE_EQ(summary.sm_clock_hz, 1.5e9);
  EXPECT_DOUBLE_EQ(summary.sm_clock_min_hz, 1e9);
  EXPECT_DOUBLE_EQ(summary.temperature_c, 79);
  EXPECT_EQ(summary.throttle_reasons, 5);
  EXPECT_TRUE(std::isnan(summary.memory_clock_hz));
  EXPECT_LE(relative_error(summary.power_w, 800), kRounding);
}

TEST(Energy, WithoutBoardNothingIsKnown) {
  BoardMonitor monitor(nullptr);
  monitor.poll(0);
  EXPECT_TRUE(std::isnan(monitor.summary().power_w));
  EXPECT_EQ(monitor.summary().throttle_reasons, -1);
}

}  // namespace
}  // namespace hindsight::measure
