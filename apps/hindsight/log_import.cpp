/// hindsight log import: files of other tools, and proposals with their true values, become rows of a log.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "csv_roles.h"
#include "dry_run.h"
#include "durability_option.h"
#include "file_roles.h"
#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/import_source.h"
#include "hindsight/dataset/stored_space.h"
#include "hindsight/log/address.h"
#include "hindsight/log/query.h"
#include "hindsight/report/import.h"
#include "hindsight/study/log_names.h"
#include "hindsight/sweep/definitions.h"
#include "log_verbs.h"
#include "output.h"

namespace hindsight::app {
namespace {

struct ImportOptions {
  std::string file;
  std::string format;
  std::string space;
  std::string log;
  CsvRoleOptions roles;
  std::string workload, evaluator;
  std::string study;
  std::string pruned = "infeasible";
  std::vector<std::string> rounded;
  std::string duplicates = "error";
  bool maximise = false;
  bool json = false;
};

/// A network that ships, by name, or is a file.
std::optional<std::int64_t> known_network(log::Log& log, const std::string& name) {
  std::error_code ignored;
  const bool is_file = std::filesystem::is_regular_file(name, ignored);
  std::optional<workload::Network> network;
  try {
    network = workload::load_network(name);
  } catch (const Error&) {
    if (is_file) throw;
    return std::nullopt;  // the name of something else
  }
  return sweep::register_workload(log, *network);
}

dataset::ReadOptions read_options(const ImportOptions& options) {
  dataset::ReadOptions read;
  if (!options.format.empty()) read.format = dataset::parse_import_format(options.format);
  const CsvRoleOptions& roles = options.roles;
  read.roles_named =
      !roles.infeasible.empty() || !roles.reason.empty() || !roles.context.empty() || !roles.ignored.empty();
  read.evaluator = options.evaluator;
  read.workload = options.workload;
  read.study = options.study;
  read.pruned = dataset::parse_pruned_trials(options.pruned);
  read.objective = roles.objective;
  read.attributes = roles.constraints;
  read.log = options.log;
  read.space = options.space;
  return read;
}

/// A source that states its outcomes has none in columns.
dataset::CsvRoles roles_of(const ImportOptions& options, const dataset::ImportSource& source) {
  const std::string file = printable(options.file, 200);
  if (source.outcomes.empty()) {
    if (options.roles.objective.empty()) {
      throw Error(ErrorKind::usage, fmt::format("{}: which column is optimised? Name it: --objective COLUMN ({})", file,
                                                printable(join(source.table.header, ", "), 200)));
    }
    return options.roles.resolve(source.table);
  }
  if (!options.roles.infeasible.empty() || !options.roles.reason.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: --infeasible and --reason name columns of a table, and a {} says itself "
                            "what is infeasible. Leave them out",
                            file, source.format));
  }
  CsvRoleOptions columns;
  columns.context = options.roles.context;
  columns.ignored = options.roles.ignored;
  return columns.resolve(source.table);
}

void round_columns(const ImportOptions& options, dataset::CsvTable& table) {
  for (const std::string& text : options.rounded) {
    const std::size_t equals = text.rfind('=');
    const auto step = equals == std::string::npos ? std::nullopt : parse_double(text.substr(equals + 1));
    if (!step) throw Error(ErrorKind::usage, fmt::format("--round {}: is not NAME=STEP, e.g. x=0.1", printable(text)));
    dataset::round_column(table, text.substr(0, equals), *step);
  }
}

