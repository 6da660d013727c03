/// hindsight campaign: propose, evaluate, learn again, round after round, in one log.
#include "hindsight/study/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "dry_run.h"
#include "durability_option.h"
#include "evaluator_argument.h"
#include "file_roles.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/foreign_name.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/dataset/objective.h"
#include "hindsight/log/address.h"
#include "hindsight/report/loop.h"
#include "hindsight/study/optimum.h"
#include "hindsight/surrogate/recipe.h"
#include "output.h"
#include "recipe_settings.h"
#include "training_progress.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

constexpr std::int64_t kMostRounds = 1'000'000, kMostBatch = 100'000;

struct CampaignOptions {
  std::string space = "edge", workloads, log;
  EvaluatorOptions evaluator;
  study::SearchWords words;
  std::string recipe = "margins";
  std::int64_t rounds = 5, batch = 16, drawn = -1, seed = 1;
  unsigned threads = 0;
  bool by_workers = false, regret = false, quiet = false, json = false;
};

/// Error{usage} where a name is like no network's: what it names is something else, which no evaluator is asked about.
void refuse_what_is_no_network(const CampaignOptions& options) {
  constexpr std::size_t kLongest = 36;  // [chosen] of a name that an error has twice
  const std::vector<std::string> known = list_data_files("data/workloads");
  for (const std::string& name : workload::names_in_list(options.workloads)) {
    if (names_a_file(name) || name.find('@') != std::string::npos || nearest_name(name, known)) continue;
    try {
      static_cast<void>(workload::load_network(name));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
      throw Error(ErrorKind::usage,
                  fmt::format("unknown workload '{}' (see `hindsight workload list`). What is no network goes by ask "
                              "and tell: hindsight ask --log {} --space {} --application {}",
                              printable(name, kLongest), pasted_path(options.log), pasted_path(options.space),
                              printable(name, kLongest) == name ? shell_quoted(name) : "NAME"));
    }
  }
}

/// The networks that are named, each read once.
std::vector<workload::Network> networks_of_campaign(const CampaignOptions& options) {
  try {
    return workload::load_networks(options.workloads);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::usage) refuse_what_is_no_network(options);
    throw;
  }
}

study::CampaignOptions campaign_of(const CampaignOptions& options, const Provenance& provenance) {
  if (options.drawn > options.batch) {
    throw Error(ErrorKind::usage,
                fmt::format("--drawn {}: a round has {}. Give at most {}, or a larger --batch", options.drawn,
                            counted(static_cast<std::uint64_t>(options.batch), "design"), options.batch));
  }
  study::CampaignOptions campaign;
  campaign.evaluator = make_evaluator(options.evaluator, space::load_space(options.space));
  campaign.networks = networks_of_campaign(options);
  campaign.words = options.words;
  campaign.rounds = static_cast<std::size_t>(options.rounds);
  campaign.batch = static_cast<std::size_t>(options.batch);
  campaign.drawn = options.drawn >= 0 ? static_cast<std::size_t>(options.drawn) : campaign.batch / 8;
  campaign.recipe = options.recipe;
  remark_unread_keys(surrogate::load_recipe(options.recipe), options.quiet);  // not used before the second round
  campaign.seed = static_cast<std::uint64_t>(options.seed);
  campaign.threads = options.threads;
  campaign.by_workers = options.by_workers;
  campaign.log = options.log;
  campaign.provenance = provenance;
  return campaign;
}

/// The exact optimum of the question, which the built-in model's structure proves.
double optimum_of(const CampaignOptions& options) {
  study::OptimumRequest request;
  request.space = options.space;
  request.workloads = options.workloads;
  request.technology = options.evaluator.technology;
  request.objective = options.words.objective;
  if (options.words.maximise) request.objective = dataset::parse_objective(request.objective, Direction::maximise).text;
  request.aggregate = parse_aggregate(options.words.aggregate);
  request.limits = options.words.limits;
  const study::OptimumTask task(request);
  const study::Optimum optimum = study::find_optimum(task);
  if (optimum.answer.best.empty() || interrupt_requested()) {
    throw Error(ErrorKind::interrupted, "interrupted while the optimum was looked for");
  }
  return optimum.answer.best.front().value;
}

/// --dry-run: the log's copy says which rounds are done, and how long they took.
int rehearse_campaign(const CampaignOptions& options, study::CampaignOptions campaign, const FileRoles& roles) {
  study::CampaignSummary so_far;
  LogRehearsal(options.log)([&](const std::string& copy) {
    campaign.log = copy;
    so_far = study::campaign_so_far(campaign);
  });
  const std::size_t done = so_far.rounds.size(), left = campaign.rounds - std::min(done, campaign.rounds);
  PlannedWork work{.evaluations = left * campaign.batch * campaign.networks.size()};
  if (done > 0) {
    double spent_s = 0;
    for (const study::CampaignRound& round : so_far.rounds) spent_s += round.choose_s + round.evaluate_s;
    work.seconds = spent_s / static_cast<double>(done) * static_cast<double>(left);
    work.basis = fmt::format("as long per round as the {} that the log has", counted(done, "round"));
  } else {
    work.basis = "no round is done yet, and models of later rounds learn from what the first ones find";
  }
  const std::string content = fmt::format("{} of {} on {}{}", counted(left, "round"), counted(campaign.batch, "design"),
                                          counted(campaign.networks.size(), "workload"),
                                          done > 0 ? fmt::format("; {} done before", with_commas(done)) : "");
  return show_dry_run(roles, {{"--log", content}}, work, dry_run_style(options.json));
}

