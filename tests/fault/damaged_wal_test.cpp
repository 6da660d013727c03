/// Class 5: what does a log give that was damaged, or whose write-ahead log was? Its commits are checksummed: a prefix
/// of them.
#include <SQLiteCpp/SQLiteCpp.h>

#include <bit>
#include <fstream>
#include <set>

#include "fault/fault_fixture.h"
#include "fault/log_damage.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "log/log_fixture.h"
#include "log/process.h"

namespace hindsight::fault::test {
namespace {

namespace fs = std::filesystem;

constexpr int kBatches = 12, kBatch = 10;

/// Guarantee: whatever is cut off or changed in a -wal file, the log is sound, or is refused as damaged, and holds
/// whole batches; never a crash.
class Class05Wal : public FaultFixture {
 protected:
  /// A writer that was killed with commits in its write-ahead log.
  void SetUp() override {
    const pid_t child = log::test::fork_child([&] {
      auto* log = new log::Log(log::Log::open(file("log.db"), log::OpenMode::read_write_create));
      const log::test::Ids ids = log::test::register_all(*log);
      for (int i = 0; i < kBatches; ++i) {
        log->append(ids.run, ids.space, ids.evaluator, log::test::batch_of(ids, i * kBatch, kBatch),
                    log::Checkpoint{"sweep", std::to_string(i)});
      }
      _exit(0);
    });
    ASSERT_EQ(log::test::wait_for(child), 0);
    main_ = read_file(file("log.db"));
    wal_ = read_file(file("log.db-wal"));
    ASSERT_GT(wal_.size(), 100'000U);
  }

  /// Rows that the log gives with this -wal file; -1 where it is refused.
  std::int64_t rows_with(const std::string& wal) {
    fs::remove(file("log.db-shm"));
    std::ofstream(file("log.db"), std::ios::binary) << main_;
    std::ofstream(file("log.db-wal"), std::ios::binary) << wal;
    try {
      const log::Log log = log::Log::open(file("log.db"), log::OpenMode::read_only);
      EXPECT_TRUE(log.verify().sound());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::incompatible) << error.what();
      return -1;
    }
    return rows_in(file("log.db"));
  }

  std::string main_, wal_;
};

TEST_F(Class05Wal, CutAnywhereItGivesWholeBatches) {
  std::int64_t before = 0;
  std::set<std::int64_t> given;
  for (std::size_t length = 0; length <= wal_.size(); length += 4999) {
    const std::int64_t rows = rows_with(wal_.substr(0, length));
    if (rows < 0) continue;
    EXPECT_EQ(rows % kBatch, 0) << "cut after " << length;
    EXPECT_GE(rows, before) << "a longer file gives no less";
    before = rows;
    given.insert(rows);
  }
  EXPECT_GT(given.size(), 3U) << "not all or nothing: a part of the file gives a part of the batches";
  EXPECT_EQ(rows_with(wal_), kBatches * kBatch);
}

TEST_F(Class05Wal, ChangedAnywhereItGivesWholeBatches) {
  for (std::size_t at = 0; at < wal_.size(); at += at < 64 ? 1 : 4001) {
    std::string changed = wal_;
    changed[at] = static_cast<char>(changed[at] ^ 0x41);
    const std::int64_t rows = rows_with(changed);
    EXPECT_EQ(rows < 0 ? 0 : rows % kBatch, 0) << "changed at " << at;
  }
}

TEST_F(Class05Wal, OfAnotherLogItIsNotTaken) {
  std::string noise(wal_.size(), '\0');
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<char>(i * 31U ^ i >> 7U);
  const std::int64_t rows = rows_with(noise);
  EXPECT_EQ(rows, rows_with("")) << "what the file itself has";
}

/// Guarantee: refused or listed, exit code 4, or whole; never a crash; a repair gives a sound log. scripts/soak.sh
/// makes 2,000 damages.
TEST_F(FaultFixture, Class05LogsDamagedAtRandomAreRefusedOrWholeAndRepaired) {
  const Tally tally = damage_log(30, 20261129, folder());
  EXPECT_EQ(tally.count, 30);
  EXPECT_TRUE(tally.clean()) << tally.words();
}

/// The eight bytes of a number as a page has it. [spec: sqlite-format]
std::string as_stored(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(bits >> static_cast<unsigned>(shift) & 0xffU);
  return bytes;
}

/// Pages have no checksum: the last bit of an area, turned over where it lies, leaves a sound log with another number.
/// Only the model, asked again, tells.
TEST_F(FaultFixture, Class05ANumberThatChangedWhereItLiesIsFoundByTheModel) {
  lay_out(scenario("export"), folder());
  const fs::path log = folder() / "a.db";
  const double area =
      SQLite::Database(log.string())
          .execAndGet("SELECT area_mm2 FROM evaluations WHERE feasible = 1 ORDER BY evaluation_id LIMIT 1")
          .getDouble();
  std::string bytes = read_file(log);
  const std::string stored = as_stored(area);
  int turned = 0;
  for (std::size_t at = bytes.find(stored); at != std::string::npos; at = bytes.find(stored, at + 1)) {
    bytes[at + stored.size() - 1] = static_cast<char>(bytes[at + stored.size() - 1] ^ 1);
    ++turned;
  }
  ASSERT_GT(turned, 0) << area;
  const auto verify = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"log", "verify", "a.db"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words, {.folder = folder()});
  };
  EXPECT_EQ(verify({"--deep"}).exit_code, 0);
  std::ofstream(log, std::ios::binary) << bytes;
  EXPECT_EQ(verify({}).exit_code, 0);
  const Ended deep = verify({"--deep"});
  EXPECT_EQ(deep.exit_code, 4) << deep.out;
  EXPECT_NE(deep.out.find("another result ("), std::string::npos) << deep.out;
}

}  // namespace
}  // namespace hindsight::fault::test
