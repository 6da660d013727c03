/// Does the landscape's trial compare every answer, fill batches as the engine wants them, and stop when told?
#include "landscape_trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "accel/host_engine.h"

namespace hindsight::measure::test {
namespace {

using accel::optimum::SiteAnswers;
using accel::optimum::test::HostEngine;

constexpr std::uint64_t kWhole = std::numeric_limits<std::uint64_t>::max();

TEST(LandscapeTrial, ComparesTheSameAnswersInOneBatchAndInMany) {
  HostEngine whole(kWhole), cut(1);
  const auto one = try_landscape(whole, {.budget_s = 0, .groups = 3});
  const auto many = try_landscape(cut, {.budget_s = 0, .groups = 3});
  ASSERT_TRUE(one && many);
  EXPECT_EQ(whole.batches, 3U) << "both lanes warmed up, then once against the clock";
  EXPECT_EQ(cut.batches, 5U);
  EXPECT_GT(one->compared, 1'000U);
  EXPECT_EQ(one->compared, many->compared);
  EXPECT_EQ(one->small_mappings, many->small_mappings);
  EXPECT_EQ(one->different, 0U);
  EXPECT_EQ(many->different, 0U);
  EXPECT_EQ(one->points, 0U) << "no budget for the large part";
}

/// Gets the last bit of one answer wrong, of batch number `wrong` alone.
class WrongOnce final : public HostEngine {
 public:
  explicit WrongOnce(std::size_t wrong) : HostEngine(kWhole), wrong_(wrong) {}
  [[nodiscard]] SiteAnswers finish() override {
    SiteAnswers answers = HostEngine::finish();
    if (finished_++ == wrong_) answers.energy.back().noc_hop_bytes *= 1 + 1e-15;
    return answers;
  }

 private:
  std::size_t wrong_, finished_ = 0;
};

TEST(LandscapeTrial, FindsOneWrongBitOnEitherLane) {
  for (std::size_t batch = 0; batch < 3; ++batch) {
    WrongOnce engine(batch);
    const auto trial = try_landscape(engine, {.budget_s = 0, .groups = 2});
    ASSERT_TRUE(trial);
    EXPECT_EQ(trial->different, 1U) << batch;
  }
}

TEST(LandscapeTrial, StopsBeforeAnyGroup) {
  // A group is added, started three times for the first batch, else once, and held against the host; so is a second;
  // then comes the first of the large part.
  constexpr std::array<std::size_t, 5> kBatches{0, 3, 3, 4, 4};
  for (std::size_t last = 1; last <= kBatches.size(); ++last) {
    HostEngine engine(1);
    std::size_t looks = 0;
    const LandscapeTrialOptions options{.budget_s = 60, .groups = 2, .stop = [&] { return ++looks == last; }};
    EXPECT_FALSE(try_landscape(engine, options)) << last;
    EXPECT_EQ(looks, last);
    EXPECT_EQ(engine.batches, kBatches[last - 1]) << last;
  }
}

TEST(LandscapeTrial, OnlyWholeLinesOfThisDeviceAndCommitAreDone) {
  const std::string line =
      R"({"record":"landscape","gpu_uuid":"GPU-1","commit":"abc","compared":3,"different":0,"x":1})";
  EXPECT_TRUE(has_landscape("{}\n" + line + "\n", "GPU-1", "abc"));
  EXPECT_FALSE(has_landscape(line, "GPU-1", "abc")) << "cut off by a kill";
  EXPECT_FALSE(has_landscape(line + "\n", "GPU-2", "abc"));
  EXPECT_FALSE(has_landscape(line + "\n", "GPU-1", "abcd"));
  EXPECT_FALSE(has_landscape("", "GPU-1", "abc"));
  std::string differs = line + "\n";
  differs.replace(differs.find(":0,"), 3, ":7,");
  EXPECT_FALSE(has_landscape(differs, "GPU-1", "abc"));
}

}  // namespace
}  // namespace hindsight::measure::test
