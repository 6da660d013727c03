/// Renders GEMM predictions: one product on some GPUs side by side, the terms behind each, all kernels ranked, tables
/// of many products, and whole networks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/dataset/csv_stream.h"
#include "hindsight/gpu/network.h"
#include "hindsight/gpu/predict.h"
#include "hindsight/report/plot.h"

namespace hindsight::report {

/// A GPU and the constants that predict it for one dtype.
struct CalibratedGpu {
  gpu::GpuSpec spec;
  gpu::Calibration calibration;
};
/// "calibrated on this GPU: 12345 rows, held-out error 6.5 % mean, 3.6 % median", or what is used instead.
[[nodiscard]] std::string calibration_text(const CalibratedGpu& gpu);
/// That the launches of these GPUs are those of a framework, and the option that leaves them out.
[[nodiscard]] std::string framework_launch_text(const std::vector<std::string>& gpus);

/// One product on one GPU.
struct GemmOnGpu {
  CalibratedGpu gpu;
  gpu::GemmPrediction prediction;
  double roofline_s = 0;
  double without_lock_s = 0;                         ///< latency of the board without its lock; 0: it has none
  bool fits_memory = true;                           ///< operands and result, at once
  std::vector<gpu::GemmPrediction> candidates = {};  ///< fastest first; empty: not asked for
};
struct GemmReport {
  gpu::Gemm gemm;
  gpu::RunMode mode = gpu::RunMode::burst;
  std::vector<GemmOnGpu> gpus;
  std::vector<std::string> left_out = {};  ///< GPUs that lack the dtype
};
[[nodiscard]] GemmOnGpu predict_on(const CalibratedGpu& gpu, const gpu::Gemm& gemm, gpu::RunMode mode);
/// One GPU: a list of figures; several: a table, a GPU a row. Then what the reader should know about their validity.
/// Lines at most `columns` wide where that is positive.
[[nodiscard]] std::string gemm_text(const GemmReport& report, int columns);
/// The same, then per GPU the terms of the fastest kernel, one line each.
[[nodiscard]] std::string gemm_explanation(const GemmReport& report, int columns);
/// Per GPU the kernels that the library could choose, fastest first.
[[nodiscard]] std::string gemm_candidates_text(const GemmReport& report, int columns);
/// A roofline plot: operations per byte of operands and result against operations per second, both logarithmic. Each
/// GPU's roof is of its arithmetic at the highest clock and of its DRAM and ends in its letter, its product is the
/// letter in upper case. Below, a line per GPU. At most eight GPUs, the first; a line says of how many.
[[nodiscard]] std::string gemm_plot_text(const GemmReport& report, int columns, PlotGlyphs glyphs);
/// Everything, as one JSON object.
[[nodiscard]] std::string gemm_json(const GemmReport& report);

/// How a table of products is written. As CSV: the input's columns, then latency_us, power_w, energy_mj, tflops, bound,
/// calibrated, in_validated_range, power_in_validated_range; with several GPUs the first column is `gpu`. As JSON: one
/// object per row and GPU with the GPU, the product, the other columns as text, and the same values. An input column of
/// an output's name becomes input_NAME.
enum class TableFormat : std::uint8_t { csv, json };

/// A table of products in pieces: the beginning, rows with `separator` between pieces, the end.
class GemmTableText {
 public:
  /// `header`: the input's columns; `gpus`: names.
  GemmTableText(TableFormat format, const std::vector<std::string>& header, std::vector<std::string> gpus,
                gpu::RunMode mode);
  [[nodiscard]] std::string begin() const;
  /// Appends a row of the input on every GPU; `predictions` one per GPU.
  void append(std::string& piece, const dataset::CsvBlock& block, std::size_t row, const gpu::Gemm& gemm,
              std::span<const gpu::GemmPrediction> predictions) const;
  [[nodiscard]] std::string_view separator() const { return format_ == TableFormat::json ? "," : ""; }
  /// `rows`: how many there were.
  [[nodiscard]] std::string end(std::size_t rows) const;

 private:
  void append_csv(std::string& piece, const dataset::CsvBlock& block, std::size_t row,
                  std::span<const gpu::GemmPrediction> predictions) const;

  TableFormat format_;
  std::vector<std::string> names_;    ///< of the input's columns in the output
  std::vector<bool> of_the_product_;  ///< which of these the product itself prints
  std::vector<std::string> gpus_;
  gpu::RunMode mode_;
};

/// One network on some GPUs.
struct NetworkOnGpu {
  CalibratedGpu gpu;
  gpu::NetworkPrediction prediction;
  std::int64_t devices = 1;   ///< GPUs that share it
  double resident_bytes = 0;  ///< that each of them holds at least
  double without_lock_s = 0;  ///< latency of the boards without their lock; 0: they have none
  [[nodiscard]] bool fits() const { return resident_bytes <= gpu.spec.dram_bytes; }
};
struct NetworkReport {
  const workload::Network* network = nullptr;
  gpu::DType dtype = gpu::DType::bf16;
  gpu::Quantisation quantisation = gpu::Quantisation::none;  ///< of the layers with weights
  gpu::RunMode mode = gpu::RunMode::sustained;
  std::vector<NetworkOnGpu> gpus;
  std::vector<std::string> left_out = {};
};
[[nodiscard]] std::string networks_gemm_text(const std::vector<NetworkReport>& reports, int columns);
/// The same, then per network and GPU one row per layer.
[[nodiscard]] std::string networks_gemm_explanation(const std::vector<NetworkReport>& reports, int columns);
/// A roofline plot per network: the GEMM of every layer, a mark per GPU; at most four GPUs.
[[nodiscard]] std::string networks_plot_text(const std::vector<NetworkReport>& reports, int columns, PlotGlyphs glyphs);
[[nodiscard]] std::string networks_gemm_json(const std::vector<NetworkReport>& reports);

/// Per GPU the best of the measured tiles of the plain tiled kernel (fp32), then a row per tile size 1 to 32: predicted
/// runtime, rate, occupancy, what binds; extrapolated ones marked. Tiles of which no block fits on an SM are left out.
[[nodiscard]] std::string tiled_text(const std::vector<gpu::GpuSpec>& specs, const gpu::Gemm& gemm, int columns);
/// {"gemm": ..., "gpus": [{"gpu", "best_tile", "best_over_16", "tiles": [{"tile", "extrapolated", ...}]}]}
[[nodiscard]] std::string tiled_json(const std::vector<gpu::GpuSpec>& specs, const gpu::Gemm& gemm);

}  // namespace hindsight::report
