/// Fits the power constants of a GPU to measured board power.
///
/// Fitted are `active_w`, the shares of zero weights and the lead of their readings. Most measured rows stand at the
/// limit and say only that the power without it would be at least as high, so that they cannot tell operations from L2
/// and DRAM: `op_j` comes from runtimes under the limit, the energies of bytes are the architecture's.
///
/// Rows that read less than their neighbours, the same (n, k) at the next smaller and larger products, are left out of
/// the fit: a library changes its kernel there, loading it leaves the board idle, and the sensor's window holds some of
/// that (docs/gpu-power.md). Errors are told of all rows and of the others.
///
/// Method: robust least squares on relative errors (soft L1, Gauss-Newton with a Levenberg-Marquardt step) over the
/// logarithms of the constants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hindsight/gpu/power.h"
#include "hindsight/gpu/predict.h"

namespace hindsight::gpu {

/// One measured row: a kernel repeated until its power settled.
struct PowerMeasurement {
  PowerWork work;
  double latency_s = 0;     ///< measured
  double power_w = 0;       ///< measured, board
  std::uint64_t group = 0;  ///< rows of one group never stand on both sides of a split
};

/// A measured row of a GEMM: operations and traffic as `predictor` has them, grouped by (n, k).
[[nodiscard]] PowerMeasurement power_measurement(const Predictor& predictor, const Gemm& gemm, double latency_s,
                                                 double power_w, Operands operands);

/// Errors of predictions against measured powers.
struct PowerErrors {
  std::size_t rows = 0;
  double mape_frac = 0;
  double median_frac = 0;
  double r2 = 0;  ///< 1 - squared errors over those of the mean; 0 where all powers are the same
};
/// `predicted_w` and `measured_w` have the same length.
[[nodiscard]] PowerErrors power_errors(std::span<const double> predicted_w, std::span<const double> measured_w);

/// Why constants with these held-out errors predict nothing, as the beginning of a message; empty: they do.
[[nodiscard]] std::string fit_problem(const PowerErrors& held_out);

/// Reading of a measured row by the model: at the highest clock for the measured latency, or the cap where that is
/// less; less again where an idle board went before.
[[nodiscard]] double modelled_power_w(const BoardPower& board, const PowerMeasurement& row);

struct PowerFit {
  PowerConstants constants;
  PowerErrors fitted = {};              ///< on all rows
  PowerErrors held_out = {};            ///< five folds, grouped
  PowerErrors held_out_below_cap = {};  ///< of these, rows below 95 % of the cap
  std::size_t unsettled_rows = 0;       ///< that read less than their neighbours and were left out of the fit
  PowerErrors settled = {};             ///< held out, of the others
  PowerErrors settled_below_cap = {};   ///< of these, rows below 95 % of the cap
};

/// Of every row, whether it reads less than 95 % of the larger of the two rows before it and of the larger of the two
/// after it, by operations, in its group: power rises or falls with the product, but has no hole. First and last rows
/// do not.
[[nodiscard]] std::vector<bool> unsettled_rows(std::span<const PowerMeasurement> rows);

/// What a fit leaves as it starts.
enum class PowerFitted : std::uint8_t { all, shares_of_zero_weights };

/// Constants that are not fitted keep the values of `start`: with `shares_of_zero_weights` also `active_w`, on which
/// runtimes under the limit depend as well.
/// Errors: Error{usage} for fewer than ten rows, fewer than five groups, or a number that is not positive.
[[nodiscard]] PowerFit fit_power(const GpuSpec& spec, DType dtype, std::span<const PowerMeasurement> rows,
                                 const PowerConstants& start, PowerFitted fitted = PowerFitted::all);

}  // namespace hindsight::gpu
