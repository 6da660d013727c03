/// Is each task handed over before the next one starts? On a machine without GPU: is it said in one clause? On one with
/// a GPU: are the kernels right?
#include "hindsight/measure/run.h"

#include <gtest/gtest.h>

#include "hindsight/core/error.h"
#include "hindsight/measure/bench.h"

namespace hindsight::measure {
namespace {

/// A sink that nothing may reach.
class NoSink final : public Sink {
 public:
  void session(const Session& /*session*/) override { ADD_FAILURE() << "a session began"; }
  void results(const std::vector<GemmRow>& /*gemms*/, const std::vector<Quantity>& /*quantities*/) override {
    ADD_FAILURE() << "results came";
  }
  void failed(const std::string& /*task*/, const std::string& /*reason*/) override { ADD_FAILURE() << "a task began"; }
  bool next(const std::string& /*task*/, std::size_t /*position*/, std::size_t /*total*/) override { return false; }
};

TEST(Run, WithoutDeviceIsUnavailable) {
  const Availability here = availability();
  if (!here.devices.empty()) GTEST_SKIP() << "this machine has " << here.devices.front();
  EXPECT_NE(here.problem, "");
  NoSink sink;
  try {
    static_cast<void>(run(make_plan(PlanOptions{}), RunOptions{}, sink));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unavailable);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}

TEST(Run, AFailedTaskIsAFailureAndABudgetIsNone) {
  EXPECT_EQ(failure_of({.measured = 5, .finished_before = 2, .failed = 0, .left = 9}), std::nullopt);
  const RunResult failed{.measured = 5, .finished_before = 2, .failed = 3, .left = 0};
  ASSERT_TRUE(failure_of(failed));
  EXPECT_EQ(exit_code(*failure_of(failed)), 1);
  EXPECT_TRUE(summary(failed).starts_with("5 tasks measured, 3 failed, 2 done before, 0 left. Rows that succeeded"));
}

/// One quantity a task. The task latency fails, launch_overhead breaks the device.
class SmallBench final : public Bench {
 public:
  [[nodiscard]] const Session& session() const override { return session_; }
  [[nodiscard]] TaskResults measure(const Task& task) override {
    if (task.device == DeviceTask::launch_overhead) throw Error(ErrorKind::failure, "the device is gone.");
    TaskResults results;
    results.quantities.emplace_back().value = 1;
    if (task.device == DeviceTask::latency) results.problems.emplace_back("too hot");
    return results;
  }

 private:
  Session session_;
};

/// Keeps what it is told, in order; its disk is full after `room` tasks.
class ListSink final : public Sink {
 public:
  explicit ListSink(std::size_t room = 100) : room_(room) {}
  void session(const Session& /*session*/) override { events.emplace_back("session"); }
  void results(const std::vector<GemmRow>& /*gemms*/, const std::vector<Quantity>& quantities) override {
    if (kept == room_) throw Error(ErrorKind::failure, "the disk is full.");
    ++kept;
    ASSERT_EQ(quantities.size(), 1U);
    EXPECT_EQ(quantities[0].measured_at.size(), std::string("2026-01-31T12:00:00Z").size());
    events.push_back("results " + quantities[0].task);
  }
  void failed(const std::string& task, const std::string& reason) override {
    events.push_back("failed " + task + ": " + reason);
  }
  bool next(const std::string& task, std::size_t position, std::size_t /*total*/) override {
    events.push_back("next " + task);
    return position < most;
  }
  std::vector<std::string> events = {};
  std::size_t kept = 0, most = 100;

 private:
  std::size_t room_;
};

std::vector<Task> device_tasks(const std::vector<DeviceTask>& devices) {
  std::vector<Task> tasks;
  for (const DeviceTask device : devices) {
    Task& task = tasks.emplace_back();
    task.kind = Task::Kind::device;
    task.device = device;
  }
  return tasks;
}

RunResult run_small(const std::vector<Task>& plan, const RunOptions& options, Sink& sink) {
  return run_on([](bool) { return std::make_unique<SmallBench>(); }, plan, options, sink);
}

TEST(RunOn, EachTaskIsHandedOverBeforeTheNextOne) {
  ListSink sink;
  RunOptions options;
  options.finished = {"device/l2_bandwidth"};
  const auto plan = device_tasks({DeviceTask::idle_power, DeviceTask::latency, DeviceTask::l2_bandwidth});
  const RunResult result = run_small(plan, options, sink);
  EXPECT_EQ(sink.events, (std::vector<std::string>{"session", "next device/idle_power", "results device/idle_power",
                                                   "next device/latency", "failed device/latency: too hot",
                                                   "results device/latency"}));
  EXPECT_EQ(result.measured, 1U);
  EXPECT_EQ(result.failed, 1U);
  EXPECT_EQ(result.finished_before, 1U);
  EXPECT_EQ(result.left, 0U);
}

TEST(RunOn, WhatTheSinkThrowsEndsItBeforeTheNextTask) {
  ListSink sink(1);
  const auto plan = device_tasks({DeviceTask::idle_power, DeviceTask::l2_bandwidth, DeviceTask::loaded_power});
  EXPECT_THROW(static_cast<void>(run_small(plan, {}, sink)), Error);
  EXPECT_EQ(sink.events.back(), "next device/l2_bandwidth");
}

TEST(RunOn, ADeviceThatBreaksEndsItAndASinkOrABudgetStopsIt) {
  ListSink sink;
  const auto plan = device_tasks({DeviceTask::idle_power, DeviceTask::launch_overhead, DeviceTask::l2_bandwidth});
  EXPECT_THROW(static_cast<void>(run_small(plan, {}, sink)), Error);
  EXPECT_EQ(sink.kept, 1U);
  ListSink stops;
  stops.most = 1;
  EXPECT_EQ(run_small(plan, {}, stops).left, 2U);
  RunOptions spent;
  spent.budget_s = 1e-12;
  EXPECT_EQ(run_small(plan, spent, stops).left, 3U);
}

TEST(RunOn, TheLibraryIsOpenedWhereATaskThatIsLeftNeedsIt) {
  std::vector<bool> asked;
  const OpenBench open = [&](bool needs_cublaslt) {
    asked.push_back(needs_cublaslt);
    return std::make_unique<SmallBench>();
  };
  const Task product;
  RunOptions done;
  done.finished = {key(product)};
  ListSink sink;
  sink.most = 0;
  static_cast<void>(run_on(open, {product}, {}, sink));
  static_cast<void>(run_on(open, {product}, done, sink));
  EXPECT_EQ(asked, (std::vector<bool>{true, false}));
}

TEST(Run, KernelsAgreeWithTheHost) {
  if (const Availability here = availability(); here.devices.empty()) GTEST_SKIP() << here.problem;
  const KernelCheck check = check_kernels(0);
  for (const std::string& problem : check.problems) ADD_FAILURE() << problem;
  EXPECT_GE(check.agreed, static_cast<std::size_t>(gpu::kLargestTile) + 12) << "fp32, fp16 and bf16 in four layouts";
}

}  // namespace
}  // namespace hindsight::measure
