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
#include "shard_option.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

constexpr std::int64_t kMostChains = 100'000;  // [chosen] far more than processes that anybody starts

struct SearchOptions {
  std::string space = "edge";
  std::string workloads;
  EvaluatorOptions evaluator;
  study::SearchWords words;
  std::int64_t queries = 0;
  std::int64_t seed = 0;
  std::int64_t chains = 0;  ///< 0: one per shard
  ShardOption shard;
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

/// One chain: the search of a seed of its own. A shard has every so many of them, so that shards do together what one
/// process does with all.
struct Chain {
  sweep::SweepOptions run;
  study::SimulatorSearch search;
};

std::vector<Chain> chains_of(const SearchOptions& options, const Provenance& provenance) {
  const auto shards = static_cast<std::int64_t>(options.shard.shard().count);
  const std::int64_t chains = options.chains > 0 ? options.chains : shards;
  sweep::require_parts(options.shard.shard(), static_cast<std::uint64_t>(chains), "chain");
  if (options.seed > kLargestExactInteger - chains) {
    throw Error(ErrorKind::usage, fmt::format("--seed {} --chains {}: the last chain's seed would be above {}",
                                              options.seed, chains, kLargestExactInteger));
  }
  const sweep::SweepOptions first = run_of(options, provenance);
  std::vector<Chain> mine;
  for (auto i = static_cast<std::int64_t>(options.shard.shard().index); i < chains; i += shards) {
    Chain chain{.run = first, .search = {}};
    chain.run.seed = static_cast<std::uint64_t>(options.seed + i);
    chain.search = study::resolve_search(options.words, chain.run);
    mine.push_back(std::move(chain));
  }
  return mine;
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
  const bool all = summary.status == sweep::SweepStatus::exhausted;  // more queries ask for nothing more
  throw Error(ErrorKind::no_feasible,
              fmt::format("none of the {} designs {} is feasible{} (most often: {}). {}{}?",
                          with_commas(summary.accepted), all ? "that there are" : "asked for",
                          limited ? " and within --max" : "", most_frequent_reason(summary, found),
                          all ? "Allow more values" : "Give more --queries", limited ? ", or loosen --max" : ""));
}

PlannedWork work_of(const std::vector<Chain>& chains) {
  PlannedWork work = search_work(chains.front().run, chains.front().search);
  if (work.evaluations) *work.evaluations *= chains.size();
  if (work.seconds) *work.seconds *= static_cast<double>(chains.size());
  return work;
}

/// What was found by several chains: a document for all, or one after the other and the best of them.
void show(const SearchOptions& options, const std::vector<Chain>& chains,
          const std::vector<sweep::SweepSummary>& summaries) {
  if (options.json) {
    if (chains.size() == 1) return print(report::sweep_json(summaries.front(), chains.front().run));
    std::vector<report::SearchedChain> told;
    for (std::size_t i = 0; i < summaries.size(); ++i) told.push_back({&summaries[i], &chains[i].run});
    return print(report::chains_json(told));
  }
  if (options.quiet) return;
  const sweep::Found* best = nullptr;
  std::uint64_t seed = 0;
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    if (chains.size() > 1) print(fmt::format("{}chain of seed {}\n", i > 0 ? "\n" : "", chains[i].run.seed));
    print(report::sweep_text(summaries[i], chains[i].run, output_columns()));
    const std::optional<sweep::Found>& found = summaries[i].found;
    if (!found || found->number == 0 || (best != nullptr && best->score <= found->score)) continue;
    best = &*found;
    seed = chains[i].run.seed;
  }
  if (chains.size() == 1 || best == nullptr) return;
  print(fmt::format("\nbest of {}: {} = {:.6g}, seed {}\n{}\n", counted(summaries.size(), "chain"),
                    chains.front().run.objective, best->score, seed, best->design));
}

int run(SearchOptions options, const Session& session) {
  const Provenance provenance =
      resolve_shard(options.shard, session, options.quiet, {{.option = "--log", .file = &options.log, .shared = true}});
  FileRoles roles;
  roles.reads("--space", options.space)
      .reads("--workloads", options.workloads)
      .reads("--technology", options.evaluator.technology)
      .writes_log("--log", options.log)
      .require_usable();
  const std::vector<Chain> chains = chains_of(options, provenance);
  if (session.dry_run) {
    for (const Chain& chain : chains) sweep::require_sensible(chain.run);
    const sweep::SweepOptions& one = chains.front().run;
    return show_dry_run(
        roles,
        {{"--log", fmt::format("{} asked for{}, earlier runs included, on {}", counted(one.samples, "design"),
                               chains.size() > 1 ? fmt::format(" by each of {}", counted(chains.size(), "chain")) : "",
                               counted(one.networks.size(), "workload"))}},
        work_of(chains), dry_run_style(options.json));
  }
  install_interrupt_handlers();
  std::vector<sweep::SweepSummary> summaries;
  for (const Chain& chain : chains) {
    summaries.push_back(study::run_search(chain.run, chain.search));
    if (summaries.back().status == sweep::SweepStatus::interrupted) break;
  }
  show(options, chains, summaries);
  const sweep::SweepSummary& last = summaries.back();
  if (last.status == sweep::SweepStatus::interrupted) {
    remark(last.accepted > 0 || summaries.size() > 1
               ? "interrupted; what was asked is in the log. Run the same command again to continue:"
               : "interrupted; nothing is in the log yet. Run the same command again to start over:");
    remark(provenance.command_line);
    return exit_code(ErrorKind::interrupted);
  }
  const auto found_some = [](const sweep::SweepSummary& summary) {
    return !summary.found || summary.found->feasible > 0;
  };
  if (std::ranges::none_of(summaries, found_some))
    fail_nothing_found(last, *last.found, !options.words.limits.max.empty());
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
  verb->add_option("--objective", options->words.objective, "Metric, edp, or a product of powers [latency_s]")
      ->check(not_empty());
  verb->add_flag("--maximise", options->words.maximise, "Larger objectives are better");
  verb->add_option("--aggregate", options->words.aggregate, "Of several workloads: [geomean], mean, worst");
  verb->add_option("--seed", options->seed, "Seed of the search [0]")->check(between(0, kLargestExactInteger));
  verb->add_option("--chains", options->chains, "Searches of seeds SEED, SEED+1, ... [one per shard]")
      ->check(between(1, kMostChains));
  add_shard(*verb, options->shard, "the chains");
  add_evaluator_options(*verb, options->evaluator);
  verb->add_flag("-q,--quiet", options->quiet, "No progress and no summary");
  verb->add_flag("--json", options->json, "Summary as JSON");
  add_durability(*verb);
  add_dry_run(*verb, session);
  verb->footer("No query is spent on a design over a --max that is known without one:\n" +
               join(accel::metric_names_known_before_evaluation(), ", ") +
               ". The same command continues; --queries may grow.\n"
               "bayesian takes minutes for 1,000 queries, the others a second.\n"
               "Of several chains each asks --queries; a shard has every COUNT-th.\n"
               "Example: hindsight search --workloads unet --queries 2000 \\\n"
               "           --max area_mm2=27 --log searched.sqlite");
  verb->callback([options, &session] { session.action = [options, &session] { return run(*options, session); }; });
}

}  // namespace hindsight::app
