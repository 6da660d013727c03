/// hindsight search: look for good designs on the simulator itself; every query goes to a log.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

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
#include "hindsight/report/sweep_summary.h"
#include "hindsight/study/simulator_search.h"
#include "output.h"
#include "rehearsed_work.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct SearchOptions {
  std::string space = "edge";
  std::string workloads;
  EvaluatorOptions evaluator;
  study::SearchWords words;
  std::int64_t queries = 0;
  std::int64_t seed = 0;
  std::string log;
  bool quiet = false;
  bool json = false;
};

sweep::SweepOptions run_of(const SearchOptions& options, const Provenance& provenance) {
  return {.evaluator = make_evaluator(options.evaluator, space::load_space(options.space)),
          .networks = workload::load_networks(options.workloads),
          .samples = static_cast<std::uint64_t>(options.queries),
          .seed = static_cast<std::uint64_t>(options.seed),
          .limits = {},
          .shard = {},
          .log = options.log,
          .quiet = options.quiet,
          .kind = log::RunKind::search,
          .provenance = provenance};
}

/// The reason that most of the evaluations have; those of designs that fail the given limits alone count too.
std::string most_frequent_reason(const sweep::SweepSummary& summary, const sweep::Found& found) {
  std::vector<std::pair<std::string, std::uint64_t>> sums;
  sums.emplace_back("the limits of --max", found.beyond_limits * summary.workloads.size());
  for (const sweep::WorkloadCounts& counts : summary.workloads) {
    for (const auto& [code, count] : counts.reasons) {
      const auto known = std::ranges::find(sums, code, &std::pair<std::string, std::uint64_t>::first);
      if (known == sums.end()) {
        sums.emplace_back(code, count);
      } else {
        known->second += count;
      }
    }
  }
  const auto most =
      std::max_element(sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->first;
}

[[noreturn]] void fail_nothing_found(const sweep::SweepSummary& summary, const sweep::Found& found, bool limited) {
  throw Error(ErrorKind::no_feasible,
              fmt::format("none of the {} designs asked for is feasible{} (most often: {}). Give more --queries{}?",
                          with_commas(summary.accepted), limited ? " and within --max" : "",
                          most_frequent_reason(summary, found), limited ? ", or loosen --max" : ""));
}

int run(const SearchOptions& options, const Session& session) {
  const Provenance& provenance = session.provenance;
  FileRoles roles;
  roles.reads("--space", options.space)
      .reads("--workloads", options.workloads)
      .reads("--technology", options.evaluator.technology)
      .writes_log("--log", options.log)
      .require_usable();
  sweep::SweepOptions resolved = run_of(options, provenance);
  const study::SimulatorSearch search = study::resolve_search(options.words, resolved);
  if (session.dry_run) {
    sweep::require_sensible(resolved);
    return show_dry_run(
        roles,
        {{"--log", fmt::format("{} asked for, earlier runs included, on {}", counted(resolved.samples, "design"),
                               counted(resolved.networks.size(), "workload"))}},
        search_work(resolved, search), dry_run_style(options.json));
  }
  install_interrupt_handlers();
  const sweep::SweepSummary summary = study::run_search(resolved, search);
  if (options.json) {
    print(report::sweep_json(summary, resolved));
  } else if (!options.quiet) {
    print(report::sweep_text(summary, resolved, output_columns()));
  }
  if (summary.status == sweep::SweepStatus::interrupted) {
    remark(summary.accepted > 0 ? "interrupted; what was asked is in the log. Run the same command again to continue:"
                                : "interrupted; nothing is in the log yet. Run the same command again to start over:");
    remark(provenance.command_line);
    return exit_code(ErrorKind::interrupted);
  }
  if (summary.found && summary.found->feasible == 0)
    fail_nothing_found(summary, *summary.found, !options.words.limits.max.empty());
  return 0;
}

}  // namespace

void add_search(CLI::App& app, Session& session) {
  const auto options = std::make_shared<SearchOptions>();
  CLI::App* verb = app.add_subcommand("search", "Look for good designs on the simulator, into a log");
  verb->add_option("--workloads,--workload", options->workloads, kWorkloadsHelp)->required();
  verb->add_option("--queries", options->queries, "Designs to ask for, earlier runs included")
      ->required()
      ->check(between(1, kLargestExactInteger));
  verb->add_option("--log", options->log, "SQLite log of every query; created if missing")->required();
  verb->add_option("--space", options->space, "Design space [edge]");
  verb->add_option("--method", options->words.method, "[evolutionary], bayesian, firefly, random");
  repeatable(verb->add_option("--max", options->words.limits.max, "Limit NAME=NUMBER: any metric, or parameter"));
  repeatable(verb->add_option("--min", options->words.limits.min, "Smallest value of a parameter, NAME=NUMBER"));
  repeatable(verb->add_option("--set", options->words.limits.set, "NAME=VALUE or NAME=LOW..HIGH of a parameter"));
  verb->add_option("--objective", options->words.objective, "Metric, edp, or a product of powers [latency_s]");
  verb->add_option("--aggregate", options->words.aggregate, "Of several workloads: [geomean], mean, worst");
  verb->add_option("--seed", options->seed, "Seed of the search [0]")->check(between(0, kLargestExactInteger));
  add_evaluator_options(*verb, options->evaluator);
  verb->add_flag("-q,--quiet", options->quiet, "No progress and no summary");
  verb->add_flag("--json", options->json, "Summary as JSON");
  add_durability(*verb);
  add_dry_run(*verb, session);
  verb->footer("No query is spent on a design over a --max that is known without one:\n" +
               join(accel::metric_names_known_before_evaluation(), ", ") +
               ". The same command continues; --queries may grow.\n"
               "bayesian takes minutes for 1,000 queries, the others a second.\n"
               "Example: hindsight search --workloads unet --queries 2000 \\\n"
               "           --max area_mm2=27 --log searched.sqlite");
  verb->callback([options, &session] { session.action = [options, &session] { return run(*options, session); }; });
}

}  // namespace hindsight::app
