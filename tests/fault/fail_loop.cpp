/// One run to count the calls, then one for each that fails.
#include "fault/fail_loop.h"

#include <fmt/format.h>

#include <set>

#include "fault/call_counts.h"

namespace hindsight::fault {
namespace {

namespace fs = std::filesystem;

class Failer {
 public:
  Failer(const Scenario& scenario, const FailLoop& loop, fs::path folder)
      : scenario_(scenario),
        loop_(loop),
        folder_(std::move(folder)),
        counts_(folder_),
        whole_(undisturbed(scenario, folder_)) {}

  std::uint64_t calls() {
    lay_out(scenario_, folder_);
    static_cast<void>(run_failing(0));
    return counts_.calls();
  }

  void fail_at(std::uint64_t n, Tally& tally) {
    lay_out(scenario_, folder_);
    const std::int64_t before = rows_in(log());
    const Ended ended = run_failing(n);
    if (counts_.met() == 0) return;  // threads took another way: there was no such call
    ++tally.count;
    place_ = fmt::format("{}, {} {} of {} with {}: ", scenario_.name, loop_.times, n, loop_.call, loop_.error);
    judge_end(ended, tally);
    if (ended.exit_code != 0) judge_message(ended.err, tally);
    judge_files(before, tally);
    if (ended.exit_code == 0) {
      if (outcome_of(scenario_, folder_) != whole_.outcome) {
        tally.add(tally.silent, place_ + "success, and another result");
      }
      return;
    }
    judge_next(tally);
  }

 private:
  [[nodiscard]] fs::path log() const { return folder_ / scenario_.log; }

  Ended run_failing(std::uint64_t n) {
    auto environment = counts_.environment(loop_.call, n, loop_.times);
    environment["HINDSIGHT_FAULT_ERRNO"] = loop_.error;
    return run(scenario_.words, {.folder = folder_, .environment = environment});
  }

  void judge_end(const Ended& ended, Tally& tally) const {
    if (ended.hung) {
      tally.add(tally.hangs, place_ + "hangs");
    } else if (ended.by_signal || ended.exit_code == kBug) {
      tally.add(tally.crashes, fmt::format("{}exit code {}: {}", place_, ended.exit_code, ended.err));
    }
  }

  void judge_message(const std::string& err, Tally& tally) const {
    const auto begin = err.find("hindsight: error: ");
    const bool one_line = begin != std::string::npos && err.find('\n', begin) + 1 == err.size();
    bool names_a_file = loop_.call == "malloc";  // memory is nobody's file
    for (const std::string& word : scenario_.words) {
      const std::size_t dot = word.find('.');  // "out." of out.safetensors, whose card is out.md
      names_a_file =
          names_a_file || (dot != std::string::npos && err.find(word.substr(0, dot + 1)) != std::string::npos);
    }
    if (!one_line || !names_a_file) tally.add(tally.other, place_ + "unclear message: " + err);
  }

  void judge_files(std::int64_t before, Tally& tally) const {
    if (const std::string fault = fault_of(log()); !fault.empty()) tally.add(tally.corrupt, place_ + fault);
    if (const std::int64_t left = rows_in(log()); left < before) {
      tally.add(tally.lost, fmt::format("{}{} of {} rows are left", place_, left, before), before - left);
    }
    if (!is_old_or_new(scenario_, folder_, whole_.outcome)) {
      tally.add(tally.corrupt, place_ + scenario_.file + " is neither old nor new");
    }
    if (loop_.call == "unlink") return;  // what cannot be taken away stays
    for (const std::string& name : left_behind(scenario_, folder_)) {
      if (loop_.call == "malloc" && name.find(".new") != std::string::npos) continue;  // ended at once, as by a kill
      tally.add(tally.other, place_ + "left behind " + name);
    }
  }

  void judge_next(Tally& tally) {
    if (scenario_.whole && fs::exists(log())) {
      tally.add(tally.other, place_ + "a log of that name is there all the same");
      return;
    }
    const Ended next = run(scenario_.words, {.folder = folder_});
    if (next.exit_code != 0) {
      tally.add(tally.other, fmt::format("{}does not go on afterwards: {} {}", place_, next.exit_code, next.err));
    } else if (outcome_of(scenario_, folder_) != whole_.outcome) {
      tally.add(tally.silent, place_ + "goes on to another result");
    }
  }

  const Scenario& scenario_;
  FailLoop loop_;
  fs::path folder_;
  CallCounts counts_;
  Undisturbed whole_;
  std::string place_;
};

}  // namespace

Tally fail_at_every(const Scenario& scenario, const FailLoop& loop, const fs::path& folder) {
  Tally tally;
  Failer failer(scenario, loop, folder);
  const std::uint64_t calls = failer.calls();
  const std::set<std::uint64_t> points = spread_over(calls, loop.most);
  tally.whole = points.size() == calls;
  for (const std::uint64_t n : points) failer.fail_at(n, tally);
  return tally;
}

}  // namespace hindsight::fault
