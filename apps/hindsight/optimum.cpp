/// hindsight optimum: the exact best of all designs of a space, under limits, with a certificate.
#include "hindsight/report/optimum.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>

#include "design_argument.h"
#include "dry_run.h"
#include "file_roles.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/progress.h"
#include "hindsight/core/text.h"
#include "hindsight/log/address.h"
#include "hindsight/log/log.h"
#include "hindsight/measure/site_engine.h"
#include "hindsight/study/optimum.h"
#include "output.h"
#include "shard_option.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct OptimumOptions {
  study::OptimumRequest request;
  std::string aggregate;
  std::int64_t top = 1;
  bool top_given = false, objective_given = false, aggregate_given = false, out_given = false;
  bool all = false;
  std::string out;
  std::string device;
  unsigned threads = 0;
  ShardOption shard;
  bool quiet = false;
  bool json = false;
  report::DesignStyle designs = report::DesignStyle::compact;
};

constexpr std::int64_t kMostDesigns = 10'000;

/// Reports where the search stands, and ends it at Ctrl-C.
accel::optimum::Watch watch_with(Progress& progress) {
  return [&progress](const accel::optimum::Standing& standing) {
    std::string note = standing.bound > 0 ? fmt::format("bound {:.4g}", standing.bound) : std::string();
    if (std::isfinite(standing.best)) note += fmt::format("{}best {:.4g}", note.empty() ? "" : ", ", standing.best);
    progress.update(standing.settled, note);
    return !interrupt_requested();
  };
}

constexpr std::string_view kDeviceCpu = "cpu", kDeviceCuda = "cuda";

/// --all: every design instead of the best; a file of them, or without --out their survey.
int go_over_all(const OptimumOptions& options, const study::OptimumTask& task, std::uint64_t designs) {
  const accel::optimum::Question& question = task.question();
  const bool energies = question.goal.energy > 0;
  std::unique_ptr<accel::optimum::SiteEngine> engine;
  if (options.device == kDeviceCuda) engine = measure::cuda_site_engine(0);
  Progress progress("optimum", designs, "designs", options.quiet);
  const accel::optimum::LandscapeOptions how{.metrics = energies ? accel::optimum::LandscapeMetrics::latency_and_energy
                                                                 : accel::optimum::LandscapeMetrics::latency,
                                             .threads = options.threads,
                                             .engine = engine.get()};
  const accel::optimum::Watch watch = watch_with(progress);
  if (options.out.empty()) {
    const accel::optimum::LandscapeSurvey survey = accel::optimum::survey_landscape(question, how, watch);
    if (!survey.summary.interrupted) progress.update(designs);
    progress.finish();
    print(options.json ? report::survey_json(task, survey)
                       : report::survey_text(task, survey, options.designs, output_columns()));
    if (survey.summary.interrupted) return exit_code(ErrorKind::interrupted);
    return survey.summary.runnable == 0 ? exit_code(ErrorKind::no_feasible) : 0;
  }
  const accel::optimum::LandscapeSummary summary = accel::optimum::write_landscape(question, options.out, how, watch);
  if (!summary.interrupted) progress.update(designs);
  progress.finish();
  print(options.json ? report::landscape_json(summary, options.out)
                     : report::landscape_text(summary, options.out, output_columns()));
  return summary.interrupted ? exit_code(ErrorKind::interrupted) : 0;
}

/// What will be written to must be a log, or nothing yet: said before the search.
void require_log(const std::string& log) {
  std::error_code ignored;
  const bool empty = std::filesystem::is_empty(log, ignored);
  if (!empty && log::is_log_there(log)) static_cast<void>(log::Log::open(log, log::OpenMode::read_only));
}

/// What shards of an optimum can be: of a landscape, or of the best designs, each of which is one file.
void require_joinable(const OptimumOptions& options) {
  if (!options.shard.is_part()) return;
  const std::string shard = fmt::format("--shard {}", options.shard.text);
  if (!options.request.pareto.empty()) {
    throw Error(ErrorKind::usage, shard + " and --pareto: fronts have no shards. Leave one of the two out?");
  }
  if (options.all && options.out.empty()) {
    throw Error(ErrorKind::usage, shard +
                                      ": a survey has no shards, a landscape has. Name the file of this one, --out "
                                      "'land.{shard}.landscape'?");
  }
  if (!options.request.log.empty()) {
    throw Error(ErrorKind::usage, shard +
                                      " and --log: which design is the optimum is known when all shards are joined "
                                      "(hindsight join). Write this one to a file, --out 'best.{shard}.json'?");
  }
}

