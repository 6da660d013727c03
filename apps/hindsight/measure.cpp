/// hindsight measure: times GEMMs and measures a GPU, or takes in what the small program measured elsewhere.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "dry_run.h"
#include "file_roles.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "hindsight/log/address.h"
#include "hindsight/log/gpu_measurements.h"
#include "hindsight/measure/csv.h"
#include "hindsight/measure/run.h"
#include "hindsight/measure/sheet.h"
#include "measure_plan.h"
#include "measure_sink.h"
#include "output.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

constexpr std::int64_t kMostAlgorithms = 64;

std::string number(double value, double scale, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value * scale, digits) : "-";
}

std::string gemms_text(const measure::SessionRecords& records) {
  Table table;
  for (const char* header : {"kernel", "dtype", "mode"}) table.add_column(header, Align::left);
  for (const char* header : {"batch", "m", "n", "k"}) table.add_column(header, Align::right);
  table.add_column("tile", Align::right, 2);
  table.add_column("rank", Align::right, 2);
  for (const char* header : {"latency us", "TFLOP/s", "power W", "energy mJ"}) table.add_column(header, Align::right);
  table.add_column("clock MHz", Align::right, 1);
  table.add_column("spread %", Align::right, 1);
  table.add_column("status", Align::left, 1);
  for (const measure::GemmRow& row : records.gemms) {
    table.add_row({row.kernel, row.dtype, row.mode, std::to_string(row.batch), std::to_string(row.m),
                   std::to_string(row.n), std::to_string(row.k), std::to_string(row.tile), std::to_string(row.rank),
                   number(row.latency_s, 1e6, 2), number(measure::ops_per_s(row), 1e-12, 2),
                   number(row.board.power_w, 1, 1), number(row.energy_j, 1e3, 3),
                   number(row.board.sm_clock_hz, 1e-6, 0), number(row.spread_frac, 100, 2),
                   row.message.empty() ? row.status : row.status + "*"});
  }
  std::string text = table.render(output_columns());
  for (const measure::GemmRow& row : records.gemms) {
    if (!row.message.empty()) text += fmt::format("* {}: {}\n", row.task, row.message);
  }
  return text;
}

std::string quantities_text(const measure::SessionRecords& records) {
  Table table;
  table.add_column("quantity", Align::left);
  table.add_column("at", Align::right);
  table.add_column("value", Align::right);
  table.add_column("spread %", Align::right, 1);
  table.add_column("how", Align::left, 2);
  for (const measure::Quantity& q : records.quantities) {
    table.add_row({q.name, std::isfinite(q.argument) ? shortest(q.argument) : "",
                   std::isfinite(q.value) ? fmt::format("{:.4g}", q.value) : "-", number(q.spread_frac, 100, 2),
                   q.detail});
  }
  return table.render(output_columns());
}

std::string records_json(const measure::SessionRecords& records) {
  std::string text = "[" + measure::to_json_line(records.session);
  for (const auto& row : records.gemms) text += ",\n " + measure::to_json_line(row);
  for (const auto& quantity : records.quantities) text += ",\n " + measure::to_json_line(quantity);
  return text + "]\n";
}

/// What the log has of one device.
std::vector<measure::SessionRecords> logged_sessions(const std::string& file, const std::string& gpu_uuid) {
  if (file.empty() || !log::is_log_there(file)) return {};
  std::vector<measure::SessionRecords> sessions = log::gpu_measurements(log::Log::open(file, log::OpenMode::read_only));
  std::erase_if(sessions, [&](const auto& records) { return records.session.gpu_uuid != gpu_uuid; });
  return sessions;
}

/// The name in a sheet, and with which `--gpu FILE` asks for it.
std::string sheet_name(const std::string& file) {
  if (file == "-") return "measured-gpu";
  std::string name = std::filesystem::path(file).stem().string();
  if (name.empty() || name.find(',') != std::string::npos) {
    throw Error(ErrorKind::usage, fmt::format("--sheet {}: no name for a GPU (commas separate the GPUs of a list). "
                                              "Choose another file name",
                                              printable(file)));
  }
  return name;
}

FileRoles separate_measurement_files(const MeasureOptions& options) {
  FileRoles roles;
  roles.reads("--shapes", options.shapes)
      .reads("the records", options.file)
      .writes_log("--log", options.log)
      .writes("--csv", options.csv)
      .writes("--sheet", options.sheet)
      .require_usable();
  return roles;
}

