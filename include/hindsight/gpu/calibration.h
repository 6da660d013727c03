/// The fitted constants of the GEMM model: at most eight per GPU and dtype class, kept in data/gpus/calibration/*.yaml
/// with the data, the split, the error, the date and the command they came from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hindsight/gpu/gemm.h"
#include "hindsight/gpu/spec.h"

namespace hindsight::gpu {

/// The constants of one GPU and dtype class. Times are those of this GPU; what follows from the spec sheet
/// (rates, bandwidths, SMs, clocks) is not in here, so a set of constants serves a sibling GPU.
struct Constants {
  double launch_s = 0;         ///< an empty kernel inside a CUDA graph, start to start
  double fill_s = 0;           ///< first tile of operands: DRAM latency through the filling pipeline, and the epilogue
  double math_efficiency = 0;  ///< reached share of the peak rate in the main loop of the largest tile, at full clock
  double dram_efficiency = 0;  ///< reached share of the peak DRAM bandwidth by a kernel that fills the GPU
  double l2_efficiency = 0;    ///< reached share of the peak L2 bandwidth
  double sm_bytes_per_cycle = 0;  ///< what one SM draws from L2 and DRAM per clock at best
  double tile_effort = 0;         ///< growth of the cost per operation with the edge of a small tile
  double power_share = 0;         ///< how much of the slow-down of a settled power cap a burst shows, 0 to 1
};
inline constexpr std::size_t kConstantCount = 8;

/// Where a set of constants came from.
enum class CalibrationSource : std::uint8_t {
  own,       ///< fitted on measurements of this GPU
  transfer,  ///< fitted on another GPU; the spec sheet carries the difference
};

/// One calibration file.
struct Calibration {
  std::string gpu;  ///< GPU whose rows were fitted
  DTypeClass dtype_class = DTypeClass::tensor_core;
  Constants constants;
  CalibrationSource source = CalibrationSource::own;
  std::string data;  ///< file name and content hash of the measurements
  std::size_t row_count = 0;
  double held_out_mape_frac = 0;  ///< grouped 5-fold
  double held_out_median_frac = 0;
  double shortest_s = 0, longest_s = 0;                      ///< range of the measured latencies
  std::int64_t largest_m = 0, largest_n = 0, largest_k = 0;  ///< range of the measured sizes
};

/// Calibration for `spec` and `dtype`: its own file when there is one; else that of the nearest calibrated GPU
/// (same architecture first, then the closest generation, then the closest peak rate), marked `transfer`.
/// Errors: Error{usage} for a malformed file, Error{failure} when no calibration of the class is found at all.
[[nodiscard]] Calibration load_calibration(const GpuSpec& spec, DType dtype);
[[nodiscard]] Calibration read_calibration(const std::filesystem::path& file);

/// One measured row.
struct GemmMeasurement {
  Gemm gemm;
  double latency_s = 0;
};

/// How a fit went. Errors are |predicted / measured - 1|; held-out ones come from five folds grouped by (n, k).
struct CalibrationReport {
  Calibration calibration;
  double fitted_mape_frac = 0;
  double fitted_median_frac = 0;
  std::size_t iterations = 0;
  bool converged = false;
};

/// Robust least squares: minimises the sum of |log(predicted) - log(measured)| over the constants by
/// Levenberg-Marquardt with iteratively re-weighted rows, starting from `start`.
/// Errors: Error{usage} for fewer than 32 rows, a dtype of another class, a latency that is not positive.
[[nodiscard]] CalibrationReport calibrate(const GpuSpec& spec, std::span<const GemmMeasurement> rows,
                                          const Constants& start);
/// The YAML text of a calibration, as `read_calibration` reads it.
[[nodiscard]] std::string to_yaml(const CalibrationReport& report, const std::string& command, const std::string& date);

}  // namespace hindsight::gpu
