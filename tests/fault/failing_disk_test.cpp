/// Classes 3 and 4: what does a verb say and leave when the disk is full, fails or is read-only, or memory runs out?
/// scripts/soak.sh makes every call fail.
#include <SQLiteCpp/SQLiteCpp.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <stdexcept>

#include "apps/process.h"
#include "fault/call_counts.h"
#include "fault/fail_loop.h"
#include "fault/fault_fixture.h"
#include "hindsight/core/files.h"
#include "hindsight/measure/json_lines.h"
#include "hindsight/measure/plan.h"
#include "log/process.h"
#include "repository.h"

namespace hindsight::fault::test {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

/// Guarantee: exit code other than 0 and one line that names a file, or the undisturbed result; the previous file or
/// the new one; a sound log with all rows that were there; nothing left behind; the same command then completes.
class Class03Disk : public FaultFixture {
 protected:
  void expect_answered(const std::string& name, FailLoop loop, std::int64_t most) const {
    HINDSIGHT_NEEDS_INTERPOSER();
    loop.most = most;
    const Tally tally = fail_at_every(scenario(name), loop, folder());
    EXPECT_GT(tally.count, 0) << "no call failed: is the library loaded?";
    EXPECT_TRUE(tally.clean()) << tally.words();
  }
};

TEST_F(Class03Disk, SweepOnAFullDisk) {
  expect_answered("sweep", {.call = "write", .error = "ENOSPC", .times = "once"}, 4);
  expect_answered("sweep", {.call = "write", .error = "ENOSPC", .times = "forever"}, 4);
}
TEST_F(Class03Disk, SweepOnAFailingDisk) {
  expect_answered("sweep", {.call = "write", .error = "EIO", .times = "forever"}, 3);
  expect_answered("sweep", {.call = "read", .error = "EIO", .times = "once"}, 3);
  expect_answered("sweep", {.call = "fsync", .error = "EIO", .times = "once"}, 3);
}
TEST_F(Class03Disk, SweepWhereNothingCanBeOpened) {
  expect_answered("sweep", {.call = "open", .error = "EROFS", .times = "once"}, 4);
  expect_answered("sweep", {.call = "open", .error = "EIO", .times = "forever"}, 4);
}
TEST_F(Class03Disk, Import) {
  expect_answered("import", {.call = "write", .error = "ENOSPC", .times = "once"}, 3);
  expect_answered("import", {.call = "read", .error = "EIO", .times = "forever"}, 3);
}
TEST_F(Class03Disk, AMergedLogComesWholeOrNotAtAll) {
  expect_answered("merge", {.call = "write", .error = "ENOSPC", .times = "forever"}, 4);
  expect_answered("merge", {.call = "rename", .error = "EROFS", .times = "forever"}, 2);
  expect_answered("merge", {.call = "read", .error = "EIO", .times = "once"},
                  5);  // the last ones: when blocks are stored
  expect_answered("backup", {.call = "fsync", .error = "EIO", .times = "once"}, 3);
}
/// A page that the disk does not give is not taken for a damaged one.
TEST_F(Class03Disk, ARepairOfWhatTheDiskCannotRead) {
  expect_answered("repair", {.call = "read", .error = "EIO", .times = "once"}, 6);
}
/// Where the folder is writable, what cannot be opened is no matter of permissions.
TEST_F(Class03Disk, ALogWithCommitsBesideItThatCannotBeOpened) {
  HINDSIGHT_NEEDS_INTERPOSER();
  fs::create_directories(folder());
  const auto sweep = [&](const char* samples) {
    const Ended ended =
        run({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", samples, "--log", "log.db", "--quiet"},
            {.folder = folder()});
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
  };
  sweep("5");
  const CallCounts counts(folder());
  int failed = 0;
  for (const std::uint64_t n : {1, 2, 3, 4, 5, 6}) {
    // Keeps the next commits in the -wal file.
    const SQLite::Database keeper((folder() / "log.db").string(), SQLite::OPEN_READWRITE);
    static_cast<void>(SQLite::Statement(keeper, "SELECT count(*) FROM evaluations").executeStep());
    sweep(std::to_string(5 + n).c_str());
    auto environment = counts.environment("open", n, "forever");
    environment["HINDSIGHT_FAULT_ERRNO"] = "EIO";
    const Ended ended = run({"log", "show", "log.db"}, {.folder = folder(), .environment = environment});
    if (ended.exit_code == 0) continue;
    ++failed;
    EXPECT_EQ(ended.exit_code, 1) << n << ": " << ended.err;
    EXPECT_EQ(ended.err.find("writable folder"), std::string::npos) << n << ": " << ended.err;
  }
  EXPECT_GE(failed, 3);
}
TEST_F(Class03Disk, AConfigurationThatTheDiskCannotReadIsNoMistakeOfTheUser) {
  HINDSIGHT_NEEDS_INTERPOSER();
  write_file_atomically(file("s.yaml"), "name: s\nparameters:\n  - {name: a, unit: count, values: [1, 2]}\n");
  const CallCounts counts(temporary_.path());
  auto environment = counts.environment("read", 1, "forever");
  environment["HINDSIGHT_FAULT_ERRNO"] = "EIO";
  const Ended ended = run({"space", "check", file("s.yaml")}, {.environment = environment});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("s.yaml: cannot read: Input/output error"));
  EXPECT_EQ(run({"space", "check", file("s.yaml")}).exit_code, 0);
  EXPECT_EQ(run({"space", "check", file("t.yaml")}).exit_code, 2);
}
TEST_F(Class03Disk, MeasurementsOfAGpu) {
  expect_answered("measure", {.call = "write", .error = "ENOSPC", .times = "forever"}, 4);
}
/// A spec sheet and constants are the old file or the new one.
TEST_F(Class03Disk, SheetsAndConstantsOfAGpu) {
  for (const char* name : {"measure sheet", "calibrate"}) {
    expect_answered(name, {.call = "read", .error = "EIO", .times = "forever"}, 3);
    expect_answered(name, {.call = "write", .error = "ENOSPC", .times = "once"}, 3);
    expect_answered(name, {.call = "fsync", .error = "EIO", .times = "once"}, 3);
    expect_answered(name, {.call = "rename", .error = "EROFS", .times = "forever"}, 2);
    expect_answered(name, {.call = "close", .error = "EIO", .times = "once"}, 4);
  }
}
/// What is measured already is not known where the file cannot be read, and would be measured again.
TEST_F(Class03Disk, MeasurementsThatCannotBeReadAreNotNone) {
  HINDSIGHT_NEEDS_INTERPOSER();
  lay_out(scenario("measure"), folder());
  const CallCounts counts(folder());
  const auto list = [&](const std::string& call, const std::string& name) {
    auto environment = counts.environment(call, 1, "forever");
    environment["HINDSIGHT_FAULT_ERRNO"] = "EIO";
    return run_program(app::test::measure_program_path(), {"--list", name},
                       {.folder = folder(), .environment = environment});
  };
  for (const char* call : {"open", "read"}) {
    const Ended ended = list(call, (folder() / "gpu.jsonl").string());
    EXPECT_EQ(ended.exit_code, 1) << call << ": " << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("gpu.jsonl: cannot be read")) << call;
    EXPECT_EQ(ended.out, "") << call;
  }
  EXPECT_EQ(list("write", (folder() / "gpu.jsonl").string()).exit_code, 0);
  EXPECT_EQ(list("write", (folder() / "none.jsonl").string()).exit_code, 0) << "none yet";
}
/// Its two files are copied, the copies compared, and brought together.
TEST_F(Class03Disk, ARepairOfALogWithCommitsBesideIt) {
  expect_answered("repair with commits", {.call = "read", .error = "EIO", .times = "once"}, 5);
  expect_answered("repair with commits", {.call = "write", .error = "ENOSPC", .times = "once"}, 5);
}
TEST_F(Class03Disk, WhereNothingCanBeTakenAwayOrClosed) {
  expect_answered("sweep", {.call = "unlink", .error = "EIO", .times = "forever"}, 3);
  expect_answered("export", {.call = "close", .error = "EIO", .times = "once"}, 4);
}
TEST_F(Class03Disk, AnExportedTableIsTheOldOneOrTheNewOne) {
  expect_answered("export", {.call = "write", .error = "ENOSPC", .times = "once"}, 4);
  expect_answered("export", {.call = "fsync", .error = "EIO", .times = "forever"}, 3);
  expect_answered("export", {.call = "rename", .error = "EROFS", .times = "once"}, 0);
}
/// One test a kind of call: each trains some times.
struct Refused {
  const char* call;
  const char* error;
  std::int64_t most;
};
class Class03DiskOf : public Class03Disk, public ::testing::WithParamInterface<Refused> {
 protected:
  void expect_both_answered(const std::string& name) const {
    const auto [call, error, most] = GetParam();
    expect_answered(name, {.call = call, .error = error, .times = "once"}, most);
    expect_answered(name, {.call = call, .error = error, .times = "forever"}, 2);
  }
};
/// The checkpoint, the model, its card and the log's run, in this order.
TEST_P(Class03DiskOf, ATrainingLeavesTheOldModelOrTheNewOne) {
  HINDSIGHT_NEEDS_TRAINING();
  expect_both_answered("train");
}
/// A log, and a model a round that nobody else sees.
TEST_P(Class03DiskOf, ACampaignKeepsItsRoundsAndGoesOn) {
  HINDSIGHT_NEEDS_TRAINING();
  expect_both_answered("short campaign");
}
INSTANTIATE_TEST_SUITE_P(Calls, Class03DiskOf,
                         ::testing::Values(Refused{"open", "EIO", 3}, Refused{"read", "EIO", 3},
                                           Refused{"write", "ENOSPC", 3}, Refused{"fsync", "EIO", 3},
                                           Refused{"rename", "EROFS", 3}, Refused{"mmap", "ENOMEM", 2}),
                         [](const auto& one) { return std::string(one.param.call); });

