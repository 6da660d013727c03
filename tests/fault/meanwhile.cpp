/// One run to count the calls, then one for each at which a commit comes.
#include "fault/meanwhile.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "fault/call_counts.h"
#include "fault/command.h"
#include "fault/scenario.h"

namespace hindsight::fault {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCalls = "open,read";
constexpr int kSamples = 64;  // [chosen] of the log before; each commit brings some more
constexpr int kMoreSamples = 4;

class RepairMeanwhile {
 public:
  RepairMeanwhile(const CommitLoop& loop, fs::path folder)
      : loop_(loop), folder_(std::move(folder)), counts_(folder_), base_(folder_.string() + ".base.db") {
    fs::create_directories(folder_);
    fs::remove(base_);
    sweep(base_);
  }
  ~RepairMeanwhile() {
    std::error_code ignored;
    fs::remove(base_, ignored);
  }
  RepairMeanwhile(const RepairMeanwhile&) = delete;
  RepairMeanwhile& operator=(const RepairMeanwhile&) = delete;

  std::uint64_t calls() {
    begin_anew();
    static_cast<void>(repair(0));
    end();
    return counts_.calls();
  }

  void commit_at(std::uint64_t n, Tally& tally) {
    begin_anew();
    const std::int64_t before = rows_in(log());
    const Ended ended = repair(n);
    const std::int64_t after = rows_in(log());
    end();
    if (counts_.met() == 0) return;
    ++tally.count;
    place_ = fmt::format("commits {} at call {}, {}: ", loop_.times, n,
                         loop_.committer == Committer::stays ? "log open" : "log closed");
    for (const std::string& fault : faults_) tally.add(tally.other, place_ + fault);
    faults_.clear();
    if (const std::string fault = fault_of(log()); !fault.empty()) tally.add(tally.corrupt, place_ + fault);
    if (ended.hung) return tally.add(tally.hangs, place_ + "hangs");
    if (ended.by_signal || ended.exit_code == kBug) return tally.add(tally.crashes, place_ + ended.err);
    judge_files(ended, tally);
    if (ended.exit_code == 0) judge_rows(ended, before, after, tally);
  }

 private:
  [[nodiscard]] fs::path log() const { return folder_ / "log.db"; }
  [[nodiscard]] fs::path repaired() const { return folder_ / "fixed.db"; }

  void begin_anew() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    fs::copy_file(base_, log());
    samples_ = kSamples;
    if (loop_.committer == Committer::comes_and_goes) return;
    keeper_.emplace(log().string(), SQLite::OPEN_READWRITE);
    static_cast<void>(keeper_->execAndGet("SELECT count(*) FROM evaluations"));
    samples_ += kMoreSamples;
    sweep(log());  // stands in the -wal file alone
  }

  /// Before anything else of this process opens the log: closing it would take SQLite's locks away.
  void end() { keeper_.reset(); }

  Ended repair(std::uint64_t n) {
    auto environment = counts_.environment(kCalls, n, loop_.times);
    environment["HINDSIGHT_FAULT_STOPS"] = "1";
    constexpr double kLongest_s = 600;
    return run(
        {"log", "repair", "log.db", "--out", "fixed.db", "--json"},
        {.folder = folder_, .environment = environment, .when_stopped = [this] { commit(); }, .longest_s = kLongest_s});
  }

  void commit() {
    samples_ += kMoreSamples;
    sweep(log());
    if (keeper_) static_cast<void>(keeper_->execAndGet("PRAGMA wal_checkpoint(TRUNCATE)"));
  }

  void sweep(const fs::path& log) {
    const Ended ended = run({"sweep", "--space", "edge", "--workloads", "m6", "--samples", std::to_string(samples_),
                             "--log", log.string(), "--quiet"});
    if (ended.exit_code != 0) faults_.push_back(fmt::format("a sweep ended with {}: {}", ended.exit_code, ended.err));
  }

  void judge_files(const Ended& ended, Tally& tally) const {
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("fixed.db.")) tally.add(tally.other, place_ + "left behind " + name);
    }
    if (ended.exit_code == 0) return;
    const bool says_why = ended.exit_code == 1 && ended.err.find("change faster") != std::string::npos;
    if (loop_.times == "once" || !says_why || fs::exists(repaired())) {
      tally.add(tally.other, fmt::format("{}exit code {}: {}", place_, ended.exit_code, ended.err));
    }
  }

  void judge_rows(const Ended& ended, std::int64_t before, std::int64_t after, Tally& tally) const {
    if (const std::string fault = fault_of(repaired()); !fault.empty()) tally.add(tally.corrupt, place_ + fault);
    const std::int64_t rows = rows_in(repaired());
    if (rows < before) tally.add(tally.lost, fmt::format("{}{} of {} rows", place_, rows, before), before - rows);
    if (rows > after) tally.add(tally.silent, fmt::format("{}{} rows of {}", place_, rows, after));
    std::string said = ended.out;
    std::erase(said, ' ');
    if (said.find("\"whole\":true") == std::string::npos) {
      tally.add(tally.silent, place_ + "not called whole: " + ended.out);
    }
  }

  CommitLoop loop_;
  fs::path folder_;
  CallCounts counts_;
  fs::path base_;
  std::optional<SQLite::Database> keeper_;
  int samples_ = kSamples;
  std::vector<std::string> faults_;
  std::string place_;
};

}  // namespace

Tally commit_at_every(const CommitLoop& loop, const fs::path& folder) {
  Tally tally;
  RepairMeanwhile meanwhile(loop, folder);
  const std::uint64_t calls = meanwhile.calls();
  std::set<std::uint64_t> points = loop.times == "once" ? spread_over(calls, loop.most) : spread_over(calls, 1);
  for (std::uint64_t n = 1; n <= std::min(calls, static_cast<std::uint64_t>(loop.most)); ++n) points.insert(n);
  tally.whole = points.size() == calls || loop.times != "once";
  for (const std::uint64_t n : points) meanwhile.commit_at(n, tally);
  return tally;
}

}  // namespace hindsight::fault
