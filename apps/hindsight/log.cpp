/// hindsight log: what a log holds, and whether it is sound.
#include "hindsight/log/log.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "design_argument.h"
#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"
#include "hindsight/log/query.h"
#include "hindsight/report/deep_verification.h"
#include "hindsight/report/log_summary.h"
#include "hindsight/report/plot.h"
#include "hindsight/study/deep_verify.h"
#include "hindsight/study/log_names.h"
#include "log_verbs.h"
#include "output.h"
#include "plot_output.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct LogOptions {
  std::string log;
  std::string workload, space, evaluator;
  std::int64_t run_id = 0;
  std::string metric;  ///< empty: the log's own
  std::string pareto;
  std::int64_t top = 3;
  std::int64_t runs = 5;
  std::string design;  ///< short id; empty: all
  std::vector<std::string> columns;
  report::DesignStyle designs = report::DesignStyle::compact;
  bool plot = false;
  bool json = false;
  bool deep = false;  ///< of verify, as what follows
  std::int64_t sample = -1, seed = -1;
  std::string workloads;
};

constexpr std::int64_t kMostLines = 1'000'000;

report::LogQuery make_query(const LogOptions& options, const log::Log& log) {
  const std::vector<std::string> known = log::metric_names(log);
  report::LogQuery query{.maximised = study::maximised_metrics(log),
                         .top = static_cast<std::size_t>(options.top),
                         .runs = static_cast<std::size_t>(options.runs),
                         .designs = options.designs,
                         .columns = options.columns};
  if (!options.workload.empty()) query.filter.workload = options.workload;
  if (!options.space.empty()) query.filter.space = options.space;
  if (!options.evaluator.empty()) query.filter.evaluator = options.evaluator;
  if (options.run_id > 0) query.filter.run_id = options.run_id;
  query.own = study::own_objectives(log, query.filter);
  if (!options.design.empty()) query.filter.design = study::design_of_id(log, options.design).text_id;
  if (!options.pareto.empty()) query.pareto = split(options.pareto, ',');
  const auto read = [&](std::string& metric) {
    study::RankingMetric named = study::ranking_metric(metric, known);
    if (named.maximised) query.maximised.insert(named.metric);
    metric = std::move(named.metric);
  };
  if (!options.metric.empty()) read(query.metric = options.metric);
  for (std::string& metric : query.pareto) read(metric);
  return query;
}

log::Log open_log(const LogOptions& options) {
  log::Log log = log::Log::open(options.log, log::OpenMode::read_only);
  for (const std::string& warning : log.warnings()) remark(warning);
  return log;
}

int show(const LogOptions& options) {
  require_drawable(options.plot, options.json);
  if (options.plot && !options.design.empty()) {
    throw Error(ErrorKind::usage, "--plot: one design makes no picture. Leave out --design?");
  }
  if (!options.columns.empty() && (options.json || !options.design.empty())) {
    throw Error(ErrorKind::usage,
                fmt::format("--columns: chooses those of the best designs' tables, and {}. Leave one "
                            "of the two out",
                            options.json ? "--json has no tables" : "--design prints a design whole"));
  }
  const log::Log log = open_log(options);
  const report::LogQuery query = make_query(options, log);
  if (query.filter.design) {
    print(options.json ? report::logged_design_json(log, query)
                       : report::logged_design_text(log, query, output_columns()));
    return 0;
  }
  print(options.json ? report::log_contents_json(log, query) : report::log_contents_text(log, query, output_columns()));
  if (options.plot) print(report::log_plots_text(log, query, plot_columns(), plot_glyphs()));
  return 0;
}

int stats(const LogOptions& options) {
  const log::Log log = open_log(options);
  const report::LogQuery query = make_query(options, log);
  print(options.json ? report::log_statistics_json(log, query)
                     : report::log_statistics_text(log, query, output_columns()));
  return 0;
}

