/// hindsight bench offline: PRIME's three tables in kind, against baselines that may query the simulator.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "dry_run.h"
#include "file_roles.h"
#include "hindsight/accel/technology.h"
#include "hindsight/check/offline.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/units.h"
#include "hindsight/report/offline.h"
#include "output.h"
#include "plot_output.h"
#include "recipe_settings.h"
#include "shard_option.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct BenchOfflineOptions {
  std::string out, results, landscape;
  std::vector<std::string> tasks, methods;
  std::int64_t seeds = 3;
  std::int64_t samples = 20'000;
  std::string recipe;  ///< of methods; empty: their own
  std::vector<std::string> settings;
  std::string technology;  ///< empty: that of the space
  std::string risk;
  std::optional<double> min_feasible, pessimism;
  std::optional<std::int64_t> diversity;
  std::int64_t bayesian_queries = 200;
  std::int64_t time_limit_s = 0;
  unsigned threads = 0;
  ShardOption shard;
  bool quick = false;
  bool quiet = false;
  bool json = false;
  bool plot = false;
};

constexpr std::int64_t kMostSeeds = 1000, kMostDiversity = 100'000;

const std::vector<std::string> kAllMethods{"best_in_log",      "default",      "supervised",       "coms",    "prime",
                                           "evolutionary@200", "evolutionary", "evolutionary@10x", "bayesian"};
/// [chosen] One task of every kind, all methods, small budgets: some minutes on two cores.
const std::vector<std::string> kQuickTasks{"single/mobilenet_v2", "multi/edge_v2_v3@29", "zero_shot/edge_v3_to_v2@29"};
const std::vector<std::string> kQuickMethods{"best_in_log", "supervised",   "coms",
                                             "prime",       "evolutionary", "bayesian@40"};
const std::vector<std::string> kQuickSettings{"steps=200", "final_steps=50", "ensemble=1", "evaluate_interval=100"};
constexpr std::int64_t kQuickSamples = 4000;
constexpr std::uint64_t kQuickEvaluations = 5000;

/// Who proposes, each with the recipes that it may train.
std::vector<check::OfflineMethod> methods_of(const BenchOfflineOptions& options,
                                             const std::vector<std::string>& names) {
  require_base_recipe(options.recipe);
  std::vector<check::OfflineMethod> methods;
  std::vector<Learner> learners;
  for (const std::string& name : names) {
    check::OfflineMethod method = check::parse_offline_method(name);
    Learner learner;
    learner.name = name;
    learner.takes_recipe = !options.recipe.empty() && surrogate::is_method(name);
    if (learner.takes_recipe) method.recipe = recipe_for(options.recipe, name);
    std::vector<surrogate::Recipe*> trained;
    for (surrogate::Recipe& candidate : method.candidates) trained.push_back(&candidate);
    if (method.kind == check::OfflineMethod::Kind::learned) {
      trained.push_back(&method.recipe);
      remark_unread_keys(method.recipe, options.quiet);
    }
    for (surrogate::Recipe* recipe : trained) {
      if (options.quick) apply_settings(*recipe, kQuickSettings);
      apply_settings(*recipe, options.settings);
      learner.recipes.push_back(*recipe);
      if (method.candidates.empty()) learner.recipes.back().name = name;  // several methods may train one recipe
    }
    methods.push_back(std::move(method));
    learners.push_back(std::move(learner));
  }
  require_heard(learners, options.recipe, options.settings, options.quiet);
  return methods;
}

check::OfflineOptions make_options(const BenchOfflineOptions& options, const Provenance& provenance) {
  check::OfflineOptions result;
  result.folder = options.out;
  result.results = options.results;
  const auto chosen = [&](const std::vector<std::string>& given, const std::vector<std::string>& quick,
                          const std::vector<std::string>& all) {
    if (!given.empty()) return given;
    return options.quick ? quick : all;
  };
  result.tasks = check::select_tasks(chosen(options.tasks, kQuickTasks, {"all"}));
  result.methods = methods_of(options, chosen(options.methods, kQuickMethods, kAllMethods));
  result.seeds.clear();
  for (std::int64_t seed = 1; seed <= options.seeds; ++seed) result.seeds.push_back(static_cast<std::uint64_t>(seed));
  result.shard = options.shard.shard();
  result.samples = static_cast<std::uint64_t>(options.samples);
  if (options.quick) result.evaluations = kQuickEvaluations;
  result.technology = check::study_technology(options.technology);
  if (!options.risk.empty()) result.risk = optimize::parse_risk(options.risk);
  if (options.diversity) result.diversity = static_cast<std::size_t>(*options.diversity);
  result.min_p_feasible = options.min_feasible;
  result.pessimism = options.pessimism;
  result.bayesian_queries = static_cast<std::uint64_t>(options.bayesian_queries);
  result.time_limit_s = static_cast<double>(options.time_limit_s);
  result.threads = options.threads;
  result.provenance = provenance;
  if (!options.quiet) result.progress = [](const std::string& line) { remark(line); };
  return result;
}

/// --dry-run: which cells the folder lacks, and how long such cells took.
int rehearse_study(const BenchOfflineOptions& options, const check::OfflineOptions& resolved) {
  const check::PlannedOffline planned = check::plan_offline(resolved);
  FileRoles roles;
  roles.writes("--out", options.out);
  PlannedWork work{.seconds = planned.seconds};
  if (planned.to_run == 0) {
    work.evaluations = 0;
  } else {
    work.basis = planned.seconds ? "by cells of the same methods in the folder"
                                 : "the folder has no cell of one of the methods; a cell takes seconds to an hour";
  }
  return show_dry_run(roles,
                      {{"--out", fmt::format("{} of {}", with_commas(planned.to_run), counted(planned.cells, "cell"))}},
                      work, dry_run_style(options.json));
}

