// Fits the power constants of a GPU to measured board power and prints a calibration file.
//
//   power_fit --gpu h200 --rows h200_sxm_power.csv.gz --dtype bfloat16 > data/gpus/calibration/power/h200.yaml
//
// Columns of the table: gemm_dtype, m, n, k, latency (ms), power (W). Rows shorter than --shortest-us are left out:
// the board's sensor averages over a second, so that the pauses around a short run count. Operations and traffic are
// the predictor's, the latency is the measured one.
#include "hindsight/gpu/power_fit.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/csv_import.h"
#include "hindsight/gpu/power_calibration.h"
#include "hindsight/gpu/predict.h"

namespace {

using namespace hindsight;

struct Options {
  std::string gpu = "h200";
  std::string rows;
  std::string dtype = "bfloat16";  // as the column gemm_dtype has it
  double shortest_us = 100;
  bool random_operands = false;
};

double number(const dataset::CsvTable& table, std::size_t row, std::size_t column) {
  const std::optional<double> value = parse_double(table.rows[row][column]);
  if (!value || !(*value > 0)) {
    throw Error(ErrorKind::usage, fmt::format("{}: row {}: '{}' is no positive number", table.file.string(), row + 1,
                                              printable(table.rows[row][column])));
  }
  return *value;
}

std::vector<gpu::PowerMeasurement> read_rows(const Options& options, const gpu::GpuSpec& spec,
                                             const gpu::PowerCalibration& known, gpu::ValidatedRange& range) {
  const dataset::CsvTable table = dataset::read_csv(options.rows);
  const std::size_t dtype = table.column("gemm_dtype"), m = table.column("m"), n = table.column("n"),
                    k = table.column("k"), latency = table.column("latency"), power = table.column("power");
  const gpu::DType format = options.dtype == "fp8_block" ? gpu::DType::fp8 : gpu::parse_dtype(options.dtype);
  const gpu::Calibration runtime = gpu::load_calibration(spec, format);
  std::vector<gpu::PowerMeasurement> rows;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (table.rows[i][dtype] != options.dtype || number(table, i, latency) * 1e3 < options.shortest_us) continue;
    const gpu::Gemm gemm{.m = static_cast<std::int64_t>(number(table, i, m)),
                         .n = static_cast<std::int64_t>(number(table, i, n)),
                         .k = static_cast<std::int64_t>(number(table, i, k)),
                         .dtype = format};
    const gpu::GemmPrediction prediction = gpu::predict(spec, runtime, gemm, gpu::RunMode::sustained);
    const gpu::Operands operands =
        options.random_operands ? gpu::Operands::random : gpu::recorded_operands(known.unwritten, gemm);
    gpu::PowerWork work = prediction.work;
    work.operands = operands;
    rows.push_back({.work = work,
                    .latency_s = number(table, i, latency) * 1e-3,
                    .power_w = number(table, i, power),
                    .group = (static_cast<std::uint64_t>(gemm.n) << 32U) + static_cast<std::uint64_t>(gemm.k)});
    gpu::include(range, gemm, rows.back().latency_s);
  }
  return rows;
}

std::string errors_text(const gpu::PowerErrors& errors) {
  return fmt::format("{} rows, MAPE {:.2f} %, median {:.2f} %, R2 {:.3f}", errors.rows, 100 * errors.mape_frac,
                     100 * errors.median_frac, errors.r2);
}

int fit(const Options& options, const std::string& command) {
  const gpu::GpuSpec spec = gpu::load_gpu(options.gpu);
  const gpu::PowerCalibration known = gpu::load_power_calibration(spec, gpu::DTypeClass::tensor_core);
  gpu::ValidatedRange range;
  range.mode = gpu::RunMode::sustained;
  const std::vector<gpu::PowerMeasurement> rows = read_rows(options, spec, known, range);
  const gpu::DType format = options.dtype == "fp8_block" ? gpu::DType::fp8 : gpu::parse_dtype(options.dtype);
  gpu::PowerConstants start = gpu::default_power_constants(spec, gpu::dtype_class(format));
  start.op_j = gpu::load_calibration(spec, format).constants.op_j;
  const gpu::PowerFit result = gpu::fit_power(spec, format, rows, start);
  fmt::print(stderr, "all rows, fitted:      {}\nfive folds, held out:  {}\nof these below the cap: {}\n",
             errors_text(result.fitted), errors_text(result.held_out), errors_text(result.held_out_below_cap));
  const gpu::PowerConstants& c = result.constants;
  constexpr double kPico = 1e12;
  fmt::print(
      "# Power constants, fitted on measured power; docs/gpu-power.md says what the fields mean.\n"
      "gpu: {}\ndtype_class: {}\ndata: {}, {} rows of {} us and above  # [data: aiconfigurator]\n"
      "split: five folds, grouped by (n, k)\nrows: {}\nrange: {}\ndate: {}\ncommand: {}\n",
      spec.name, gpu::to_string(gpu::dtype_class(format)), std::filesystem::path(options.rows).filename().string(),
      options.dtype, shortest(options.shortest_us), result.held_out.rows, gpu::to_yaml(range), utc_now().substr(0, 10),
      command);
  fmt::print("held_out: {{mape_frac: {:.4f}, median_frac: {:.4f}, r2: {:.3f}}}\n", result.held_out.mape_frac,
             result.held_out.median_frac, result.held_out.r2);
  fmt::print(
      "constants:\n  active_w: {:.4g}\n  l2_pj_per_byte: {:.4g}\n  dram_pj_per_byte: {:.4g}\n"
      "  zero_weight_share: {:.4g}\n",
      c.active_w, c.l2_byte_j * kPico, c.dram_byte_j * kPico, c.zero_weight_share);
  fmt::print(
      "# The collector allocates bf16 weights without writing them. Rows of these shapes draw as if the weights\n"
      "# were zero.\nunwritten_weights: {{k_at_least: {}, weight_gb_at_least: {}}}\n",
      shortest(known.unwritten.k_at_least), shortest(known.unwritten.weight_bytes_at_least / 1e9));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Fits power constants to measured board power");
  app.add_option("--gpu", options.gpu, "Spec sheet [h200]");
  app.add_option("--rows", options.rows, "Table of measurements, .csv or .csv.gz")->required();
  app.add_option("--dtype", options.dtype, "Value of gemm_dtype to take [bfloat16]");
  app.add_option("--shortest-us", options.shortest_us, "Shortest latency to take [100]");
  app.add_flag("--random-operands", options.random_operands, "Take all weights as random");
  try {
    app.parse(argc, argv);
    return fit(options, fmt::format("bench/power_fit --gpu {} --dtype {} --rows {}", options.gpu, options.dtype,
                                    std::filesystem::path(options.rows).filename().string()));
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const Error& error) {
    fmt::print(stderr, "power_fit: {}\n", error.what());
    return exit_code(error.kind());
  }
}
