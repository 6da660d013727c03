/// What does a user read when the file, the folder or the disk is not as it should be, and is the file left alone?
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <latch>
#include <thread>

#include "hindsight/core/files.h"
#include "log/connection.h"
#include "log/log_fixture.h"
#include "log/process.h"

namespace hindsight::log::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FaultTest : public LogTest {
 protected:
  void write(const std::string& bytes) { std::ofstream(file_, std::ios::binary) << bytes; }
  /// A closed log with some rows.
  void make_log(int designs = 200) {
    Log log = Log::open(file_, OpenMode::read_write_create);
    const Ids ids = register_all(log);
    log.append(ids.run, ids.space, ids.evaluator, batch_of(ids, 0, designs), Checkpoint{"sweep", "1"});
  }
  void exec(const std::string& sql) {
    SQLite::Database database(file_.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec(sql);
  }
  /// Opening is refused in both modes with this kind and words, and the bytes of the file stay.
  void expect_refused(ErrorKind kind, const std::string& words) {
    const std::string before = read_file(file_);
    for (const OpenMode mode : {OpenMode::read_only, OpenMode::read_write_create}) {
      const auto [got_kind, message] = error_of([&] { (void)Log::open(file_, mode); });
      EXPECT_EQ(got_kind, kind) << message;
      EXPECT_THAT(message, HasSubstr(words));
      EXPECT_THAT(message, HasSubstr(file_.string()));
      EXPECT_EQ(message.find('\n'), std::string::npos);
    }
    EXPECT_TRUE(read_file(file_) == before);
    expect_no_litter();
  }
  void expect_no_litter() {
    for (const char* suffix : {"-wal", "-shm", "-journal"}) {
      EXPECT_FALSE(fs::exists(file_.string() + suffix)) << suffix;
    }
  }
};

TEST_F(FaultTest, ClosingLeavesOneFile) {
  make_log();
  expect_no_litter();
  { EXPECT_TRUE(Log::open(file_, OpenMode::read_only).verify().sound()); }
  expect_no_litter();
}

TEST_F(FaultTest, ClosingInTwoThreadsLeavesOneFile) {
  make_log(1);
  for (int round = 0; round < 300 && !HasFailure(); ++round) {
    std::latch both_open(2);
    const auto open_and_close = [&] {
      const Log log = Log::open(file_, OpenMode::read_only);
      both_open.arrive_and_wait();
    };
    std::jthread other(open_and_close);
    open_and_close();
    other.join();
    expect_no_litter();
  }
}

TEST_F(FaultTest, ReadingLeavesTheBytesAlone) {
  make_log();
  const std::string before = read_file(file_);
  { EXPECT_TRUE(Log::open(file_, OpenMode::read_only).warnings().empty()); }
  EXPECT_TRUE(read_file(file_) == before);
}

TEST_F(FaultTest, MissingFileAndFolder) {
  const auto [read_kind, read_message] = error_of([&] { (void)Log::open(file_, OpenMode::read_only); });
  EXPECT_EQ(read_kind, ErrorKind::usage);
  EXPECT_THAT(read_message, HasSubstr("no such log"));
  EXPECT_FALSE(fs::exists(file_));
  const auto [kind, message] =
      error_of([&] { (void)Log::open(folder_ / "missing" / "a.db", OpenMode::read_write_create); });
  EXPECT_EQ(kind, ErrorKind::usage);
  EXPECT_THAT(message, HasSubstr("mkdir -p"));
  EXPECT_EQ(error_of([] { (void)Log::open("", OpenMode::read_write_create); }).first, ErrorKind::usage);
}

TEST_F(FaultTest, FolderAndPipeAreNotLogs) {
  for (const OpenMode mode : {OpenMode::read_only, OpenMode::read_write_create}) {
    const auto [kind, message] = error_of([&] { (void)Log::open(folder_, mode); });
    EXPECT_EQ(kind, ErrorKind::usage);
    EXPECT_THAT(message, HasSubstr("is a folder"));
  }
  ASSERT_EQ(mkfifo(file_.c_str(), 0600), 0);
  const auto [kind, message] = error_of([&] { (void)Log::open(file_, OpenMode::read_only); });
  EXPECT_EQ(kind, ErrorKind::usage);
  EXPECT_THAT(message, HasSubstr("not a regular file"));
}

TEST_F(FaultTest, EmptyFileBecomesALog) {
  write("");
  EXPECT_EQ(error_of([&] { (void)Log::open(file_, OpenMode::read_only); }).first, ErrorKind::incompatible);
  make_log();
  EXPECT_TRUE(Log::open(file_, OpenMode::read_only).verify().sound());
}

TEST_F(FaultTest, TextFileIsRefused) {
  write(std::string(5000, 'x'));
  expect_refused(ErrorKind::incompatible, "not a SQLite file");
  write("x");
  expect_refused(ErrorKind::incompatible, "too few for a SQLite file");
}

TEST_F(FaultTest, DatabaseOfAnotherProgramIsRefused) {
  exec("CREATE TABLE trials(a); INSERT INTO trials VALUES (1)");
  expect_refused(ErrorKind::incompatible, "SQLite file of another program");
  exec("PRAGMA application_id = 17");
  expect_refused(ErrorKind::incompatible, "application_id 0x00000011");
}

TEST_F(FaultTest, DatabaseOfAnotherProgramWithAWriteAheadLogIsRefusedAndKept) {
  // The table exists in the -wal file only, as after a crash of the other program.
  const pid_t child = fork_child([&] {
    auto* database = new SQLite::Database(file_.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database->exec("PRAGMA journal_mode = WAL; CREATE TABLE trials(a)");
    _exit(0);
  });
  ASSERT_EQ(wait_for(child), 0);
  const std::string main_before = read_file(file_);
  const std::string wal_before = read_file(file_.string() + "-wal");
  for (const OpenMode mode : {OpenMode::read_write_create, OpenMode::read_only}) {
    const auto [kind, message] = error_of([&] { (void)Log::open(file_, mode); });
    EXPECT_EQ(kind, ErrorKind::incompatible) << message;
    EXPECT_THAT(message, HasSubstr("another program"));
  }
  EXPECT_TRUE(read_file(file_) == main_before);
  EXPECT_TRUE(read_file(file_.string() + "-wal") == wal_before);
}

TEST_F(FaultTest, NewerSchemaIsRefusedWithTheVersionThatWroteIt) {
  make_log();
  exec("PRAGMA user_version = 7; INSERT INTO schema_migrations VALUES (7, '2030-01-01T00:00:00Z', '9.1.0')");
  expect_refused(ErrorKind::incompatible, "schema version 7, written by Hindsight 9.1.0");
}

TEST_F(FaultTest, MissingColumnIsRefused) {
  make_log();
  exec("ALTER TABLE runs DROP COLUMN cwd");
  expect_refused(ErrorKind::incompatible, "'runs.cwd' is missing");
}

TEST_F(FaultTest, DamagedPagesAreReportedNeverACrash) {
  make_log();
  const std::string sound = read_file(file_);
  int refused = 0;
  int reported = 0;
  // Every page in turn is overwritten with noise, or the file ends before it.
  for (std::size_t page = 0; page < sound.size() / 4096; ++page) {
    for (const bool truncate : {false, true}) {
      std::string damaged = truncate ? sound.substr(0, page * 4096 + 100) : sound;
      for (std::size_t i = page * 4096; i < std::min(damaged.size(), page * 4096 + 4096); ++i) {
        damaged[i] = static_cast<char>(0xA5U ^ (i * 31U));
      }
      write(damaged);
      try {
        const Log log = Log::open(file_, OpenMode::read_only);
        reported += log.verify().sound() ? 0 : 1;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::incompatible) << error.what();
        ++refused;
      }
    }
  }
  EXPECT_EQ(refused + reported, static_cast<int>(sound.size() / 4096 * 2));
  EXPECT_GT(refused, 0);
  EXPECT_GT(reported, 0);
}

TEST_F(FaultTest, AppendingToDamagedPagesIsAnErrorAndNotACrash) {
  make_log();
  std::string damaged = read_file(file_);
  std::fill(damaged.begin() + 8 * 4096, damaged.end(), '\x5a');
  write(damaged);
  const auto [kind, message] = error_of([&] { make_log(400); });
  EXPECT_EQ(kind, ErrorKind::incompatible);
  EXPECT_THAT(message, HasSubstr("hindsight log repair"));
}

TEST_F(FaultTest, TriggersOfADoctoredLogDoNotRun) {
  make_log();
  exec("CREATE TRIGGER evil AFTER INSERT ON runs BEGIN DELETE FROM evaluation_violations; END");
  Log log = Log::open(file_, OpenMode::read_write_create);
  register_all(log);
  EXPECT_TRUE(log.verify().sound());
}

TEST_F(FaultTest, LockIsAwaitedThenReported) {
  make_log();
  SQLite::Database holder(file_.string(), SQLite::OPEN_READWRITE);
  holder.exec("BEGIN IMMEDIATE");
  Log log = Log::open(file_, OpenMode::read_write_create, std::chrono::milliseconds(50));
  const auto [kind, message] = error_of([&] { log.begin_run(RunKind::sweep, provenance(), "{}"); });
  EXPECT_EQ(kind, ErrorKind::failure);
  EXPECT_THAT(message, HasSubstr("locked by another process"));
  EXPECT_EQ(log.checkpoint("sweep"), "1");  // readers do not wait
  holder.exec("ROLLBACK");
  EXPECT_GT(log.begin_run(RunKind::sweep, provenance(), "{}"), 0);
}

TEST_F(FaultTest, ReadOnlyLogCannotBeWritten) {
  make_log();
  Log log = Log::open(file_, OpenMode::read_only);
  EXPECT_EQ(error_of([&] { log.begin_run(RunKind::sweep, provenance(), "{}"); }).first, ErrorKind::usage);
}

/// Runs `body` without root's right to write everywhere.
template <class Body>
int as_ordinary_user(Body&& body) {
  constexpr uid_t kNobody = 65534;
  return wait_for(fork_child([&] {
    if (geteuid() == 0 && setresuid(kNobody, kNobody, kNobody) != 0) {
      _exit(3);
    }
    body();
  }));
}

TEST_F(FaultTest, LogInAReadOnlyFolderIsReadWithoutATrace) {
  make_log();
  fs::permissions(file_, fs::perms(0444));
  fs::permissions(folder_, fs::perms(0555));
  const std::string before = read_file(file_);
  EXPECT_EQ(as_ordinary_user([&] {
              const Log log = Log::open(file_, OpenMode::read_only);
              if (log.checkpoint("sweep") != "1" || !log.verify().sound()) {
                _exit(4);
              }
            }),
            0);
  EXPECT_EQ(as_ordinary_user([&] {
              const auto [kind, message] = error_of([&] { (void)Log::open(file_, OpenMode::read_write_create); });
              if (kind != ErrorKind::failure || message.find("read-only") == std::string::npos) {
                _exit(5);
              }
            }),
            0);
  fs::permissions(folder_, fs::perms::owner_all);
  EXPECT_TRUE(read_file(file_) == before);
  expect_no_litter();
}

TEST_F(FaultTest, UnmergedCommitsInAReadOnlyFolderAreNotIgnored) {
  // A writer was killed: its newest commits are in the -wal file, which only a writable folder can merge.
  const pid_t child = fork_child([&] {
    auto* log = new Log(Log::open(file_, OpenMode::read_write_create));
    register_all(*log);
    _exit(0);
  });
  ASSERT_EQ(wait_for(child), 0);
  ASSERT_TRUE(fs::exists(file_.string() + "-wal"));
  fs::remove(file_.string() + "-shm");
  for (const auto& entry : fs::directory_iterator(folder_)) {
    fs::permissions(entry.path(), fs::perms(0444));
  }
  fs::permissions(folder_, fs::perms(0555));
  EXPECT_EQ(as_ordinary_user([&] {
              const auto [kind, message] = error_of([&] { (void)Log::open(file_, OpenMode::read_only); });
              if (kind != ErrorKind::failure || message.find("Copy both files") == std::string::npos) {
                std::fprintf(stderr, "%s\n", message.c_str());
                _exit(4);
              }
            }),
            0);
  fs::permissions(folder_, fs::perms::owner_all);
  for (const auto& entry : fs::directory_iterator(folder_)) {
    fs::permissions(entry.path(), fs::perms(0644));
  }
  EXPECT_TRUE(Log::open(file_, OpenMode::read_only).verify().sound());
}

TEST_F(FaultTest, UnreadableFile) {
  make_log();
  fs::permissions(file_, fs::perms::none);
  fs::permissions(folder_, fs::perms(0777));
  EXPECT_EQ(as_ordinary_user([&] {
              const auto [kind, message] = error_of([&] { (void)Log::open(file_, OpenMode::read_only); });
              if (kind != ErrorKind::failure || message.find(file_.string()) == std::string::npos) {
                _exit(4);
              }
            }),
            0);
}

/// Lets files of this process grow to `bytes` at most, as a full disk would.
void limit_file_size(rlim_t bytes) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) {
    _exit(3);
  }
}

