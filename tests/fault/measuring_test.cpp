/// Class 3: what is left of a GPU's hours when the disk of the results is full, fails or is read-only?
///
/// The programs measure a device that needs no GPU (made_device.cpp); all else in them is what is installed.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "fault/call_counts.h"
#include "fault/fault_fixture.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/log/gpu_measurements.h"
#include "hindsight/log/log.h"
#include "hindsight/measure/json_lines.h"
#include "hindsight/measure/plan.h"

namespace hindsight::fault::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsSubsetOf;
namespace fs = std::filesystem;
using Sessions = std::vector<measure::SessionRecords>;

constexpr const char* kUuid = "GPU-made";

/// Sorted, without the moment at which each was measured.
std::vector<std::string> rows_of(const Sessions& sessions) {
  std::vector<std::string> rows;
  const auto add = [&](auto row) {
    row.measured_at.clear();
    rows.push_back(measure::to_json_line(row));
  };
  for (const measure::SessionRecords& records : sessions) {
    for (const measure::GemmRow& row : records.gemms) add(row);
    for (const measure::Quantity& quantity : records.quantities) add(quantity);
  }
  std::ranges::sort(rows);
  return rows;
}

/// Tasks that were on the disk when it ended: "3/10 device/x" is said when the ones before are.
std::set<std::string> acknowledged(const std::string& said) {
  std::set<std::string> tasks;
  std::string last;
  for (const std::string& line : split(said, '\n')) {
    const std::size_t name = line.find(" device/");
    if (name == std::string::npos || line.find('/') > name) continue;
    if (!last.empty()) tasks.insert(last);
    last = line.substr(name + 1);
  }
  return tasks;
}

/// Guarantee: what was said to be done is in the file, which holds whole tasks; the same command measures the rest.
class Class03Measuring : public FaultFixture {
 protected:
  void SetUp() override {
    fs::create_directories(folder());
    const Ended ended = measure();
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
    whole_ = rows_of(measure::parse_json_lines(results(), "gpu.jsonl"));
    ASSERT_EQ(whole_.size(), 50U) << "ten tasks of five rows";
    fs::remove(folder() / "gpu.jsonl");
  }
  [[nodiscard]] Ended measure(const std::map<std::string, std::string>& environment = {}) const {
    return run_program(HINDSIGHT_MEASURE_MADE, {"--only", "device", "gpu.jsonl"},
                       {.folder = folder(), .environment = environment});
  }
  [[nodiscard]] std::string results() const {
    return fs::exists(folder() / "gpu.jsonl") ? read_file(folder() / "gpu.jsonl") : "";
  }
  void expect_kept(const std::string& said, const std::string& place) const {
    const std::string text = results();
    const std::size_t whole = measure::whole_tasks(text, "gpu.jsonl");
    const Sessions sessions = measure::parse_json_lines(text.substr(0, whole), "gpu.jsonl");
    const std::set<std::string> finished = measure::finished_tasks(sessions, kUuid);
    EXPECT_THAT(acknowledged(said), IsSubsetOf(finished)) << place;
    const std::vector<std::string> rows = rows_of(sessions);
    EXPECT_THAT(rows, IsSubsetOf(whole_)) << place;
    EXPECT_EQ(rows.size(), 5 * finished.size()) << place << ": a task in part";
  }
  void expect_goes_on(const std::string& place) const {
    const Ended next = measure();
    EXPECT_EQ(next.exit_code, 0) << place << next.err;
    EXPECT_EQ(rows_of(measure::parse_json_lines(results(), "gpu.jsonl")), whole_) << place;
  }

  std::vector<std::string> whole_;
};

struct DeniedCall {
  const char* call;
  const char* error;
};
class Class03MeasuringOf : public Class03Measuring, public ::testing::WithParamInterface<DeniedCall> {};

