/// How far are predicted GEMM runtimes and powers from measurements, beside simpler predictors on the same splits?
///
///   gemm_accuracy FOLDER [--json FILE]      FOLDER holds the tables that the data's README names
///   gemm_accuracy --boards FOLDER           the boards of data/measurements alone, by the shipped constants
///
/// Runtime rows are held out in five folds grouped by (n, k); transfers see no row of the target. The tables print as
/// Markdown.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <Eigen/Dense>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "check/random_forest.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/gemm_rows.h"
#include "hindsight/gpu/power_calibration.h"
#include "hindsight/gpu/power_fit.h"
#include "hindsight/gpu/predict.h"
#include "hindsight/gpu/residual.h"
#include "hindsight/gpu/tiled_kernel.h"
#include "hindsight/measure/json_lines.h"
#include "hindsight/measure/sheet.h"

namespace hindsight {
namespace {

using gpu::DType;
using gpu::GemmMeasurement;
using gpu::GpuSpec;
using gpu::RunMode;
using Rows = std::vector<GemmMeasurement>;

constexpr double kLongS = 50e-6;  // latencies above it are scored separately

/// Collects rows of one table for Markdown and JSON.
class Scores {
 public:
  Scores() {
    for (const char* header : {"data", "predictor"}) table_.add_column(header, Align::left);
    for (const char* header : {"rows", "MAPE %", "median %", "p90 %", "R2", "R2 log", "MAPE % > 50 us", "median %"}) {
      table_.add_column(header, Align::right);
    }
  }
  void add(const std::string& data, const std::string& predictor, const std::vector<double>& predicted_s,
           const Rows& rows) {
    std::vector<double> measured_s, long_predicted_s, long_measured_s;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      measured_s.push_back(rows[i].latency_s);
      if (rows[i].latency_s <= kLongS) continue;
      long_predicted_s.push_back(predicted_s[i]);
      long_measured_s.push_back(rows[i].latency_s);
    }
    const gpu::LatencyErrors all = gpu::latency_errors(predicted_s, measured_s),
                             longer = gpu::latency_errors(long_predicted_s, long_measured_s);
    const auto percent = [](double frac) { return fmt::format("{:.2f}", 100 * frac); };
    table_.add_row({data, predictor, with_commas(all.rows), percent(all.mape_frac), percent(all.median_frac),
                    percent(all.p90_frac), fmt::format("{:.4f}", all.r2), fmt::format("{:.4f}", all.r2_log),
                    percent(longer.mape_frac), percent(longer.median_frac)});
    json_.push_back({{"data", data},
                     {"predictor", predictor},
                     {"rows", all.rows},
                     {"mape_frac", all.mape_frac},
                     {"median_frac", all.median_frac},
                     {"p90_frac", all.p90_frac},
                     {"r2", all.r2},
                     {"r2_log", all.r2_log},
                     {"mape_long_frac", longer.mape_frac},
                     {"median_long_frac", longer.median_frac},
                     {"r2_long", longer.r2},
                     {"r2_log_long", longer.r2_log}});
    std::fprintf(stderr, "%s, %s: done\n", data.c_str(), predictor.c_str());
  }
  [[nodiscard]] std::string markdown() const { return table_.markdown(); }
  [[nodiscard]] const nlohmann::json& json() const { return json_; }

