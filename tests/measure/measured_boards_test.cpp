/// The boards that were measured (data/measurements): do their sheets agree with the shipped ones, and how far are
/// predictions from rows that no constant was fitted to?
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "hindsight/core/files.h"
#include "hindsight/gpu/predict.h"
#include "hindsight/measure/json_lines.h"
#include "hindsight/measure/sheet.h"
#include "repository.h"
#include "tolerances.h"

namespace hindsight::measure {
namespace {

using gpu::DType;
using gpu::RunMode;
using test::relative_error;

struct Board {
  const char* name;
  const char* folder;
};
constexpr Board kBoards[] = {{"h100-sxm5", "h100-sxm5-2026-11-27"}, {"h200", "h200-2026-11-27"}};

SessionRecords records_of(const Board& board) {
  const auto file = test::repository() / "data/measurements" / board.folder / "measurements.jsonl";
  return merged(parse_json_lines(read_file(file), file.string()));
}

/// Every count and rate: CUDA cores and mma.sync too, whose rates per clock were of one CTA among several.
TEST(MeasuredBoards, HaveTheSheetsThatAreShipped) {
  for (const Board& board : kBoards) {
    const gpu::GpuSpec measured = spec_of(records_of(board), board.name), shipped = gpu::load_gpu(board.name);
    EXPECT_EQ(measured.sms, shipped.sms);
    EXPECT_EQ(measured.boost_hz, shipped.boost_hz);
    EXPECT_EQ(measured.l2_bytes, shipped.l2_bytes);
    EXPECT_EQ(measured.tdp_w, shipped.tdp_w);
    // The memory's clock on the bus that the driver gives: an H200's has 6,016 of the 6,144 bits of its stacks.
    EXPECT_LE(relative_error(measured.dram_bytes_per_s, shipped.dram_bytes_per_s), 1e-3);
    EXPECT_LE(relative_error(measured.l2_bytes_per_s, shipped.l2_bytes_per_s), 0.01);
    for (const DType dtype : gpu::kAllDTypes) {
      ASSERT_EQ(measured.has(dtype), shipped.has(dtype));
      if (!shipped.has(dtype)) continue;
      EXPECT_EQ(measured.rate(dtype).fma_per_clock_per_sm, shipped.rate(dtype).fma_per_clock_per_sm)
          << board.name << " " << gpu::to_string(dtype);
    }
  }
}

/// Mean |predicted / measured - 1| of the library's own choices, single products in nt.
double mape(const Board& board, DType dtype, RunMode mode, int* rows = nullptr) {
  // Settled runs of shorter products waited for their host (README of the folders).
  const double shortest_s = mode == RunMode::sustained ? 50e-6 : 0;
  const gpu::GpuSpec spec = gpu::load_gpu(board.name);
  const gpu::Calibration calibration = gpu::with_kernel_launch(gpu::load_calibration(spec, dtype), spec);
  const gpu::Predictor predictor(spec, calibration, dtype);
  double sum = 0;
  int count = 0;
  for (const GemmRow& row : records_of(board).gemms) {
    if (row.kernel != "cublaslt" || row.rank != 0 || row.status != "ok" || row.mode != gpu::to_string(mode) ||
        row.dtype != gpu::to_string(dtype) || row.batch > 1 || row.latency_s < shortest_s) {
      continue;
    }
    const gpu::Gemm gemm{.m = row.m, .n = row.n, .k = row.k, .dtype = dtype};
    const double predicted_s = predictor.latency_s(gemm, mode);
    sum += relative_error(predicted_s, row.latency_s);
    ++count;
  }
  if (rows != nullptr) *rows = count;
  return sum / count;
}

/// No constant was fitted to these products; fp32's energy per operation alone was, to the sustained ones.
TEST(MeasuredBoards, ArePredictedFromOtherData) {
  for (const auto& [board, bf16, fp8, fp32, settled] :
       {std::tuple(kBoards[0], 0.045, 0.055, 0.115, 0.03), {kBoards[1], 0.065, 0.07, 0.115, 0.045}}) {
    int rows = 0;
    EXPECT_LE(mape(board, DType::bf16, RunMode::burst, &rows), bf16) << board.name;
    EXPECT_GE(rows, 60);
    EXPECT_LE(mape(board, DType::fp8, RunMode::burst), fp8) << board.name;
    EXPECT_LE(mape(board, DType::fp32, RunMode::burst), fp32) << board.name;
    EXPECT_LE(mape(board, DType::bf16, RunMode::sustained), settled) << board.name;
  }
}

}  // namespace
}  // namespace hindsight::measure
