/// Classes 19 to 21 and 26: do signals, clocks, locales, terminals and kinds of disks change what is written?
#include <csignal>
#include <cstdlib>

#include "fault/fault_fixture.h"
#include "fault/kills.h"
#include "hindsight/core/files.h"
#include "hindsight/log/query.h"

namespace hindsight::fault::test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
namespace fs = std::filesystem;

class Surroundings : public FaultFixture {
 protected:
  [[nodiscard]] Ended sweep(const std::string& samples, Setting setting = {}) const {
    setting.folder = temporary_.path();
    return run({"sweep", "--workloads", "m6", "--samples", samples, "--log", "log.db", "--seed", "3"}, setting);
  }
  /// Content of a small sweep's log and its table, under the environment.
  [[nodiscard]] std::string content_under(const std::map<std::string, std::string>& environment) const {
    fs::remove_all(folder());
    fs::create_directories(folder());
    const Setting setting{.folder = folder(), .environment = environment};
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "40", "--log", "a.db"},
          {"log", "export", "a.db", "--out", "a.csv"},
          {"log", "import", "--csv", "a.csv", "--objective", "latency_s", "--space", "tiny", "--log", "b.db"}}) {
      const Ended ended = run(words, setting);
      EXPECT_EQ(ended.exit_code, 0) << words[0] << ": " << ended.err;
    }
    return content_hash_of((folder() / "a.db").string()) + content_hash_of((folder() / "b.db").string()) +
           read_file(folder() / "a.csv") + run({"space", "show", "tiny"}, setting).out;
  }
};

class Class19Signals : public Surroundings {
 protected:
  /// Guarantee: what was committed is there, the exit code is 128 + the signal, the same command goes on.
  void expect_goes_on_after(int signal, int exit_code) const {
    const Ended ended = sweep("100000000", {.signal_after_s = 0.6, .signal = signal});
    EXPECT_EQ(ended.exit_code, exit_code) << ended.err;
    EXPECT_FALSE(ended.by_signal);
    EXPECT_THAT(ended.err, HasSubstr("again to continue"));
    EXPECT_EQ(fault_of(file("log.db")), "");
    const std::int64_t rows = rows_in(file("log.db"));
    EXPECT_GT(rows, 0);
    const std::string samples = std::to_string(rows + 100);
    EXPECT_EQ(sweep(samples).exit_code, 0);
    const std::string continued = content_hash_of(file("log.db"));
    fs::remove(file("log.db"));
    EXPECT_EQ(sweep(samples).exit_code, 0);
    EXPECT_EQ(content_hash_of(file("log.db")), continued);
  }
};

TEST_F(Class19Signals, InterruptedIs130) { expect_goes_on_after(SIGINT, 130); }
TEST_F(Class19Signals, TerminatedIs143) { expect_goes_on_after(SIGTERM, 143); }
TEST_F(Class19Signals, AClosedTerminalIs129) { expect_goes_on_after(SIGHUP, 129); }

/// Guarantee: whenever it arrives, the exit code is 128 + the signal, or the work was done; the log is sound, nothing
/// is left behind, and the same command comes to the same rows. scripts/soak.sh sends 400 to each verb.
TEST_F(Class19Signals, AtAnyMomentOfAnyVerb) {
  for (const char* name : {"long sweep", "import", "merge", "train", "propose"}) {
    if (!can_run(name)) continue;
    const Tally tally = kill_again_and_again(scenario(name), 4, 20261129, folder(), {SIGINT, SIGTERM, SIGHUP});
    EXPECT_GE(tally.count, 4) << name;
    EXPECT_TRUE(tally.clean()) << tally.words();
  }
}

/// Guarantee: no file gets the number of a standard stream, and what is printed never gets into one.
TEST_F(Class19Signals, WithoutStandardStreamsNothingIsPrintedIntoAFile) {
  for (const std::vector<int>& closed : {std::vector<int>{0, 1, 2}, {1}, {1, 2}, {2}}) {
    lay_out(scenario("export"), folder());
    const Setting setting{.folder = folder(), .closed_streams = closed};
    const Ended exported = run({"log", "export", "a.db", "--out", "new.csv"}, setting);
    EXPECT_EQ(exported.exit_code, 0);
    const Ended expected = run({"log", "export", "a.db", "--out", "expected.csv"}, {.folder = folder()});
    EXPECT_EQ(expected.exit_code, 0);
    EXPECT_EQ(read_file(folder() / "new.csv"), read_file(folder() / "expected.csv"));
    const Ended swept =
        run({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "30", "--log", "s.db", "--json", "--quiet"},
            setting);
    EXPECT_EQ(swept.exit_code, closed.front() == 2 ? 0 : 1) << swept.err;
    EXPECT_EQ(fault_of(folder() / "s.db"), "");
    EXPECT_EQ(rows_in(folder() / "s.db"), 30);
  }
}

