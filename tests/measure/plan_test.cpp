/// Does a plan hold what it says, in a useful order, and does it remember what is done?
#include "hindsight/measure/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "hindsight/gpu/dtype.h"

namespace hindsight::measure {
namespace {

TEST(Plan, NamesAreThoseOfTheGpuLayer) {
  for (const gpu::DType dtype : gpu::kAllDTypes) EXPECT_EQ(dtype_name(dtype), gpu::to_string(dtype));
  for (const gpu::Layout layout : {gpu::Layout::nn, gpu::Layout::nt, gpu::Layout::tn, gpu::Layout::tt}) {
    EXPECT_EQ(layout_name(layout), gpu::to_string(layout));
  }
}

TEST(Plan, GridHasAboutSixtyValidShapes) {
  const std::vector<gpu::Gemm> shapes = grid(gpu::DType::fp8);
  EXPECT_GE(shapes.size(), 55U);
  EXPECT_LE(shapes.size(), 65U);
  for (const gpu::Gemm& gemm : shapes) {
    EXPECT_EQ(gpu::size_problem(gemm), "");
    EXPECT_EQ(gemm.n % 16, 0) << "fp8 wants 16-byte rows";
    EXPECT_EQ(gemm.k % 16, 0);
    EXPECT_EQ(gemm.dtype, gpu::DType::fp8);
  }
  const auto rows = [](const gpu::Gemm& a, const gpu::Gemm& b) { return a.m < b.m; };
  EXPECT_EQ(std::min_element(shapes.begin(), shapes.end(), rows)->m, 1);
  EXPECT_GE(std::max_element(shapes.begin(), shapes.end(), rows)->m, 8192);
}

TEST(Plan, KeysAreUnique) {
  std::set<std::string> keys;
  const std::vector<Task> plan = make_plan(PlanOptions{});
  for (const Task& task : plan) EXPECT_TRUE(keys.insert(key(task)).second) << key(task);
  EXPECT_TRUE(keys.contains("gemm/cublaslt/bf16/nt/b1/4608x4608x4608/burst/top1"));
  EXPECT_TRUE(keys.contains("gemm/cublaslt/fp8/nt/b1/16x8192x8192/sustained/top1"));
  EXPECT_TRUE(keys.contains("device/latency"));
  for (int tile = 1; tile <= gpu::kLargestTile; ++tile) {
    EXPECT_TRUE(keys.contains("gemm/tiled/fp32/nn/b1/512x512x512/burst/tile" + std::to_string(tile)));
  }
}

TEST(Plan, PartsCanBeChosen) {
  PlanOptions options;
  options.device = options.tiled = options.sustained = options.ranking = false;
  options.dtypes = {gpu::DType::bf16};
  const std::vector<Task> plan = make_plan(options);
  EXPECT_EQ(plan.size(), grid(gpu::DType::bf16).size());
  for (const Task& task : plan) {
    EXPECT_EQ(task.kind, Task::Kind::gemm);
    EXPECT_EQ(task.mode, Mode::burst);
    EXPECT_EQ(task.gemm.dtype, gpu::DType::bf16);
  }
}

TEST(Plan, DeviceComesFirst) {
  const std::vector<Task> plan = make_plan(PlanOptions{});
  const auto not_device = [](const Task& task) { return task.kind != Task::Kind::device; };
  const auto first_gemm = std::find_if(plan.begin(), plan.end(), not_device);
  EXPECT_EQ(std::find_if_not(first_gemm, plan.end(), not_device), plan.end());
  EXPECT_EQ(plan.front().device, DeviceTask::idle_power) << "idle power before anything warms the board";
}

/// What a budget cuts off is at the end: place by place, everything of the earlier stands before the later.
TEST(Plan, WhatMattersLeastComesLast) {
  const std::vector<Task> plan = make_plan(PlanOptions{});
  const auto stage = [](const Task& task) {
    if (task.kind == Task::Kind::device) return 0;
    const bool burst = task.mode == Mode::burst, first = task.gemm.dtype == gpu::DType::bf16;
    if (task.kernel == Kernel::tiled) return burst ? 4 : 7;
    if (task.algorithms > 1) return first ? 5 : 8;
    return first ? (burst ? 1 : 2) : (burst ? 3 : 6);
  };
  for (std::size_t i = 1; i < plan.size(); ++i) EXPECT_LE(stage(plan[i - 1]), stage(plan[i])) << key(plan[i]);
}

TEST(Plan, FailedTasksAreRepeatedOthersAreNot) {
  SessionRecords records;
  records.session.gpu_uuid = "GPU-1";
  GemmRow row;
  row.task = "a";
  row.status = "ok";
  records.gemms.push_back(row);
  row.task = "b";
  row.status = "failed";
  records.gemms.push_back(row);
  row.task = "c";
  row.status = "unsupported";
  records.gemms.push_back(row);
  Quantity quantity;
  quantity.task = "device/latency";
  records.quantities.push_back(quantity);
  EXPECT_EQ(finished_tasks({records}, "GPU-1"), (std::set<std::string>{"a", "c", "device/latency"}));
  EXPECT_TRUE(finished_tasks({records}, "GPU-2").empty()) << "another board";
}

TEST(Plan, RotationCoversTwiceTheL2) {
  constexpr double kMib = 1048576.0;
  // 2 x 50 MiB / 3 MiB = 33.3: 34 sets.
  EXPECT_EQ(operand_copies(3 * kMib, 50 * kMib, 1e12), 34);
  EXPECT_EQ(operand_copies(200 * kMib, 50 * kMib, 1e12), 1) << "one set is large enough";
  EXPECT_EQ(operand_copies(3 * kMib, 50 * kMib, 10 * kMib), 3) << "what fits";
  EXPECT_EQ(operand_copies(3 * kMib, 50 * kMib, kMib), 1);
  EXPECT_EQ(operand_copies(1024, 50 * kMib, 1e12), kMostCopies);
}

/// The smallest products: 2048 sets of theirs do not fill the L2 twice.
TEST(Plan, ARowWhoseInputsMayBeWarmSaysSo) {
  constexpr double kMib = 1048576.0;
  GemmRow row;
  row.copies = kMostCopies;
  row.rotated_bytes = kMostCopies * 32768;  // 64 MiB
  EXPECT_THAT(rotation_note(row, 50 * kMib), ::testing::HasSubstr("may be warm in L2 (2048 sets"));
  EXPECT_EQ(rotation_note(row, 32 * kMib), "") << "exactly twice the L2";
}

/// A replay begins with set 0: after any number of replays every set has been read equally often.
TEST(Plan, GraphsAreWholeRoundsOfTheRotation) {
  EXPECT_EQ(graph_launches(100, 34), 102) << "three rounds";
  EXPECT_EQ(graph_launches(10, 34), 34) << "one round at least";
  EXPECT_EQ(graph_launches(20000, 34), 2040) << "60 rounds are the most that fit into 2048 nodes";
  EXPECT_EQ(graph_launches(20000, 1500), 1500);
  EXPECT_EQ(graph_launches(0.3, 1), 1);
  for (std::int64_t copies = 1; copies <= kMostCopies; copies += 7) {
    const std::int64_t launches = graph_launches(500, copies);
    EXPECT_EQ(launches % copies, 0) << copies;
    EXPECT_LE(launches, kMostCopies) << copies;
    EXPECT_GE(launches, copies) << copies;
  }
}

}  // namespace
}  // namespace hindsight::measure