/// Prints what was measured, as the options say.
void print_records(const measure::SessionRecords& records, const MeasureOptions& options) {
  if (options.csv == "-") {
    print_data(measure::gemms_csv({records}));
  } else if (options.json) {
    print(records_json(records));
  } else {
    if (!records.quantities.empty()) print(quantities_text(records));
    if (!records.gemms.empty()) print(gemms_text(records));
  }
}

/// The same, and writes the CSV. A CSV that cannot be written is said when the results are printed.
void show(const measure::SessionRecords& records, const MeasureOptions& options) {
  if (options.csv.empty() || options.csv == "-") return print_records(records, options);
  try {
    write_file_atomically(options.csv, measure::gemms_csv({records}));
  } catch (const Error& error) {
    print_records(records, options);
    throw Error(error.kind(), fmt::format("{} No CSV was written; what was measured stands above.", error.what()));
  }
  print_records(records, options);
}

/// The sheet of everything that is known of the device: the log's rows, which have this run's among them, else this
/// run's alone.
void write_sheet(const measure::SessionRecords& records, const MeasureOptions& options) {
  std::vector<measure::SessionRecords> sessions = logged_sessions(options.log, records.session.gpu_uuid);
  if (sessions.empty()) sessions = {records};
  try {
    write_file_atomically(options.sheet, measure::sheet_yaml(measure::merged(sessions), sheet_name(options.sheet)));
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{} No sheet was written; what was measured stands above{}.", error.what(),
                                          options.log.empty() ? "" : " and in " + options.log));
  }
}

/// --dry-run: what a device would be asked. Where none can be asked, that is said as the command says it.
int rehearse_measurement(const std::vector<measure::Task>& plan, const MeasureOptions& options,
                         const FileRoles& roles) {
  const auto done = static_cast<std::size_t>(std::count_if(plan.begin(), plan.end(), [&](const measure::Task& task) {
    return options.run.finished.contains(measure::key(task));
  }));
  const auto sustained = std::count_if(plan.begin(), plan.end(), [&](const measure::Task& task) {
    return task.mode == measure::Mode::sustained && !options.run.finished.contains(measure::key(task));
  });
  PlannedWork work{.evaluations = 0, .basis = "how long bursts take is seen on the device only"};
  if (options.run.budget_s > 0) {
    work.basis += fmt::format("; nothing starts later than --budget-s {}", shortest(options.run.budget_s));
  } else if (sustained > 0) {
    const double each_s = options.run.settle_s + options.run.window_s;
    work.basis +=
        fmt::format("; at least {1} for {0}", counted(static_cast<std::uint64_t>(sustained), "sustained task"),
                    duration_text(each_s * static_cast<double>(sustained)));
  }
  const std::string tasks = fmt::format("{} of {}{}", with_commas(plan.size() - done), counted(plan.size(), "task"),
                                        done > 0 ? ", the others are done" : "");
  const int code = show_dry_run(roles,
                                {{"--log", "rows of " + tasks},
                                 {"--csv", "the GEMMs of " + tasks},
                                 {"--sheet", "what is known of the device then"}},
                                work, dry_run_style(options.json));
  measure::require_device(options.run.device);
  return code;
}