int run(BenchOfflineOptions options, const Session& session) {
  if (options.out.empty() == options.results.empty()) {
    throw Error(ErrorKind::usage,
                options.out.empty() ? "where to? Name the study's folder with --out, or a finished file with --results"
                                    : "--results shows a finished file, --out runs a study. Leave one of the two out?");
  }
  const Provenance provenance =
      resolve_shard(options.shard, session, options.quiet, {{.option = "--out", .file = &options.out}});
  if (options.shard.is_part() && !options.results.empty()) {
    throw Error(ErrorKind::usage, "--results shows a file of all cells; --shard runs some. Leave one of the two out?");
  }
  require_drawable(options.plot, options.json);
  FileRoles().reads("--results", options.results).reads("--landscape", options.landscape).require_usable();
  const check::OfflineOptions resolved = make_options(options, provenance);
  install_interrupt_handlers();
  std::optional<accel::optimum::Landscape> landscape;  // read first: a study takes hours
  if (!options.landscape.empty()) {
    landscape = check::read_study_landscape(options.landscape, resolved.tasks, resolved.technology);
  }
  if (session.dry_run && !options.out.empty()) return rehearse_study(options, resolved);
  check::OfflineStudy study = check::run_offline(resolved);
  check::add_truth(study, resolved.technology, landscape ? &*landscape : nullptr);
  if (study.left_out > 0 && !options.quiet) {
    remark(
        fmt::format("{} of the file not shown: of other tasks, methods, seeds (--seeds), --samples, or settings of "
                    "the recipe",
                    counted(study.left_out, "result")));
  }
  const std::string markdown = report::offline_markdown(study);
  if (!options.out.empty()) {
    write_file_atomically(resolved.folder / "results.md", markdown);
    write_file_atomically(resolved.folder / "results.json", report::offline_json(study));
  }
  print(options.json ? report::offline_json(study) : markdown);
  if (options.plot) print("\n```\n" + report::offline_plot_text(study, plot_columns(), plot_glyphs()) + "```\n");
  return interrupt_requested() ? exit_code(ErrorKind::interrupted) : 0;
}

}  // namespace

void add_bench_offline(CLI::App& group, Session& session) {
  const auto options = std::make_shared<BenchOfflineOptions>();
  CLI::App* verb = group.add_subcommand("offline", "PRIME's tables: offline learning against online search");
  verb->add_option("--out", options->out, "Folder for log and results; resumes there");
  verb->add_option("--results", options->results, "Shows a results file, and runs nothing");
  verb->add_option("--landscape", options->landscape, "Exact ranks, of optimum --all");
  verb->add_option("--tasks", options->tasks, "single, multi, zero_shot, or tasks a,b [all]")->delimiter(',');
  verb->add_option("--methods", options->methods, "E.g. default,prime,layers,evolutionary@10x [all]")->delimiter(',');
  verb->add_option("--seeds", options->seeds, "Repetitions [3]")->check(between(1, kMostSeeds));
  verb->add_option("--samples", options->samples, "Designs of the log [20000]")
      ->check(between(1, kLargestExactInteger));
  verb->add_option("--recipe", options->recipe, "Of methods: name or YAML file [v0.1, or their own]");
  repeatable(verb->add_option("--set", options->settings, "KEY=VALUE of every recipe"));
  verb->add_option("--technology", options->technology, "Node, NODE@CLASS: its cooling [the space's]");
  verb->add_option("--risk", options->risk, "safe, balanced, bold [balanced; of prime ...: none]");
  verb->add_option("--diversity", options->diversity, "Parameters in which proposals differ [2]")
      ->check(between(0, kMostDiversity));
  verb->add_option("--pessimism", options->pessimism, "Spreads against a design: added, off p [1]");
  verb->add_option("--min-feasible", options->min_feasible, "Smallest probability of proposals [as propose]");
  verb->add_option("--bayesian-queries", options->bayesian_queries, "Cap of the Gaussian process [200]")
      ->check(between(0, kLargestExactInteger));
  verb->add_option("--time-limit", options->time_limit_s, "Start no cell after so many seconds")
      ->check(between(0, kLargestExactInteger));
  add_shard(*verb, options->shard, "the cells");
  verb->add_option("--threads", options->threads, "Threads [all that may be used]")->check(between(0, kMostThreads));
  verb->add_flag("--quick", options->quick, "Three tasks, small budgets: minutes");
  verb->add_flag("-q,--quiet", options->quiet, "No progress");
  verb->add_flag("--json", options->json, "As JSON");
  verb->add_flag("--plot", options->plot, "Also draw each task: queries, best so far");
  add_dry_run(*verb, session);
  verb->footer(
      "--methods: best_in_log, default (the recipe that train chooses), methods,\n"
      "recipes, online searches. prime, coms and supervised list the best designs\n"
      "alone, as in version 0.1, unless --risk is given.\n"
      "Proposals are held against the exact optimum. The same command continues an\n"
      "interrupted study. A cell is a method on a task with a seed; shards have a\n"
      "folder each, --out 'study.{shard}', and hindsight join puts their\n"
      "results.jsonl into one.\n"
      "Example: hindsight bench offline --quick --out study");
  verb->callback([options, verb, &session] {
    if (options->quick && verb->count("--samples") == 0) options->samples = kQuickSamples;
    if (options->quick && verb->count("--seeds") == 0) options->seeds = 1;
    session.action = [options, &session] { return run(*options, session); };
  });
}

}  // namespace hindsight::app
