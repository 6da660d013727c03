/// Does a log tell how a training ended, and is it free meanwhile?
#include "hindsight/study/training_record.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "hindsight/core/interrupt.h"
#include "hindsight/log/query.h"
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

}  // namespace
}  // namespace hindsight::study