TEST_F(Class19Signals, AFullStandardOutputIsAnErrorAfterTheWork) {
  lay_out(scenario("sweep"), folder());
  const Ended ended =
      run({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "30", "--log", "s.db", "--json", "--quiet"},
          {.folder = folder(), .standard_output = "/dev/full"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("standard output: cannot write: No space left on device"));
  EXPECT_EQ(rows_in(folder() / "s.db"), 30);
}

/// Guarantee: times are told in UTC and decide nothing: neither a clock that goes back nor a time zone changes content.
TEST_F(Surroundings, Class20AClockThatGoesBackChangesNothing) {
  HINDSIGHT_NEEDS_INTERPOSER();
  const std::string content = content_under({});
  for (const char* step_s : {"-3600", "86400", "-100000000"}) {
    EXPECT_EQ(content_under({{"LD_PRELOAD", interposer().string()}, {"HINDSIGHT_FAULT_CLOCK_STEP_S", step_s}}), content)
        << step_s;
    EXPECT_EQ(fault_of(folder() / "a.db"), "");
  }
  if (!can_train()) return;
  const Scenario& campaign = scenario("campaign");
  const std::string whole = undisturbed(campaign, folder()).outcome;
  lay_out(campaign, folder());
  const Ended turned =
      run(campaign.words,
          {.folder = folder(),
           .environment = {{"LD_PRELOAD", interposer().string()}, {"HINDSIGHT_FAULT_CLOCK_STEP_S", "-3600"}}});
  EXPECT_EQ(turned.exit_code, 0) << turned.err;
  EXPECT_EQ(outcome_of(campaign, folder()), whole);
}

TEST_F(Surroundings, Class20TimeZonesChangeNothing) {
  const std::string content = content_under({});
  for (const char* zone : {"Pacific/Kiritimati", "America/St_Johns", "XXX-13:59", "not/a/zone"}) {
    EXPECT_EQ(content_under({{"TZ", zone}}), content) << zone;
    const log::RunInfo run_info = log::recent_runs(log::Log::open(folder() / "a.db", log::OpenMode::read_only), 1)[0];
    EXPECT_THAT(run_info.started_at, MatchesRegex("20..-..-..T..:..:..Z"));
  }
}

/// Guarantee: numbers are read and written with a point, whatever the locale; without HOME, TMPDIR or a terminal all
/// goes.
TEST_F(Surroundings, Class21ADecimalCommaChangesNothing) {
  const std::string folder_of_locales = file("locales");
  fs::create_directories(folder_of_locales);
  const std::string make = "localedef -i de_DE -f UTF-8 '" + folder_of_locales + "/de_DE.UTF-8' > /dev/null 2>&1";
  if (std::system(make.c_str()) != 0) GTEST_SKIP() << "skipped: localedef cannot make the locale de_DE here";
  EXPECT_EQ(content_under({{"LOCPATH", folder_of_locales}, {"LANG", "de_DE.UTF-8"}, {"LC_ALL", "de_DE.UTF-8"}}),
            content_under({}));
}

TEST_F(Surroundings, Class21PoorEnvironmentsChangeNothing) {
  const std::string content = content_under({});
  EXPECT_EQ(content_under({{"LC_ALL", "C"}}), content);
  EXPECT_EQ(content_under({{"LC_ALL", "no_SUCH.locale"}}), content);
  EXPECT_EQ(content_under({{"HOME", ""}, {"XDG_CONFIG_HOME", ""}}), content);
  EXPECT_EQ(content_under({{"HOME", "/no/such/folder"}, {"TMPDIR", "/no/such/folder"}}), content);
  EXPECT_EQ(content_under({{"TERM", "dumb"}, {"NO_COLOR", "1"}}), content);
  EXPECT_EQ(content_under({{"TERM", ""}, {"PATH", ""}}), content);
}

TEST_F(Surroundings, Class21NarrowTerminalsGetNarrowTables) {
  lay_out(scenario("export"), folder());
  const Ended narrow = run({"log", "show", "a.db"}, {.folder = folder(), .environment = {{"COLUMNS", "20"}}});
  EXPECT_EQ(narrow.exit_code, 0) << narrow.err;
  const Ended nonsense = run({"log", "show", "a.db"}, {.folder = folder(), .environment = {{"COLUMNS", "-1e9"}}});
  EXPECT_EQ(nonsense.exit_code, 0) << nonsense.err;
}

TEST_F(Surroundings, Class21WithoutATemporaryFolderAPipeIsRefusedByItsName) {
  const Ended ended = run({"log", "import", "--csv", "/dev/stdin", "--objective", "time_ms", "--log", "a.db"},
                          {.folder = temporary_.path(), .environment = {{"TMPDIR", "/no/such/folder"}}});
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_FALSE(ended.by_signal);
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
}

/// Guarantee: who writes to a log on a network file system, or reads it, is told; the work is done all the same.
TEST_F(Surroundings, Class26OnANetworkFileSystemItIsSaid) {
  HINDSIGHT_NEEDS_INTERPOSER();
  const auto under = [&](const std::string& kind) {
    return sweep("40", {.environment = {{"LD_PRELOAD", interposer().string()}, {"HINDSIGHT_FAULT_FILE_SYSTEM", kind}}});
  };
  const Ended local = under("0xEF53");  // ext4
  EXPECT_EQ(local.exit_code, 0) << local.err;
  EXPECT_EQ(local.err.find("file system"), std::string::npos) << local.err;
  const std::string content = content_hash_of(file("log.db"));
  fs::remove(file("log.db"));
  const Ended remote = under("0x6969");
  EXPECT_EQ(remote.exit_code, 0) << remote.err;
  EXPECT_THAT(remote.err, HasSubstr("log.db: on a NFS file system"));
  EXPECT_EQ(content_hash_of(file("log.db")), content);
  const Ended asked = run(
      {"ask", "--log", "asked.db", "--space", "tiny", "--application", "kernel", "--objective", "time_ms", "-n", "1"},
      {.folder = temporary_.path(),
       .environment = {{"LD_PRELOAD", interposer().string()}, {"HINDSIGHT_FAULT_FILE_SYSTEM", "0x6969"}}});
  EXPECT_EQ(asked.exit_code, 0) << asked.err;
  const std::size_t said = asked.err.find("asked.db: on a NFS file system");
  EXPECT_NE(said, std::string::npos) << asked.err;
  EXPECT_EQ(asked.err.rfind("asked.db: on a NFS file system"), said) << "once: " << asked.err;
}

/// `check` keeps verdicts in the log whose proposals it judges, and writes nothing where it is asked for a design.
TEST_F(Surroundings, Class26CheckSaysItWhereItKeepsVerdicts) {
  HINDSIGHT_NEEDS_INTERPOSER();
  const auto under_nfs = [&](const std::vector<std::string>& words) {
    const Ended ended =
        run(words, {.folder = temporary_.path(),
                    .environment = {{"LD_PRELOAD", interposer().string()}, {"HINDSIGHT_FAULT_FILE_SYSTEM", "0x6969"}}});
    EXPECT_EQ(ended.exit_code, 0) << words[0] << ": " << ended.err;
    return ended.err;
  };
  const Ended proposed =
      run({"optimum", "--space", "tiny", "--workloads", "m6", "--objective", "edp", "--log", "o.db", "--quiet"},
          {.folder = temporary_.path()});
  ASSERT_EQ(proposed.exit_code, 0) << proposed.err;
  const std::string kept = under_nfs({"check", "--log", "o.db", "--workload", "m6", "--gpu", "l4"});
  const std::size_t said = kept.find("o.db: on a NFS file system");
  EXPECT_NE(said, std::string::npos) << kept;
  EXPECT_EQ(kept.rfind("o.db: on a NFS file system"), said) << "once: " << kept;
  const std::string reads = under_nfs({"check", "--design", "coral_edge_tpu", "--workload", "m6", "--gpu", "l4"});
  EXPECT_EQ(reads.find("file system"), std::string::npos) << reads;
}

}  // namespace
}  // namespace hindsight::fault::test
