/// hindsight report: one page, or Markdown, JSON or a figure, of what a log answers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <set>

#include "dry_run.h"
#include "file_roles.h"
#include "hindsight/core/ascii.h"
#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"
#include "hindsight/log/log.h"
#include "hindsight/report/study_report.h"
#include "hindsight/study/log_names.h"
#include "option_values.h"
#include "output.h"
#include "picture.h"
#include "shipped_models.h"
#include "study_sources.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct ReportOptions {
  std::string log, out, model, figure, panel;
  std::string format;  ///< empty: that of the file's name
  std::string gpus = "l4,h100-sxm5";
  std::vector<std::string> compare;
  int width = 1440;  // [chosen] sharp on a screen of twice the density
  bool width_given = false;
};

constexpr int kWidestPng = 20000;  // [chosen] a poster

report::StudyReport make_report(const ReportOptions& options, const std::string& file,
                                const std::optional<check::Importance>& importance,
                                const std::set<std::string>& maximised = {}) {
  const log::Log log = log::Log::open(file, log::OpenMode::read_only);
  for (const std::string& warning : log.warnings()) remark(warning);
  if (const std::string other = importance ? report::other_space_text(log, *importance) : ""; !other.empty()) {
    remark(fmt::format("--model {}: {}", printable(options.model, 100), other));
  }
  return report_of_log(log, file, gpu::load_gpus(options.gpus), importance, maximised);
}

/// Both in the same directions: what one log says is maximised is so in the other.
report::StudyReport compared_report(const ReportOptions& options, const std::optional<check::Importance>& importance) {
  std::set<std::string> maximised;
  for (const std::string& file : options.compare) {
    maximised.merge(study::maximised_metrics(log::Log::open(file, log::OpenMode::read_only)));
  }
  return report::compared(make_report(options, options.compare[0], importance, maximised),
                          make_report(options, options.compare[1], importance, maximised));
}

std::string rendered(const ReportOptions& options, const report::StudyReport& report) {
  if (options.format == "html") return report::report_html(report);
  if (options.format == "md") return report::report_markdown(report);
  if (options.format == "json") return report::report_json(report);
  const std::string svg = report::report_svg(report, options.figure, options.panel);
  return options.format == "png" ? png_of_svg(svg, options.width) : svg;
}

const std::vector<std::string>& formats() {
  static const std::vector<std::string> all{"html", "md", "json", "svg", "png"};
  return all;
}

/// What the name of the file says, in any case; HTML where it says nothing. The endings of documents, tables and
/// pictures that are no format here are refused: HTML in them would not open.
std::string format_of(const std::string& out) {
  const std::string ending = lower_case(std::filesystem::path(out).extension().string());
  const std::string name = ending.empty() ? "" : ending.substr(1);
  if (std::find(formats().begin(), formats().end(), name) != formats().end()) return name;
  constexpr std::array<std::string_view, 8> kOthers{"pdf", "docx", "xlsx", "csv", "tex", "jpg", "jpeg", "gif"};
  if (std::find(kOthers.begin(), kOthers.end(), name) == kOthers.end()) return formats().front();
  throw Error(ErrorKind::usage, fmt::format("--out {}: {} is the ending of no format. Use {}, or say which with "
                                            "--format",
                                            printable(out, 200), printable(ending, 20), join(formats(), ", ")));
}

void require_sense(const ReportOptions& options) {
  if (std::find(formats().begin(), formats().end(), options.format) == formats().end()) {
    throw Error(ErrorKind::usage, fmt::format("--format: unknown format '{}'.{}", printable(options.format),
                                              did_you_mean(options.format, formats())));
  }
  if (options.log.empty() == options.compare.empty()) {
    throw Error(ErrorKind::usage, "report: name one log, --log FILE, or two, --compare A B");
  }
  const bool is_figure = options.format == "svg" || options.format == "png";
  if (is_figure && options.figure.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("report: --format {} draws one figure. Name it: --figure pareto", options.format));
  }
  if (!is_figure && !(options.figure.empty() && options.panel.empty())) {
    throw Error(ErrorKind::usage, "report: --figure and --panel are of single figures. Add --format svg");
  }
  if (options.width_given && options.format != "png") {
    remark("--width: only a PNG has one, so that it is not read. Add --format png, or leave it out");
  }
  if (options.format == "png") require_png_renderer();
}

int run(ReportOptions options, const Session& session) {
  if (options.format.empty()) options.format = format_of(options.out);
  require_sense(options);
  if (options.out.empty() && options.format == "html") options.out = "report.html";
  if (!options.model.empty()) options.model = model_file(options.model);
  FileRoles roles;
  roles.reads("--model", options.model).writes("--out", options.out);
  if (!options.log.empty()) roles.reads_log("--log", options.log);
  for (const std::string& log : options.compare) roles.reads_log("--compare", log);
  roles.require_usable();
  install_interrupt_handlers();
  const std::optional<check::Importance> importance = importance_of(options.model);
  const report::StudyReport report =
      options.compare.empty() ? make_report(options, options.log, importance) : compared_report(options, importance);
  const std::string text = rendered(options, report);
  if (options.format == "png" && !session.dry_run) {
    write_data(options.out, text);
  } else {
    write_or_rehearse(session, options.out, text);
  }
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
  verb->add_option("--format", options->format, "html, md, json, svg or png [by --out; html]");
  verb->add_option("--figure", options->figure, "Of svg and png: pareto, reasons, roofline, ...");
  verb->add_option("--panel", options->panel, "Of a figure: a workload or a parameter [the first]");
  const CLI::Option* width =
      verb->add_option("--width", options->width, "Of a PNG, in pixels [1440]")->check(between(100, kWidestPng));
  verb->add_option("--model", options->model, "File, or shipped model: importance of parameters");
  verb->add_option("--gpu,--gpus", options->gpus, "Roofs beside the design's [l4,h100-sxm5]");
  add_dry_run(*verb, session);
  verb->footer(
      "The log may be one that is being written.\nExample: hindsight report --log study.sqlite --out report.html");
  verb->callback([options, width, &session] {
    options->width_given = width->count() > 0;
    session.action = [options, &session] { return run(*options, session); };
  });
}

}  // namespace hindsight::app
