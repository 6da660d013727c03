/// One function per verb: it adds the verb's options to the command line and sets what runs.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>

#include "hindsight/core/provenance.h"

namespace hindsight::app {

/// What the command line asked for.
struct Session {
  Provenance provenance;
  std::function<int()> action;  ///< returns the exit code; set by the verb that was named
  std::string verb = {};        ///< its whole name, "hindsight log import"; empty: none is run
  // What every verb takes.
  std::string colour = "auto";
  bool no_config = false;
  bool dry_run = false;  ///< of verbs that write
};

/// What an option that names networks takes (workload::load_networks).
inline constexpr const char* kWorkloadsHelp = "Names a,b,c; prime9; all; synthetic:N; or a file";

/// [chosen] Bounds of what options may ask for: far above any use, low enough to stay responsive.
inline constexpr int kMostThreads = 4096;
inline constexpr std::int64_t kMostProposals = 10'000;
inline constexpr std::uint64_t kLargestModelBytes = std::uint64_t{1} << 34U;

/// A whole number between two bounds; the help shows the option's own words only. Of 1e3 and 1,000 it says how they are
/// written.
[[nodiscard]] CLI::Validator between(std::int64_t low, std::int64_t high);

/// Refuses an empty text, which would be the default: what `--workload "$NET"` is where NET is not set.
[[nodiscard]] inline CLI::Validator not_empty() {
  return {[](const std::string& text) { return text.empty() ? "the text is empty. Is a variable not set?" : ""; }, ""};
}

/// An option that may be given several times, one value each.
inline CLI::Option* repeatable(CLI::Option* option) {
  return option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_simulate(CLI::App& app, Session& session);
void add_serve(CLI::App& app, Session& session);
void add_sweep(CLI::App& app, Session& session);
void add_search(CLI::App& app, Session& session);
void add_log(CLI::App& app, Session& session);
void add_space(CLI::App& app, Session& session);
void add_workload(CLI::App& app, Session& session);
void add_train(CLI::App& app, Session& session);
void add_backtest(CLI::App& app, Session& session);
void add_model(CLI::App& app, Session& session);
void add_optimum(CLI::App& app, Session& session);
void add_join(CLI::App& app, Session& session);
void add_propose(CLI::App& app, Session& session);
void add_campaign(CLI::App& app, Session& session);
void add_ask(CLI::App& app, Session& session);
void add_tell(CLI::App& app, Session& session);
void add_worker(CLI::App& app, Session& session);
void add_check(CLI::App& app, Session& session);
void add_report(CLI::App& app, Session& session);
void add_bench(CLI::App& app, Session& session);
void add_bench_offline(CLI::App& group, Session& session);
void add_bench_optima(CLI::App& group, Session& session);
void add_bench_w50(CLI::App& group, Session& session);
void add_bench_play(CLI::App& group, Session& session);
void add_measure(CLI::App& app, Session& session);
void add_gemm(CLI::App& app, Session& session);
void add_kernel(CLI::App& app, Session& session);
void add_calibrate(CLI::App& app, Session& session);
void add_completion(CLI::App& app, Session& session);
void add_doctor(CLI::App& app, Session& session);
void add_config(CLI::App& app, Session& session);

}  // namespace hindsight::app