void require_consistent(const OptimumOptions& options) {
  require_joinable(options);
  if (!options.all && !options.out.empty() && !options.shard.is_part()) {
    throw Error(ErrorKind::usage, "--out: is the file of a landscape. Add --all?");
  }
  if (!options.all && !options.device.empty()) {
    throw Error(ErrorKind::usage, "--device: only --all can use a device. Add --all?");
  }
  if (!options.device.empty() && options.device != kDeviceCpu && options.device != kDeviceCuda) {
    throw Error(ErrorKind::usage,
                fmt::format("--device {}: is no device. Devices: cpu, cuda", printable(options.device)));
  }
  if (options.out_given && (options.out.empty() || options.out == "-")) {
    throw Error(ErrorKind::usage, "--out: a landscape needs the name of a file. Leave --out out for a survey?");
  }
  const bool front = !options.request.pareto.empty();
  if (front && (options.top_given || options.objective_given)) {
    throw Error(ErrorKind::usage,
                fmt::format("--pareto prints a whole front; {} is of a single optimum. Leave one out{}?",
                            options.top_given ? "--top" : "--objective",
                            options.top_given ? ", or thin the front with --epsilon" : ""));
  }
  if (options.all && options.top_given) {
    throw Error(ErrorKind::usage, "--top lists the best designs; --all counts or keeps all. Leave one of the two out?");
  }
  if (options.all && !options.out.empty() && options.aggregate_given) {
    throw Error(ErrorKind::usage,
                "--aggregate: a landscape holds every application by itself, and serves any aggregate. "
                "Leave it out?");
  }
  if (front && (options.all || !options.request.log.empty())) {
    throw Error(ErrorKind::usage, fmt::format("--pareto prints a front; {} is of something else. Leave one out?",
                                              options.all ? "--all" : "--log"));
  }
  if (!front && options.request.epsilon != 0) {
    throw Error(ErrorKind::usage, "--epsilon thins a front. Name its metrics with --pareto?");
  }
  if (options.all && !options.request.log.empty()) {
    throw Error(ErrorKind::usage, "--log keeps an optimum; --all makes a landscape. Leave one of the two out?");
  }
}

void show(const OptimumOptions& options, const study::OptimumTask& task, const study::Optimum& optimum) {
  print(options.json ? report::optimum_json(task, optimum)
                     : report::optimum_text(task, optimum, options.designs, output_columns()));
  if (options.json || options.quiet || optimum.answer.interrupted || optimum.answer.best.empty()) return;
  if (options.shard.is_part()) return;
  const study::OptimumRequest& request = task.request();
  suggest({"hindsight", "simulate", "--design", task.space().text_id(optimum.answer.best.front().design), "--space",
           request.space, "--workload", request.workloads, "--technology", task.technology().name, "--explain"});
}

/// Of a space that the exact search has no bounds for.
int find_with_gap(const OptimumOptions& options, const study::OptimumTask& task, const Provenance& provenance) {
  Progress progress("optimum", study::kGapSteps, "steps", options.quiet);
  const study::Optimum optimum = study::find_optimum(task, watch_with(progress));
  if (!optimum.answer.interrupted) progress.update(study::kGapSteps);
  progress.finish();
  if (!task.request().log.empty()) study::record(task, optimum, provenance);
  show(options, task, optimum);
  return optimum.answer.interrupted ? exit_code(ErrorKind::interrupted) : 0;
}

int run(OptimumOptions options, const Session& session) {
  const Provenance provenance = resolve_shard(
      options.shard, session, options.quiet,
      {{.option = "--out", .file = &options.out}, {.option = "--log", .file = &options.request.log, .shared = true}});
  FileRoles roles;
  roles.reads("--space", options.request.space)
      .reads("--workloads", options.request.workloads)
      .reads("--technology", options.request.technology)
      .writes_log("--log", options.request.log)
      .writes("--out", options.out)
      .require_usable();
  require_consistent(options);
  if (options.all && !options.out.empty()) accel::optimum::require_replaceable(options.out);
  study::OptimumRequest request = options.request;
  request.slice = {.index = options.shard.shard().index, .count = options.shard.shard().count};
  if (!options.aggregate.empty()) request.aggregate = parse_aggregate(options.aggregate);
  request.top = static_cast<std::size_t>(options.top);
  const study::OptimumTask task(request);
  if (session.dry_run) {
    return show_dry_run(roles,
                        {{"--log", "the optimum with its proof, and no evaluation"},
                         {"--out", options.all ? "the metrics of every buildable design" : "the best of this shard"}},
                        {.basis = "a proof ends when no open box is left, which is seen on the way only"},
                        dry_run_style(options.json));
  }
  require_log(request.log);
  install_interrupt_handlers();
  if (!accel::optimum::has_exact_bounds(task.space()) && !options.all && task.front().empty()) {
    return find_with_gap(options, task, provenance);
  }
  const std::uint64_t designs = accel::optimum::count_combinations(task.question());
  if (options.all) return go_over_all(options, task, designs);
  Progress progress("optimum", designs, "designs", options.quiet);
  if (!task.front().empty()) {
    const study::ExactFront found = study::find_front(task, watch_with(progress));
    if (!found.front.interrupted) progress.update(designs);
    progress.finish();
    print(options.json ? report::front_json(task, found)
                       : report::front_text(task, found, options.designs, output_columns()));
    return found.front.interrupted ? exit_code(ErrorKind::interrupted) : 0;
  }
  const study::Optimum optimum = study::find_optimum(task, watch_with(progress));
  if (!optimum.answer.interrupted) progress.update(designs);
  progress.finish();
  if (!request.log.empty()) study::record(task, optimum, provenance);
  if (!options.out.empty() && !optimum.answer.interrupted)
    write_file_atomically(options.out, report::optimum_json(task, optimum));
  show(options, task, optimum);
  return optimum.answer.interrupted ? exit_code(ErrorKind::interrupted) : 0;
}

}  // namespace