 private:
  Table table_;
  nlohmann::json json_ = nlohmann::json::array();
};

std::vector<double> predict_all(const GpuSpec& spec, const gpu::Calibration& calibration, const Rows& rows,
                                RunMode mode) {
  const gpu::Predictor predictor(spec, calibration, rows.front().gemm.dtype);
  std::vector<double> predicted_s;
  for (const GemmMeasurement& row : rows) predicted_s.push_back(predictor.latency_s(row.gemm, mode));
  return predicted_s;
}

/// The speed-of-light rule of inference frameworks: 80 % of the bandwidth, the peak rate, 3 us [data: aiconfigurator].
double speed_of_light_s(const GpuSpec& spec, const gpu::Gemm& gemm) {
  constexpr double kShareOfBandwidth = 0.8, kConstantS = 3e-6;
  const gpu::MathRate& rate = spec.rate(gemm.dtype);
  return kConstantS + std::max(gpu::ops(gemm) / rate.peak_ops_per_s,
                               gpu::compulsory_bytes(gemm) / (kShareOfBandwidth * spec.dram_bytes_per_s));
}

std::vector<double> forest_held_out(const Rows& rows) {
  constexpr int kFeatures = 6;
  constexpr std::size_t kTrees = 30;  // more trees change the second digit of the error by less than one
  const auto count = static_cast<Eigen::Index>(rows.size());
  Eigen::MatrixXf features(count, kFeatures);
  Eigen::VectorXd targets(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const gpu::Gemm& gemm = rows[static_cast<std::size_t>(i)].gemm;
    const double values[kFeatures] = {std::log2(gemm.m),
                                      std::log2(gemm.n),
                                      std::log2(gemm.k),
                                      std::log2(gpu::ops(gemm)),
                                      std::log2(gpu::compulsory_bytes(gemm)),
                                      std::log2(gpu::ops(gemm) / gpu::compulsory_bytes(gemm))};
    for (int f = 0; f < kFeatures; ++f) features(i, f) = static_cast<float>(values[f]);
    targets[i] = std::log(rows[static_cast<std::size_t>(i)].latency_s);
  }
  std::vector<double> predicted_s(rows.size());
  for (int fold = 0; fold < gpu::kFolds; ++fold) {
    std::vector<Eigen::Index> training;
    for (Eigen::Index i = 0; i < count; ++i) {
      if (gpu::fold_of(rows[static_cast<std::size_t>(i)].gemm) != fold) training.push_back(i);
    }
    const check::RandomForest forest(features(training, Eigen::all), targets(training), {.trees = kTrees});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (gpu::fold_of(rows[i].gemm) != fold) continue;
      const Eigen::VectorXf row = features.row(static_cast<Eigen::Index>(i));
      predicted_s[i] = std::exp(forest.predict(row.data()));
    }
  }
  return predicted_s;
}

struct Measured {
  std::string title;
  GpuSpec spec;
  Rows rows;
};

/// The power of the board belongs to a prediction and to no file of runtimes.
gpu::Calibration with_power(gpu::Calibration calibration, const GpuSpec& spec) {
  calibration.power = gpu::load_power_calibration(spec, calibration.dtype_class).constants;
  return calibration;
}

void score_bf16(Scores& scores, const std::vector<Measured>& sets) {
  for (const Measured& set : sets) {
    const gpu::CalibrationReport report =
        gpu::calibrate(set.spec, set.rows, {.start = gpu::start_constants(set.spec, gpu::DTypeClass::tensor_core)});
    scores.add(set.title, "model, held out", report.held_out_s, set.rows);
    const gpu::ResidualTraining learned =
        gpu::train_residual(set.spec, with_power(report.calibration, set.spec), set.rows, RunMode::burst);
    scores.add(set.title, "model and residual, held out", learned.held_out_s, set.rows);
    std::vector<double> roofline_s, light_s;
    for (const GemmMeasurement& row : set.rows) {
      roofline_s.push_back(gpu::roofline_s(set.spec, row.gemm));
      light_s.push_back(speed_of_light_s(set.spec, row.gemm));
    }
    scores.add(set.title, "roofline", roofline_s, set.rows);
    scores.add(set.title, "0.8 x bandwidth + 3 us", light_s, set.rows);
    scores.add(set.title, "random forest, held out", forest_held_out(set.rows), set.rows);
  }
}

/// fp8 as frameworks run it: medians over the frameworks of what one format of the table says; what each framework's
/// own rows are off from that median is the noise under which no predictor of products alone can get. Constants are the
/// shipped ones' kind: fitted on all formats of a table that `fitted_formats` names.
struct Fp8Table {
  std::string title;
  GpuSpec spec;
  std::filesystem::path file;
  std::vector<std::pair<std::string, std::string>> formats;  ///< in the table; in the title
  std::optional<std::string> fitted_format;                  ///< nothing: all of them
};

