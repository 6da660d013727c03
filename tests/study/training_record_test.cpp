/// Does a log tell a finished training from an interrupted one?
#include "hindsight/study/training_record.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "hindsight/log/query.h"
#include "hindsight/space/design_space.h"

namespace hindsight::study {
namespace {

class TrainingRecord : public ::testing::Test {
 protected:
  TrainingRecord() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hindsight-record-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    static_cast<void>(log::Log::open(folder_ / "study.sqlite", log::OpenMode::read_write_create));
  }
  ~TrainingRecord() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::optional<std::int64_t> record(const std::optional<log::ModelRow>& model) const {
    const Provenance provenance{.command_line = "hindsight train",
                                .version = "0.1.0",
                                .commit = "abc",
                                .host = "host",
                                .user = "user",
                                .started_at = "2026-01-31T12:00:00Z",
                                .cwd = "."};
    return record_training(folder_ / "study.sqlite", provenance, "{}", space::load_space("tiny"), model);
  }
  [[nodiscard]] log::RunInfo last_run() const {
    return log::recent_runs(log::Log::open(folder_ / "study.sqlite", log::OpenMode::read_only), 1).front();
  }

  std::filesystem::path folder_;
};

TEST_F(TrainingRecord, AFinishedTrainingHasItsModel) {
  const auto id = record(log::ModelRow{
      .name = "m", .kind = "prime", .file = "m.safetensors", .file_sha256 = std::string(64, 'a'), .card_json = "{}"});
  EXPECT_EQ(id, 1);
  EXPECT_EQ(last_run().kind, "train");
  EXPECT_EQ(last_run().status, "finished");
}

TEST_F(TrainingRecord, AnInterruptedOneIsARunWithoutAModel) {
  EXPECT_EQ(record(std::nullopt), std::nullopt);
  EXPECT_EQ(last_run().status, "interrupted");
}

}  // namespace
}  // namespace hindsight::study