void add_optimum(CLI::App& app, Session& session) {
  const auto options = std::make_shared<OptimumOptions>();
  study::OptimumRequest& request = options->request;
  CLI::App* verb = app.add_subcommand("optimum", "The exact best of all designs of a space");
  verb->add_option("--workloads,--workload", request.workloads, kWorkloadsHelp)->required();
  verb->add_option("--space", request.space, "Design space [edge]");
  repeatable(verb->add_option("--max", request.limits.max, "Limit NAME=NUMBER: metric, derived, parameter"));
  repeatable(verb->add_option("--min", request.limits.min, "Smallest value of a parameter, NAME=NUMBER"));
  repeatable(verb->add_option("--set", request.limits.set, "NAME=VALUE or NAME=LOW..HIGH of a parameter"));
  const CLI::Option* objective =
      verb->add_option("--objective", request.objective, "latency, energy, edp, or a product [latency_s]")
          ->check(not_empty());
  repeatable(verb->add_option("--pareto", request.pareto, "Front of 2 to 4: latency,energy,area_mm2,peak_power_w"));
  verb->add_option("--epsilon", request.epsilon, "Thin the front: at most this share worse [0]")
      ->check(CLI::Range(0.0, 1.0).description(""));
  const CLI::Option* aggregate =
      verb->add_option("--aggregate", options->aggregate, "mean, worst, geomean, weighted [geomean]");
  verb->add_option("--weights", request.weights, "One per workload, a,b,c: weighted mean")->delimiter(',');
  const CLI::Option* top =
      verb->add_option("--top,-n", options->top, "Best designs to list [1]")->check(between(1, kMostDesigns));
  verb->add_option("--technology", request.technology, "Node, NODE@CLASS: its cooling [the space's]");
  verb->add_option("--log", request.log, "Log that keeps the optimum and its proof");
  verb->add_flag("--all", options->all, "Every buildable design: a survey, or with --out all");
  const CLI::Option* out = verb->add_option("--out", options->out, "File of the landscape, or of a shard's best");
  verb->add_option("--device", options->device, "Of --all: cpu, cuda [cpu]");
  add_shard(*verb, options->shard, "the space");
  verb->add_option("--threads", options->threads, "Threads of --all [all that may be used]")
      ->check(between(0, kMostThreads));
  verb->add_flag("-q,--quiet", options->quiet, "No progress");
  verb->add_flag("--json", options->json, "Everything, as JSON");
  add_wide(*verb, options->designs);
  add_dry_run(*verb, session);
  verb->footer(
      "Exit code 3 when no design meets the limits, with the nearest limit that can\n"
      "be met (--all: without it, and no file is written).\n"
      "--aggregate worst is the largest value; that of propose is the largest ratio\n"
      "to a typical logged design.\n"
      "Shards have a file each, --out 'edge.{shard}.landscape'; hindsight join makes\n"
      "one of them all.\n"
      "Example: hindsight optimum --workloads unet --max area_mm2=27\n"
      "Example: hindsight optimum --workloads prime9 --objective edp --top 5\n"
      "Example: hindsight optimum --workloads m6 --pareto latency,energy \\\n"
      "           --max area_mm2=27\n"
      "Example: hindsight optimum --all --workloads prime9 --out edge.landscape\n"
      "Example: hindsight optimum --all --workloads prime9 --space fine.yaml \\\n"
      "           --device cuda");
  verb->callback([options, &session, objective, aggregate, top, out] {
    options->objective_given = objective->count() > 0;
    options->aggregate_given = aggregate->count() > 0;
    options->top_given = top->count() > 0;
    options->out_given = out->count() > 0;
    session.action = [options, &session] { return run(*options, session); };
  });
}

}  // namespace hindsight::app
