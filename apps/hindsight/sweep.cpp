/// hindsight sweep: sample designs, evaluate them on workloads, append all of it to a log.
#include "hindsight/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dry_run.h"
#include "durability_option.h"
#include "evaluator_argument.h"
#include "file_roles.h"
#include "hindsight/accel/metrics.h"
#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/evaluator/noisy.h"
#include "hindsight/report/sweep_summary.h"
#include "hindsight/study/log_names.h"
#include "hindsight/study/trajectory.h"
#include "output.h"
#include "rehearsed_work.h"
#include "shard_option.h"
#include "sweep_bias.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct SweepOptions {
  std::string space = "edge";
  std::string workloads;
  EvaluatorOptions evaluator;
  double noise = 0;
  std::optional<std::int64_t> noise_seed;
  BiasOptions bias;
  std::int64_t samples = 0;
  std::int64_t seed = 0;
  std::int64_t networks_per_design = 0;
  std::vector<std::string> limits;
  std::int64_t grid_limit = 10'000'000;
  ShardOption shard;
  std::string log;
  unsigned threads = 0;
  bool quiet = false;
  bool json = false;
};

/// What answers, with noise where it was asked for.
std::shared_ptr<const evaluator::Evaluator> evaluator_of(const SweepOptions& options) {
  auto exact = make_evaluator(options.evaluator, space::load_space(options.space));
  if (!(options.noise >= 0 && options.noise <= evaluator::kMostNoise)) {
    throw Error(ErrorKind::usage, fmt::format("--noise {}: expected 0 to {}, the standard deviation of the logarithms: "
                                              "0.05 scatters by about 5 %",
                                              options.noise, evaluator::kMostNoise));
  }
  if (options.noise > 0) {
    return evaluator::noisy(
        std::move(exact), {.sigma = options.noise, .seed = static_cast<std::uint64_t>(options.noise_seed.value_or(1))});
  }
  if (options.noise_seed) throw Error(ErrorKind::usage, "--noise-seed: there is no noise. Add --noise, 0.05 for 5 %");
  return exact;
}

/// "area=100" as "area_mm2=100".
std::string with_known_name(const std::string& limit, const evaluator::Evaluator& evaluator) {
  std::vector<std::string> known = sweep::known_facts(evaluator);
  known.insert(known.end(), evaluator.metrics().begin(), evaluator.metrics().end());
  const std::size_t equals = std::min(limit.find('='), limit.size());
  return study::known_name(limit.substr(0, equals), known) + limit.substr(equals);
}

sweep::SweepOptions resolve(const SweepOptions& options, const Provenance& provenance) {
  const auto evaluator = evaluator_of(options);
  sweep::SweepOptions sweep{.evaluator = evaluator,
                            .networks = workload::load_networks(options.workloads),
                            .samples = static_cast<std::uint64_t>(options.samples),
                            .seed = static_cast<std::uint64_t>(options.seed),
                            .networks_per_design = static_cast<std::size_t>(options.networks_per_design),
                            .limits = {},
                            .grid_limit = static_cast<std::uint64_t>(options.grid_limit),
                            .shard = options.shard.shard(),
                            .log = options.log,
                            .threads = options.threads,
                            .quiet = options.quiet,
                            .provenance = provenance};
  for (const std::string& limit : options.limits) sweep::add_limit(with_known_name(limit, *sweep.evaluator), sweep);
  apply_bias(options.bias, sweep, options.quiet);
  return sweep;
}

/// "20,000 designs on 9 workloads, at most 180,000 evaluations".
std::string amount_of(const sweep::SweepOptions& resolved) {
  const std::string workloads = counted(resolved.networks_of_a_design(), "workload");
  if (resolved.samples == 0) return fmt::format("every design of the space on {}", workloads);
  const std::uint64_t shards = resolved.shard.count;
  const std::uint64_t designs = (resolved.samples + shards - 1 - resolved.shard.index) / shards;
  return fmt::format("{} on {}, at most {}{}", counted(designs, "design"), workloads,
                     counted(designs * resolved.networks_of_a_design(), "evaluation"),
                     resolved.keep ? ", of which --keep leaves some out" : "");
}