int run(const std::vector<measure::Task>& plan, MeasureOptions options, const Session& session) {
  const Provenance& provenance = session.provenance;
  const FileRoles roles = separate_measurement_files(options);
  const measure::Availability here = measure::availability();
  if (options.resume && options.log.empty()) {
    throw Error(ErrorKind::usage, "--resume needs --log (what is done stands there)");
  }
  if (options.sheet == "-") {
    throw Error(ErrorKind::usage, "--sheet -: standard output has the results. Name a file");
  }
  if (!options.sheet.empty()) static_cast<void>(sheet_name(options.sheet));  // minutes before it is written
  const auto device = static_cast<std::size_t>(options.run.device);
  if (options.resume && device < here.uuids.size()) {
    const std::string& uuid = here.uuids[device];
    options.run.finished = measure::finished_tasks(logged_sessions(options.log, uuid), uuid);
  }
  if (session.dry_run) return rehearse_measurement(plan, options, roles);
  options.run.command_line = provenance.command_line;
  options.run.version = provenance.version;
  options.run.commit = provenance.commit;
  options.run.host = provenance.host;
  install_interrupt_handlers();
  MeasureSink sink(options.log, provenance, options.quiet);
  const measure::SessionRecords& records = sink.records();
  measure::RunResult result;
  try {
    result = measure::run(plan, options.run, sink);
    sink.finish(interrupt_requested() ? log::RunStatus::interrupted : log::RunStatus::finished);
  } catch (const Error&) {  // what was measured before the device, or the log's disk, failed is shown
    if (!records.gemms.empty() || !records.quantities.empty()) {
      sink.give_up();
      show(records, options);
    }
    throw;
  }
  show(records, options);  // before the sheet: what may still be refused must not cost the results
  remark(measure::summary(result));
  if (interrupt_requested()) return exit_code(ErrorKind::interrupted);
  if (!options.sheet.empty()) write_sheet(records, options);
  const std::optional<ErrorKind> failure = measure::failure_of(result);
  return failure ? exit_code(*failure) : 0;
}

void import_into_log(const std::vector<measure::SessionRecords>& sessions, const std::string& file,
                     const Provenance& provenance) {
  log::Log log = log::Log::open(file, log::OpenMode::read_write_create);
  log::Run run(log, log::RunKind::measure_import, provenance);
  log::MeasurementCounts all;
  for (const measure::SessionRecords& records : sessions) {
    const log::MeasurementCounts counts = log::append_measurements(log, run.id(), records);
    all.inserted += counts.inserted;
    all.already_present += counts.already_present;
  }
  run.finish();
  remark(fmt::format("{} measurements of {} sessions stored, {} were there", all.inserted, sessions.size(),
                     all.already_present));
}

int import(const MeasureOptions& options, const Session& session) {
  static_cast<void>(separate_measurement_files(options));
  const std::vector<measure::SessionRecords> sessions =
      measure::parse_json_lines(read_file(options.file), options.file, measure::LastLine::may_be_cut);
  if (options.log.empty() && options.csv.empty() && options.sheet.empty()) {
    throw Error(ErrorKind::usage, "nothing to do. Name a --log, a --csv or a --sheet");
  }
  const bool empty = std::all_of(sessions.begin(), sessions.end(), [](const measure::SessionRecords& records) {
    return records.gemms.empty() && records.quantities.empty();
  });
  if (empty) {
    throw Error(ErrorKind::usage, fmt::format("{}: no measurements. Name the measurements.jsonl of hindsight-measure",
                                              printable(options.file, 400)));
  }
  if (options.sheet == "-" && options.csv == "-") {
    throw Error(ErrorKind::usage, "--sheet - and --csv -: one standard output. Name a file for one of them");
  }
  // What can be refused is refused before anything is written.
  const std::string sheet =
      options.sheet.empty() ? "" : measure::sheet_yaml(measure::merged(sessions), sheet_name(options.sheet));
  if (!options.log.empty()) {
    write_log(session, options.log,
              [&](const std::string& file) { import_into_log(sessions, file, session.provenance); });
  }
  if (!options.sheet.empty()) write_or_rehearse(session, options.sheet, sheet);
  if (!options.csv.empty()) write_or_rehearse(session, options.csv, measure::gemms_csv(sessions));
  return 0;
}

void add_measure_options(CLI::App& verb, MeasureOptions& options, Session& session) {
  verb.add_option("--device", options.run.device, "Number of the CUDA device [0]")->check(between(0, 1023));
  verb.add_option("--log", options.log, "SQLite log to store every row in");
  verb.add_flag("--resume", options.resume, "Leave out what the log has of this GPU");
  verb.add_option("--budget-s", options.run.budget_s, "Start nothing later than this [no limit]")
      ->check(CLI::NonNegativeNumber.description(""));
  verb.add_option("--settle-s", options.run.settle_s, "Sustained: seconds that do not count [1]")
      ->check(CLI::NonNegativeNumber.description(""));
  verb.add_option("--window-s", options.run.window_s, "Sustained: least energy window [1.2]")
      ->check(CLI::PositiveNumber.description(""));
  verb.add_flag("--json", options.json, "As JSON");
  verb.add_flag("--quiet", options.quiet, "No progress");
  add_dry_run(verb, session);
}

