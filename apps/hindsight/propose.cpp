/// hindsight propose: designs that a trained surrogate expects to be good. No simulator is asked unless --simulate.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>

#include "design_argument.h"
#include "dry_run.h"
#include "evaluator_argument.h"
#include "file_roles.h"
#include "hindsight/accel/config.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/progress.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/evaluator/external.h"
#include "hindsight/report/model.h"
#include "hindsight/report/proposals.h"
#include "hindsight/study/optimum_command.h"
#include "hindsight/study/proposals.h"
#include "output.h"
#include "plot_output.h"
#include "rehearsed_work.h"
#include "shipped_models.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

/// What was written, before it is checked and becomes a request.
struct ProposeOptions {
  study::ProposalRequest request = {.model = kShippedModel,
                                    .workloads = {},
                                    .contexts = {},
                                    .limits = {},
                                    .aggregate = std::nullopt,
                                    .log = {},
                                    .evaluator = {},
                                    .options = {}};
  std::string aggregate;
  std::string search = "mixed";
  std::int64_t evaluations = optimize::kDefaultEvaluations;
  std::int64_t top = 10;
  std::optional<std::int64_t> diversity;
  std::string risk = "balanced";
  std::string portfolio;
  std::optional<std::int64_t> member_every;
  std::int64_t seed = 1;
  EvaluatorOptions evaluator;  ///< --evaluator-*
  bool json = false;
  bool plot = false;
  report::DesignStyle designs = report::DesignStyle::compact;
  std::vector<std::string> columns;
  std::string csv;
};

/// With --simulate, what --evaluator says is a command, unless it is what the built-in model is called in logs.
bool names_command(const study::ProposalRequest& request) {
  return request.simulate && !request.evaluator.empty() && !request.evaluator.starts_with(accel::kModelName);
}

/// Rows of the log are those of that name then.
void resolve_evaluator(const ProposeOptions& options, study::ProposalRequest& request) {
  EvaluatorOptions chosen = options.evaluator;
  if (!names_command(request)) {
    require_no_settings(chosen);
    return;
  }
  if (!request.landscape.empty() || request.exact_front) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: it is about the built-in model, and --evaluator names another simulator. Leave one of "
                            "the two out?",
                            request.exact_front ? "--exact-front" : "--landscape"));
  }
  chosen.command = request.evaluator;
  evaluator::require_command(chosen.command);
  if (!chosen.name.empty()) request.evaluator = chosen.name;
  request.simulator = [chosen](const space::DesignSpace& space) { return make_evaluator(chosen, space); };
}

FileRoles separate_proposal_files(const ProposeOptions& options) {
  FileRoles roles;
  roles.reads("--model", options.request.model)
      .reads("--workload", options.request.workloads)
      .reads("--space", options.request.space)
      .reads("--technology", options.request.technology)
      .reads("--landscape", options.request.landscape)
      .appends_log("--log", options.request.log)
      .writes("--csv", options.csv)
      .require_usable();
  return roles;
}

/// What means nothing for a front is refused, not ignored.
void require_for_front(const ProposeOptions& options) {
  const char* of_lists = options.diversity            ? "--diversity"
                         : !options.portfolio.empty() ? "--portfolio"
                         : options.member_every       ? "--member-every"
                                                      : nullptr;
  if (of_lists != nullptr) {
    throw Error(
        ErrorKind::usage,
        fmt::format("{}: the designs of a front (--pareto) differ in their metrics, which are what --top spreads "
                    "them over. Leave one of the two out?",
                    of_lists));
  }
  const auto kind = optimize::parse_search(options.search);
  using optimize::SearchKind;
  if (kind == SearchKind::mixed || kind == SearchKind::evolutionary || kind == SearchKind::enumeration) return;
  throw Error(ErrorKind::usage, fmt::format("--search {}: it minimises one number. A front (--pareto) is found by "
                                            "--search evolutionary, or exactly by enumeration",
                                            options.search));
}

study::ProposalRequest request_of(const ProposeOptions& options) {
  study::ProposalRequest request = options.request;
  if (!options.aggregate.empty()) request.aggregate = optimize::parse_aggregate(options.aggregate);
  optimize::ProposeOptions& how = request.options;
  how.search.kind = optimize::parse_search(options.search);
  how.search.evaluations = static_cast<std::uint64_t>(options.evaluations);
  how.search.seed = static_cast<std::uint64_t>(options.seed);
  how.count = static_cast<std::size_t>(options.top);
  if (options.diversity) request.diversity = static_cast<std::size_t>(*options.diversity);
  request.risk = optimize::parse_risk(options.risk);
  if (!options.portfolio.empty()) request.portfolio = optimize::parse_portfolio(options.portfolio);
  if (options.member_every) request.member_every = static_cast<std::size_t>(*options.member_every);
  request.any_model = any_model_like;
  return request;
}

