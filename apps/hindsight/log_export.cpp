/// hindsight log export: rows for other tools.
#include "hindsight/report/log_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "dry_run.h"
#include "file_roles.h"
#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/scratch_folder.h"
#include "hindsight/core/shell.h"
#include "hindsight/dataset/gzip.h"
#include "hindsight/dataset/optuna_export.h"
#include "hindsight/log/metric_direction.h"
#include "hindsight/study/log_names.h"
#include "log_verbs.h"
#include "output.h"

namespace hindsight::app {
namespace {

struct LogExportOptions {
  std::string log, out, format;
  std::string workload, space, evaluator;
  std::int64_t run_id = 0;
  std::string metric;  ///< of an Optuna study; empty: the log's own
  bool maximise = false;
};

enum class Format { csv, json_lines, optuna };
constexpr EnumNames<Format, 3> kFormats = {
    {{Format::csv, "csv"}, {Format::json_lines, "jsonl"}, {Format::optuna, "optuna"}}};

/// The file's name without ".gz", and whether it had one.
std::pair<std::string, bool> without_gz(const std::string& file) {
  if (file.ends_with(".gz")) return {file.substr(0, file.size() - 3), true};
  return {file, false};
}

Format format_of(const LogExportOptions& options) {
  if (!options.format.empty()) return parse_enum("format", options.format, kFormats);
  if (is_standard_output(options.out)) return Format::csv;
  const std::string name = without_gz(options.out).first;
  if (name.ends_with(".csv")) return Format::csv;
  if (name.ends_with(".jsonl") || name.ends_with(".ndjson")) return Format::json_lines;
  throw Error(ErrorKind::usage,
              fmt::format("--out {}: its name says neither .csv nor .jsonl. Add --format csv, jsonl or optuna.",
                          printable(options.out, 200)));
}

log::EvaluationFilter filter_of(const LogExportOptions& options) {
  log::EvaluationFilter filter;
  if (!options.workload.empty()) filter.workload = options.workload;
  if (!options.space.empty()) filter.space = options.space;
  if (!options.evaluator.empty()) filter.evaluator = options.evaluator;
  if (options.run_id > 0) filter.run_id = options.run_id;
  return filter;
}

/// What the rows are compared by, where none is named.
std::string objective_of(const LogExportOptions& options, const log::Log& log) {
  if (!options.metric.empty()) return study::known_name(options.metric, log::metric_names(log));
  log::EvaluationFilter filter = filter_of(options);
  const std::vector<log::SpaceSummary> spaces = log::spaces(log);
  const auto is_named = [&](const log::SpaceSummary& space) { return space.name == options.space; };
  if (std::none_of(spaces.begin(), spaces.end(), is_named)) filter.space.reset();  // a file: export_optuna reads it
  const std::set<std::string> objectives = study::own_objectives_of(log, filter);
  if (objectives.size() == 1) return *objectives.begin();
  throw Error(ErrorKind::usage,
              fmt::format("{}: its rows have several objectives ({}). Name one by --metric, or choose rows by "
                          "--workload, --space or --run.",
                          printable(options.log, 200),
                          join(std::vector<std::string>(objectives.begin(), objectives.end()), ", ")));
}

std::string python_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return quoted + "\"";
}

int export_study(const LogExportOptions& options, const log::Log& log, const Session& session) {
  if (is_standard_output(options.out)) {
    throw Error(ErrorKind::usage, "--format optuna writes an SQLite file. Name it: --out FILE");
  }
  const std::string metric = objective_of(options, log);
  const Direction direction =
      options.maximise ? Direction::maximise : log::direction_of(metric, study::maximised_metrics(log));
  if (session.dry_run) {
    const ScratchFolder folder("the study of a dry run");
    std::error_code ignored;
    const bool there = std::filesystem::exists(options.out, ignored);  // which is refused
    const std::string file = there ? options.out : (folder / "study.sqlite").string();
    const dataset::OptunaExport made = dataset::export_optuna(log, filter_of(options), metric, direction, file);
    write_or_rehearse(session, options.out, read_file(file, std::filesystem::file_size(file)));
    remark(fmt::format("dry run: it would get {}", counted(made.trials, "trial")));
    return 0;
  }
  const dataset::OptunaExport made = dataset::export_optuna(log, filter_of(options), metric, direction, options.out);
  remark(fmt::format(
      "{} of {} written to {}, {} of them failed; {}: optuna.load_study(study_name=..., "
      "storage={})",
      counted(made.trials, "trial"), made.studies == 1 ? "1 study" : fmt::format("{} studies", made.studies),
      printable(options.out, 400), with_commas(made.failed),
      direction == Direction::maximise ? "to maximise " + metric
                                       : fmt::format("to minimise {} (--maximise: more is better)", metric),
      python_text("sqlite:///" + printable(options.out, 400))));
  return 0;
}

int export_rows(const LogExportOptions& options, const Session& session) {
  const Format format = format_of(options);
  if (format != Format::optuna && (!options.metric.empty() || options.maximise)) {
    throw Error(ErrorKind::usage,
                "--metric and --maximise are of --format optuna; other formats have all metrics and no objective.");
  }
  FileRoles().reads_log("log", options.log).writes("--out", options.out).require_usable();
  install_interrupt_handlers();
  const log::Log log = log::Log::open(options.log, log::OpenMode::read_only);
  for (const std::string& warning : log.warnings()) remark(warning);
  if (format == Format::optuna) return export_study(options, log, session);
  const log::EvaluationFilter filter = filter_of(options);
  const report::LogExport made =
      format == Format::csv ? report::export_csv(log, filter) : report::export_json_lines(log, filter);
  const bool packed = !is_standard_output(options.out) && without_gz(options.out).second;
  if (is_standard_output(options.out)) {
    print_data(made.text);
  } else {
    write_or_rehearse(session, options.out, packed ? dataset::gzipped(made.text) : made.text);
  }
  if (is_standard_output(options.out)) return 0;
  if (session.dry_run) {
    remark(fmt::format("dry run: it would get {}, {} of them infeasible", counted(made.rows, "row"),
                       with_commas(made.infeasible)));
    return 0;
  }
  remark(fmt::format("{} written to {}, {} of them infeasible", counted(made.rows, "row"), printable(options.out, 400),
                     with_commas(made.infeasible)));
  if (!made.import_options.empty()) {
    remark(fmt::format("back into a log: hindsight log import --csv {} {} --log NEW.sqlite",
                       shell_quoted(printable(options.out, 400)), made.import_options));
  }
  if (!made.no_import.empty()) remark("not as they are back into a log: " + made.no_import);
  return 0;
}

}  // namespace