Rows fp8_rows(const Fp8Table& table, const std::optional<std::string>& format) {
  std::vector<dataset::RowFilter> filters;
  if (format) filters.push_back({"dtype", *format});
  return dataset::read_gemm_rows(dataset::read_csv(table.file), {}, filters, DType::fp8, gpu::Quantisation::dynamic);
}

void score_fp8(Scores& scores, const Fp8Table& table) {
  constexpr std::size_t kLeastRows = 2;  // frameworks that a median is of
  const Rows fitted = dataset::medians(fp8_rows(table, table.fitted_format), kLeastRows);
  const gpu::CalibrationReport report = gpu::calibrate(
      table.spec, fitted, {.start = gpu::start_constants(table.spec, gpu::DTypeClass::tensor_core_8bit)});
  const auto product = [](const gpu::Gemm& g) { return std::tuple(g.m, g.n, g.k, g.quantisation); };
  std::map<decltype(product(fitted.front().gemm)), double> held_out_s;
  for (std::size_t i = 0; i < fitted.size(); ++i) held_out_s[product(fitted[i].gemm)] = report.held_out_s[i];
  const gpu::Predictor predictor(table.spec, with_power(report.calibration, table.spec), DType::fp8);
  for (const auto& [format, name] : table.formats) {
    const Rows all = fp8_rows(table, format), medians = dataset::medians(all, kLeastRows);
    std::map<decltype(product(all.front().gemm)), double> median_s;
    std::vector<double> predicted_s, light_s, medians_s;
    Rows with_median;
    bool held_out = true;
    for (const GemmMeasurement& row : medians) {
      const auto found = held_out_s.find(product(row.gemm));
      held_out = held_out && found != held_out_s.end();
      predicted_s.push_back(found != held_out_s.end() ? found->second : predictor.latency_s(row.gemm));
      light_s.push_back(speed_of_light_s(table.spec, row.gemm));
      median_s[product(row.gemm)] = row.latency_s;
    }
    for (const GemmMeasurement& row : all) {
      const auto found = median_s.find(product(row.gemm));
      if (found == median_s.end()) continue;
      with_median.push_back(row);
      medians_s.push_back(found->second);
    }
    const std::string title = fmt::format("{}, {}", table.title, name);
    scores.add(title, held_out ? "model, held out" : "model, of the other kind's constants", predicted_s, medians);
    scores.add(title, "0.8 x bandwidth + 3 us", light_s, medians);
    scores.add(title, "the median, of each framework", medians_s, with_median);
  }
}

void score_transfer(Scores& scores, const GpuSpec& from, const Measured& to, RunMode mode) {
  gpu::Calibration calibration =
      gpu::transferred(gpu::load_calibration(from, to.rows.front().gemm.dtype), from, to.spec);
  const std::string title = fmt::format("{} -> {}", from.name, to.title);
  if (calibration.residual) {
    scores.add(title, fmt::format("model and residual, {}", to_string(mode)),
               predict_all(to.spec, calibration, to.rows, mode), to.rows);
  }
  calibration.residual = nullptr;
  scores.add(title, fmt::format("model, {}", to_string(mode)), predict_all(to.spec, calibration, to.rows, mode),
             to.rows);
}

/// Constants fitted on two GPUs together, tested on the third, all three ways.
void score_fp32(Scores& scores, const std::vector<Measured>& sets) {
  for (std::size_t target = 0; target < sets.size(); ++target) {
    std::vector<gpu::MeasuredGpu> others;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      if (i != target) others.push_back({&sets[i].spec, sets[i].rows});
    }
    const GpuSpec& reference = *others.front().spec;
    gpu::CalibrationReport report = gpu::calibrate(
        others, {.start = gpu::start_constants(reference, gpu::DTypeClass::cuda_core), .cross_validate = false});
    gpu::Calibration calibration = report.calibration;
    calibration.constants =
        gpu::transferred(calibration.constants, gpu::DTypeClass::cuda_core, reference, sets[target].spec);
    scores.add(sets[target].title, "model, fitted on the other two",
               predict_all(sets[target].spec, calibration, sets[target].rows, RunMode::burst), sets[target].rows);
  }
}

