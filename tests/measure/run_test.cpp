/// On a machine without GPU: is it said in one clause? On one with a GPU: are the kernels right?
#include "hindsight/measure/run.h"

#include <gtest/gtest.h>

#include "hindsight/core/error.h"

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

TEST(Run, KernelsAgreeWithTheHost) {
  if (const Availability here = availability(); here.devices.empty()) GTEST_SKIP() << here.problem;
  const KernelCheck check = check_kernels(0);
  for (const std::string& problem : check.problems) ADD_FAILURE() << problem;
  EXPECT_GE(check.agreed, static_cast<std::size_t>(gpu::kLargestTile) + 12) << "fp32, fp16 and bf16 in four layouts";
}

}  // namespace
}  // namespace hindsight::measure
