/// How far is the GEMM model from measurements of others? Bounds of the errors on grouped splits and of transfers to
/// GPUs without any row. Skipped where the tables are absent.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "hindsight/core/error.h"
#include "hindsight/dataset/gemm_rows.h"
#include "hindsight/gpu/power_fit.h"
#include "hindsight/gpu/predict.h"
#include "hindsight/gpu/residual.h"
#include "repository.h"

namespace hindsight::dataset {
namespace {

using gpu::DType;
using gpu::GemmMeasurement;
using gpu::GpuSpec;
using gpu::RunMode;

std::filesystem::path gemm_folder() { return hindsight::test::shared_folder() / "data" / "gemm"; }

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
                                     const std::vector<GemmMeasurement>& rows, RunMode mode,
                                     gpu::Residuals residuals = gpu::Residuals::shipped) {
    const GpuSpec source = gpu::load_gpu(from), target = gpu::load_gpu(to);
    const gpu::Calibration calibration =
        gpu::transferred(gpu::load_calibration(source, DType::bf16), source, target, residuals);
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
  EXPECT_LE(report.held_out.mape_frac, 0.055);
  EXPECT_LE(report.held_out.median_frac, 0.04);
  EXPECT_LE(longer_than_50_us(report, rows).mape_frac, 0.045);
}

TEST_F(GemmAccuracy, HeldOutShapesOfAnA100) {
  const gpu::CalibrationReport report = fit(gpu::load_gpu("a100-sxm-80gb"), bf16_rows("a100_sxm_bf16.csv.gz"));
  EXPECT_LE(report.held_out.mape_frac, 0.085);
  EXPECT_LE(report.held_out.median_frac, 0.05);
}

TEST_F(GemmAccuracy, HeldOutShapesOfAnL40s) {
  const gpu::CalibrationReport report = fit(gpu::load_gpu("l40s"), bf16_rows("l40s_bf16.csv.gz"));
  EXPECT_LE(report.held_out.mape_frac, 0.09);
  EXPECT_LE(report.held_out.median_frac, 0.06);
}

/// Learned corrections on sizes that their trees did not see, on top of the shipped constants.
TEST_F(GemmAccuracy, HeldOutSizesWithTheLearnedCorrection) {
  const auto learned_mape_frac = [](const char* name, const char* file) {
    const GpuSpec spec = gpu::load_gpu(name);
    return gpu::train_residual(spec, gpu::load_calibration(spec, DType::bf16), bf16_rows(file), RunMode::burst)
        .residual.with_mape_frac;
  };
  try {
    EXPECT_LE(learned_mape_frac("h100-sxm5", "h100_sxm_bf16.csv.gz"), 0.028);
    EXPECT_LE(learned_mape_frac("l40s", "l40s_bf16.csv.gz"), 0.052);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::unavailable) GTEST_SKIP() << error.what();
    throw;
  }
}

TEST_F(GemmAccuracy, GpusWithoutARow) {
  EXPECT_LE(transfer("a100-sxm-80gb", "h100-sxm5", bf16_rows("h100_sxm_bf16.csv.gz"), RunMode::burst).mape_frac, 0.15);
  EXPECT_LE(transfer("h100-sxm5", "l40s", bf16_rows("l40s_bf16.csv.gz"), RunMode::burst).mape_frac, 0.20);
  const auto settled =
      read_gemm_rows(read_csv(gemm_folder() / "h200_sxm_power.csv.gz"), parse_gemm_columns("latency_ms=latency"),
                     {{"gemm_dtype", "bfloat16"}}, DType::bf16);
  EXPECT_LE(transfer("h100-sxm5", "h200", settled, RunMode::sustained).mape_frac, 0.042);
  EXPECT_LE(transfer("h100-sxm5", "h200", settled, RunMode::sustained, gpu::Residuals::none).mape_frac, 0.050);
}

