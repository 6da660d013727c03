/// Sensors of a GPU board: energy counter, clocks, temperature, what holds the clocks down.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "hindsight/measure/energy.h"
#include "hindsight/measure/record.h"

namespace hindsight::measure {

/// One reading; what a board cannot tell stays empty.
struct BoardReading {
  std::optional<double> sm_clock_hz = {};
  std::optional<double> memory_clock_hz = {};
  std::optional<double> temperature_c = {};
  std::optional<std::uint64_t> throttle_reasons = {};
};

/// The sensors of one board. Reading never throws: a sensor that fails is a sensor that is not there.
class Board {
 public:
  virtual ~Board() = default;
  /// Energy since some moment, mJ.
  [[nodiscard]] virtual std::optional<std::uint64_t> energy_mj() = 0;
  [[nodiscard]] virtual BoardReading read() = 0;
  [[nodiscard]] virtual std::optional<double> power_limit_w() = 0;
  [[nodiscard]] virtual std::optional<double> default_power_limit_w() = 0;
  /// Highest SM clock that the driver allows, Hz; many boards never reach it.
  [[nodiscard]] virtual std::optional<double> boost_hz() = 0;
  [[nodiscard]] virtual std::string driver_version() = 0;
};

/// The board's sensors through NVIDIA's management library, opened at run time; or why they cannot be had.
struct BoardResult {
  std::unique_ptr<Board> board;  ///< null: `problem` says why
  std::string problem;
};
/// `pci_bus_id`: as CUDA gives it, "0000:01:00.0".
[[nodiscard]] BoardResult open_nvml_board(const std::string& pci_bus_id);

/// Collects readings while something runs; the caller polls it often (each call costs microseconds).
class BoardMonitor {
 public:
  /// `board` may be null: then nothing is known.
  explicit BoardMonitor(Board* board);
  void restart();
  /// Reads the energy counter, and the slower sensors at most every kReadEveryS.
  void poll(double now_s);
  [[nodiscard]] double energy_window_s() const { return energy_.window_s(); }
  [[nodiscard]] BoardSummary summary() const;
  static constexpr double kReadEveryS = 0.05;  ///< [chosen] clocks and temperatures move more slowly

 private:
  Board* board_;
  EnergyWindow energy_;
  std::optional<double> last_read_s_;
  double clock_sum_hz_ = 0;
  std::int64_t clock_readings_ = 0;
  BoardSummary summary_;
};

}  // namespace hindsight::measure