void add_gemm_verb(CLI::App& group, Session& session) {
  const auto options = std::make_shared<MeasureOptions>();
  CLI::App* verb = group.add_subcommand("gemm", "Time GEMMs by cuBLASLt and the plain tiled kernel");
  verb->add_option("-m", options->m, "Rows of the output");
  verb->add_option("-n", options->n, "Columns of the output");
  verb->add_option("-k", options->k, "Length of the sums");
  verb->add_option("--batch", options->batch, "Products per launch [1]");
  verb->add_option("--shapes", options->shapes, "grid, sustained, or a table: m,n,k[,batch]\n[grid]");
  verb->add_option("--dtype", options->dtype, "fp32,tf32,fp16,bf16,fp8,int8 [all]");
  verb->add_option("--layout", options->layout, "nn, nt, tn, tt; nt: linear layer [nt]");
  verb->add_option("--kernel", options->kernel, "cublaslt, tiled, or both [cublaslt]");
  verb->add_option("--mode", options->mode, "burst, sustained, or both [burst]");
  verb->add_option("--algorithms", options->algorithms, "Best of cuBLASLt's ranking [1]")
      ->check(between(1, kMostAlgorithms));
  verb->add_option("--first-tile", options->first_tile, "Tiled kernel: smallest tile [1]")
      ->check(between(1, gpu::kLargestTile));
  verb->add_option("--last-tile", options->last_tile, "Tiled kernel: largest tile [32]")
      ->check(between(1, gpu::kLargestTile));
  verb->add_option("--csv", options->csv, "Rows as CSV to a file, or - for standard output");
  add_measure_options(*verb, *options, session);
  verb->footer(
      "Power is measured in sustained mode. Exit code 5 without CUDA or device, 1 when\n"
      "a task failed (the others' rows are kept).\n"
      "Example: hindsight measure gemm -m 4096 -n 4096 -k 4096 --dtype bf16 \\\n"
      "           --mode burst,sustained --algorithms 8 --log gpu.sqlite");
  verb->callback([options, &session] {
    session.action = [options, &session] { return run(gemm_plan(*options), *options, session); };
  });
}

void add_device_verb(CLI::App& group, Session& session) {
  const auto options = std::make_shared<MeasureOptions>();
  CLI::App* verb = group.add_subcommand("device", "Measure latencies, bandwidths, rates and power");
  verb->add_option("--sheet", options->sheet, "Write a spec sheet (YAML) for gemm, calibrate");
  add_measure_options(*verb, *options, session);
  verb->footer(
      "Exit code 5 without CUDA or device, 1 when a task failed (the others are kept).\n"
      "Example: hindsight measure device --sheet my-gpu.yaml --log gpu.sqlite");
  verb->callback([options, &session] {
    session.action = [options, &session] {
      measure::PlanOptions parts;
      parts.cublaslt = parts.tiled = false;
      return run(measure::make_plan(parts), *options, session);
    };
  });
}

void add_import_verb(CLI::App& group, Session& session) {
  const auto options = std::make_shared<MeasureOptions>();
  CLI::App* verb = group.add_subcommand("import", "Take in what hindsight-measure wrote");
  verb->add_option("file", options->file, "JSON lines")->required();
  verb->add_option("--log", options->log, "SQLite log to append to; created if missing");
  verb->add_option("--csv", options->csv, "GEMMs as CSV to a file, or - for standard output");
  verb->add_option("--sheet", options->sheet, "Spec sheet (YAML) to a file, or - for standard output");
  add_dry_run(*verb, session);
  verb->footer(
      "Needs no GPU. Importing twice changes nothing.\n"
      "Example: hindsight measure import results/measurements.jsonl --log gpu.sqlite");
  verb->callback([options, &session] { session.action = [options, &session] { return import(*options, session); }; });
}

}  // namespace

void add_measure(CLI::App& app, Session& session) {
  CLI::App* group = app.add_subcommand("measure", "Measure a GPU: GEMMs, the device, its power");
  group->require_subcommand(1);
  group->footer("Example: hindsight measure device --sheet my-gpu.yaml");
  add_gemm_verb(*group, session);
  add_device_verb(*group, session);
  add_import_verb(*group, session);
}

}  // namespace hindsight::app