/// A table whose columns have other roles now, or another table of that name: what to do instead of mixing both.
void require_no_namesake(const ImportOptions& options, const dataset::ImportSource& source,
                         const space::DesignSpace& space) {
  if (!log::is_log_there(options.log)) return;
  const std::vector<log::SpaceSummary> known = log::spaces(log::Log::open(options.log, log::OpenMode::read_only));
  const auto named = [&](const std::string& name) {
    return std::ranges::find_if(known, [&](const auto& one) { return one.name == name; });
  };
  const auto other = named(space.name());
  if (other == known.end() || other->definition_hash == space.definition_hash()) return;
  std::string name = space.name() + "_2";
  for (int number = 3; named(name) != known.end(); ++number) name = fmt::format("{}_{}", space.name(), number);
  const std::string problem = fmt::format("{}: has a space '{}' of other parameters or values. Use another log, or ",
                                          printable(options.log, 100), printable(space.name(), 40));
  const std::string command = fmt::format("`hindsight space infer {} {} --name {} --out {}.yaml` and --space {}.yaml",
                                          pasted_path(options.file), options.roles.pasted(), name, name, name);
  constexpr std::size_t kMostBytes = 380;  // [chosen] one line, with the program's name
  const bool is_table = source.outcomes.empty() && source.format.find("table") != std::string::npos;
  const bool can_infer = is_table && options.rounded.empty() && problem.size() + command.size() <= kMostBytes;
  throw Error(ErrorKind::usage, problem + (can_infer ? command : "name a --space with a name of its own"));
}

/// A table of another name, with fewer values, has a space of its own, and no model learns from two.
void remark_on_fitting_spaces(const ImportOptions& options, const dataset::ImportSource& source,
                              const dataset::CsvRoles& roles, const space::DesignSpace& inferred) {
  const std::vector<space::DesignSpace> fitting = dataset::fitting_spaces(source, roles, options.log);
  if (fitting.empty()) return;
  for (const space::DesignSpace& one : fitting) {
    if (one.definition_hash() == inferred.definition_hash()) return;  // that is where the rows go
  }
  const std::string name = shell_quoted(printable(fitting.back().name(), 60));
  remark(
      fmt::format("these rows get a space of their own, {}, and a model learns from one space. All are designs of the "
                  "log's {}, too: --space {} takes them in there",
                  printable(inferred.name(), 60), name, name));
}

space::DesignSpace space_of(const ImportOptions& options, const dataset::ImportSource& source,
                            const dataset::CsvRoles& roles) {
  if (source.space && (options.space.empty() || source.joins_log)) return *source.space;
  if (!options.space.empty()) {
    if (!log::is_log_there(options.log)) return space::load_space(options.space);
    return dataset::named_beside(log::Log::open(options.log, log::OpenMode::read_only), options.space);
  }
  if (auto known = dataset::space_in_log(source, roles, options.log)) return std::move(*known);
  space::DesignSpace inferred = said_space(dataset::infer_source_space(source, roles));
  require_no_namesake(options, source, inferred);
  remark_on_fitting_spaces(options, source, roles, inferred);
  return inferred;
}

/// What the format has no use for would only seem to be obeyed.
void require_optuna(const ImportOptions& options, const dataset::ImportSource& source) {
  const bool pruned = dataset::parse_pruned_trials(options.pruned) != dataset::PrunedTrials::infeasible;
  if ((options.study.empty() && !pruned) || source.format.starts_with("Optuna")) return;
  throw Error(ErrorKind::usage,
              fmt::format("{}: {} is about Optuna's studies, and this was read as {}. Leave it out",
                          printable(options.file, 200), options.study.empty() ? "--pruned" : "--study", source.format));
}

/// Says of rows that are compared by another metric than others of their space that no model learns both.
std::optional<std::string> remark_on_objectives(const std::string& file, const dataset::ImportResult& result) {
  if (result.inserted == 0 || result.workloads.empty()) return std::nullopt;
  const log::Log log = log::Log::open(file, log::OpenMode::read_only);
  const std::set<std::string> objectives = study::own_objectives_of(log, {.space = result.space});
  if (objectives.size() < 2) return std::nullopt;
  return fmt::format(
      "rows of space {} are optimised for {}: a model learns one of them (train --workloads {}). For a model of all, "
      "import them under one name of the metric",
      printable(result.space, 40), printable(join(std::vector(objectives.begin(), objectives.end()), " and for "), 120),
      shell_quoted(printable(result.workloads.front(), 40)));
}

