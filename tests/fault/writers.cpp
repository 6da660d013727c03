/// A thread for each process, one tally for all.
#include "fault/writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "fault/scenario.h"

namespace hindsight::fault {
namespace {

namespace fs = std::filesystem;

constexpr int kWriters = 4, kReaders = 2;  // [chosen] more than there are processors on a small machine
class Crowd {
 public:
  explicit Crowd(const fs::path& folder)
      : scenario_(scenario("long sweep")), folder_(folder), whole_(undisturbed(scenario_, folder)) {}

  void work(std::uint64_t seed) {
    lay_out(scenario_, folder_);
    place_ = fmt::format("round {}: ", seed);
    writing_ = kWriters;
    std::vector<std::thread> threads;
    for (int i = 0; i < kWriters; ++i) {
      threads.emplace_back([this, i, seed] {
        guarded([&] { write(i, seed * kWriters + static_cast<std::uint64_t>(i)); });
        --writing_;
      });
    }
    for (int i = 0; i < kReaders; ++i) {
      threads.emplace_back([this, i] { guarded([&] { read(i % 2 == 0 ? "verify" : "show"); }); });
    }
    for (std::thread& thread : threads) thread.join();
    judge();
  }

  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  [[nodiscard]] fs::path log() const { return folder_ / scenario_.log; }

  template <class Body>
  void guarded(Body&& body) {
    try {
      body();
    } catch (const std::exception& error) {
      add(&Tally::other, error.what());
    }
  }

  void add(std::int64_t Tally::*column, const std::string& note, std::int64_t by = 1) {
    const std::lock_guard lock(mutex_);
    tally_.add(tally_.*column, place_ + note, by);
  }

  void count_kill() {
    const std::lock_guard lock(mutex_);
    ++tally_.count;
  }

  void add_end(const std::string& who, const Ended& ended) {
    const bool crashed = ended.by_signal || ended.exit_code == kBug;
    add(ended.hung ? &Tally::hangs
        : crashed  ? &Tally::crashes
                   : &Tally::other,
        fmt::format("{} ended with {}: {}", who, ended.exit_code, ended.err));
  }

  /// Killed up to twice, then left to its end.
  void write(int shard, std::uint64_t seed) {
    constexpr std::uint64_t kMostKills = 2;
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> moment(0.0, whole_.seconds);
    std::vector<std::string> words = scenario_.words;
    words.insert(words.end(), {"--shard", fmt::format("{}/{}", shard, kWriters)});
    for (auto kills = random() % (kMostKills + 1); kills > 0; --kills) {
      std::int64_t seen = 0;
      const Ended ended =
          run(words,
              {.folder = folder_, .signal_after_s = moment(random), .before_signal = [&] { seen = rows_in(log()); }});
      if (!ended.was_sent && ended.exit_code == 0) continue;  // it was done before; so will be the next one
      if (!ended.was_sent || ended.hung) return add_end(fmt::format("writer {}", shard), ended);
      count_kill();
      if (const std::int64_t left = rows_in(log()); left < seen) {
        add(&Tally::lost, fmt::format("{} of {} rows are left", left, seen), seen - left);
      }
    }
    const Ended ended = run(words, {.folder = folder_});
    if (ended.exit_code != 0) add_end(fmt::format("writer {}", shard), ended);
  }

  void read(const std::string& verb) {
    std::int64_t before = 0;
    while (writing_ > 0) {
      const std::int64_t rows = rows_in(log());
      if (rows < before) add(&Tally::lost, fmt::format("a reader saw {} rows after {}", rows, before), before - rows);
      before = std::max(before, rows);
      if (before == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));  // not there yet
        continue;
      }
      const Ended ended = run({"log", verb, scenario_.log}, {.folder = folder_});
      if (ended.exit_code != 0) add_end("log " + verb, ended);
    }
  }

  void judge() {
    if (const std::string fault = fault_of(log()); !fault.empty()) return add(&Tally::corrupt, fault);
    if (outcome_of(scenario_, folder_) != whole_.outcome) {
      add(&Tally::silent, "the content is another one than that of one sweep");
    }
  }

  const Scenario& scenario_;
  fs::path folder_;
  Undisturbed whole_;
  std::string place_;
  std::atomic<int> writing_{0};
  std::mutex mutex_;  ///< of the tally
  Tally tally_;
};

}  // namespace

Tally write_at_once(std::int64_t kills, std::uint64_t seed, const fs::path& folder) {
  Crowd crowd(folder);
  const auto most_rounds = static_cast<std::uint64_t>(kills) + 4;  // a round without any kill is rare
  for (std::uint64_t round = 0; crowd.tally().count < kills && round < most_rounds; ++round) crowd.work(seed + round);
  return crowd.tally();
}

}  // namespace hindsight::fault
