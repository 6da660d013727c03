/// hindsight worker: evaluates what others asked for, in a log on a server.
#include "hindsight/report/worker.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <memory>

#include "dry_run.h"
#include "evaluator_argument.h"
#include "file_roles.h"
#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/evaluator/external.h"
#include "hindsight/log/address.h"
#include "hindsight/study/worker.h"
#include "output.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

constexpr std::int64_t kMostBlock = 100'000, kLongestLease_s = 30LL * 86'400, kLongestWait_s = 365LL * 86'400;

struct WorkerOptions {
  std::string log, name;
  std::vector<std::string> workloads;
  EvaluatorOptions evaluator;
  std::int64_t lease_s = 600, block = 0, wait_s = 0, most = 0;
  bool quiet = false, json = false;
};

/// Unique among the processes of all machines: a process id comes back, a time does not.
std::string own_name(const Provenance& provenance) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("{}-{}-{}", provenance.host, getpid(),
                     std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

int run(const WorkerOptions& options, const Session& session) {
  if (options.evaluator.command.empty()) {
    throw Error(ErrorKind::usage,
                "worker: name your simulator with --evaluator (what the built-in model answers needs "
                "no workers: hindsight sweep, campaign)");
  }
  evaluator::require_command(options.evaluator.command);
  FileRoles roles;
  roles.writes_log("--log", options.log);
  study::WorkerOptions work;
  work.log = options.log;
  work.evaluator = [&](space::DesignSpace space) { return make_evaluator(options.evaluator, std::move(space)); };
  work.identity = {.name = options.evaluator.name.empty() ? options.evaluator.command : options.evaluator.name,
                   .definition = sha256_hex(definition_of(options.evaluator))};
  work.workloads = options.workloads;
  work.name = options.name.empty() ? own_name(session.provenance) : options.name;
  work.lease = std::chrono::seconds(options.lease_s);
  const std::int64_t processes = std::max<std::int64_t>(options.evaluator.workers, 1);
  work.block = static_cast<std::size_t>(options.block > 0 ? options.block : 2 * processes);
  work.wait = std::chrono::seconds(options.wait_s);
  if (options.most > 0) work.most = static_cast<std::uint64_t>(options.most);
  work.provenance = session.provenance;
  if (session.dry_run) {
    const log::TaskCounts counts =
        log::task_counts(log::Log::open(options.log, log::OpenMode::read_only), work.identity);
    return show_dry_run(roles, {{"--log", report::tasks_text(counts)}},
                        {.evaluations = counts.open + counts.expired, .basis = "it is your simulator's"},
                        dry_run_style(options.json));
  }
  install_interrupt_handlers();
  const study::WorkerSummary summary = study::work(work);
  const std::string log = log::without_passwords(options.log);
  if (options.json) {
    print(report::worker_json(summary, log));
  } else if (!options.quiet) {
    print(report::worker_text(summary, log, output_columns()));
  }
  return summary.end == study::WorkerEnd::interrupted ? exit_code(ErrorKind::interrupted) : 0;
}

}  // namespace

void add_worker(CLI::App& app, Session& session) {
  const auto options = std::make_shared<WorkerOptions>();
  CLI::App* verb = app.add_subcommand("worker", "Evaluate what others asked for, on a team's server");
  verb->add_option("--log", options->log, "Log on a server: postgresql://...")->required();
  verb->add_option("--evaluator", options->evaluator.command, "Your simulator: a command");
  add_evaluator_settings(*verb, options->evaluator);
  verb->add_option("--workload,--workloads", options->workloads, "Files of networks that do not ship");
  verb->add_option("--lease", options->lease_s, "Seconds until silence frees its tasks [600]")
      ->check(between(1, kLongestLease_s));
  verb->add_option("--block", options->block, "Tasks claimed at once [2 a process]")->check(between(0, kMostBlock));
  verb->add_option("--wait", options->wait_s, "Seconds to wait for new work [0]")->check(between(0, kLongestWait_s));
  verb->add_option("--most", options->most, "Evaluations, then it ends [all]")->check(between(0, kLargestExactInteger));
  verb->add_option("--worker-name", options->name, "Its name [host, process and time]");
  verb->add_flag("-q,--quiet", options->quiet, "No summary");
  verb->add_flag("--json", options->json, "Summary as JSON");
  add_dry_run(*verb, session);
  verb->footer(
      "Tasks come from `hindsight ask --log`. Workers come and go: what one does not\n"
      "finish, another gets when its lease has ended, and double answers do no harm.\n"
      "Example: hindsight worker --log postgresql://db/chips --evaluator ./sim.sh \\\n"
      "           --evaluator-name sim");
  verb->callback([options, &session] { session.action = [options, &session] { return run(*options, session); }; });
}

}  // namespace hindsight::app