int run(SweepOptions options, const Session& session) {
  const Provenance provenance =
      resolve_shard(options.shard, session, options.quiet, {{.option = "--log", .file = &options.log, .shared = true}});
  FileRoles roles;
  roles.reads("--space", options.space)
      .reads("--workloads", options.workloads)
      .reads("--technology", options.evaluator.technology)
      .writes_log("--log", options.log)
      .require_usable();
  const sweep::SweepOptions resolved = resolve(options, provenance);
  if (session.dry_run) {
    sweep::require_sensible(resolved);
    return show_dry_run(roles, {{"--log", amount_of(resolved)}}, sweep_work(resolved), dry_run_style(options.json));
  }
  install_interrupt_handlers();
  const sweep::SweepSummary summary =
      resolved.search.empty() ? sweep::run_sweep(resolved) : study::run_trajectory(resolved);
  if (options.json) {
    print(report::sweep_json(summary, resolved));
  } else if (!options.quiet) {
    print(report::sweep_text(summary, resolved, output_columns()));
    if (summary.status != sweep::SweepStatus::interrupted) suggest({"hindsight", "log", "show", options.log});
  }
  if (summary.status != sweep::SweepStatus::interrupted) return 0;
  const bool began = summary.candidates > 0;  // not while --keep looks at its sample
  remark(fmt::format("interrupted; {}. Run the same command again to {}:",
                     summary.sampled > 0 ? "what was evaluated is in " + sweep::sample_file(resolved).string()
                     : began             ? "what was evaluated is in the log"
                                         : "nothing is in the log yet",
                     began ? "continue" : "start over"));
  remark(provenance.command_line);
  return exit_code(ErrorKind::interrupted);
}

}  // namespace

void add_sweep(CLI::App& app, Session& session) {
  const auto options = std::make_shared<SweepOptions>();
  CLI::App* verb = app.add_subcommand("sweep", "Evaluate many designs into a log");
  verb->add_option("--workloads,--workload", options->workloads, kWorkloadsHelp)->required();
  verb->add_option("--log", options->log, "SQLite log to append to; created if missing")->required();
  verb->add_option("--samples", options->samples, "New designs within the limits, all shards")
      ->check(between(1, kLargestExactInteger));
  verb->add_option("--space", options->space, "Design space [edge]");
  add_bias_options(*verb, options->bias);
  verb->add_option("--max", options->limits,
                   "NAME=NUMBER: " + join(accel::metric_names_known_before_evaluation(), ", ") + ", derived")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_option("--seed", options->seed, "Seed of the sequence [0]")->check(between(0, kLargestExactInteger));
  verb->add_option("--networks-per-design", options->networks_per_design, "Evaluate each design on K of them [all]")
      ->check(between(1, kLargestExactInteger));
  add_evaluator_options(*verb, options->evaluator);
  verb->add_option("--noise", options->noise, "Log-normal noise on latency and energy: sigma [0]");
  verb->add_option("--noise-seed", options->noise_seed, "Seed of the noise [1]")
      ->check(between(0, kLargestExactInteger));
  verb->add_option("--threads", options->threads, "Threads [all that may be used]")->check(between(0, kMostThreads));
  add_shard(*verb, options->shard, "the designs");
  verb->add_option("--grid-limit", options->grid_limit, "Largest space for the grid [10000000]")
      ->check(between(1, kLargestExactInteger));
  verb->add_flag("-q,--quiet", options->quiet, "No progress and no summary");
  verb->add_flag("--json", options->json, "Summary as JSON");
  add_durability(*verb);
  add_dry_run(*verb, session);
  verb->footer(
      "The same command continues an interrupted sweep; --samples may grow (not\n"
      "with lhs or --keep).\n"
      "Example: hindsight sweep --workloads prime9 --samples 20000 \\\n"
      "           --max area_mm2=100 --log study.sqlite\n"
      "Your simulator:\n"
      "         hindsight sweep --evaluator 'python3 sim.py' --space mine.yaml \\\n"
      "           --workloads m6 --samples 200 --log mine.sqlite\n"
      "Biased as logs of people are:\n"
      "         hindsight sweep --workloads m6 --samples 2000 --sampler trajectory \\\n"
      "           --objective latency_s --max area_mm2=27 --log tuned.sqlite");
  verb->callback([options, &session] { session.action = [options, &session] { return run(*options, session); }; });
}

}  // namespace hindsight::app
