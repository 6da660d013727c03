/// Samples power, clocks and temperature of a board, and summarises them.
#include "hindsight/measure/board.h"

#include <algorithm>
#include <cmath>

namespace hindsight::measure {
namespace {

/// What a board of unknown limit can draw at most.
constexpr double kLargestPowerW = 5000;  // [chosen] above every board sold
/// Short peaks above the limit are real; beyond this the counter was reset.
constexpr double kPeakOverLimit = 4;  // [chosen]

double largest_power_w(Board* board) {
  const std::optional<double> limit = board == nullptr ? std::nullopt : board->power_limit_w();
  return limit ? kPeakOverLimit * *limit : kLargestPowerW;
}

}  // namespace

BoardMonitor::BoardMonitor(Board* board) : board_(board), energy_(largest_power_w(board)) {}

void BoardMonitor::restart() {
  energy_.restart();
  last_read_s_.reset();
  clock_sum_hz_ = 0;
  clock_readings_ = 0;
  summary_ = {};
}

void BoardMonitor::poll(double now_s) {
  if (board_ == nullptr) return;
  if (const auto energy_mj = board_->energy_mj()) energy_.add(now_s, *energy_mj);
  if (last_read_s_ && now_s - *last_read_s_ < kReadEveryS) return;
  last_read_s_ = now_s;
  const BoardReading reading = board_->read();
  if (reading.sm_clock_hz) {
    clock_sum_hz_ += *reading.sm_clock_hz;
    ++clock_readings_;
    summary_.sm_clock_min_hz = std::fmin(summary_.sm_clock_min_hz, *reading.sm_clock_hz);  // ignores NaN
  }
  if (reading.memory_clock_hz) summary_.memory_clock_hz = *reading.memory_clock_hz;
  if (reading.temperature_c) summary_.temperature_c = std::fmax(summary_.temperature_c, *reading.temperature_c);
  if (reading.throttle_reasons) {
    const auto seen = std::max<std::int64_t>(summary_.throttle_reasons, 0);
    summary_.throttle_reasons = seen | static_cast<std::int64_t>(*reading.throttle_reasons);
  }
}

BoardSummary BoardMonitor::summary() const {
  BoardSummary result = summary_;
  if (clock_readings_ > 0) result.sm_clock_hz = clock_sum_hz_ / static_cast<double>(clock_readings_);
  if (const auto power_w = energy_.power_w()) {
    result.power_w = *power_w;
    result.window_s = energy_.window_s();
  }
  return result;
}

}  // namespace hindsight::measure
