/// Results of trials in a folder.
#include "hindsight/surrogate/trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"
#include "surrogate/json_entries.h"

namespace hindsight::surrogate {
namespace {

namespace fs = std::filesystem;
using TrialClock = std::chrono::steady_clock;

/// Raised whenever the layout of the file changes.
constexpr std::int64_t kTrialVersion = 1;
/// [chosen] Results are a few hundred bytes.
constexpr std::uint64_t kMostBytes = 1U << 20U;
/// [chosen] Short beside any training, long beside a look into a folder of another machine.
constexpr std::chrono::milliseconds kLookEvery{200};
/// Trials take about as long in all processes; what is slower by this factor is not waited for. [chosen]
constexpr double kSlowerBy = 3;

fs::path file_of(const fs::path& folder, const std::string& identity) {
  return folder / (sha256_hex(identity) + ".json");
}

/// Writes `content` to `file` unless it is there already: the first result of a trial counts for all processes.
void write_once(const fs::path& file, const std::string& content, const TrainingShard& shard) {
  const fs::path own = fmt::format("{}.{}of{}", file.string(), shard.index, shard.count);
  write_file_atomically(own, content);
  std::error_code error;
  fs::create_hard_link(own, file, error);  // fails where the file is there, unlike a rename
  if (error && !fs::exists(file)) {        // a file system without links
    fs::rename(own, file, error);
    if (error) {
      throw Error(ErrorKind::failure, fmt::format("{}: cannot be written ({}). Name another folder by --trials?",
                                                  printable(file.string(), 300), error.message()));
    }
    return;
  }
  fs::remove(own, error);
}

}  // namespace

struct SharedTrials::Round {
  const std::vector<SharedTrial>& trials;
  const std::function<std::string(std::size_t)>& run;
  const std::function<void(std::size_t, const std::string&)>& known;
  std::vector<std::optional<std::string>> results;
  TrialClock::time_point last_news = TrialClock::now();

  void set(std::size_t trial, std::string result) {
    results[trial] = std::move(result);
    last_news = TrialClock::now();
    if (known) known(trial, *results[trial]);
  }
};

SharedTrials::SharedTrials(const TrialSharing& sharing) : sharing_(sharing) {
  if (!is_shared()) {
    sharing_.shard = {};
    return;
  }
  std::error_code error;
  fs::create_directory(sharing_.folder, error);
  if (!fs::is_directory(sharing_.folder)) {
    throw Error(ErrorKind::failure,
                fmt::format("{}: is no folder, and cannot be made one ({}). Name a folder that all shards see",
                            printable(sharing_.folder.string(), 300), error.message()));
  }
}

bool SharedTrials::look(Round& round, std::size_t trial) const {
  if (round.results[trial] || !is_shared()) return round.results[trial].has_value();
  const fs::path file = file_of(sharing_.folder, round.trials[trial].identity);
  if (!fs::exists(file)) return false;
  try {
    const Json json = parse_bounded_json(read_file(file, kMostBytes), "the result of a trial");
    if (integer_of(json, "version") != kTrialVersion) refuse("is of another version of this program");
    if (text_of(json, "identity") != round.trials[trial].identity) refuse("is the result of another trial");
    round.set(trial, entry(json, "result").dump());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::incompatible) throw;
    throw Error(ErrorKind::incompatible, fmt::format("{}: {}. Remove it, and the trial is run again",
                                                     printable(file.string(), 300), error.what()));
  }
  return true;
}

void SharedTrials::run_here(Round& round, std::size_t trial) {
  const auto start = TrialClock::now();
  std::string result = round.run(trial);
  if (interrupt_requested()) return;  // it may be the result of fewer steps
  const std::chrono::duration<double> elapsed = TrialClock::now() - start;
  slowest_s_per_size_ = std::max(slowest_s_per_size_, elapsed.count() / round.trials[trial].size);
  if (!is_shared()) {
    round.set(trial, std::move(result));
    return;
  }
  const std::string& identity = round.trials[trial].identity;
  const Json json{{"version", kTrialVersion}, {"identity", identity}, {"result", Json::parse(result)}};
  write_once(file_of(sharing_.folder, identity), json.dump() + "\n", sharing_.shard);
  HINDSIGHT_ENSURE(look(round, trial));
}

std::vector<std::optional<std::string>> SharedTrials::results(
    const std::vector<SharedTrial>& trials, const std::function<std::string(std::size_t)>& run,
    const std::function<void(std::size_t, const std::string&)>& known) {
  Round round{.trials = trials, .run = run, .known = known, .results = {}};
  round.results.resize(trials.size());
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (!sharing_.shard.has(i) || look(round, i)) continue;
    if (interrupt_requested()) return round.results;
    run_here(round, i);
  }
  while (!interrupt_requested()) {
    std::vector<std::size_t> missing;
    double largest = 0;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if (look(round, i)) continue;
      missing.push_back(i);
      largest = std::max(largest, trials[i].size);
    }
    if (missing.empty()) break;
    const std::chrono::duration<double> quiet = TrialClock::now() - round.last_news;
    if (quiet.count() < sharing_.patience.count() + kSlowerBy * slowest_s_per_size_ * largest) {
      std::this_thread::sleep_for(kLookEvery);
    } else {
      run_here(round, missing[sharing_.shard.index % missing.size()]);  // shards that gave up take different ones
    }
  }
  return round.results;
}

}  // namespace hindsight::surrogate
