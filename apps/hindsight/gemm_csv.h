/// Tables of matrix products: m, n, k and, where wanted, batch, dtype, layout per row.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gemm_rows.h"
#include "hindsight/report/gemm.h"

namespace hindsight::app {

/// What the operands hold, where the calibration's rows had weights that nobody wrote (docs/gpu-power.md).
enum class OperandChoice {
  recorded,  ///< as in those rows: zero weights for some shapes
  random,    ///< real data for every shape
};
/// What starts a kernel, where the calibration's rows are launches of a framework (docs/gpu.md).
enum class LaunchChoice {
  recorded,  ///< the framework, one call at a time
  kernel,    ///< a graph, in which kernels start one behind the other: gpu::with_kernel_launch
  stream,    ///< the host, one by one: gpu::with_stream_launch
};
/// What of the recorded rows a prediction repeats, and what was learned of them.
struct RecordedChoice {
  OperandChoice operands = OperandChoice::recorded;
  LaunchChoice launch = LaunchChoice::recorded;
  bool residual = true;                     ///< false: --no-residual
  std::vector<std::string> residual_files;  ///< of --residual; they come before the shipped ones
};
/// Error{incompatible} for a file of --residual that serves none of `specs` in any of `dtypes`, with the reason; the
/// reader's errors.
void require_residuals_serve(const std::vector<gpu::GpuSpec>& specs, std::span<const gpu::DType> dtypes,
                             const RecordedChoice& choice, const std::vector<gpu::Calibration>& given);
/// As gpu::load_calibration, for this choice.
[[nodiscard]] gpu::Calibration calibration_for(const gpu::GpuSpec& spec, gpu::DType dtype, const RecordedChoice& choice,
                                               const std::vector<gpu::Calibration>& given = {});

/// A table of products and what its rows do not say themselves.
struct TableRequest {
  std::string file;  ///< "-": standard input; gzip accepted
  std::string gpus;  ///< "all" leaves out GPUs that lack the dtype of some row
  GemmRowReader::Defaults defaults = {};
  RecordedChoice recorded = {};
  std::string calibrations = {};  ///< as read_given_calibrations takes it
  gpu::RunMode mode = gpu::RunMode::burst;
  report::TableFormat format = report::TableFormat::csv;
};

/// What the user should know of a table that was predicted.
struct TableSummary {
  std::size_t predictions = 0;
  std::size_t rooflines = 0;              ///< estimates of GPUs without a kernel model
  std::size_t of_zero_weights = 0;        ///< power as recorded for these shapes
  std::size_t outside_range = 0;          ///< not in_validated_range
  std::size_t power_outside_range = 0;    ///< not power_in_validated_range
  std::size_t misaligned = 0;             ///< not aligned, and outside_range
  std::size_t beyond_memory = 0;          ///< operands and result exceed the GPU's
  std::size_t unmet_limits = 0;           ///< above the power limit at the lowest clock
  std::vector<std::string> remarks = {};  ///< unused columns, GPUs left out, whose launches
};

/// Where a table goes.
struct TableSink {
  std::function<void(std::string_view)> write;  ///< pieces in order, of several threads but never at once
  bool can_take_back = false;                   ///< what was written is forgotten after an error
};

/// Predicts every row on every GPU, in blocks on several threads: memory does not grow with the table. Errors:
/// Error{usage} with file:line:column and the expected columns. Where the sink cannot take back, a file is read twice,
/// so that nothing is written of a table that is refused; a pipe's good rows before a bad one are written, unless
/// `gpus` is "all", for which a pipe is kept in a temporary file. Error{interrupted} after Ctrl-C.
TableSummary predict_table(const TableRequest& request, const TableSink& sink);

}  // namespace hindsight::app
