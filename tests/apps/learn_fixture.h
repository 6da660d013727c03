/// A log of the space tiny and a model of it, for tests of the verbs that learn.
#pragma once

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "apps/app_fixture.h"
#include "hindsight/log/query.h"

namespace hindsight::app::test {

using Json = nlohmann::json;

/// Settings with which a training of the method prime takes about a second.
inline const std::vector<std::string> kTiny{
    "--set", "steps=40",   "--set", "final_steps=5",        "--set",  "evaluate_interval=20",
    "--set", "ensemble=1", "--set", "mining_generations=1", "--quiet"};

/// Those of them that the training of `words` reads, which say its method or recipe; without either it is prime.
inline std::vector<std::string> tiny_for(const std::vector<std::string>& words) {
  std::string named = "prime";
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i - 1] == "--method" || words[i - 1] == "--recipe") named = words[i];
  }
  const auto is = [&](const std::vector<std::string>& names) { return std::ranges::find(names, named) != names.end(); };
  std::vector<std::string> settings = kTiny;
  const auto leave_out = [&](const std::string& setting) {
    const auto found = std::ranges::find(settings, setting);
    settings.erase(found - 1, found + 1);
  };
  if (is({"margins", "layers", "trends"})) leave_out("evaluate_interval=20");
  if (!is({"prime", "v0.1", "prime-paper"})) leave_out("mining_generations=1");
  return settings;
}

inline bool can_train() { return hindsight({"doctor", "--json"}).out.find("libtorch") != std::string::npos; }

class Learn : public AppTest {
 protected:
  void SetUp() override {
    if (!can_train()) GTEST_SKIP() << "built without LibTorch";
  }
  [[nodiscard]] std::string log() const { return file("study.sqlite"); }
  [[nodiscard]] std::string model() const { return file("study.safetensors"); }

  Outcome sweep(const std::string& workloads = "mobilenet_v2,m6", const std::string& samples = "300") const {
    return hindsight(
        {"sweep", "--space", "tiny", "--workloads", workloads, "--samples", samples, "--log", log(), "--quiet"});
  }
  [[nodiscard]] Outcome train(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"train", "--log", log(), "--out", model()};
    const std::vector<std::string> tiny = tiny_for(more);
    arguments.insert(arguments.end(), tiny.begin(), tiny.end());
    const bool names_it = std::any_of(more.begin(), more.end(),
                                      [](const std::string& word) { return word == "--recipe" || word == "--method"; });
    if (!names_it) arguments.insert(arguments.end(), {"--method", "prime"});  // nothing is backtested
    arguments.insert(arguments.end(), more.begin(), more.end());
    return hindsight(arguments);
  }
  [[nodiscard]] Outcome propose(std::vector<std::string> more) const {
    std::vector<std::string> arguments{"propose", "--model", model(), "--evaluations", "2000", "--top", "3"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return hindsight(arguments);
  }
  /// Waits until the newest run of the log is one of this kind under way, a minute at most.
  void await_running(const std::string& kind) const {
    const auto under_way = [&] {
      const log::RunInfo run = log::recent_runs(log::Log::open(log(), log::OpenMode::read_only), 1).front();
      return run.kind == kind && run.status == "running";
    };
    for (int wait = 0; !under_way() && wait < 600; ++wait) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  void make_model() const {
    ASSERT_EQ(sweep().exit_code, 0);
    const Outcome trained = train();
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
  }
};

}  // namespace hindsight::app::test
