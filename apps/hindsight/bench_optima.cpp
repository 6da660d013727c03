/// hindsight bench optima: the exact optima of the offline study's tasks.
#include <fmt/format.h>

#include <memory>

#include "dry_run.h"
#include "file_roles.h"
#include "hindsight/check/optima.h"
#include "hindsight/core/enum_names.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/plural.h"
#include "hindsight/report/joined.h"
#include "hindsight/sweep/launcher.h"
#include "output.h"
#include "shard_option.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct BenchOptimaOptions {
  std::vector<std::string> tasks = {"all"};
  std::vector<std::string> objectives;
  std::string technology;  ///< empty: that of the space
  std::string out;
  ShardOption shard;
};

int run(BenchOptimaOptions options, const Session& session) {
  static_cast<void>(resolve_shard(options.shard, session, false, {{.option = "--out", .file = &options.out}}));
  FileRoles roles;
  roles.writes("--out", options.out).require_usable();
  const std::vector<check::OfflineTask> tasks = check::select_tasks(options.tasks);
  const std::vector<std::string> objectives =
      options.objectives.empty() ? check::optima_objectives() : options.objectives;
  for (const std::string& one : objectives) {
    static_cast<void>(index_of_name("objective", one, check::optima_objectives()));
  }
  const std::uint64_t cells = tasks.size() * objectives.size();
  sweep::require_parts(options.shard.shard(), cells, "cell");
  const accel::Technology technology = check::study_technology(options.technology);
  if (session.dry_run) {
    return show_dry_run(roles,
                        {{"--out", fmt::format("the optima of {} under {}", counted(tasks.size(), "task"),
                                               counted(objectives.size(), "objective"))}},
                        {.basis = "a proof ends when no open part of the space is left, which is seen on the way only"},
                        DryRunStyle::text);
  }
  install_interrupt_handlers();
  const std::vector<check::TaskOptimum> optima = check::task_optima(
      tasks, objectives, technology, [](const accel::optimum::Standing&) { return !interrupt_requested(); },
      options.shard.shard());
  print_or_write(options.out,
                 report::table_of_shard(check::optima_csv(optima, technology), options.shard.shard(), cells));
  return 0;
}

}  // namespace

void add_bench_optima(CLI::App& group, Session& session) {
  const auto options = std::make_shared<BenchOptimaOptions>();
  CLI::App* verb = group.add_subcommand("optima", "Exact optima of the offline study's tasks, as CSV");
  repeatable(verb->add_option("--task", options->tasks, "single, multi, zero_shot, or one task [all]"));
  repeatable(verb->add_option("--objective", options->objectives, "latency_s, energy_j, energy_j * latency_s [all]"));
  verb->add_option("--technology", options->technology, "Node, NODE@CLASS: its cooling [the space's]");
  verb->add_option("--out", options->out, "CSV file [standard output]");
  add_shard(*verb, options->shard, "the cells");
  add_dry_run(*verb, session);
  verb->footer(
      "A cell is a task under an objective; hindsight join puts shards together.\n"
      "Example: hindsight bench optima --task single --objective latency_s");
  verb->callback([options, &session] { session.action = [options, &session] { return run(*options, session); }; });
}

}  // namespace hindsight::app
