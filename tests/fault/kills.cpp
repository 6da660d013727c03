/// Kills, what is looked at before and after each, and the comparison at the end.
#include "fault/kills.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace hindsight::fault {
namespace {

namespace fs = std::filesystem;

class Killer {
 public:
  Killer(const Scenario& scenario, const fs::path& folder, std::uint64_t seed, const std::vector<int>& signals)
      : scenario_(scenario), folder_(folder), signals_(signals), random_(seed), whole_(undisturbed(scenario, folder)) {
    lay_out(scenario_, folder_);
  }

  /// Starts the command and kills it. False: it was done before.
  bool kill_once(Tally& tally) {
    constexpr double kBeyondTheEnd = 1.05;  // [chosen] also the last writes are hit
    std::uniform_real_distribution<double> moment(0.0, kBeyondTheEnd * whole_.seconds);
    std::int64_t seen = rows_in(log());
    const int signal = signals_.size() == 1 ? signals_[0] : signals_[random_() % signals_.size()];
    const Ended ended = run(
        scenario_.words, {.folder = folder_, .signal_after_s = moment(random_), .signal = signal, .before_signal = [&] {
                            seen = std::max(seen, rows_in(log()));
                          }});
    if (ended.hung) tally.add(tally.hangs, place(tally) + "hangs");
    if (!ended.was_sent) {
      finish(ended, tally);
      return false;
    }
    ++tally.count;
    if (signal != SIGKILL && ended.exit_code == 0) {
      ended_in_order_ = true;
      finish(ended, tally);
      return true;
    }
    if (signal != SIGKILL) judge_end(ended, signal, tally);
    look(seen, tally);
    return true;
  }

  /// Lets it come to its end.
  void complete(Tally& tally) {
    constexpr std::int64_t kEnough = 20;  // [chosen] not all of them come before it looks at signals
    if (signals_.front() != SIGKILL && tally.count >= kEnough && !ended_in_order_) {
      tally.add(tally.other, scenario_.name + ": no signal made it end in order");
    }
    finish(run(scenario_.words, {.folder = folder_}), tally);
  }

 private:
  [[nodiscard]] fs::path log() const { return folder_ / scenario_.log; }
  [[nodiscard]] std::string place(const Tally& tally) const {
    return fmt::format("{}, kill {}: ", scenario_.name, tally.count);
  }

  /// What ends by itself tidies up; before it looks at signals they end it as any program.
  void judge_end(const Ended& ended, int signal, Tally& tally) {
    if (ended.exit_code != 128 + signal) {
      auto& column = ended.by_signal || ended.exit_code == kBug ? tally.crashes : tally.other;
      tally.add(column, fmt::format("{}signal {}, exit code {}: {}", place(tally), signal, ended.exit_code, ended.err));
    }
    if (ended.by_signal) return;
    ended_in_order_ = true;
    for (const std::string& name : left_behind(scenario_, folder_)) {
      tally.add(tally.other, place(tally) + "left behind " + name);
    }
  }

  void look(std::int64_t seen, Tally& tally) {
    if (const std::string fault = fault_of(log()); !fault.empty()) tally.add(tally.corrupt, place(tally) + fault);
    if (const std::int64_t left = rows_in(log()); left < seen) {
      tally.add(tally.lost, fmt::format("{}{} of {} rows are left", place(tally), left, seen), seen - left);
    }
    if (!is_old_or_new(scenario_, folder_, whole_.outcome)) {
      tally.add(tally.corrupt, place(tally) + scenario_.file + " is neither old nor new");
    }
    // A log that comes whole was named between the last write and the kill: it is done.
    if (scenario_.whole && fs::exists(log())) {
      if (outcome_of(scenario_, folder_) != whole_.outcome) tally.add(tally.silent, place(tally) + "another log");
      lay_out(scenario_, folder_);
    }
  }

  /// What an interrupted `propose` had found stays in the log, in a run that says so; the newest proposals count then.
  [[nodiscard]] bool is_as_undisturbed() const {
    const std::string outcome = outcome_of(scenario_, folder_);
    if (outcome == whole_.outcome) return true;
    const auto proposals = [](const std::string& text) { return text.substr(std::min(text.find(' '), text.size())); };
    return scenario_.name == "propose" && signals_.front() != SIGKILL &&
           proposals(outcome) == proposals(whole_.outcome);
  }

  void finish(const Ended& ended, Tally& tally) {
    if (ended.exit_code != 0) {
      auto& column = ended.by_signal || ended.exit_code == kBug ? tally.crashes : tally.other;
      tally.add(column, fmt::format("{}did not go on: {} {}", place(tally), ended.exit_code, ended.err));
    } else if (!is_as_undisturbed()) {
      tally.add(tally.silent, place(tally) + "the result is another one than undisturbed");
    }
    lay_out(scenario_, folder_);
  }

  const Scenario& scenario_;
  fs::path folder_;
  std::vector<int> signals_;
  std::mt19937_64 random_;
  Undisturbed whole_;
  bool ended_in_order_ = false;
};

}  // namespace

Tally kill_again_and_again(const Scenario& scenario, std::int64_t count, std::uint64_t seed, const fs::path& folder,
                           const std::vector<int>& signals) {
  Tally tally;
  Killer killer(scenario, folder, seed, signals);
  while (tally.count < count) {
    if (!killer.kill_once(tally) && !tally.clean() && tally.other + tally.crashes > count) break;
  }
  killer.complete(tally);
  return tally;
}

}  // namespace hindsight::fault
