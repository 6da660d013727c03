/// hindsight bench tasks, export, facts, score: the study's tasks for anybody's method.
#include <fmt/format.h>

#include <memory>

#include "dry_run.h"
#include "file_roles.h"
#include "hindsight/check/play_export.h"
#include "hindsight/check/play_score.h"
#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/report/play.h"
#include "output.h"
#include "rehearsed_work.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct ExportOptions {
  std::string task, out;
  std::int64_t seed = 1;
  unsigned threads = 0;
  bool quiet = false;
};

struct ScoreOptions {
  std::string task, proposals, results;
  std::string player = "unnamed";
  bool no_rank = false;
  bool quiet = false;
  bool json = false;
};

/// --dry-run: the log of the task, timed on a few of its designs.
int rehearse_export(const check::PlayTask& task, const check::PlayExport& options, const FileRoles& roles) {
  const std::string out = roles.planned().front().file;
  check::require_new_folder(out);
  const std::string content = fmt::format("a log of {} designs on {}, its tables and a README",
                                          with_commas(task.log.samples), counted(task.train.size(), "application"));
  return show_dry_run(roles, {{"--out", content}}, sweep_work(check::play_sweep(task, options, out)),
                      DryRunStyle::text);
}

int run_export(const ExportOptions& options, const Session& session) {
  FileRoles roles;
  roles.writes("--out", options.out).require_usable();
  const check::PlayTask& task = check::find_play_task(options.task);
  install_interrupt_handlers();
  const check::PlayExport how{.seed = static_cast<std::uint64_t>(options.seed),
                              .threads = options.threads,
                              .quiet = options.quiet,
                              .provenance = session.provenance};
  if (session.dry_run) return rehearse_export(task, how, roles);
  const check::PlayExported written = check::export_play(task, options.out, how);
  if (!options.quiet) {
    print(fmt::format("{}: {} evaluations of {} designs, {} feasible; begin with {}\n", options.out,
                      with_commas(written.rows), with_commas(written.designs), with_commas(written.feasible),
                      (std::filesystem::path(options.out) / "README.md").string()));
  }
  return 0;
}

int run_score(const ScoreOptions& options, const Session& session) {
  FileRoles roles;
  roles.reads("PROPOSALS", options.proposals).writes("--results", options.results).require_usable();
  install_interrupt_handlers();
  if (!options.results.empty()) check::require_results(options.results);
  const check::PlayScore score = check::score_play(
      check::find_play_task(options.task), options.proposals,
      {.ranks = options.no_rank ? check::PlayRanks::none : check::PlayRanks::counted, .quiet = options.quiet});
  if (!options.results.empty() && !session.dry_run) check::append_result(options.results, score, options.player);
  print(options.json ? report::play_score_json(score) : report::play_score_text(score, output_columns()));
  if (session.dry_run) remark_planned(roles);
  return 0;
}

void add_tasks(CLI::App& group, Session& session) {
  const auto json = std::make_shared<bool>(false);
  CLI::App* verb = group.add_subcommand("tasks", "List the tasks that a method can play");
  verb->add_flag("--json", *json, "As JSON, with the applications");
  verb->footer("Example: hindsight bench tasks");
  verb->callback([json, &session] {
    session.action = [json] {
      print(*json ? report::play_tasks_json() : report::play_tasks_text(output_columns()));
      return 0;
    };
  });
}

void add_export(CLI::App& group, Session& session) {
  const auto options = std::make_shared<ExportOptions>();
  CLI::App* verb = group.add_subcommand("export", "Write a task's log, space and limits to a folder");
  verb->add_option("TASK", options->task, "See `hindsight bench tasks`")->required();
  verb->add_option("--out", options->out, "New folder")->required();
  verb->add_option("--seed", options->seed, "Seed of the log [1, the study's]")
      ->check(between(0, kLargestExactInteger));
  verb->add_option("--threads", options->threads, "Threads [all that may be used]")->check(between(0, kMostThreads));
  verb->add_flag("-q,--quiet", options->quiet, "No progress and no summary");
  add_dry_run(*verb, session);
  verb->footer(
      "The same task and seed give the same bytes.\n"
      "Example: hindsight bench export small/m4@1000 --out m4");
  verb->callback(
      [options, &session] { session.action = [options, &session] { return run_export(*options, session); }; });
}

void add_facts(CLI::App& group, Session& session) {
  const auto designs = std::make_shared<std::string>();
  CLI::App* verb = group.add_subcommand("facts", "Add area and peak power to designs, as a method may");
  verb->add_option("DESIGNS", *designs, "CSV, a column per parameter; - is standard input")->required();
  verb->footer("Asks no simulator.\nExample: hindsight bench facts candidates.csv > facts.csv");
  verb->callback([designs, &session] {
    session.action = [designs] {
      print(check::play_facts(*designs));
      return 0;
    };
  });
}

void add_score(CLI::App& group, Session& session) {
  const auto options = std::make_shared<ScoreOptions>();
  CLI::App* verb = group.add_subcommand("score", "Hold proposals for a task against the truth");
  verb->add_option("TASK", options->task, "See `hindsight bench tasks`")->required();
  verb->add_option("PROPOSALS", options->proposals, "CSV, a column per parameter, best first")->required();
  verb->add_option("--results", options->results, "File to append the score to, as JSON");
  verb->add_option("--player", options->player, "Who played, for the results");
  verb->add_flag("--no-rank", options->no_rank, "No rank: counting better designs may take a minute");
  verb->add_flag("-q,--quiet", options->quiet, "No progress");
  verb->add_flag("--json", options->json, "As JSON, with every proposal");
  add_dry_run(*verb, session);
  verb->footer("Example: hindsight bench score small/m4@1000 proposals.csv");
  verb->callback(
      [options, &session] { session.action = [options, &session] { return run_score(*options, session); }; });
}

}  // namespace

void add_bench_play(CLI::App& group, Session& session) {
  add_tasks(group, session);
  add_export(group, session);
  add_facts(group, session);
  add_score(group, session);
}

}  // namespace hindsight::app
