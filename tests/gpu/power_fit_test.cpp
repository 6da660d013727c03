/// Does the power fit find constants that made the data, and are its errors what they say?
#include "hindsight/gpu/power_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "edited_yaml.h"
#include "tolerances.h"

namespace hindsight::gpu {
namespace {

using hindsight::test::kRounding;
using hindsight::test::relative_error;

constexpr PowerConstants kTruth{.active_w = 90,
                                .op_j = 0.8e-12,
                                .l2_byte_j = 25e-12,
                                .dram_byte_j = 60e-12,
                                .zero_weight_share = 0.45,
                                .zero_weight_byte_share = 0.15};

/// Rows on a grid of rates from nearly idle to far above the cap; powers are what the model says of `kTruth`.
std::vector<PowerMeasurement> exact_rows(const GpuSpec& spec) {
  const BoardPower board(spec, kTruth, DType::bf16);
  std::vector<PowerMeasurement> rows;
  std::uint64_t group = 0;
  for (const double ops : {10e12, 100e12, 300e12, 700e12}) {
    for (const double l2_bytes : {0.5e12, 2e12, 6e12}) {
      for (const double dram_bytes : {0.1e12, 1e12, 4e12}) {
        for (const Operands operands : {Operands::random, Operands::zero_weights}) {
          PowerMeasurement row{
              .work = {.ops = ops, .l2_bytes = l2_bytes, .dram_bytes = dram_bytes, .operands = operands},
              .latency_s = 1,
              .group = ++group};
          row.power_w = modelled_power_w(board, row);
          rows.push_back(row);
        }
      }
    }
  }
  return rows;
}

TEST(PowerFit, FitsThatPredictNothingAreNamed) {
  EXPECT_EQ(fit_problem(PowerErrors{.mape_frac = 0.024, .r2 = -0.1}), "") << "rows that all stand at the limit";
  EXPECT_NE(fit_problem(PowerErrors{.mape_frac = 0.51}).find("by 51 % (MAPE)"), std::string::npos);
}

TEST(PowerFit, FindsTheConstantsThatMadeTheRows) {
  const GpuSpec h200 = load_gpu("h200");
  PowerConstants start = kTruth;
  start.active_w = 200;
  start.zero_weight_share = start.zero_weight_byte_share = 0.9;
  const PowerFit fit = fit_power(h200, DType::bf16, exact_rows(h200), start);
  EXPECT_LT(relative_error(fit.constants.active_w, kTruth.active_w), 1e-4);
  EXPECT_LT(relative_error(fit.constants.zero_weight_share, kTruth.zero_weight_share), 1e-4);
  EXPECT_LT(relative_error(fit.constants.zero_weight_byte_share, kTruth.zero_weight_byte_share), 1e-4);
  EXPECT_LT(fit.fitted.mape_frac, 1e-4);
  EXPECT_LT(fit.held_out.mape_frac, 1e-4);
  // The rest is not power's to tell.
  EXPECT_EQ(fit.constants.op_j, kTruth.op_j);
  EXPECT_EQ(fit.constants.l2_byte_j, kTruth.l2_byte_j);
  EXPECT_EQ(fit.constants.dram_byte_j, kTruth.dram_byte_j);
  EXPECT_EQ(fit.held_out.rows, exact_rows(h200).size());
}

/// Rows of unwritten weights, of 0.1 to 30 ms, that follow an idle board.
TEST(PowerFit, FindsWhatWasZeroAndWhenTheReadingBegan) {
  const GpuSpec h200 = load_gpu("h200");
  PowerConstants truth = kTruth;
  truth.partly_zero_share = 0.4;
  truth.lead_s = 0.15;
  truth.lead_launches = 90;
  const BoardPower board(h200, truth, DType::bf16);
  std::vector<PowerMeasurement> rows = exact_rows(h200);
  std::uint64_t group = rows.size();
  for (PowerMeasurement row : exact_rows(h200)) {
    for (const double latency_s : {1e-4, 1e-3, 3e-3, 3e-2}) {
      PowerMeasurement brief = row;
      brief.work.ops *= latency_s;
      brief.work.l2_bytes *= latency_s;
      brief.work.dram_bytes *= latency_s;
      brief.latency_s = latency_s;
      brief.group = ++group;
      if (group % 2 == 0 && row.work.operands == Operands::zero_weights) {
        brief.work.operands = Operands::partly_zero_weights;
      }
      brief.power_w = modelled_power_w(board, brief);
      rows.push_back(brief);
    }
  }
  PowerConstants start = truth;
  start.active_w = 150;
  start.partly_zero_share = 0.8;
  start.lead_s = 0.3;
  start.lead_launches = 50;
  const PowerFit fit = fit_power(h200, DType::bf16, rows, start);
  EXPECT_LT(relative_error(fit.constants.active_w, truth.active_w), 1e-3);
  EXPECT_LT(relative_error(fit.constants.partly_zero_share, truth.partly_zero_share), 1e-3);
  EXPECT_LT(relative_error(fit.constants.lead_s, truth.lead_s), 1e-3);
  EXPECT_LT(relative_error(fit.constants.lead_launches, truth.lead_launches), 1e-3);
  EXPECT_LT(fit.held_out.mape_frac, 1e-3);
}

TEST(PowerFit, WhatIsHeldStays) {
  const GpuSpec h200 = load_gpu("h200");
  PowerConstants start = kTruth;
  start.active_w = 100;
  start.zero_weight_share = start.zero_weight_byte_share = 0.9;
  const PowerFit fit = fit_power(h200, DType::bf16, exact_rows(h200), start, PowerFitted::shares_of_zero_weights);
  EXPECT_EQ(fit.constants.active_w, 100);
  EXPECT_LT(relative_error(fit.constants.zero_weight_share, kTruth.zero_weight_share), 0.1);
  EXPECT_LT(fit.constants.zero_weight_byte_share, 0.3);
}

TEST(PowerFit, ShrugsOffAFewWildRows) {
  const GpuSpec h200 = load_gpu("h200");
  std::vector<PowerMeasurement> rows = exact_rows(h200);
  for (std::size_t i = 0; i < rows.size(); i += 12) rows[i].power_w = 200;
  const PowerFit fit = fit_power(h200, DType::bf16, rows, kTruth);
  EXPECT_LT(fit.fitted.median_frac, 0.02);
}

/// Rows of five (n, k), whose power rises with m; at two m the sensor still holds a board without work.
std::vector<PowerMeasurement> rows_with_holes(const GpuSpec& spec, double hole_share) {
  const BoardPower board(spec, kTruth, DType::bf16);
  std::vector<PowerMeasurement> rows;
  for (std::uint64_t group = 0; group < 5; ++group) {
    for (int m = 1; m <= 12; ++m) {
      PowerMeasurement row{
          .work = {.ops = 2.5e13 * m, .l2_bytes = 1e12, .dram_bytes = 4e11 * static_cast<double>(group)},
          .latency_s = 1,
          .group = group};
      row.power_w = modelled_power_w(board, row) * (m == 5 || m == 6 ? hole_share : 1.0);
      rows.push_back(row);
    }
  }
  return rows;
}

TEST(PowerFit, RowsThatReadLessThanTheirNeighboursTeachNothing) {
  const GpuSpec h200 = load_gpu("h200");
  const std::vector<PowerMeasurement> rows = rows_with_holes(h200, 0.75);
  const std::vector<bool> unsettled = unsettled_rows(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t m = i % 12 + 1;
    EXPECT_EQ(unsettled[i], m == 5 || m == 6) << "m " << m << " of group " << i / 12;
  }
  const PowerFit fit = fit_power(h200, DType::bf16, rows, kTruth);
  EXPECT_EQ(fit.unsettled_rows, 10U);
  EXPECT_LT(relative_error(fit.constants.active_w, kTruth.active_w), 1e-4);
  EXPECT_EQ(fit.held_out.rows, 60U);
  EXPECT_GT(fit.held_out.mape_frac, 0.05) << "a row of each six is off by a third";
  EXPECT_EQ(fit.settled.rows, 50U);
  EXPECT_LT(fit.settled.mape_frac, 1e-4);
}

TEST(PowerFit, SmallAndLargeProductsAreNoHoles) {
  const GpuSpec h200 = load_gpu("h200");
  for (const double share : {1.0, 0.97}) {  // the spread of a sensor is none
    const std::vector<bool> unsettled = unsettled_rows(rows_with_holes(h200, share));
    EXPECT_EQ(std::count(unsettled.begin(), unsettled.end(), true), 0) << share;
  }
}

TEST(PowerFit, ErrorsByHand) {
  // Errors 10 %, 0 and 20 %: mean 10 %, median 10 %; squares 100 + 0 + 3600 over 2 x 100^2 around the mean 200.
  const std::array predicted{110.0, 200.0, 240.0};
  const std::array measured{100.0, 200.0, 300.0};
  const PowerErrors errors = power_errors(predicted, measured);
  EXPECT_LT(relative_error(errors.mape_frac, 0.1), kRounding);
  EXPECT_LT(relative_error(errors.median_frac, 0.1), kRounding);
  EXPECT_LT(relative_error(errors.r2, 1 - 3700 / 20000.0), kRounding);
}

TEST(PowerFit, RefusesTooLittleAndNonsense) {
  const GpuSpec h200 = load_gpu("h200");
  const PowerConstants start = default_power_constants(h200, DTypeClass::tensor_core);
  std::vector<PowerMeasurement> rows = exact_rows(h200);
  const std::vector<PowerMeasurement> few(rows.begin(), rows.begin() + 9);
  test::expect_usage_error([&] { static_cast<void>(fit_power(h200, DType::bf16, few, start)); }, {"9 rows"});
  std::vector<PowerMeasurement> one_group = rows;
  for (PowerMeasurement& row : one_group) row.group = 7;
  test::expect_usage_error([&] { static_cast<void>(fit_power(h200, DType::bf16, one_group, start)); }, {"folds"});
  rows.front().power_w = 0;
  test::expect_usage_error([&] { static_cast<void>(fit_power(h200, DType::bf16, rows, start)); }, {"not positive"});
}

}  // namespace
}  // namespace hindsight::gpu