TEST_P(Class03MeasuringOf, WhatWasSaidToBeDoneIsThereAndTheRestIsMeasured) {
  HINDSIGHT_NEEDS_INTERPOSER();
  const auto [call, error] = GetParam();
  const CallCounts counts(folder());
  const auto failing = [&](std::uint64_t n, const char* times) {
    auto environment = counts.environment(call, n, times);
    environment["HINDSIGHT_FAULT_ERRNO"] = error;
    return environment;
  };
  ASSERT_EQ(measure(failing(0, "once")).exit_code, 0);
  const std::uint64_t calls = counts.calls();
  ASSERT_GT(calls, 0U) << "is the library loaded?";
  for (const char* times : {"once", "forever"}) {
    for (const std::uint64_t n : spread_over(calls, 5)) {
      const std::string place = std::string(times) + " " + call + " " + std::to_string(n) + ": ";
      fs::remove(folder() / "gpu.jsonl");
      const Ended ended = measure(failing(n, times));
      expect_kept(ended.err, place);
      const std::string text = results();
      EXPECT_EQ(measure::whole_tasks(text, "gpu.jsonl"), text.size()) << place << "more than whole tasks";
      if (ended.exit_code != 0) {
        EXPECT_EQ(ended.exit_code, 1) << place << ended.err;
        EXPECT_THAT(ended.err, HasSubstr("hindsight-measure: error: gpu.jsonl: cannot be ")) << place;
      }
      expect_goes_on(place);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Calls, Class03MeasuringOf,
                         ::testing::Values(DeniedCall{"open", "EROFS"}, DeniedCall{"open", "EIO"},
                                           DeniedCall{"write", "ENOSPC"}, DeniedCall{"write", "EIO"},
                                           DeniedCall{"fsync", "EIO"}),
                         [](const auto& one) { return std::string(one.param.call) + one.param.error; });

/// A file that may not grow beyond some KiB is written up to there, in the middle of a task; what is left of it goes,
/// or is left out where the disk does not take it away.
TEST_F(Class03Measuring, AWriteThatIsCutOffLeavesNoTaskInPart) {
  const std::string limited = "(ulimit -f $1; exec \"$0\" --only device gpu.jsonl) 2>&1 | cat; exit ${PIPESTATUS[0]}";
  int left = 0;
#ifdef HINDSIGHT_SANITIZED
  const std::vector<bool> can_take_back{true};
#else
  const std::vector<bool> can_take_back{true, false};
#endif
  const CallCounts counts(folder());
  for (const bool takes_back : can_take_back) {
    for (const char* kib : {"1", "2", "4", "7", "11"}) {
      fs::remove(folder() / "gpu.jsonl");
      Setting setting{.folder = folder()};
      if (!takes_back) setting.environment = counts.environment("truncate", 1, "forever");
      const Ended ended = run_program("/bin/bash", {"-c", limited, HINDSIGHT_MEASURE_MADE, kib}, setting);
      EXPECT_EQ(ended.exit_code, 1) << kib << ended.out;
      EXPECT_THAT(ended.out, HasSubstr("gpu.jsonl: cannot be written: ")) << kib;
      EXPECT_THAT(ended.out, HasSubstr("ulimit -f")) << kib;
      expect_kept(ended.out, kib);
      const std::string text = results();
      const bool is_whole = measure::whole_tasks(text, "gpu.jsonl") == text.size();
      EXPECT_TRUE(is_whole || !takes_back) << kib;
      left += is_whole ? 0 : 1;
      expect_goes_on(kib);
    }
  }
  EXPECT_TRUE(left > 2 || can_take_back.size() == 1) << "no write was cut off";
}

/// A stream that is closed does not get the number of the file.
TEST_F(Class03Measuring, NothingIsPrintedAmongTheResults) {
  for (const std::vector<int>& closed : {std::vector{1}, {2}, {0, 1, 2}}) {
    fs::remove(folder() / "gpu.jsonl");
    const Ended ended = run_program(HINDSIGHT_MEASURE_MADE, {"--only", "device", "gpu.jsonl"},
                                    {.folder = folder(), .closed_streams = closed});
    const bool prints = std::ranges::find(closed, 1) == closed.end();
    EXPECT_EQ(ended.exit_code, prints ? 0 : 1) << ended.err;
    EXPECT_EQ(rows_of(measure::parse_json_lines(results(), "gpu.jsonl")), whole_);
  }
  const Ended full = run_program(HINDSIGHT_MEASURE_MADE, {"--list", "gpu.jsonl"},
                                 {.folder = folder(), .standard_output = "/dev/full"});
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.err, HasSubstr("standard output: cannot write"));
}

TEST_F(Class03Measuring, TwoAtOnceDoNotShareAFile) {
  std::ofstream(folder() / "gpu.jsonl").close();
  const int held = ::open((folder() / "gpu.jsonl").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  const Ended second = measure();
  ::close(held);
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_THAT(second.err, HasSubstr("gpu.jsonl: another process measures into it"));
  EXPECT_EQ(results(), "");
  expect_goes_on("alone");
}

/// The large program: what its log took is there, and all that was measured is shown before it ends.
class Class03MeasuringToALog : public FaultFixture {
 protected:
  [[nodiscard]] Ended measure(const std::map<std::string, std::string>& environment = {}) const {
    return run_program(HINDSIGHT_MADE, {"measure", "device", "--log", "gpu.db", "--resume", "--json", "--quiet"},
                       {.folder = folder(), .environment = environment});
  }
  [[nodiscard]] std::vector<std::string> stored() const {
    const std::string log = (folder() / "gpu.db").string();
    return fs::exists(log) ? rows_of(log::gpu_measurements(log::Log::open(log, log::OpenMode::read_only)))
                           : std::vector<std::string>{};
  }
  /// Of the JSON that it prints, a list with a record a line.
  [[nodiscard]] static std::vector<std::string> shown(const std::string& json) {
    std::string lines;
    for (const std::string& line : split(json, '\n')) {
      const std::size_t begin = line.find('{'), end = line.rfind('}');
      if (begin != std::string::npos && end != std::string::npos) lines += line.substr(begin, end - begin + 1) + '\n';
    }
    return rows_of(measure::parse_json_lines(lines, "shown"));
  }
};

TEST_F(Class03MeasuringToALog, WhatItTookIsThereAndAllIsShown) {
  HINDSIGHT_NEEDS_INTERPOSER();
  const CallCounts counts(folder());
  const auto measure_failing = [&](const DeniedCall& one, std::uint64_t n) {
    fs::remove_all(folder());
    fs::create_directories(folder());
    auto environment = counts.environment(one.call, n, "forever");
    environment["HINDSIGHT_FAULT_ERRNO"] = one.error;
    return measure(environment);
  };
  for (const DeniedCall& one :
       {DeniedCall{"write", "ENOSPC"}, DeniedCall{"fsync", "EIO"}, DeniedCall{"open", "EROFS"}}) {
    const Ended undisturbed = measure_failing(one, 0);
    ASSERT_EQ(undisturbed.exit_code, 0) << undisturbed.err;
    const std::uint64_t calls = counts.calls();
    ASSERT_GT(calls, 0U) << "is the library loaded?";
    const std::vector<std::string> whole = stored();
    ASSERT_EQ(whole.size(), 50U) << "ten tasks of five rows";
    EXPECT_EQ(shown(undisturbed.out), whole);
    for (const std::uint64_t n : spread_over(calls, 6)) {
      const std::string place = std::string(one.call) + " " + std::to_string(n) + ": ";
      const Ended ended = measure_failing(one, n);
      EXPECT_EQ(fault_of(folder() / "gpu.db"), "") << place;
      EXPECT_THAT(stored(), IsSubsetOf(shown(ended.out))) << place;
      if (ended.exit_code != 0) {
        EXPECT_EQ(ended.exit_code, 1) << place << ended.err;
        EXPECT_THAT(ended.err, AllOf(HasSubstr("hindsight: error: "), HasSubstr("gpu.db"))) << place;
      }
      const Ended next = measure();
      EXPECT_EQ(next.exit_code, 0) << place << next.err;
      EXPECT_EQ(stored(), whole) << place;
    }
  }
}

}  // namespace
}  // namespace hindsight::fault::test