int import(const ImportOptions& options, const Session& session) {
  const dataset::Duplicates duplicates = dataset::parse_duplicates(options.duplicates);
  const dataset::ReadOptions read = read_options(options);
  if (!options.workload.empty() && !options.roles.context.empty()) {
    throw Error(ErrorKind::usage,
                "--workload names the application of every row, and --context the columns that do. Name one of them");
  }
  FileRoles()
      .reads("--file", options.file)
      .reads("--space", options.space)
      .writes_log("--log", options.log)
      .require_usable();
  dataset::ImportSource source = dataset::read_import(options.file, read);
  require_optuna(options, source);
  const dataset::CsvRoles roles = roles_of(options, source);
  round_columns(options, source.table);
  const space::DesignSpace space = space_of(options, source, roles);
  install_interrupt_handlers();
  const dataset::ImportTarget target{.workload = options.workload,
                                     .evaluator = options.evaluator,
                                     .direction = options.maximise ? Direction::maximise : Direction::minimise,
                                     .known_workload = known_network};
  const bool keep = source.repeats && duplicates == dataset::Duplicates::error;
  dataset::ImportResult result;
  write_log(session, options.log, [&](const std::string& log) {
    result = dataset::import_rows(source, roles, space, target, log, keep ? dataset::Duplicates::keep : duplicates,
                                  session.provenance);
    if (auto text = remark_on_objectives(log, result)) result.remarks.push_back(std::move(*text));
  });
  for (const std::string& text : result.remarks) remark(text);
  print(options.json ? report::import_json(result, options.log)
                     : report::import_text(result, options.log, output_columns()));
  if (!options.json && !session.dry_run) suggest({"hindsight", "log", "show", options.log});
  return 0;
}

}  // namespace

void add_log_import(CLI::App& group, Session& session) {
  const auto options = std::make_shared<ImportOptions>();
  CLI::App* verb = group.add_subcommand("import", "Make tables, studies and caches of others a log");
  verb->add_option("file,--file,--csv", options->file, "The file, .gz and .zip too")->required();
  verb->add_option("--log", options->log, "SQLite log to append to; created if missing")->required();
  verb->add_option("--format", options->format, "csv, tsv, semicolon, jsonl, optuna, ... [by content]");
  verb->add_option("--space", options->space, "Name, also of the log's, or file [inferred]")->check(not_empty());
  add_csv_roles(*verb, options->roles);
  verb->add_flag("--maximise", options->maximise, "Larger objectives are better");
  verb->add_option("--workload", options->workload, "Application of all rows, by name")->check(not_empty());
  verb->add_option("--evaluator", options->evaluator, "What measured the rows, by name")->check(not_empty());
  verb->add_option("--study", options->study, "Optuna study, where the file has several")->check(not_empty());
  verb->add_option("--pruned", options->pruned, "Pruned trials: infeasible, skip, last [infeasible]");
  repeatable(verb->add_option("--round", options->rounded, "NAME=STEP: round a continuous parameter"));
  verb->add_option("--duplicates", options->duplicates, "Contradictions: error, first, last, best, keep [error]");
  verb->add_flag("--json", options->json, "As JSON");
  add_durability(*verb);
  add_dry_run(*verb, session);
  verb->footer(
      "Formats: csv, tsv, semicolon, jsonl, optuna (SQLite, journal), kernel-tuner,\n"
      "vizier, ax, export (of log export), proposals (of propose --csv, filled in).\n"
      "In tables an objective that is empty, nan or a word makes a row infeasible.\n"
      "Example: hindsight log import tuning.csv --objective time_ms \\\n"
      "           --infeasible infeasible --log tuning.sqlite\n"
      "Example: hindsight log import study.db --log tuning.sqlite");
  verb->callback([options, &session] { session.action = [options, &session] { return import(*options, session); }; });
}

}  // namespace hindsight::app