/// The campaign, with a progress line for each training and a line after each round.
study::CampaignSummary run_shown(study::CampaignOptions campaign, bool quiet) {
  std::optional<TrainingProgress> training;
  campaign.progress = [&training, quiet](const surrogate::TrainProgress& state) {
    if (!training) training.emplace(quiet, nullptr, std::string(), surrogate::TrainingShard{});
    (*training)(state);
  };
  campaign.after_choice = [&training] {
    if (training) training->finish();
    training.reset();
  };
  return study::run_campaign(campaign, [quiet](const study::CampaignSummary& so_far) {
    if (!quiet) remark(report::round_text(so_far));
  });
}

int run(const CampaignOptions& options, const Session& session) {
  const Provenance& provenance = session.provenance;
  FileRoles roles;
  roles.reads("--space", options.space)
      .reads("--workloads", options.workloads)
      .reads("--technology", options.evaluator.technology)
      .writes_log("--log", options.log)
      .require_usable();
  if (options.regret && !options.evaluator.command.empty()) {
    throw Error(ErrorKind::usage,
                "--regret: the exact optimum is known of the built-in model, and --evaluator names another simulator. "
                "Leave one of the two out?");
  }
  if (options.by_workers && (options.evaluator.command.empty() || !log::is_server_address(options.log))) {
    throw Error(ErrorKind::usage,
                "--by-workers: workers (hindsight worker) run a simulator of yours on a log on a server. Name it by "
                "--evaluator-name and --evaluator, and --log postgresql://...");
  }
  const study::CampaignOptions campaign = campaign_of(options, provenance);
  if (session.dry_run) return rehearse_campaign(options, campaign, roles);
  install_interrupt_handlers();
  std::optional<double> optimum;
  if (options.regret) optimum = optimum_of(options);
  if (options.by_workers && !options.quiet) {
    const std::string& version = options.evaluator.version;
    remark(fmt::format(
        "rounds wait for workers: hindsight worker --log {} --evaluator COMMAND --evaluator-name {}{} --wait 3600",
        log::without_passwords(options.log), shell_quoted(campaign.evaluator->name()),
        version.empty() ? "" : " --evaluator-version " + shell_quoted(version)));
  }
  const study::CampaignSummary summary = run_shown(campaign, options.quiet);
  if (options.json) {
    print(report::campaign_json(summary, options.log, optimum));
  } else if (!options.quiet) {
    print(report::campaign_text(summary, options.log, optimum, output_columns()));
  }
  if (summary.status != study::CampaignStatus::interrupted) return 0;
  remark("interrupted; what was evaluated is in the log. Run the same command again to continue:");
  remark(provenance.command_line);
  return exit_code(ErrorKind::interrupted);
}

}  // namespace

void add_campaign(CLI::App& app, Session& session) {
  const auto options = std::make_shared<CampaignOptions>();
  CLI::App* verb = app.add_subcommand("campaign", "Rounds of proposing, evaluating and learning");
  verb->add_option("--workloads,--workload", options->workloads, kWorkloadsHelp)->required();
  verb->add_option("--log", options->log, "SQLite log of every evaluation; created if missing")->required();
  verb->add_option("--space", options->space, "Design space [edge]");
  verb->add_option("--rounds", options->rounds, "Rounds, earlier runs included [5]")->check(between(1, kMostRounds));
  verb->add_option("--batch", options->batch, "Designs of a round [16]")->check(between(1, kMostBatch));
  verb->add_option("--drawn", options->drawn, "Of them, drawn instead of chosen [an eighth]")
      ->check(between(0, kMostBatch));
  repeatable(verb->add_option("--max", options->words.limits.max, "Limit NAME=NUMBER: any metric, or parameter"));
  repeatable(verb->add_option("--min", options->words.limits.min, "Smallest value of a parameter, NAME=NUMBER"));
  repeatable(verb->add_option("--set", options->words.limits.set, "NAME=VALUE or NAME=LOW..HIGH of a parameter"));
  verb->add_option("--objective", options->words.objective, "Metric, edp, or a product of powers [latency_s]")
      ->check(not_empty());
  verb->add_flag("--maximise", options->words.maximise, "Larger objectives are better");
  verb->add_option("--aggregate", options->words.aggregate, "Of several workloads: [geomean], mean, worst");
  verb->add_option("--recipe", options->recipe, "How to learn [margins]");
  add_evaluator_options(*verb, options->evaluator);
  verb->add_option("--seed", options->seed, "Seed of learning and search [1]")->check(between(0, kLargestExactInteger));
  verb->add_option("--threads", options->threads, "Threads [all that may be used]")->check(between(0, kMostThreads));
  verb->add_flag("--by-workers", options->by_workers, "Workers evaluate; --log on a server");
  verb->add_flag("--regret", options->regret, "Compare with the exact optimum (built-in model)");
  verb->add_flag("-q,--quiet", options->quiet, "No lines per round and no summary");
  verb->add_flag("--json", options->json, "Summary as JSON");
  add_dry_run(*verb, session);
  add_durability(*verb);
  verb->footer(
      "The same command continues; --rounds may grow. What the log has counts.\n"
      "Example: hindsight campaign --workloads unet --max area_mm2=27 \\\n"
      "           --rounds 5 --regret --log unet.sqlite");
  verb->callback([options, &session] { session.action = [options, &session] { return run(*options, session); }; });
}

}  // namespace hindsight::app