/// Constants fitted on two GPUs together, tested on the third. The aim of 10 % holds for the A100; V100 and T4 stand at
/// 11.3 and 14.8 % (docs/gpu.md says why). The shipped constants of their own stand at 4.5, 8.7 and 14.7 %.
TEST_F(GemmAccuracy, Fp32OfAGpuLeftOut) {
  struct Set {
    const char *gpu, *device;
    double most_mape_frac, own_mape_frac;
    GpuSpec spec;
    std::vector<GemmMeasurement> rows;
  };
  // In this table the products are m x k outputs over a reduction of n.
  const CsvTable table = read_csv(gemm_folder() / "neusight_fp32_train.csv.gz");
  std::vector<Set> sets{{"a100-pcie-40gb", "NVIDIA A100-PCIE-40GB", 0.10, 0.047, {}, {}},
                        {"v100-pcie-32gb", "Tesla V100-PCIE-32GB", 0.115, 0.09, {}, {}},
                        {"t4", "Tesla T4", 0.155, 0.15, {}, {}}};
  for (Set& set : sets) {
    set.spec = gpu::load_gpu(set.gpu);
    set.rows = read_gemm_rows(table, parse_gemm_columns("m=M,n=K,k=N,batch=B,latency_ms=lat_ms"),
                              {{"Device", set.device}}, DType::fp32);
  }
  for (const Set& target : sets) {
    std::vector<gpu::MeasuredGpu> others;
    for (const Set& set : sets) {
      if (&set != &target) others.push_back({&set.spec, set.rows});
    }
    const GpuSpec& reference = *others.front().spec;
    const gpu::Calibration fitted =
        gpu::calibrate(others, {.start = gpu::start_constants(reference, gpu::DTypeClass::cuda_core),
                                .cross_validate = false,
                                .most_rows = 1500})
            .calibration;
    const auto mape_frac = [&](const gpu::Calibration& calibration) {
      const gpu::Predictor predictor(target.spec, calibration, DType::fp32);
      std::vector<double> predicted_s, measured_s;
      for (const GemmMeasurement& row : target.rows) {
        predicted_s.push_back(predictor.latency_s(row.gemm));
        measured_s.push_back(row.latency_s);
      }
      return gpu::latency_errors(predicted_s, measured_s).mape_frac;
    };
    EXPECT_LE(mape_frac(gpu::transferred(fitted, reference, target.spec)), target.most_mape_frac) << target.gpu;
    EXPECT_LE(mape_frac(gpu::load_calibration(target.spec, DType::fp32)), target.own_mape_frac) << target.gpu;
  }
}

/// fp8 as frameworks run it, the median over them per product: held-out shapes, and an H200 by an H100's constants.
/// An L40S stands at 16.6 %: its frameworks differ by 20 % at the mean (docs/gpu.md).
class Fp8Accuracy : public GemmAccuracy {
 protected:
  static std::vector<GemmMeasurement> fp8_rows(const std::string& file, const std::string& format) {
    const auto rows =
        read_gemm_rows(read_csv(gemm_folder() / file), {}, {{"dtype", format}}, DType::fp8, gpu::Quantisation::dynamic);
    return medians(rows, 2);
  }
  /// Fitted on some of `rows`, every fold by the others.
  static double held_out_mape_frac(const std::string& gpu, const std::vector<GemmMeasurement>& rows) {
    const GpuSpec spec = gpu::load_gpu(gpu);
    return gpu::calibrate(spec, rows,
                          {.start = gpu::start_constants(spec, gpu::DTypeClass::tensor_core_8bit), .most_rows = 1500})
        .held_out.mape_frac;
  }
  static gpu::LatencyErrors shipped(const std::string& gpu, const std::vector<GemmMeasurement>& rows, RunMode mode) {
    const GpuSpec spec = gpu::load_gpu(gpu);
    const gpu::Predictor predictor(spec, gpu::load_calibration(spec, DType::fp8), DType::fp8);
    std::vector<double> predicted_s, measured_s;
    for (const GemmMeasurement& row : rows) {
      predicted_s.push_back(predictor.latency_s(row.gemm, mode));
      measured_s.push_back(row.latency_s);
    }
    return gpu::latency_errors(predicted_s, measured_s);
  }
};