/// Power of the H200 rows of 0.1 ms and above, five folds grouped by (n, k).
std::string power_text(const std::filesystem::path& file, nlohmann::json& json) {
  constexpr double kShortestS = 1e-4;  // the sensor averages over a second
  const GpuSpec spec = gpu::load_gpu("h200");
  const gpu::PowerCalibration known = gpu::load_power_calibration(spec, gpu::DTypeClass::tensor_core);
  gpu::Calibration runtime = gpu::load_calibration(spec, DType::bf16);
  runtime.residual = nullptr;  // power rows are judged with the analytical runtime
  const gpu::Predictor predictor(spec, runtime, DType::bf16);
  const dataset::CsvTable table = dataset::read_csv(file);
  std::vector<gpu::PowerMeasurement> rows;
  std::vector<double> predicted_w, settled_w;
  for (const auto& [run, power_w] :
       dataset::read_power_rows(table, dataset::parse_gemm_columns("latency_ms=latency,power_w=power"),
                                {{"gemm_dtype", "bfloat16"}}, DType::bf16)) {
    if (run.latency_s < kShortestS) continue;
    const gpu::GemmPrediction prediction = predictor.predict(run.gemm, RunMode::sustained);
    predicted_w.push_back(prediction.average_power_w);
    settled_w.push_back(power_w);
    rows.push_back(gpu::power_measurement(predictor, run.gemm, run.latency_s, power_w, prediction.operands));
  }
  gpu::PowerConstants start = known.constants;
  start.op_j = runtime.constants.op_j;
  const gpu::PowerFit fit =
      gpu::fit_power(spec, DType::bf16, rows, start, gpu::PowerFitted::shares_of_zero_weights);  // as the file was made
  std::string text = "| power, H200 | rows | MAPE % | median % | R2 |\n|---|---:|---:|---:|---:|\n";
  const auto add = [&](const char* name, const gpu::PowerErrors& errors) {
    text += fmt::format("| {} | {} | {:.2f} | {:.2f} | {:.3f} |\n", name, with_commas(errors.rows),
                        100 * errors.mape_frac, 100 * errors.median_frac, errors.r2);
    json.push_back({{"rows_of", name},
                    {"rows", errors.rows},
                    {"mape_frac", errors.mape_frac},
                    {"median_frac", errors.median_frac},
                    {"r2", errors.r2}});
  };
  add("measured latency, constants held out, rows >= 0.1 ms", fit.held_out);
  add("of these, below 95 % of the cap", fit.held_out_below_cap);
  add("without rows that read less than their neighbours", fit.settled);
  add("of these, below 95 % of the cap", fit.settled_below_cap);
  add("predicted latency, constants not held out", gpu::power_errors(predicted_w, settled_w));
  return text;
}

/// GPPerf's claims about the plain tiled kernel on its GPU.
std::string tiled_text(nlohmann::json& json) {
  const GpuSpec spec = gpu::load_gpu("rtx-4070");
  std::string text =
      "| tiled kernel, RTX 4070 | best tile | best over worst of 8, 16, 32 | best over 16 x 16 | best over 1 x 1 |\n"
      "|---|---:|---:|---:|---:|\n";
  for (const std::int64_t size : {512, 1024, 2048, 4096}) {
    const gpu::TileStudy study = gpu::study_tiles(spec, {.m = size, .n = size, .k = size, .dtype = DType::fp32});
    text += fmt::format("| {0} x {0} x {0} | {1} | {2:.2f} ({3}) | {4:.2f} | {5:.1f} |\n", size, study.best_tile,
                        study.best_over_worst, study.worst_tile, study.best_over_16, study.best_over_1);
    json.push_back({{"size", size},
                    {"best_tile", study.best_tile},
                    {"best_over_worst", study.best_over_worst},
                    {"worst_tile", study.worst_tile},
                    {"best_over_16", study.best_over_16},
                    {"best_over_1", study.best_over_1}});
  }
  return text;
}

