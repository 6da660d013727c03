/// Who may read what the program writes? The umask decides for every new file, a file that is replaced keeps its mode,
/// and a copy of a log is no more readable than the log.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "apps/app_fixture.h"
#include "apps/learn_fixture.h"

namespace hindsight::app::test {
namespace {

namespace fs = std::filesystem;

/// The umask of this process, which programs inherit, while it lives.
class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  ~Umask() { ::umask(before_); }
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;

 private:
  mode_t before_;
};

unsigned mode_of(const fs::path& path) { return static_cast<unsigned>(fs::status(path).permissions()) & 0777U; }

class FileModes : public AppTest {
 protected:
  void run(const std::vector<std::string>& command) const {
    const Outcome outcome = hindsight(command);
    EXPECT_EQ(outcome.exit_code, 0) << command[0] << ": " << outcome.err;
  }
  [[nodiscard]] std::string log(const std::string& name) const {
    run({"sweep", "--space", "tiny", "--workloads", "m4", "--samples", "60", "--log", file(name), "--quiet"});
    return file(name);
  }
  /// Every writer once, but those that need LibTorch or a GPU.
  void write_everything() const {
    const std::string logs = log("log.db");
    const std::string table = write("table.csv", "tile,time_ms\n1,3\n2,4\n4,6\n8,9\n");
    run({"log", "import", table, "--objective", "time_ms", "--log", file("imported.db")});
    run({"log", "backup", logs, "--out", file("copy.db")});
    run({"log", "repair", logs, "--out", file("repaired.db")});
    run({"log", "merge", logs, file("copy.db"), "--out", file("merged.db")});
    for (const char* name : {"rows.csv", "rows.jsonl", "rows.csv.gz"})
      run({"log", "export", logs, "--out", file(name)});
    run({"log", "export", logs, "--format", "optuna", "--workload", "m4", "--out", file("study.db")});
    run({"search", "--space", "tiny", "--workloads", "m4", "--queries", "20", "--log", file("search.db"), "--quiet"});
    run({"optimum", "--space", "tiny", "--workloads", "m4", "--log", file("optimum.db"), "--quiet"});
    run({"optimum", "--space", "tiny", "--workloads", "m4", "--all", "--out", file("all.landscape"), "--quiet"});
    run({"bench", "export", "small/m4@200", "--out", file("task"), "--quiet"});
    run({"space", "infer", table, "--objective", "time_ms", "--out", file("space.yaml")});
    run({"gemm", "--gpu", "l4", "-m", "64", "-n", "64", "-k", "64", "--out", file("gemm.json"), "--json"});
    run({"report", logs, "--out", file("report.html")});
    run({"report", logs, "--format", "svg", "--figure", "reasons", "--out", file("reasons.svg")});
  }
};

TEST_F(FileModes, TheUmaskDecidesForEveryWriter) {
  const Umask mask(077);
  write_everything();
  int seen = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder_)) {
    EXPECT_EQ(mode_of(entry.path()) & 0077U, 0U) << entry.path();
    seen += entry.is_regular_file() ? 1 : 0;
  }
  EXPECT_GE(seen, 22);
}

class FileModesOfTraining : public Learn {};

TEST_F(FileModesOfTraining, TheUmaskDecidesForModels) {
  const Umask mask(077);
  ASSERT_EQ(sweep().exit_code, 0);
  ASSERT_EQ(train().exit_code, 0);
  for (const char* name : {"study.sqlite", "study.safetensors", "study.md"}) {
    EXPECT_EQ(mode_of(file(name)), 0600U) << name;
  }
}

TEST_F(FileModes, NothingIsWritableForOthersAndNothingIsAProgram) {
  const Umask mask(0);
  write_everything();
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder_)) {
    EXPECT_TRUE(entry.is_directory() || (mode_of(entry.path()) & 0111U) == 0) << entry.path();
    EXPECT_EQ(mode_of(entry.path()) & 07000U, 0U) << entry.path();
  }
}

TEST_F(FileModes, ACopyOfALogIsNoMoreReadableThanTheLog) {
  const Umask mask(022);
  const std::string logs = log("private.db");
  fs::permissions(logs, fs::perms::owner_read | fs::perms::owner_write);
  run({"log", "backup", logs, "--out", file("copy.db")});
  run({"log", "repair", logs, "--out", file("repaired.db")});
  EXPECT_EQ(mode_of(file("copy.db")), 0600U);
  EXPECT_EQ(mode_of(file("repaired.db")), 0600U);
  EXPECT_EQ(hindsight({"log", "hash", file("copy.db")}).out.substr(0, 64),
            hindsight({"log", "hash", file("repaired.db")}).out.substr(0, 64));
}

TEST_F(FileModes, AFileThatIsReplacedKeepsItsMode) {
  const Umask mask(022);
  const std::string logs = log("log.db");
  const std::string rows = write("rows.csv", "old\n");
  fs::permissions(rows, fs::perms::owner_read | fs::perms::owner_write);
  run({"log", "export", logs, "--out", rows});
  EXPECT_EQ(mode_of(rows), 0600U);
  // A table that a team shares, replaced by somebody whose umask is narrower.
  fs::permissions(rows, static_cast<fs::perms>(0664));
  run({"log", "export", logs, "--out", rows});
  EXPECT_EQ(mode_of(rows), 0664U);
}

}  // namespace
}  // namespace hindsight::app::test