TEST_F(Fp8Accuracy, HeldOutShapesOfAnH100) {
  EXPECT_LE(held_out_mape_frac("h100-sxm5", fp8_rows("h100_sxm_fp8.csv.gz", "fp8")), 0.12);
  EXPECT_LE(held_out_mape_frac("h100-sxm5", fp8_rows("h100_sxm_fp8.csv.gz", "fp8_block")), 0.12);
}

TEST_F(Fp8Accuracy, ShippedConstantsServeBothKinds) {
  EXPECT_LE(shipped("h100-sxm5", fp8_rows("h100_sxm_fp8.csv.gz", "fp8"), RunMode::burst).mape_frac, 0.12);
  EXPECT_LE(shipped("h100-sxm5", fp8_rows("h100_sxm_fp8.csv.gz", "fp8_block"), RunMode::burst).mape_frac, 0.11);
}

/// Products smaller than a block have rows of one framework, launched by the host; no constant was fitted to them.
TEST_F(Fp8Accuracy, ProductsSmallerThanABlock) {
  auto rows = read_gemm_rows(read_csv(gemm_folder() / "h100_sxm_fp8.csv.gz"), {}, {{"dtype", "fp8_block"}}, DType::fp8);
  std::erase_if(rows, [](const GemmMeasurement& row) { return row.gemm.n >= 128 && row.gemm.k >= 128; });
  ASSERT_EQ(rows.size(), 3034);
  EXPECT_LE(shipped("h100-sxm5", rows, RunMode::burst).mape_frac, 0.12);
}

TEST_F(Fp8Accuracy, HeldOutShapesOfAnL40s) {
  EXPECT_LE(held_out_mape_frac("l40s", fp8_rows("l40s_fp8.csv.gz", "fp8")), 0.18);
}

TEST_F(Fp8Accuracy, AnH200WithoutARow) {
  std::vector<GemmMeasurement> settled =
      read_gemm_rows(read_csv(gemm_folder() / "h200_sxm_power.csv.gz"), parse_gemm_columns("latency_ms=latency"),
                     {{"gemm_dtype", "fp8_block"}}, DType::fp8, gpu::Quantisation::block);
  std::erase_if(settled, [](const GemmMeasurement& row) { return row.latency_s < 1e-4; });  // shorter: the host's calls
  EXPECT_LE(shipped("h200", settled, RunMode::sustained).mape_frac, 0.10);
}

/// Power of the shipped constants on predicted latencies, and of a grouped fit on measured ones.
TEST_F(GemmAccuracy, PowerOfAnH200) {
  const GpuSpec h200 = gpu::load_gpu("h200");
  const gpu::Calibration calibration = gpu::load_calibration(h200, DType::bf16);
  const gpu::Predictor predictor(h200, calibration, DType::bf16);
  const CsvTable table = read_csv(gemm_folder() / "h200_sxm_power.csv.gz");
  std::vector<gpu::PowerMeasurement> rows;
  std::vector<double> predicted_w, measured_w;
  for (const auto& [run, power_w] : read_power_rows(table, parse_gemm_columns("latency_ms=latency,power_w=power"),
                                                    {{"gemm_dtype", "bfloat16"}}, DType::bf16)) {
    if (run.latency_s < 1e-4) continue;
    const gpu::GemmPrediction prediction = predictor.predict(run.gemm, RunMode::sustained);
    predicted_w.push_back(prediction.average_power_w);
    measured_w.push_back(power_w);
    rows.push_back(gpu::power_measurement(predictor, run.gemm, run.latency_s, power_w, prediction.operands));
  }
  const gpu::PowerErrors predicted = gpu::power_errors(predicted_w, measured_w);
  EXPECT_LE(predicted.mape_frac, 0.04);
  EXPECT_GE(predicted.r2, 0.8);
  gpu::PowerConstants start = calibration.power;
  start.op_j = calibration.constants.op_j;
  const gpu::PowerErrors held_out = gpu::fit_power(h200, DType::bf16, rows, start).held_out;
  EXPECT_LE(held_out.mape_frac, 0.04);
  EXPECT_GE(held_out.r2, 0.795);  // 0.799 to 0.800, by how the groups fall into folds; 0.8 is what is aimed at
}

}  // namespace
}  // namespace hindsight::dataset
