/// Does a log tell how a training ended, and is it free meanwhile?
#include "hindsight/study/training_record.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "hindsight/core/interrupt.h"
#include "hindsight/log/query.h"
#include "hindsight/log/sql_query.h"
#include "hindsight/space/design_space.h"

namespace hindsight::study {
namespace {

class TrainingRun : public ::testing::Test {
 protected:
  TrainingRun() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hindsight-record-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    static_cast<void>(log::Log::open(folder_ / "study.sqlite", log::OpenMode::read_write_create));
  }
  ~TrainingRun() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  [[nodiscard]] study::TrainingRecord begun() const {
    const Provenance provenance{.command_line = "hindsight train",
                                .version = "0.1.0",
                                .commit = "abc",
                                .host = "host",
                                .user = "user",
                                .started_at = "2026-01-31T12:00:00Z",
                                .cwd = "."};
    return {folder_ / "study.sqlite", provenance, "{}"};
  }
  [[nodiscard]] log::RunInfo last_run() const {
    return log::recent_runs(log::Log::open(folder_ / "study.sqlite", log::OpenMode::read_only), 1).front();
  }

  std::filesystem::path folder_;
};

TEST_F(TrainingRun, AFinishedTrainingHasItsModel) {
  study::TrainingRecord record = begun();
  EXPECT_EQ(last_run().kind, "train");
  EXPECT_EQ(last_run().status, "running") << "it begins before the training";
  const std::int64_t id = record.finish(
      space::load_space("tiny"),
      {.name = "m", .kind = "prime", .file = "m.safetensors", .file_sha256 = std::string(64, 'a'), .card_json = "{}"});
  EXPECT_EQ(id, 1);
  EXPECT_EQ(last_run().status, "finished");
}

TEST_F(TrainingRun, AnInterruptedOneIsARunWithoutAModel) {
  {
    const study::TrainingRecord record = begun();
    set_interrupt_requested(true);
  }
  set_interrupt_requested(false);
  EXPECT_EQ(last_run().status, "interrupted");
}

TEST_F(TrainingRun, OneThatAnErrorEndsHasFailed) {
  { const study::TrainingRecord record = begun(); }
  EXPECT_EQ(last_run().status, "failed");
}

TEST_F(TrainingRun, OthersWriteToTheLogMeanwhile) {
  const study::TrainingRecord record = begun();
  constexpr std::chrono::milliseconds kNoWait{0};  // a lock shows at once
  log::Log other = log::Log::open(folder_ / "study.sqlite", log::OpenMode::read_write, kNoWait);
  const Provenance provenance{};
  EXPECT_NO_THROW(log::Run(other, log::RunKind::sweep, provenance).finish());
}

TEST(TrainingCurveTest, KeepsFewPointsOfEveryMemberAndTheLast) {
  TrainingCurve curve;
  for (std::int64_t step = 1; step <= 50'000; ++step) {
    for (std::int64_t member = 0; member < 3; ++member)
      curve.add({.member = member, .members = 3, .step = step, .steps = 50'000, .loss = static_cast<double>(step)});
  }
  const auto json = nlohmann::json::parse(curve.json("m.safetensors", "2026-01-31T12:00:00Z"));
  EXPECT_EQ(json.at("model"), "m.safetensors");
  EXPECT_EQ(json.at("members"), 3);
  EXPECT_EQ(json.at("steps"), 50'000);
  const auto& points = json.at("points");
  EXPECT_LE(points.size(), TrainingCurve::kMostPoints);
  EXPECT_GT(points.size(), TrainingCurve::kMostPoints / 4) << "a curve, not a few dots";
  std::int64_t last_member = 0, last_step = 0;
  for (const auto& point : points) {
    const auto member = point.at(0).get<std::int64_t>(), step = point.at(1).get<std::int64_t>();
    EXPECT_TRUE(member > last_member || step > last_step) << "by member, then step";
    EXPECT_EQ(point.at(2).get<double>(), static_cast<double>(step));
    EXPECT_TRUE(point.at(3).is_null()) << "no tau is known";
    last_member = member;
    last_step = step;
  }
  EXPECT_EQ(last_member, 2);
  EXPECT_EQ(last_step, 50'000);
}

TEST_F(TrainingRun, ItsCurveIsThereWhileItRuns) {
  study::TrainingRecord record = begun();
  record.note({.member = 0, .members = 1, .step = 1, .steps = 1000, .loss = 3}, "m.safetensors");
  const log::Log log = log::Log::open(folder_ / "study.sqlite", log::OpenMode::read_only);
  log::SqlQuery query(log, "SELECT key, value_json FROM checkpoints");
  std::vector<log::SqlValue> row;
  ASSERT_TRUE(query.next(row));
  EXPECT_TRUE(std::get<std::string>(row[0]).starts_with(kTrainingKey));
  EXPECT_NE(std::get<std::string>(row[1]).find("m.safetensors"), std::string::npos);
}

}  // namespace
}  // namespace hindsight::study
