/// Is a backup the log of one moment, whoever writes meanwhile?
#include "hindsight/log/backup.h"

#include <gmock/gmock.h>

#include <csignal>
#include <fstream>

#include "hindsight/core/files.h"
#include "hindsight/log/content.h"
#include "hindsight/log/query.h"
#include "log/log_fixture.h"
#include "log/process.h"

namespace hindsight::log::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class BackupTest : public LogTest {
 protected:
  fs::path copy_ = folder_ / "copy.db";
  static std::string hash_of(const fs::path& file) { return content(Log::open(file, OpenMode::read_only)).sha256; }
};

TEST_F(BackupTest, HasTheContentAndAllElse) {
  {
    Log log = Log::open(file_, OpenMode::read_write_create);
    const Ids ids = register_all(log);
    log.append(ids.run, ids.space, ids.evaluator, batch_of(ids, 0, 300), Checkpoint{"sweep", "7"});
    // The newest commits are in the -wal file only.
    const BackupResult result = back_up_log(file_, copy_);
    EXPECT_EQ(result.evaluations, 300U);
    EXPECT_EQ(result.designs, 300U);
    EXPECT_EQ(result.bytes, fs::file_size(copy_));
  }
  EXPECT_EQ(hash_of(copy_), hash_of(file_));
  const Log copy = Log::open(copy_, OpenMode::read_only);
  EXPECT_TRUE(copy.verify().sound());
  EXPECT_EQ(copy.checkpoint("sweep"), "7");
  EXPECT_FALSE(fs::exists(copy_.string() + "-wal"));
}

TEST_F(BackupTest, IsTheLogOfOneMomentWhileAnotherProcessWrites) {
  constexpr int kRows = 50;
  { register_all(*std::make_unique<Log>(Log::open(file_, OpenMode::read_write_create))); }
  const pid_t writer = fork_child([&] {
    Log log = Log::open(file_, OpenMode::read_write);
    const Ids ids = register_all(log);
    for (int batch = 0;; ++batch) {
      log.append(ids.run, ids.space, ids.evaluator, batch_of(ids, batch * kRows, kRows),
                 Checkpoint{"sweep", std::to_string(batch + 1)});
    }
  });
  std::uint64_t rows = 0;
  for (int turn = 0; turn < 12; ++turn) {
    fs::remove(copy_);
    const BackupResult result = back_up_log(file_, copy_);
    const Log copy = Log::open(copy_, OpenMode::read_only);
    EXPECT_TRUE(copy.verify().sound());
    // Whole batches, each with its checkpoint.
    const auto batches = std::stoull(copy.checkpoint("sweep").value_or("0"));
    EXPECT_EQ(result.evaluations, batches * kRows);
    EXPECT_EQ(summary(copy).rows("evaluations"), batches * kRows);
    EXPECT_GE(result.evaluations, rows);
    rows = result.evaluations;
  }
  ::kill(writer, SIGKILL);
  EXPECT_EQ(wait_for(writer), -SIGKILL);
  EXPECT_GT(rows, 0U);
}

TEST_F(BackupTest, RefusesAndLeavesNothing) {
  const auto refused = [&](const std::string& words) {
    const auto [kind, message] = error_of([&] { (void)back_up_log(file_, copy_); });
    EXPECT_THAT(message, HasSubstr(words));
    EXPECT_EQ(message.find('\n'), std::string::npos);
    return kind;
  };
  EXPECT_EQ(refused("no such log"), ErrorKind::usage);
  std::ofstream(file_) << std::string(5000, 'x');
  EXPECT_EQ(refused("not a Hindsight log"), ErrorKind::incompatible);
  fs::remove(file_);
  { register_all(*std::make_unique<Log>(Log::open(file_, OpenMode::read_write_create))); }
  std::ofstream(copy_) << "mine";
  EXPECT_EQ(refused("is there already"), ErrorKind::usage);
  EXPECT_EQ(read_file(copy_), "mine");
  fs::remove(copy_);
  copy_ = folder_ / "missing" / "copy.db";
  EXPECT_EQ(refused("there is no folder"), ErrorKind::usage);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

}  // namespace
}  // namespace hindsight::log::test
