/// hindsight report: one page, or Markdown, JSON or a figure, of what a log answers.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "dry_run.h"
#include "file_roles.h"
#include "hindsight/accel/config.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/technology.h"
#include "hindsight/check/importance.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"
#include "hindsight/log/query.h"
#include "hindsight/report/study_report.h"
#include "hindsight/space/design_space.h"
#include "hindsight/workload/network.h"
#include "output.h"
#include "shipped_models.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct ReportOptions {
  std::string log, out, model, figure, panel;
  std::string format = "html";
  std::string gpus = "l4,h100-sxm5";
  std::vector<std::string> compare;
};

/// The design of a report with all that its explanation refers to.
struct Explained {
  accel::Technology technology = {};
  std::vector<workload::Network> networks = {};
  std::optional<report::EvaluatedDesign> design = {};
  std::string why_not = {};
};

/// The shipped technology that the log's evaluator, or a verdict, names; nothing: another simulator's.
std::optional<accel::Technology> technology_of(const report::ChosenDesign& chosen) {
  for (const std::string& name : list_data_files("data/technology")) {
    accel::Technology technology = accel::load_technology(name);
    if (technology.name == chosen.technology || accel::evaluator_name(technology) == chosen.evaluator)
      return technology;
  }
  return std::nullopt;
}

/// Networks by name, where what ships under it is what the log has.
std::vector<workload::Network> networks_of(const log::Log& log, const std::vector<std::string>& names) {
  std::vector<workload::Network> networks;
  const std::vector<log::WorkloadRecord> logged = log::workloads(log);
  for (const std::string& name : names) {
    const auto record = std::find_if(logged.begin(), logged.end(), [&](const auto& one) { return one.name == name; });
    try {
      workload::Network network = workload::load_network(name);
      if (record == logged.end() || record->definition_hash == network.definition_hash())
        networks.push_back(std::move(network));
    } catch (const Error&) {
      continue;  // no network of ours: the report says that it cannot be explained
    }
  }
  return networks;
}

void explain(const log::Log& log, Explained& explained) {
  const std::optional<report::ChosenDesign> chosen = report::chosen_design(log);
  if (!chosen) {
    explained.why_not = "The log has no feasible design to explain.";
    return;
  }
  const std::optional<accel::Technology> technology = technology_of(*chosen);
  explained.networks = networks_of(log, chosen->workloads);
  if (!technology || explained.networks.empty()) {
    explained.why_not =
        fmt::format("The built-in model cannot explain layers of this log: {}.",
                    !technology ? fmt::format("its rows are of the evaluator '{}'", printable(chosen->evaluator))
                                : std::string("no shipped network is one of its workloads"));
    return;
  }
  explained.technology = *technology;
  try {
    const space::DesignSpace space = space::space_from_definition(chosen->space, chosen->space_definition);
    const accel::AcceleratorConfig config =
        accel::ConfigBinding(space).bind(space, space.parse_design(chosen->text_id));
    explained.design =
        report::evaluate_design(chosen->text_id, config, explained.technology, explained.networks, &space);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    explained.why_not = fmt::format("The built-in model cannot explain the design: {}", printable(error.what(), 200));
  }
}

report::StudyReport make_report(const ReportOptions& options, const std::string& file) {
  const log::Log log = log::Log::open(file, log::OpenMode::read_only);
  for (const std::string& warning : log.warnings()) remark(warning);
  Explained explained;
  explain(log, explained);
  const std::vector<gpu::GpuSpec> gpus = gpu::load_gpus(options.gpus);
  report::StudySources sources{.log_name = file,
                               .explained = explained.design ? &*explained.design : nullptr,
                               .why_unexplained = explained.why_not,
                               .gpus = gpus};
  if (!options.model.empty()) {
    sources.importance = check::permutation_importance(surrogate::load_model(options.model), options.model);
  }
  return report::study_report(log, sources);
}

std::string rendered(const ReportOptions& options, const report::StudyReport& report) {
  if (options.format == "html") return report::report_html(report);
  if (options.format == "md") return report::report_markdown(report);
  if (options.format == "json") return report::report_json(report);
  return report::report_svg(report, options.figure, options.panel);
}

void require_sense(const ReportOptions& options) {
  if (options.format == "png") {
    throw Error(ErrorKind::unavailable,
                "report: no renderer of PNG is built in. --format svg, and e.g. 'rsvg-convert FIGURE.svg'");
  }
  const std::vector<std::string> formats{"html", "md", "json", "svg"};
  if (std::find(formats.begin(), formats.end(), options.format) == formats.end()) {
    throw Error(ErrorKind::usage, fmt::format("--format: unknown format '{}'.{}", printable(options.format),
                                              did_you_mean(options.format, formats)));
  }
  if (options.log.empty() == options.compare.empty()) {
    throw Error(ErrorKind::usage, "report: name one log, --log FILE, or two, --compare A B");
  }
  if (options.format == "svg" && options.figure.empty()) {
    throw Error(ErrorKind::usage, "report: --format svg draws one figure. Name it: --figure pareto");
  }
  if (options.format != "svg" && !(options.figure.empty() && options.panel.empty())) {
    throw Error(ErrorKind::usage, "report: --figure and --panel are of single figures. Add --format svg");
  }
}

int run(ReportOptions options, const Session& session) {
  require_sense(options);
  if (options.out.empty() && options.format == "html") options.out = "report.html";
  if (!options.model.empty()) options.model = model_file(options.model);
  FileRoles roles;
  roles.reads("--model", options.model).writes("--out", options.out);
  if (!options.log.empty()) roles.reads_log("--log", options.log);
  for (const std::string& log : options.compare) roles.reads_log("--compare", log);
  roles.require_usable();
  install_interrupt_handlers();
  const report::StudyReport report =
      options.compare.empty()
          ? make_report(options, options.log)
          : report::compared(make_report(options, options.compare[0]), make_report(options, options.compare[1]));
  const std::string text = rendered(options, report);
  write_or_rehearse(session, options.out, text);
  if (!session.dry_run && !is_standard_output(options.out))
    remark(fmt::format("{}: {}", options.out, binary_bytes(static_cast<double>(text.size()))));
  return 0;
}

}  // namespace

void add_report(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App* verb = app.add_subcommand("report", "One page of what a log answers");
  verb->add_option("log,--log", options->log, "SQLite log");
  verb->add_option("--compare", options->compare, "Two logs A B, side by side")->expected(2);
  verb->add_option("--out", options->out, "File, or - [report.html; others: standard output]");
  verb->add_option("--format", options->format, "html, md, json or svg [html]");
  verb->add_option("--figure", options->figure, "Of --format svg: pareto, reasons, roofline, ...");
  verb->add_option("--panel", options->panel, "Of a figure: a workload or a parameter [the first]");
  verb->add_option("--model", options->model, "File, or shipped model: importance of parameters");
  verb->add_option("--gpu,--gpus", options->gpus, "Roofs beside the design's [l4,h100-sxm5]");
  add_dry_run(*verb, session);
  verb->footer(
      "The log may be one that is being written.\nExample: hindsight report --log study.sqlite --out report.html");
  verb->callback([options, &session] { session.action = [options, &session] { return run(*options, session); }; });
}

}  // namespace hindsight::app