Measured bf16(const std::filesystem::path& folder, const char* title, const char* gpu_name, const char* file) {
  return {title, gpu::load_gpu(gpu_name),
          dataset::read_gemm_rows(dataset::read_csv(folder / file), {}, {}, DType::bf16)};
}

/// Measured on boards by hindsight-measure: the library's own choice in every format, by the shipped constants. Settled
/// runs below 50 us are left out (they waited for their host: the folder's README).
std::string boards_text(const std::filesystem::path& folder) {
  constexpr double kShortestSettledS = 50e-6;
  Table table;
  for (const char* header : {"board", "format", "run"}) table.add_column(header, Align::left);
  for (const char* header : {"rows", "MAPE %", "median %", "bias %", "power MAPE %"}) {
    table.add_column(header, Align::right);
  }
  for (const auto& [name, board] : {std::pair("h100-sxm5", "h100-sxm5-2026-11-27"), {"h200", "h200-2026-11-27"}}) {
    const auto file = folder / board / "measurements.jsonl";
    const measure::SessionRecords records = measure::merged(measure::parse_json_lines(read_file(file), file.string()));
    const GpuSpec spec = gpu::load_gpu(name);
    for (const RunMode mode : {RunMode::burst, RunMode::sustained}) {
      for (const DType dtype : gpu::kAllDTypes) {
        if (!spec.has(dtype)) continue;
        const gpu::Calibration calibration = gpu::with_kernel_launch(gpu::load_calibration(spec, dtype), spec);
        const gpu::Predictor predictor(spec, calibration, dtype);
        std::vector<double> predicted_s, measured_s, predicted_w, measured_w;
        double log_ratios = 0;
        for (const measure::GemmRow& row : records.gemms) {
          const bool settled = mode == RunMode::sustained;
          if (row.kernel != "cublaslt" || row.rank != 0 || row.status != "ok" || row.mode != to_string(mode) ||
              row.dtype != to_string(dtype) || row.batch > 1 || (settled && row.latency_s < kShortestSettledS)) {
            continue;
          }
          const gpu::GemmPrediction p = predictor.predict({.m = row.m, .n = row.n, .k = row.k, .dtype = dtype}, mode);
          predicted_s.push_back(p.latency_s);
          measured_s.push_back(row.latency_s);
          log_ratios += std::log(p.latency_s / row.latency_s);
          if (!settled) continue;
          predicted_w.push_back(p.average_power_w);
          measured_w.push_back(row.board.power_w);
        }
        const gpu::LatencyErrors errors = gpu::latency_errors(predicted_s, measured_s);
        const double bias = std::expm1(log_ratios / static_cast<double>(predicted_s.size()));
        table.add_row({name, std::string(to_string(dtype)), std::string(to_string(mode)), std::to_string(errors.rows),
                       fmt::format("{:.1f}", 100 * errors.mape_frac), fmt::format("{:.1f}", 100 * errors.median_frac),
                       fmt::format("{:+.1f}", 100 * bias),
                       predicted_w.empty()
                           ? ""
                           : fmt::format("{:.1f}", 100 * gpu::power_errors(predicted_w, measured_w).mape_frac)});
      }
    }
  }
  return table.markdown();
}

