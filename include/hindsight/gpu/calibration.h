/// The fitted constants of the GEMM model: at most eight per GPU and dtype class, kept in data/gpus/calibration/*.yaml
/// with the data, the split, the error, the date and the command they came from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/gpu/gemm.h"
#include "hindsight/gpu/power_calibration.h"
#include "hindsight/gpu/spec.h"
#include "hindsight/gpu/validity.h"

namespace hindsight::gpu {

struct Residual;

/// The constants of one GPU and dtype class. What follows from the spec sheet (rates, bandwidths, SMs, clocks) is not
/// in here, and on-chip latencies count cycles, so a set of constants serves a sibling GPU.
/// Fitted are eight for the tensor cores; seven for the CUDA cores, whose kernels never wait for the L2 long enough
/// to tell its efficiency, and `launch_floor_s` is theirs alone; and six for 8 bits, where `quantise_cycles` stands in
/// for `launch_cycles`, of which it cannot be told apart, k is not split, and no row tells `op_j` well.
struct Constants {
  double launch_cycles = 4500;     ///< an empty kernel, start to start, at the boost clock
  double reduction_cycles = 5000;  ///< start of the second kernel that adds the parts of a split k
  double epilogue_cycles = 1100;   ///< prologue and epilogue of a CTA with a tile of 128 x 128
  double dram_efficiency = 0.8;    ///< reached share of the peak DRAM bandwidth
  double l2_efficiency = 0.7;      ///< reached share of the L2's bandwidth
  double l2_resident_frac = 0.6;   ///< share of the L2 that keeps data from launch to launch
  double op_j = 1e-12;             ///< energy per operation at the boost clock: of the power limit and of power alike
  double settle_s = 1e-3;          ///< kernel duration at which a burst shows half of the most that bursts show
  double launch_floor_s = 0;       ///< least time between launches from the host; 0 inside CUDA graphs
  double quantise_cycles = 4500;   ///< 8 bits: start of the kernel that quantises the activations
  /// Of `launch_cycles`, seconds that the host's launch of a short burst takes of each of its kernels; a settled run,
  /// whose kernels are without number, has no such share. It depends on how rows were collected, and no fit moves it:
  /// 6.54 us, at most, of thirty kernels where a collector launches six graphs of five between two events
  /// [measured: graph_round_trip_s of data/measurements/h100-sxm5-2026-11-27, docs/gpu.md].
  double burst_start_s = 0;
};
inline constexpr std::size_t kConstantCount = 11;

/// One constant: its key in files, its member, bounds of a plausible value, and whom it is fitted for.
struct ConstantField {
  const char* key;
  double Constants::*member;
  double low, high;
  bool tensor_core, cuda_core, tensor_core_8bit;
  [[nodiscard]] bool fitted_for(DTypeClass dtype_class) const {
    return dtype_class == DTypeClass::cuda_core     ? cuda_core
           : dtype_class == DTypeClass::tensor_core ? tensor_core
                                                    : tensor_core_8bit;
  }
  /// Fitted for 8 bits alone: the files of the other classes do not hold it.
  [[nodiscard]] bool of_8bit_alone() const { return tensor_core_8bit && !tensor_core && !cuda_core; }
  /// Set by who knows how the rows were collected: a file holds it only where it is not 0.
  [[nodiscard]] bool of_no_fit() const { return !tensor_core_8bit && !tensor_core && !cuda_core; }
  [[nodiscard]] bool written_for(DTypeClass dtype_class) const {
    return dtype_class == DTypeClass::tensor_core_8bit || !of_8bit_alone();
  }
};
inline constexpr std::array<ConstantField, kConstantCount> kConstantFields{{
    {"launch_cycles", &Constants::launch_cycles, 1, 1e6, true, true, false},
    {"reduction_cycles", &Constants::reduction_cycles, 1, 1e6, true, true, false},
    {"epilogue_cycles", &Constants::epilogue_cycles, 1e-1, 1e6, true, true, true},
    {"dram_efficiency", &Constants::dram_efficiency, 0.05, 1, true, true, true},
    {"l2_efficiency", &Constants::l2_efficiency, 0.05, 1, true, false, true},
    {"l2_resident_frac", &Constants::l2_resident_frac, 0.01, 1, true, true, true},
    {"op_j", &Constants::op_j, 1e-14, 1e-10, true, true, false},
    {"settle_s", &Constants::settle_s, 1e-6, 1, true, false, true},
    {"launch_floor_s", &Constants::launch_floor_s, 0, 1e-3, false, true, false},
    {"quantise_cycles", &Constants::quantise_cycles, 1, 1e6, false, false, true},
    {"burst_start_s", &Constants::burst_start_s, 0, 1e-4, false, false, false},
}};

/// The constant with this key in files. Error{usage} with the nearest one for an unknown key.
[[nodiscard]] const ConstantField& constant_field(std::string_view key);

/// Where a set of constants came from.
enum class CalibrationSource : std::uint8_t {
  own,       ///< fitted on measurements of this GPU
  transfer,  ///< fitted on another GPU; the spec sheet carries the difference
  roofline,  ///< chosen or from sources: the GPU has no kernel model and gets a roofline estimate
};

/// Whether constants come with the learned correction that the data folder has for them.
enum class Residuals : std::uint8_t { shipped, none };

/// One calibration file.
struct Calibration {
  std::string gpu;  ///< GPU whose rows were fitted
  DTypeClass dtype_class = DTypeClass::tensor_core;
  Constants constants;
  PowerConstants power;  ///< of the board; its `op_j` is not read, that of `constants` counts
  /// Shapes whose measured power is that of zero weights; empty it to predict the power of real data for them too. They
  /// count only for runs that `power_range` holds: its formats, layouts, sizes and way of running.
  UnwrittenWeights unwritten;
  /// The learned correction on top of `constants`; nothing: off, for the reason that `residual_off` gives.
  std::shared_ptr<const Residual> residual;
  std::string residual_off = "not asked for";
  /// Whether products in blocks that no framework launches but from the host take as long as that was recorded to take;
  /// `with_kernel_launch` unsets it.
  bool host_launched_blocks = true;
  /// fp8 on Hopper: the constants of 16 bits, with the energy per operation of these. Products that nothing quantises
  /// come from the vendor's library, whose kernels take half of k as 16 bits do; those of `constants` are frameworks'
  /// (docs/gpu.md). Nothing: one set serves both.
  std::shared_ptr<const Calibration> library;
  CalibrationSource source = CalibrationSource::own;
  std::string data;  ///< file name and content hash of the measurements
  std::size_t row_count = 0;
  double held_out_mape_frac = 0;  ///< grouped 5-fold
  double held_out_median_frac = 0;
  /// Constants that the fit was not free to choose, because the rows are of a peculiar board; no other GPU gets them.
  std::vector<const ConstantField*> held;
  std::string note;                           ///< what is peculiar; empty: nothing
  ValidatedRange range;                       ///< of the measured rows
  std::optional<ValidatedRange> power_range;  ///< nothing: no power was measured on this GPU
};

/// "own", "transfer", "roofline".
[[nodiscard]] std::string_view to_string(CalibrationSource source);

/// Calibration for `spec` and `dtype`: the one of `given` for a GPU of this name; else its own file, the one for a GPU
/// of this name whose sheet, where a data folder has it, is of the `same_chip` (a name that somebody else chose proves
/// nothing), marked `transfer` where it is not of the `same_board`; else that of the nearest calibrated GPU with a
/// sheet (same `kernel_architecture` first, then the closest generation, then the closest peak rate), marked
/// `transfer`; its energy per operation is scaled by the ratio of the two GPUs' `default_power_constants`. A GPU
/// without a kernel model has constants of its own, marked `roofline`. Errors: Error{usage} for a malformed file or one
/// of `given` for a GPU without a kernel model, Error{failure} when no calibration of the class is found at all.
[[nodiscard]] Calibration load_calibration(const GpuSpec& spec, DType dtype, std::span<const Calibration> given = {},
                                           Residuals residuals = Residuals::shipped);
/// Constants fitted on `source` for `target`: the same, but for the energy per operation, and for the CUDA cores'
/// `settle_s`, which is the target's.
[[nodiscard]] Constants transferred(const Constants& constants, DTypeClass dtype_class, const GpuSpec& source,
                                    const GpuSpec& target);
/// The same for a calibration, with the power constants of `target`; what was `held` is that of `start_constants`.
[[nodiscard]] Calibration transferred(const Calibration& calibration, const GpuSpec& source, const GpuSpec& target,
                                      Residuals residuals = Residuals::shipped);
/// A file that `hindsight calibrate` wrote; its power constants are the defaults. Error{usage} with file:line:column.
[[nodiscard]] Calibration read_calibration(const std::filesystem::path& file);

/// What of a calibration predicts this product: `library` where it has one and nothing quantises, else itself.
[[nodiscard]] const Calibration& serving(const Calibration& calibration, const Gemm& gemm);

/// Whether the constants hold the launches of a framework outside CUDA graphs: the host, not the GPU, sets their time.
[[nodiscard]] bool launched_by_framework(const Calibration& calibration);
/// The same GPU where kernels start one behind the other, as in a CUDA graph: constants of a framework's launches get
/// the launch (with its `burst_start_s`), and the start of a split k's second kernel, of the tensor-core constants that
/// `load_calibration` has for `spec`, where those are shorter, and no least time between launches. No row was measured
/// so: nothing lies in the validated range. Other constants stay as they are. Errors as load_calibration.
[[nodiscard]] Calibration with_kernel_launch(const Calibration& calibration, const GpuSpec& spec,
                                             std::span<const Calibration> given = {});

/// As with_kernel_launch, for kernels that the host launches one by one from a stream: none starts before the host has
/// launched it, at least 4 us after the one before. Nothing lies in the validated range, and nothing is corrected.
[[nodiscard]] Calibration with_stream_launch(const Calibration& calibration, const GpuSpec& spec,
                                             std::span<const Calibration> given = {});

/// One measured row.
struct GemmMeasurement {
  Gemm gemm;
  double latency_s = 0;
};
/// The rows of one GPU.
struct MeasuredGpu {
  const GpuSpec* spec = nullptr;
  std::span<const GemmMeasurement> rows;
};

/// Errors of predictions: |predicted / measured - 1|.
struct LatencyErrors {
  std::size_t rows = 0;
  double mape_frac = 0;
  double median_frac = 0;
  double p90_frac = 0;
  double r2_log = 0;  ///< of the logarithms: latencies span six decades
  double r2 = 0;      ///< of the latencies themselves: the longest decide
};
/// `predicted_s` and `measured_s` have the same length.
[[nodiscard]] LatencyErrors latency_errors(std::span<const double> predicted_s, std::span<const double> measured_s);

/// Held-out errors come from five folds; rows of the same (n, k) are in the same fold.
inline constexpr int kFolds = 5;
[[nodiscard]] int fold_of(const Gemm& gemm);

/// How a fit went.
struct CalibrationReport {
  Calibration calibration;
  LatencyErrors fitted;
  LatencyErrors held_out;          ///< zero rows without cross-validation
  std::vector<double> held_out_s;  ///< predictions by the fold that did not see the row; empty without
  std::size_t iterations = 0;
};

/// Constants to start a fit from, and of a GPU that nothing was fitted for.
[[nodiscard]] Constants start_constants(const GpuSpec& spec, DTypeClass dtype_class);

/// What becomes of latencies that are orders of magnitude off.
enum class Implausible : std::uint8_t { refused, taken };

/// Options of a fit.
struct CalibrateOptions {
  Constants start = {};
  std::vector<const ConstantField*> held = {};  ///< keep their start values
  RunMode mode = RunMode::burst;
  bool cross_validate = true;    ///< five more fits for the held-out errors
  std::size_t most_rows = 6000;  ///< fits see an even sample of at most this many rows; errors are of all rows
  Implausible implausible = Implausible::refused;
};

/// Errors: Error{usage} for rows that no fit takes, as `calibrate` says.
void require_measurements(const GpuSpec& spec, std::span<const GemmMeasurement> rows);
/// Error{usage} for latencies that are all equal, or at the median more than 30 times off what a GPU of this sheet
/// takes: they are of another column or unit, which is named where one explains them. `rows`: not empty.
void require_plausible(const GpuSpec& spec, std::span<const GemmMeasurement> rows, RunMode mode);
/// Why constants with these held-out errors predict nothing, as the beginning of a message; empty: they do.
[[nodiscard]] std::string fit_problem(const LatencyErrors& held_out);

/// Robust least squares on log(measured) - log(predicted): Levenberg-Marquardt with rows re-weighted for least absolute
/// deviations, then a compass search on the sum of absolute deviations itself, because the choice of tiles makes it
/// piecewise smooth. Constants that the class does not fit keep their start values.
/// With several GPUs the constants are the first one's and serve the others as `transferred` says.
/// Errors: Error{usage} for fewer than 32 rows or 5 groups of (n, k), rows of several classes, a latency that is not
/// positive.
[[nodiscard]] CalibrationReport calibrate(std::span<const MeasuredGpu> gpus, const CalibrateOptions& options = {});
[[nodiscard]] CalibrationReport calibrate(const GpuSpec& spec, std::span<const GemmMeasurement> rows,
                                          const CalibrateOptions& options = {});
/// The YAML text of a calibration, as `read_calibration` reads it.
[[nodiscard]] std::string to_yaml(const CalibrationReport& report, const std::string& command, const std::string& date);

}  // namespace hindsight::gpu