void add_log_export(CLI::App& group, Session& session) {
  const auto options = std::make_shared<LogExportOptions>();
  CLI::App* verb = group.add_subcommand("export", "Rows for other tools: CSV, JSON lines, Optuna");
  verb->add_option("log,--log", options->log, "SQLite log")->required();
  verb->add_option("--out", options->out, "FILE.csv, FILE.jsonl, .gz too [standard output]")->check(not_empty());
  verb->add_option("--format", options->format, "csv, jsonl or optuna [by the name of --out, else csv]");
  verb->add_option("--workload", options->workload, "Only this workload")->check(not_empty());
  verb->add_option("--space", options->space, "Only this design space")->check(not_empty());
  verb->add_option("--evaluator", options->evaluator, "Only this evaluator")->check(not_empty());
  verb->add_option("--run", options->run_id, "Only rows of this run")->check(between(1, INT64_MAX));
  verb->add_option("--metric", options->metric, "Objective of an Optuna study [the log's own]");
  verb->add_flag("--maximise", options->maximise, "More of an Optuna study's objective is better");
  add_dry_run(*verb, session);
  verb->footer(
      "Infeasible rows have their reasons, with value and limit. The CSV can be\n"
      "imported again; the options for that are printed. optuna.load_study opens\n"
      "an Optuna study.\n"
      "Example: hindsight log export study.sqlite --out study.csv");
  verb->callback(
      [options, &session] { session.action = [options, &session] { return export_rows(*options, session); }; });
}

}  // namespace hindsight::app