/// What is stored whole or not at all says so, and not that a part of it is kept.
TEST_F(FaultTest, FullDiskKeepsNothingOfATransaction) {
  const pid_t child = fork_child([&] {
    Log log = Log::open(file_, OpenMode::read_write_create);
    const Ids ids = register_all(log);
    limit_file_size(600'000);
    const auto [kind, message] = error_of([&] {
      Transaction whole(log);
      for (int batch = 0; batch < 100; ++batch) {
        log.append(ids.run, ids.space, ids.evaluator, batch_of(ids, batch * 100, 100),
                   Checkpoint{"sweep", std::to_string(batch + 1)});
      }
      whole.commit();
    });
    if (kind != ErrorKind::failure || message.find("nothing of this step is stored") == std::string::npos) {
      std::fprintf(stderr, "%s\n", message.c_str());
      _exit(4);
    }
  });
  EXPECT_EQ(wait_for(child), 0);
  const Log log = Log::open(file_, OpenMode::read_only);
  EXPECT_TRUE(log.verify().sound());
}

TEST_F(FaultTest, FullDiskKeepsCommittedBatches) {
  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork_child([&] {
    Log log = Log::open(file_, OpenMode::read_write_create);
    const Ids ids = register_all(log);
    limit_file_size(600'000);
    int batches = 0;
    const auto [kind, message] = error_of([&] {
      for (; batches < 1000; ++batches) {
        log.append(ids.run, ids.space, ids.evaluator, batch_of(ids, batches * 100, 100),
                   Checkpoint{"sweep", std::to_string(batches + 1)});
      }
    });
    if (kind != ErrorKind::failure || message.find("ree some space") == std::string::npos) {
      std::fprintf(stderr, "%s\n", message.c_str());
      _exit(4);
    }
    // The same log goes on when there is room again.
    limit_file_size(RLIM_INFINITY);
    log.append(ids.run, ids.space, ids.evaluator, batch_of(ids, batches * 100, 100),
               Checkpoint{"sweep", std::to_string(batches + 1)});
    ++batches;
    _exit(::write(ends[1], &batches, sizeof batches) == sizeof batches ? 0 : 5);
  });
  ASSERT_EQ(wait_for(child), 0);
  int batches = 0;
  ASSERT_EQ(read(ends[0], &batches, sizeof batches), static_cast<ssize_t>(sizeof batches));
  EXPECT_GT(batches, 2);
  Log log = Log::open(file_, OpenMode::read_only);
  EXPECT_TRUE(log.verify().sound());
  EXPECT_EQ(log.checkpoint("sweep"), std::to_string(batches));
  SQLite::Database database(file_.string());
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM evaluations").getInt(), batches * 100);
}

TEST_F(FaultTest, FullDiskWhileCreatingOrReadingIsAFailure) {
  EXPECT_EQ(wait_for(fork_child([&] {
              limit_file_size(8192);
              const auto [kind, message] = error_of([&] { (void)Log::open(file_, OpenMode::read_write_create); });
              if (kind != ErrorKind::failure || message.find(file_.string()) == std::string::npos) {
                std::fprintf(stderr, "%s\n", message.c_str());
                _exit(4);
              }
            })),
            0);
  EXPECT_TRUE(fs::is_empty(folder_)) << "a log that could not be made left something behind";
  make_log();  // with room, the same name works
  EXPECT_TRUE(Log::open(file_, OpenMode::read_only).verify().sound());
}

TEST_F(FaultTest, ALogHasItsNameOnlyWhenItIsWhole) {
  const pid_t watcher = fork_child([&] {
    // Sees the name from the moment it is there: what it names can be read.
    while (!fs::exists(file_)) continue;
    static_cast<void>(Log::open(file_, OpenMode::read_only));
  });
  make_log();
  EXPECT_EQ(wait_for(watcher), 0);
}

TEST_F(FaultTest, MessagesShowNamesWithoutTheirControlCharacters) {
  const auto [kind, message] = error_of([&] { (void)Log::open(folder_ / "a\x1b[31m.db", OpenMode::read_only); });
  EXPECT_EQ(kind, ErrorKind::usage);
  EXPECT_EQ(message.find('\x1b'), std::string::npos) << message;
}

TEST_F(FaultTest, NamesWithSpecialCharactersAreFiles) {
  for (const char* name : {"a b.db", "100%.db", "a?mode=ro.db", "a#b.db", ":memory:", "file:x", "ünïcode.db"}) {
    SCOPED_TRACE(name);
    const fs::path file = folder_ / name;
    {
      Log log = Log::open(file, OpenMode::read_write_create);
      register_all(log);
    }
    EXPECT_TRUE(fs::is_regular_file(file));
    EXPECT_TRUE(Log::open(file, OpenMode::read_only).verify().sound());
  }
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  { Log::open(":memory:", OpenMode::read_only); }
  fs::current_path(before);
}

TEST_F(FaultTest, NetworkFileSystemsAreKnown) {
  EXPECT_STREQ(network_file_system_name(0x6969), "NFS");
  EXPECT_STREQ(network_file_system_name(static_cast<long>(0xff534d42)), "SMB/CIFS");
  EXPECT_STREQ(network_file_system_name(static_cast<std::int32_t>(0xff534d42)), "SMB/CIFS");
  EXPECT_EQ(network_file_system_name(0xEF53), nullptr);      // ext4
  EXPECT_EQ(network_file_system_name(0x01021994), nullptr);  // tmpfs
}

}  // namespace
}  // namespace hindsight::log::test
