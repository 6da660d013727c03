/// How far is the GEMM model from measurements of others? Bounds of the errors on grouped splits and of transfers to
/// GPUs without any row. Skipped where the tables are absent.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "hindsight/dataset/gemm_rows.h"
#include "hindsight/gpu/predict.h"

namespace hindsight::dataset {
namespace {

using gpu::DType;
using gpu::GemmMeasurement;
using gpu::GpuSpec;
using gpu::RunMode;

/// Folder of the shared measurements: $HINDSIGHT_SHARED_DIR, else beside the source tree.
std::filesystem::path gemm_folder() {
  const char* given = std::getenv("HINDSIGHT_SHARED_DIR");
  const std::filesystem::path shared =
      given != nullptr ? std::filesystem::path(given) : std::filesystem::path(HINDSIGHT_SOURCE_DIR) / ".." / "shared";
  return shared / "data" / "gemm";
}

class GemmAccuracy : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(gemm_folder())) {
      GTEST_SKIP() << "no measured GEMMs at " << gemm_folder() << " (set HINDSIGHT_SHARED_DIR)";
    }
  }
  static std::vector<GemmMeasurement> bf16_rows(const std::string& file) {
    return read_gemm_rows(read_csv(gemm_folder() / file), {}, {}, DType::bf16);
  }
  /// Fits on a sample of the rows: the test answers in seconds.
  static gpu::CalibrationReport fit(const GpuSpec& spec, const std::vector<GemmMeasurement>& rows) {
    return gpu::calibrate(spec, rows,
                          {.start = gpu::start_constants(spec, gpu::DTypeClass::tensor_core), .most_rows = 1500});
  }
  static gpu::LatencyErrors longer_than_50_us(const gpu::CalibrationReport& report,
                                              const std::vector<GemmMeasurement>& rows) {
    std::vector<double> predicted_s, measured_s;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].latency_s <= 50e-6) continue;
      predicted_s.push_back(report.held_out_s[i]);
      measured_s.push_back(rows[i].latency_s);
    }
    return gpu::latency_errors(predicted_s, measured_s);
  }
  /// Shipped constants of `from` on rows of `to`.
  static gpu::LatencyErrors transfer(const std::string& from, const std::string& to,
                                     const std::vector<GemmMeasurement>& rows, RunMode mode) {
    const GpuSpec source = gpu::load_gpu(from), target = gpu::load_gpu(to);
    const gpu::Calibration calibration = gpu::transferred(gpu::load_calibration(source, DType::bf16), source, target);
    const gpu::Predictor predictor(target, calibration, DType::bf16);
    std::vector<double> predicted_s, measured_s;
    for (const GemmMeasurement& row : rows) {
      predicted_s.push_back(predictor.latency_s(row.gemm, mode));
      measured_s.push_back(row.latency_s);
    }
    return gpu::latency_errors(predicted_s, measured_s);
  }
};

TEST_F(GemmAccuracy, HeldOutShapesOfAnH100) {
  const auto rows = bf16_rows("h100_sxm_bf16.csv.gz");
  const gpu::CalibrationReport report = fit(gpu::load_gpu("h100-sxm5"), rows);
  EXPECT_LE(report.held_out.mape_frac, 0.07);
  EXPECT_LE(report.held_out.median_frac, 0.04);
  EXPECT_LE(longer_than_50_us(report, rows).mape_frac, 0.045);
}

TEST_F(GemmAccuracy, HeldOutShapesOfAnA100) {
  const gpu::CalibrationReport report = fit(gpu::load_gpu("a100-sxm-80gb"), bf16_rows("a100_sxm_bf16.csv.gz"));
  EXPECT_LE(report.held_out.mape_frac, 0.085);
  EXPECT_LE(report.held_out.median_frac, 0.0515);  // 0.050 with constants fitted on more rows
}

TEST_F(GemmAccuracy, HeldOutShapesOfAnL40s) {
  const gpu::CalibrationReport report = fit(gpu::load_gpu("l40s"), bf16_rows("l40s_bf16.csv.gz"));
  EXPECT_LE(report.held_out.mape_frac, 0.12);
  EXPECT_LE(report.held_out.median_frac, 0.0615);  // 0.060 with constants fitted on more rows
}

TEST_F(GemmAccuracy, GpusWithoutARow) {
  EXPECT_LE(transfer("a100-sxm-80gb", "h100-sxm5", bf16_rows("h100_sxm_bf16.csv.gz"), RunMode::burst).mape_frac, 0.15);
  EXPECT_LE(transfer("h100-sxm5", "l40s", bf16_rows("l40s_bf16.csv.gz"), RunMode::burst).mape_frac, 0.20);
  const auto settled =
      read_gemm_rows(read_csv(gemm_folder() / "h200_sxm_power.csv.gz"), parse_gemm_columns("latency_ms=latency"),
                     {{"gemm_dtype", "bfloat16"}}, DType::bf16);
  EXPECT_LE(transfer("h100-sxm5", "h200", settled, RunMode::sustained).mape_frac, 0.10);
}

}  // namespace
}  // namespace hindsight::dataset
