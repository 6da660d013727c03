/// Pairs of processes, and whose weights lie in the file when both have ended.
#include "fault/trainings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <random>
#include <thread>

#include "fault/scenario.h"
#include "hindsight/core/error.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::fault {
namespace {

namespace fs = std::filesystem;

class Pair {
 public:
  explicit Pair(fs::path folder) : folder_(std::move(folder)) {
    for (std::size_t which = 0; which < weights_.size(); ++which) {
      lay_out_both();
      const Ended ended = run(words(which), {.folder = folder_});
      if (ended.exit_code != 0) throw std::runtime_error("an undisturbed training failed: " + ended.err);
      weights_[which] = digest_of_file(model());
      seconds_ = ended.seconds;
    }
    if (weights_[0] == weights_[1]) throw std::runtime_error("two seeds give the same model: nothing tells them apart");
  }

  void train(std::uint64_t seed, Tally& tally) {
    constexpr std::uint64_t kKilledEvery = 4;
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> moment(0.0, seconds_);
    const double apart_s = moment(random);
    Setting second{.folder = folder_};
    if (random() % kKilledEvery == 0) second.signal_after_s = moment(random);
    lay_out_both();
    std::array<Ended, 2> ended;
    std::string fault;
    std::thread first([&] {
      try {
        ended[0] = run(words(0), {.folder = folder_});
      } catch (const std::exception& error) {
        fault = error.what();
      }
    });
    std::this_thread::sleep_for(std::chrono::duration<double>(apart_s));
    ended[1] = run(words(1), second);
    first.join();
    ++tally.count;
    place_ = fmt::format("trainings {:.3f} s apart, seed {}: ", apart_s, seed);
    if (!fault.empty()) tally.add(tally.other, place_ + fault);
    for (const Ended& one : ended) judge_end(one, tally);
    judge_model(ended, tally);
  }

 private:
  [[nodiscard]] fs::path model() const { return folder_ / "out.safetensors"; }

  [[nodiscard]] static std::vector<std::string> words(std::size_t which) {
    std::vector<std::string> words = scenario("train").words;
    *(std::find(words.begin(), words.end(), "--log") + 1) = which == 0 ? "one.db" : "two.db";
    words.insert(words.end(), {"--seed", which == 0 ? "1" : "2"});
    return words;
  }

  void lay_out_both() const {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    for (const char* log : {"one.db", "two.db"}) fs::copy_file(pantry() / "b.db", folder_ / log);
  }

  void judge_end(const Ended& ended, Tally& tally) const {
    if (ended.hung) return tally.add(tally.hangs, place_ + "hangs");
    if (ended.exit_code == 0 || ended.was_sent) return;
    if (ended.by_signal || ended.exit_code == kBug) {
      tally.add(tally.crashes, fmt::format("{}exit code {}: {}", place_, ended.exit_code, ended.err));
    } else if (ended.exit_code != 1 || ended.err.find("out.safetensors") == std::string::npos) {
      tally.add(tally.other, fmt::format("{}exit code {}: {}", place_, ended.exit_code, ended.err));
    }
  }

  void judge_model(const std::array<Ended, 2>& ended, Tally& tally) const {
    const bool written = ended[0].exit_code == 0 || ended[1].exit_code == 0;
    if (!fs::exists(model())) {
      if (written) tally.add(tally.lost, place_ + "success said, and there is no model");
      return;
    }
    try {
      static_cast<void>(surrogate::load_model(model()));
    } catch (const Error& error) {
      return tally.add(tally.corrupt, place_ + error.what());
    }
    if (std::find(weights_.begin(), weights_.end(), digest_of_file(model())) == weights_.end()) {
      tally.add(tally.silent, place_ + "the weights are those of neither");
    }
  }

  fs::path folder_;
  std::array<std::string, 2> weights_;
  double seconds_ = 0;
  std::string place_;
};

}  // namespace

Tally train_at_once(std::int64_t count, std::uint64_t seed, const fs::path& folder) {
  Tally tally;
  Pair pair(folder);
  while (tally.count < count) pair.train(seed + static_cast<std::uint64_t>(tally.count), tally);
  return tally;
}

}  // namespace hindsight::fault