int run(const std::filesystem::path& folder, const std::string& json_file) {
  const std::vector<Measured> tensor{bf16(folder, "H100 SXM, bf16", "h100-sxm5", "h100_sxm_bf16.csv.gz"),
                                     bf16(folder, "A100 SXM, bf16", "a100-sxm-80gb", "a100_sxm_bf16.csv.gz"),
                                     bf16(folder, "L40S, bf16", "l40s", "l40s_bf16.csv.gz")};
  const Measured h200{"H200, bf16, vLLM", gpu::load_gpu("h200"),
                      dataset::read_gemm_rows(dataset::read_csv(folder / "h200_sxm_power.csv.gz"),
                                              dataset::parse_gemm_columns("latency_ms=latency"),
                                              {{"gemm_dtype", "bfloat16"}}, DType::bf16)};
  Measured h200_fp8{"H200, fp8 block, vLLM, >= 0.1 ms", gpu::load_gpu("h200"),
                    dataset::read_gemm_rows(dataset::read_csv(folder / "h200_sxm_power.csv.gz"),
                                            dataset::parse_gemm_columns("latency_ms=latency"),
                                            {{"gemm_dtype", "fp8_block"}}, DType::fp8, gpu::Quantisation::block)};
  constexpr double kHostS = 1e-4;  // shorter runs wait for the host: vLLM launched these outside CUDA graphs
  std::erase_if(h200_fp8.rows, [&](const GemmMeasurement& row) { return row.latency_s < kHostS; });
  // In this table the products are m x k outputs over a reduction of n: the grids of the kernels say so.
  const dataset::CsvTable fp32_table = dataset::read_csv(folder / "neusight_fp32_train.csv.gz");
  const dataset::GemmColumns fp32_columns = dataset::parse_gemm_columns("m=M,n=K,k=N,batch=B,latency_ms=lat_ms");
  std::vector<Measured> fp32;
  for (const auto& [name, device] :
       {std::pair{"a100-pcie-40gb", "NVIDIA A100-PCIE-40GB"}, std::pair{"v100-pcie-32gb", "Tesla V100-PCIE-32GB"},
        std::pair{"t4", "Tesla T4"}}) {
    fp32.push_back({fmt::format("{}, fp32", device), gpu::load_gpu(name),
                    dataset::read_gemm_rows(fp32_table, fp32_columns, {{"Device", device}}, DType::fp32)});
  }

  Scores scores;
  score_bf16(scores, tensor);
  score_transfer(scores, tensor[1].spec, tensor[0], RunMode::burst);
  score_transfer(scores, tensor[0].spec, tensor[2], RunMode::burst);
  score_transfer(scores, tensor[0].spec, h200, RunMode::sustained);
  score_fp32(scores, fp32);
  const std::pair<std::string, std::string> dynamic{"fp8", "dynamic"}, fixed{"fp8_static", "static"},
      block{"fp8_block", "block"};
  score_fp8(scores,
            {"H100 SXM, fp8", gpu::load_gpu("h100-sxm5"), folder / "h100_sxm_fp8.csv.gz", {dynamic, block}, {}});
  score_fp8(scores, {"L40S, fp8", gpu::load_gpu("l40s"), folder / "l40s_fp8.csv.gz", {dynamic, fixed}, "fp8"});
  score_transfer(scores, tensor[0].spec, h200_fp8, RunMode::sustained);
  nlohmann::json power = nlohmann::json::array(), tiled = nlohmann::json::array();
  const std::string text =
      scores.markdown() + "\n" + power_text(folder / "h200_sxm_power.csv.gz", power) + "\n" + tiled_text(tiled);
  std::fputs(text.c_str(), stdout);
  if (!json_file.empty()) {
    const nlohmann::json all{{"runtime", scores.json()}, {"power", power}, {"tiled_kernel", tiled}};
    write_file_atomically(json_file, all.dump(2) + "\n");
  }
  return 0;
}

}  // namespace
}  // namespace hindsight

int main(int argc, char** argv) {
  CLI::App app{"Accuracy of the GEMM model against measured runtimes and powers"};
  std::string folder, json_file;
  bool boards = false;
  app.add_option("folder", folder, "Folder of the measured tables")->required();
  app.add_flag("--boards", boards, "Of boards that were measured here: the folder is data/measurements");
  app.add_option("--json", json_file, "File to write the same as JSON");
  CLI11_PARSE(app, argc, argv);
  try {
    if (!boards) return hindsight::run(folder, json_file);
    std::fputs(hindsight::boards_text(folder).c_str(), stdout);
    return 0;
  } catch (const hindsight::Error& error) {
    std::fprintf(stderr, "gemm_accuracy: %s\n", error.what());
    return hindsight::exit_code(error.kind());
  }
}