/// The line of a search that takes more than a second.
class ProofProgress {
 public:
  void update(std::uint64_t done, std::uint64_t total) {
    const std::scoped_lock lock(mutex_);
    if (std::chrono::steady_clock::now() - start_ < std::chrono::seconds(1)) return;
    if (!line_) line_ = std::make_unique<Progress>("prove", total, "boxes", false);
    line_->update(done);
  }
  void finish() {
    if (line_) line_->finish();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::unique_ptr<Progress> line_;
};

void show(const ProposeOptions& options, const study::Proposals& proposals) {
  if (!options.csv.empty() && options.csv != "-") write_file_atomically(options.csv, report::proposals_csv(proposals));
  if (options.csv == "-") {
    print_data(report::proposals_csv(proposals));
  } else if (options.json) {
    print(report::proposals_json(proposals));
  } else {
    print(report::proposals_text(proposals, options.designs, output_columns(), options.columns));
    if (options.plot) print("\n" + report::proposals_plot_text(proposals, plot_columns(), plot_glyphs()));
  }
}

/// The errors of a log that cannot keep proposals, from a copy of it.
void require_record(const study::ProposalRequest& request, const study::Proposals& so_far,
                    const Provenance& provenance) {
  LogRehearsal(request.log)([&](const std::string& copy) {
    study::ProposalRequest rehearsed = request;
    rehearsed.log = copy;
    const study::ProposalRecord record(rehearsed, so_far.options, provenance);
  });
}

void finish(study::ProposalRecord& record, study::Proposals& proposals) {
  const std::string sha256 = sha256_hex(read_file(proposals.model_file, kLargestModelBytes));
  record.finish(proposals, sha256, report::model_json(proposals.model, proposals.model_file, sha256));
}

/// Whether the built-in model can evaluate designs of the space.
bool can_be_simulated(const space::DesignSpace& space) {
  try {
    const accel::ConfigBinding binding(space);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// The truth of what was proposed; then, in a log, GPUs to hold the first proposal against.
void suggest_next(const study::ProposalRequest& request, const study::Proposals& proposals,
                  const Provenance& provenance) {
  if (!can_be_simulated(proposals.model.parts().space) || request.workloads.empty() || request.simulator) return;
  if (!request.simulate) return suggest_line(provenance.command_line + " --simulate");
  if (request.log.empty() || proposals.known.empty() || !proposals.known.front().simulated) return;
  suggest({"hindsight", "check", "--log", request.log, "--workload", join(request.workloads, ","), "--technology",
           proposals.technology});
}

/// The best of all designs is known without a model where the exact search has bounds.
void suggest_optimum(const study::ProposalRequest& request, const study::Proposals& proposals) {
  const std::vector<std::string> words = study::optimum_command(request, proposals);
  if (!words.empty()) suggest(words, "exact best, without a model");
}

/// Says of a search that takes minutes what takes less.
void remark_on_long_search(const study::ProposalRequest& request, const study::Proposals& so_far) {
  constexpr double kLongFrom = 5e7;  // [chosen] layers of all designs: 1,000 of each of the usual 50,000
  const optimize::ProposeOptions& how = so_far.options;
  if (!so_far.model.sees_layers() || how.search.kind == optimize::SearchKind::enumeration) return;
  std::uint64_t layers = 0;
  for (const dataset::Context& context : how.contexts)
    layers += static_cast<std::uint64_t>(context.layers.repeats.size());
  const std::optional<std::uint64_t> all = so_far.model.parts().space.size();  // of few each is judged once
  const std::uint64_t judged = std::min(how.search.evaluations, all.value_or(how.search.evaluations));
  if (static_cast<double>(layers) * static_cast<double>(judged) < kLongFrom) return;
  const std::vector<std::string> exact = study::optimum_command(request, so_far);
  remark(fmt::format("judging {} designs of {} layers each takes minutes; a smaller --evaluations judges fewer{}",
                     with_commas(judged), with_commas(layers),
                     exact.empty() ? "" : ". The exact best, without a model, takes less: " + shell_command(exact)));
}

/// Options that say nothing together.
void require_proposable(const ProposeOptions& options) {
  if (options.csv == "-" && options.json) {
    throw Error(ErrorKind::usage, "--csv - and --json both write to standard output. Name a file for the CSV?");
  }
  if (!options.columns.empty() && (options.json || options.csv == "-")) {
    throw Error(ErrorKind::usage,
                "--columns: chooses those of the table. Leave out --json, or name a file for the CSV?");
  }
  require_drawable(options.plot, options.json);
  if (options.plot && options.csv == "-") {
    throw Error(ErrorKind::usage, "--plot: a CSV on standard output has no pictures. Name a file for the CSV?");
  }
  if (options.request.options.only_new && options.request.log.empty()) {
    throw Error(ErrorKind::usage, "--new: new designs are those that a log does not have. Name it with --log?");
  }
  if (!options.request.landscape.empty() && !options.request.simulate) {
    throw Error(ErrorKind::usage, "--landscape: ranks are of true values. Add --simulate?");
  }
  if (options.request.exact_front && (options.request.pareto.empty() || !options.request.simulate)) {
    const bool front = !options.request.pareto.empty(), simulated = options.request.simulate;
    throw Error(ErrorKind::usage,
                fmt::format("--exact-front: what is compared are simulated fronts. Add {}{}{}?",
                            front ? "" : "--pareto", front || simulated ? "" : " and ", simulated ? "" : "--simulate"));
  }
  if (!options.request.pareto.empty()) require_for_front(options);
}

/// --dry-run: all is loaded and checked, and the search is left out.
int rehearse_proposals(const ProposeOptions& options, const study::Proposals& so_far, const FileRoles& roles) {
  const study::ProposalRequest& request = options.request;
  const std::size_t most = so_far.options.count;
  PlannedWork work = proposal_work(so_far);
  work.evaluations = request.simulate ? most * so_far.options.contexts.size() : 0;
  if (request.exact_front) work.evaluations = std::nullopt;  // and those of random designs, as many as it takes
  if (request.simulate && request.simulator) work.basis += "; what your simulator takes is not known";
  const std::string evaluated = request.simulate && request.record ? ", and what is evaluated" : "";
  return show_dry_run(roles,
                      {{"--log", fmt::format("at most {} and their model{}", counted(most, "proposal"), evaluated)},
                       {"--csv", fmt::format("a header and a row for each of at most {}", counted(most, "proposal"))}},
                      work, dry_run_style(options.json));
}

int run(const ProposeOptions& options, const Session& session) {
  const Provenance& provenance = session.provenance;
  require_proposable(options);
  const FileRoles roles = separate_proposal_files(options);
  study::ProposalRequest request = request_of(options);
  resolve_evaluator(options, request);
  ProofProgress progress;
  request.options.search.progress = [&](std::uint64_t done, std::uint64_t total) { progress.update(done, total); };
  std::optional<study::ProposalRecord> record;
  study::Proposals proposals = study::propose(request, [&](const study::Proposals& so_far) {
    report::require_columns(so_far, options.columns);
    remark_on_long_search(request, so_far);
    if (session.dry_run) return study::SearchStep::leave_out;
    install_interrupt_handlers();  // before there is a run that Ctrl-C would leave unended
    if (!request.log.empty()) record.emplace(request, so_far.options, provenance);
    return study::SearchStep::search;
  });
  if (session.dry_run) {
    if (!request.log.empty()) require_record(request, proposals, provenance);
    return rehearse_proposals(options, proposals, roles);
  }
  progress.finish();
  show(options, proposals);
  if (record) finish(*record, proposals);
  if (!options.json && options.csv != "-" && !proposals.interrupted) {
    suggest_next(request, proposals, provenance);
    suggest_optimum(request, proposals);
  }
  if (proposals.recorded) {
    remark(fmt::format("{} in {}: {} new", counted(proposals.evaluated.size(), "evaluation"),
                       printable(request.log, 200), with_commas(*proposals.recorded)));
  }
  return proposals.interrupted ? exit_code(ErrorKind::interrupted) : 0;
}

void add_proposal_outputs(CLI::App& verb, ProposeOptions& options, Session& session) {
  verb.add_flag("--json", options.json, "Everything, as JSON");
  verb.add_flag("--plot", options.plot, "Also draw proposals and log: area, objective");
  add_wide(verb, options.designs);
  add_columns(verb, options.columns);
  add_dry_run(verb, session);
  verb.add_option("--csv", options.csv, "Also as CSV; - for standard output");
}

}  // namespace

void add_propose(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ProposeOptions>();
  study::ProposalRequest& request = options->request;
  optimize::ProposeOptions& how = request.options;
  CLI::App* verb = app.add_subcommand("propose", "Designs a trained surrogate expects to be good");
  const CLI::Option* model =
      verb->add_option("--model", request.model, "File, or shipped model [edge-any, or --space's]");
  repeatable(verb->add_option("--workload,--workloads", request.workloads, kWorkloadsHelp));
  repeatable(verb->add_option("--context", request.contexts, "Unseen one by log columns, m=4096,n=512"));
  repeatable(verb->add_option("--max", request.limits.max, "Limit NAME=NUMBER: metric, parameter, derived"));
  verb->add_option("--space", request.space, "Space: its shipped model, derived quantities");
  repeatable(verb->add_option("--pareto", request.pareto, "Front of 2 or 3 metrics, latency,energy"));
  repeatable(verb->add_option("--min", request.limits.min, "Smallest value of a parameter, NAME=NUMBER"));
  repeatable(verb->add_option("--set", request.limits.set, "NAME=VALUE or NAME=LOW..HIGH of a parameter"));
  verb->add_option("--aggregate", options->aggregate, "mean, worst, geomean, weighted [geomean, or mean]");
  verb->add_option("--weights", how.weights, "One per workload, a,b,c: weighted mean")->delimiter(',');
  verb->add_option("--search", options->search, "[mixed], exact, evolutionary, firefly, local");
  verb->add_option("--evaluations", options->evaluations, "Designs to judge [50000]")
      ->check(between(1, kLargestExactInteger));
  verb->add_option("--top,-n", options->top, "Proposals, or points of the front [10]")
      ->check(between(1, kMostProposals));
  verb->add_option("--risk", options->risk, "safe, balanced or bold: sets the next three [balanced]");
  verb->add_option("--diversity", options->diversity, "Parameters in which proposals differ [2]")
      ->check(between(0, kMostProposals));
  verb->add_option("--pessimism", request.pessimism, "Spreads against a design: added, off p [1]");
  verb->add_option("--min-feasible", options->request.min_p_feasible,
                   "Smallest probability, less spreads [0.9 or 0.5]");
  verb->add_option("--portfolio", options->portfolio, "alike, spread or hedged [spread; safe: alike]");
  verb->add_option("--member-every", options->member_every, "Hedged: one in N is a network's own best [4]")
      ->check(between(0, kMostProposals));
  verb->add_flag("!--no-bounds", request.bounds, "Do not lift latencies to what is possible");
  verb->add_option("--log", request.log, "Log: start designs, what it knows; keeps proposals");
  verb->add_option("--evaluator", request.evaluator, "Evaluator, where the log has several; with\n--simulate a command")
      ->check(named_evaluator());
  add_evaluator_settings(*verb, options->evaluator);
  verb->add_flag("--new", how.only_new, "Only designs that the log does not have");
  verb->add_flag("--simulate", request.simulate, "Evaluate afterwards: predicted against true");
  verb->add_flag("!--no-record", request.record, "Keep the truth of --simulate out of --log");
  verb->add_option("--landscape", request.landscape, "Exact rank and regret, of optimum --all (--simulate)");
  verb->add_flag("--exact-front", request.exact_front, "Share of the exact front (--pareto, --simulate)");
  verb->add_option("--technology", request.technology, "Node [the model's]; 16nm-silicon[@CLASS]");
  verb->add_option("--seed", options->seed, "Seed of the search [1]")->check(between(0, kLargestExactInteger));
  verb->add_option("--threads", how.threads, "Threads [all that may be used]")->check(between(0, kMostThreads));
  add_proposal_outputs(*verb, *options, session);
  verb->footer(
      "Exit code 3 when no design meets the limits.\n"
      "Example: hindsight propose --workload unet --max area_mm2=27 --simulate\n"
      "Example: hindsight propose --workload unet --pareto latency,energy\n"
      "Example: hindsight propose --space datacenter --workload llama3_8b_decode@8");
  verb->callback([options, &session, model] {
    const bool model_given = model->count() > 0;
    session.action = [options, &session, model_given] {
      study::ProposalRequest& chosen = options->request;
      if (!model_given && !chosen.space.empty()) chosen.model = shipped_model_of(chosen.space);
      chosen.model = model_file(chosen.model);
      return run(*options, session);
    };
  });
}

}  // namespace hindsight::app