/// Root of namespaces of its own, of users and of mounts: there every user may mount, where the kernel lets it.
bool enter_own_namespaces() {
  const unsigned user = ::geteuid(), group = ::getegid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
  std::ofstream("/proc/self/gid_map") << "0 " << group << " 1";
  return ::geteuid() == 0;
}

/// A file system of 300 KiB, for as long as it lives.
class SmallDisk {
 public:
  explicit SmallDisk(const fs::path& folder) : folder_(folder) {
    fs::create_directories(folder);
    // Whoever may mount does so where nobody else sees it, and where it is gone with this process.
    mounted_ = (::unshare(CLONE_NEWNS) == 0 && mount_apart()) || (enter_own_namespaces() && mount_apart());
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  [[nodiscard]] bool mounted() const { return mounted_; }
  [[nodiscard]] bool make_read_only() const { return mount(MS_REMOUNT | MS_RDONLY, "size=300k"); }
  [[nodiscard]] bool grow() const { return mount(MS_REMOUNT, "size=16m"); }

 private:
  [[nodiscard]] bool mount_apart() const {
    return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 && mount(0, "size=300k");
  }
  [[nodiscard]] bool mount(unsigned long flags, const char* size) const {
    return ::mount("small", folder_.c_str(), "tmpfs", flags, size) == 0;
  }

  fs::path folder_;
  bool mounted_ = false;
};

class Class03SmallDisk : public FaultFixture {
 protected:
  /// In a child, whose namespaces are not those of the tests after it. What it expects in vain, it prints.
  void on_small_disk(const std::function<void(const SmallDisk&)>& body) const {
    static_cast<void>(pantry());  // belongs to this process
    constexpr int kNoMount = 77;
    const int code = log::test::wait_for(log::test::fork_child([&] {
      {
        const SmallDisk disk(folder());
        if (!disk.mounted()) ::_exit(kNoMount);
        body(disk);
      }
      if (HasFailure()) throw std::runtime_error("see above");
    }));
    if (code == kNoMount) {
      GTEST_SKIP() << "skipped: mounting a tmpfs is not permitted here, nor in a namespace of one's own";
    }
    EXPECT_EQ(code, 0);
  }
};

TEST_F(Class03SmallDisk, ARealFileSystemThatIsFullAndThenGrows) {
  on_small_disk([this](const SmallDisk& disk) {
    const std::vector<std::string> sweep{"sweep",     "--space", "tiny",  "--workloads", "m6",
                                         "--samples", "384",     "--log", "log.db",      "--quiet"};
    const Ended full = run(sweep, {.folder = folder()});
    EXPECT_EQ(full.exit_code, 1) << full.err;
    EXPECT_THAT(full.err, HasSubstr("log.db: "));
    EXPECT_THAT(full.err, HasSubstr("ree some space"));
    ASSERT_TRUE(disk.grow());
    const Ended rest = run(sweep, {.folder = folder()});
    EXPECT_EQ(rest.exit_code, 0) << rest.err;
    ASSERT_EQ(
        run({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "384", "--log", file("whole.db"), "--quiet"})
            .exit_code,
        0);
    EXPECT_EQ(content_hash_of((folder() / "log.db").string()), content_hash_of(file("whole.db")));
  });
}

TEST_F(Class03SmallDisk, ARealFileSystemThatBecomesReadOnly) {
  on_small_disk([this](const SmallDisk& disk) {
    lay_out(scenario("export"), file("kept"));
    fs::copy_file(file("kept/a.db"), folder() / "a.db");
    ASSERT_TRUE(disk.make_read_only());
    const Ended reads = run({"log", "verify", "a.db"}, {.folder = folder()});
    EXPECT_EQ(reads.exit_code, 0) << reads.err;
    const Ended writes =
        run({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "384", "--log", "a.db", "--quiet"},
            {.folder = folder()});
    EXPECT_EQ(writes.exit_code, 1) << writes.err;
    EXPECT_THAT(writes.err, HasSubstr("a.db: read-only"));
    const Ended table = run({"log", "export", "a.db", "--out", "out.csv"}, {.folder = folder()});
    EXPECT_EQ(table.exit_code, 1);
    EXPECT_THAT(table.err, HasSubstr("out.csv: cannot write: Read-only file system"));
  });
}

/// The script around the measuring program, whose own log has no room on the disk either.
TEST_F(Class03SmallDisk, AMeasurementOfAGpuGoesOnWhenThereIsRoom) {
  on_small_disk([this](const SmallDisk& disk) {
    constexpr std::size_t kDisk = 300 << 10, kFree = 8 << 10;
    std::ofstream(folder() / "other") << std::string(kDisk - kFree, 'x');
    const fs::path program = temporary_.write(  // a made device has no landscape
        "program.sh", "#!/bin/sh\n[ $1 = --landscape ] || exec '" HINDSIGHT_MEASURE_MADE "' \"$@\"\n");
    fs::permissions(program, fs::perms::owner_all);
    const auto script = [&] {
      return run_program(
          hindsight::test::repository() / "scripts/measure-gpu.sh",
          {"--program", program.string(), "out", "--", "--only", "device"},
          // Told where cuBLASLt is, it does not look for it.
          {.folder = folder(), .environment = {{"HINDSIGHT_CUBLASLT", "/"}, {"HINDSIGHT_CUBLASLT_INCLUDE", "/"}}});
    };
    const Ended full = script();
    EXPECT_EQ(full.exit_code, 1) << full.out << full.err;
    EXPECT_THAT(full.err, HasSubstr("measure-gpu.sh: the disk of "));
    const std::string kept = read_file(folder() / "out/measurements.jsonl");
    EXPECT_EQ(measure::whole_tasks(kept, "kept"), kept.size());
    ASSERT_TRUE(disk.grow());
    const Ended rest = script();
    EXPECT_EQ(rest.exit_code, 0) << rest.out << rest.err;
    const std::string all = read_file(folder() / "out/measurements.jsonl");
    EXPECT_TRUE(all.starts_with(kept));
    EXPECT_EQ(measure::finished_tasks(measure::parse_json_lines(all, "all"), "GPU-made").size(), 10U);
  });
}

/// Guarantee: exit code 1 and one line, never a signal; the log stays sound and the same command then completes.
class Class04Memory : public Class03Disk {};

TEST_F(Class04Memory, ImportWithoutOneBlock) {
  expect_answered("import", {.call = "malloc", .error = "ENOMEM", .times = "once"}, 8);
}
TEST_F(Class04Memory, ImportWithoutAnyMore) {
  expect_answered("import", {.call = "malloc", .error = "ENOMEM", .times = "forever"}, 8);
}
TEST_F(Class04Memory, SweepWithoutAnyMore) {
  expect_answered("sweep", {.call = "malloc", .error = "ENOMEM", .times = "forever"}, 6);
}
TEST_F(Class04Memory, ARepairOfALogWithCommitsBesideIt) {
  expect_answered("repair with commits", {.call = "malloc", .error = "ENOMEM", .times = "once"}, 24);
}
TEST_F(Class04Memory, Training) {
  HINDSIGHT_NEEDS_TRAINING();
  expect_answered("train", {.call = "malloc", .error = "ENOMEM", .times = "once"}, 4);
  expect_answered("train", {.call = "malloc", .error = "ENOMEM", .times = "forever"}, 4);
}
TEST_F(Class04Memory, Campaign) {
  HINDSIGHT_NEEDS_TRAINING();
  expect_answered("short campaign", {.call = "malloc", .error = "ENOMEM", .times = "once"}, 4);
  expect_answered("short campaign", {.call = "malloc", .error = "ENOMEM", .times = "forever"}, 4);
}

}  // namespace
}  // namespace hindsight::fault::test