int verify(const LogOptions& options) {
  if (!options.deep && (options.sample >= 0 || options.seed >= 0 || !options.workloads.empty())) {
    throw Error(ErrorKind::usage, "--sample, --seed and --workloads are about --deep. Add it");
  }
  install_interrupt_handlers();
  const log::Log log = open_log(options);
  const log::Verification verification = log.verify();
  if (!verification.sound() && options.deep && options.json) {  // in the form that was asked for
    study::DeepVerification broken;
    for (const std::string& problem : verification.problems) {
      broken.findings.push_back(
          {.kind = "integrity",
           .first = "the file",
           .text = problem,
           .remedy = "Recover what is whole with hindsight log repair. Nothing else was looked at."});
    }
    print(report::deep_verification_json(log, broken));
    return exit_code(ErrorKind::incompatible);
  }
  if (!options.deep || !verification.sound()) {
    print(options.json ? report::verification_json(log, verification)
                       : report::verification_text(log, verification, output_columns()));
    return verification.sound() ? 0 : exit_code(ErrorKind::incompatible);
  }
  study::DeepOptions how{.workloads = options.workloads};
  if (options.sample >= 0) how.sample = static_cast<std::size_t>(options.sample);
  if (options.seed >= 0) how.seed = static_cast<std::uint64_t>(options.seed);
  const study::DeepVerification deep = study::verify_deeply(log, how);
  print(options.json ? report::deep_verification_json(log, deep)
                     : report::deep_verification_text(log, deep, output_columns()));
  return deep.sound() ? 0 : exit_code(ErrorKind::incompatible);
}

void add_selection(CLI::App& verb, LogOptions& options) {
  verb.add_option("--workload", options.workload, "Only this workload")->check(not_empty());
  verb.add_option("--space", options.space, "Only this design space")->check(not_empty());
  verb.add_option("--evaluator", options.evaluator, "Only this evaluator")->check(not_empty());
  verb.add_option("--run", options.run_id, "Only rows of this run")->check(between(1, INT64_MAX));
  verb.add_option("--metric", options.metric, "Ranked by; 1/NAME: more is better [the log's own]");
  verb.add_option("--top", options.top, "Best designs per workload [3]")->check(between(1, kMostLines));
  add_wide(verb, options.designs);
}

}  // namespace

void add_log(CLI::App& app, Session& session) {
  const auto options = std::make_shared<LogOptions>();
  CLI::App* group = app.add_subcommand("log", "Show, verify, merge, back up, repair, exchange logs");
  group->require_subcommand(1);
  group->footer("Example: hindsight log stats study.sqlite --pareto latency_s,area_mm2");
  const auto add = [&](const char* name, const char* description, int (*body)(const LogOptions&)) {
    CLI::App* verb = group->add_subcommand(name, description);
    verb->add_option("log,--log", options->log, "SQLite log")->required();
    verb->add_flag("--json", options->json, "As JSON");
    verb->callback([options, body, &session] { session.action = [options, body] { return body(*options); }; });
    return verb;
  };
  CLI::App* show_verb = add("show", "Contents, runs, what they proposed, best designs", show);
  add_selection(*show_verb, *options);
  show_verb->add_option("--runs", options->runs, "Newest runs to list [5]")->check(between(1, kMostLines));
  add_columns(*show_verb, options->columns);
  show_verb->add_flag("--plot", options->plot, "Also draw one workload: area, metric, best so far");
  show_verb->add_option("--design", options->design, "All rows of this design, by its short id")->check(not_empty());
  show_verb->footer("Example: hindsight log show study.sqlite --metric energy_j --top 5");

  CLI::App* stats_verb = add("stats", "Feasible share, reasons, best designs, Pareto front", stats);
  add_selection(*stats_verb, *options);
  stats_verb->add_option("--pareto", options->pareto, "Metrics a,b of a front; 1/NAME: more is better");
  stats_verb->footer("Example: hindsight log stats study.sqlite --pareto latency_s,area_mm2");

  CLI::App* verify_verb = add("verify", "Check integrity, references, identities, values", verify);
  verify_verb->add_flag("--deep", options->deep, "Also values, hashes, and rows asked for again");
  verify_verb->add_option("--sample", options->sample, "Evaluations to ask the model for again [1000]")
      ->check(between(0, kMostLines));
  verify_verb->add_option("--seed", options->seed, "Of the sample [0]")->check(between(0, INT64_MAX));
  verify_verb->add_option("--workloads", options->workloads, "Files of networks that the log knows by name");
  verify_verb->footer(
      "Exit code 4 when the log is damaged.\n"
      "--deep repeats a sample with the built-in model: every bit must come again. Rows\n"
      "of other evaluators are skipped, and it says so.\n"
      "Example: hindsight log verify study.sqlite --deep");
  add_log_import(*group, session);
  add_log_merge(*group, session);
  add_log_hash(*group, session);
  add_log_export(*group, session);
  add_log_query(*group, session);
  add_log_repair(*group, session);
  add_log_copy(*group, session);
  add_log_backup(*group, session);
}

}  // namespace hindsight::app
