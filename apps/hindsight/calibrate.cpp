/// hindsight calibrate: fits the constants of the GEMM model to measured runtimes.
#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "dry_run.h"
#include "file_roles.h"
#include "given_calibrations.h"
#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/dataset/gemm_rows.h"
#include "hindsight/gpu/calibration.h"
#include "hindsight/gpu/power_calibration.h"
#include "hindsight/gpu/power_fit.h"
#include "hindsight/gpu/predict.h"
#include "hindsight/gpu/residual.h"
#include "output.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct CalibrateOptions {
  std::string gpu;
  std::string measurements;
  std::string dtype;
  std::string quantisation;
  std::string median;  ///< empty: every row counts by itself
  std::string columns;
  std::vector<std::string> where;
  std::vector<std::string> hold;
  std::string note;
  std::string mode;  ///< empty: burst; of power, sustained
  std::string calibrations;
  std::string shortest_us;
  std::string operands;
  std::string out;
  bool power = false;
  bool residual = false;
  bool force = false;
};

std::vector<dataset::RowFilter> filters(const std::vector<std::string>& where) {
  std::vector<dataset::RowFilter> result;
  for (const std::string& text : where) {
    const std::size_t at = text.find('=');
    if (at == std::string::npos || at == 0) {
      throw Error(ErrorKind::usage, fmt::format("--where '{}' is no COLUMN=VALUE", printable(text)));
    }
    result.push_back({text.substr(0, at), text.substr(at + 1)});
  }
  return result;
}

/// Sets and holds the constants that --hold names; one that no fit moves is set alone.
void hold_constants(const std::vector<std::string>& hold, gpu::CalibrateOptions& fit) {
  for (const std::string& text : hold) {
    const std::size_t at = text.find('=');
    const std::optional<double> value = at == std::string::npos ? std::nullopt : parse_double(text.substr(at + 1));
    if (!value) throw Error(ErrorKind::usage, fmt::format("--hold '{}' is no CONSTANT=NUMBER", printable(text)));
    const gpu::ConstantField& field = gpu::constant_field(text.substr(0, at));
    if (*value < field.low || *value > field.high) {
      throw Error(ErrorKind::usage, fmt::format("--hold {}: {} lies between {} and {}", printable(text), field.key,
                                                readable(field.low), readable(field.high)));
    }
    fit.start.*field.member = *value;
    if (!field.of_no_fit()) fit.held.push_back(&field);
  }
}

std::string errors_text(const char* what, const gpu::LatencyErrors& errors) {
  constexpr double kPercent = 100;
  return fmt::format("{}: MAPE {:.2f} %, median {:.2f} %, p90 {:.1f} %, R2 of log latency {:.4f}, {} rows\n", what,
                     kPercent * errors.mape_frac, kPercent * errors.median_frac, kPercent * errors.p90_frac,
                     errors.r2_log, errors.rows);
}

/// A file without its folder, as a shell takes it.
std::string file_word(const std::string& path) { return shell_quoted(std::filesystem::path(path).filename().string()); }

/// The command as anyone would repeat it: without folders and without the output.
std::string command_text(const CalibrateOptions& options) {
  std::string text = fmt::format("hindsight calibrate --gpu {} --measurements {}", file_word(options.gpu),
                                 file_word(options.measurements));
  if (!options.dtype.empty()) text += " --dtype " + options.dtype;
  if (!options.quantisation.empty()) text += " --quantise " + options.quantisation;
  if (!options.median.empty()) text += " --median " + options.median;
  if (!options.columns.empty()) text += " --columns " + shell_quoted(options.columns);
  for (const std::string& where : options.where) text += fmt::format(" --where '{}'", where);
  for (const std::string& hold : options.hold) text += " --hold " + hold;
  if (!options.power && options.mode == "sustained") text += " --mode sustained";
  if (options.power) text += " --power";
  if (options.residual) text += " --residual";
  if (options.force) text += " --force";
  if (!options.shortest_us.empty()) text += " --shortest-us " + options.shortest_us;
  if (!options.operands.empty()) text += " --operands " + options.operands;
  if (!options.calibrations.empty()) text += " --calibration " + file_word(options.calibrations);
  return text;
}

/// File name and content hash of the measurements.
std::string data_text(const CalibrateOptions& options) {
  const std::filesystem::path file(options.measurements);
  return fmt::format("{}, sha256 {}", file.filename().string(), sha256_hex(read_file(file)).substr(0, 16));
}

/// How rows of 8 bits were quantised that do not say so.
gpu::Quantisation quantisation_of(const CalibrateOptions& options) {
  return options.quantisation.empty() ? gpu::Quantisation::none : gpu::parse_quantisation(options.quantisation);
}

std::size_t least_rows(const CalibrateOptions& options) {
  const std::optional<std::int64_t> value = parse_int(options.median);
  if (!value || *value < 1) {
    throw Error(ErrorKind::usage,
                fmt::format("--median '{}' is no number of rows from 1 on", printable(options.median)));
  }
  return static_cast<std::size_t>(*value);
}

/// Refuses rows that nothing quantises: of 16 bits and more.
void require_quantised(const CalibrateOptions& options, const gpu::Gemm& gemm) {
  if (options.quantisation.empty()) return;
  gpu::Gemm asked = gemm;
  asked.quantisation = quantisation_of(options);
  const std::string problem = gpu::quantisation_problem(asked);
  if (!problem.empty()) throw Error(ErrorKind::usage, "calibrate --quantise: " + problem);
}

/// What rows are to be of; nothing with --force.
std::optional<dataset::RowOrigin> origin_of(const CalibrateOptions& options, const gpu::GpuSpec& spec,
                                            gpu::RunMode mode) {
  if (options.force) return std::nullopt;
  return dataset::RowOrigin{.gpu = spec, .mode = mode};
}

/// How rows of runtimes were run.
gpu::RunMode mode_of(const CalibrateOptions& options) {
  return options.mode.empty() ? gpu::RunMode::burst : gpu::parse_mode(options.mode);
}

/// Refuses a fit that predicts nothing; none with --force.
void require_fit(const CalibrateOptions& options, const std::string& problem) {
  if (problem.empty() || options.force) return;
  constexpr std::size_t kShown = 120;  // [chosen] the end of a path is cut before the remedy
  throw Error(ErrorKind::usage,
              fmt::format("{}: {}. Nothing is written: are all rows of this GPU, format, unit and mode? --where keeps "
                          "some rows, --force writes the file all the same",
                          printable(options.measurements, kShown), problem));
}

/// What `of_rows` makes of the rows of --measurements; what it refuses of them names the file.
template <typename OfRows>
auto naming_table(const CalibrateOptions& options, const OfRows& of_rows) {
  constexpr std::size_t kShown = 120;  // [chosen] the end of a path is cut before the remedy
  try {
    return of_rows();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    throw Error(error.kind(), fmt::format("{}: {}", printable(options.measurements, kShown), error.what()));
  }
}

/// The rows of a table that the options name. Errors: those of the reader; Error{usage} for a format the GPU lacks.
std::vector<gpu::GemmMeasurement> measured_rows(const CalibrateOptions& options, const gpu::GpuSpec& spec) {
  const std::optional<gpu::DType> dtype =
      options.dtype.empty() ? std::nullopt : std::optional(gpu::parse_dtype(options.dtype));
  const dataset::GemmColumns columns =
      options.columns.empty() ? dataset::GemmColumns{} : dataset::parse_gemm_columns(options.columns);
  std::vector<gpu::GemmMeasurement> rows =
      dataset::read_gemm_rows(dataset::read_table(options.measurements), columns, filters(options.where), dtype,
                              quantisation_of(options), origin_of(options, spec, mode_of(options)));
  for (const gpu::GemmMeasurement& row : rows) {
    static_cast<void>(spec.rate(row.gemm.dtype));
    require_quantised(options, row.gemm);
  }
  if (options.median.empty()) return rows;
  const std::size_t least = least_rows(options);
  return naming_table(options, [&] { return dataset::medians(rows, least); });
}

/// The GPU that constants are fitted for.
gpu::GpuSpec fitted_gpu(const CalibrateOptions& options) {
  gpu::GpuSpec spec = gpu::load_gpu(options.gpu);
  gpu::require_kernel_model(spec, "so nothing can be fitted");
  return spec;
}

std::string wrote_text(const Session& session, const std::string& file) {
  return session.dry_run ? "" : fmt::format("wrote {}\n", printable(file, 200));
}

int calibrate_runtimes(const CalibrateOptions& options, const Session& session) {
  if (!options.calibrations.empty() || !options.shortest_us.empty() || !options.operands.empty()) {
    throw Error(ErrorKind::usage,
                "calibrate: --operands and --shortest-us go with --power, --calibration with it or --residual. Add "
                "one of these, or leave it out");
  }
  const gpu::GpuSpec spec = fitted_gpu(options);
  const std::vector<gpu::GemmMeasurement> rows = measured_rows(options, spec);

  gpu::CalibrateOptions fit;
  fit.mode = mode_of(options);
  fit.implausible = options.force ? gpu::Implausible::taken : gpu::Implausible::refused;
  fit.start = gpu::start_constants(spec, gpu::dtype_class(rows.front().gemm.dtype));
  hold_constants(options.hold, fit);
  gpu::CalibrationReport report = naming_table(options, [&] { return gpu::calibrate(spec, rows, fit); });
  require_fit(options, gpu::fit_problem(report.held_out));
  report.calibration.note = options.note;
  report.calibration.data = data_text(options);
  const std::string yaml = gpu::to_yaml(report, command_text(options), session.provenance.started_at.substr(0, 10));
  if (is_standard_output(options.out)) {
    print(yaml);
  } else {
    write_or_rehearse(session, options.out, yaml);
    print(errors_text("fitted on all rows", report.fitted) +
          errors_text("held out, five folds grouped by (n, k)", report.held_out) + wrote_text(session, options.out));
  }
  return 0;
}

/// The correction on top of constants: of --calibration, else those that the GPU has.
int calibrate_residual(const CalibrateOptions& options, const Session& session) {
  if (!options.shortest_us.empty() || !options.operands.empty()) {
    throw Error(ErrorKind::usage,
                "calibrate: --operands and --shortest-us go with --power, not with --residual. Leave them out");
  }
  const gpu::GpuSpec spec = fitted_gpu(options);
  const std::vector<gpu::GemmMeasurement> rows = measured_rows(options, spec);
  const gpu::Calibration constants = gpu::load_calibration(
      spec, rows.front().gemm.dtype, read_given_calibrations(options.calibrations, {spec}), gpu::Residuals::none);
  if (constants.source != gpu::CalibrationSource::own) {
    throw Error(ErrorKind::usage,
                fmt::format("calibrate --residual: {} has no constants of its own (a correction of another GPU's would "
                            "learn their difference). Fit them first, without --residual, and name them by "
                            "--calibration",
                            spec.name));
  }
  gpu::Residual residual = gpu::train_residual(spec, constants, rows, mode_of(options)).residual;
  residual.data = data_text(options);
  write_or_rehearse(session, options.out,
                    gpu::to_yaml(residual, command_text(options), session.provenance.started_at.substr(0, 10)));
  if (is_standard_output(options.out)) return 0;
  constexpr double kPercent = 100;
  print(fmt::format(
      "held out, five folds grouped by (n, k), {} rows: MAPE {:.2f} %, median {:.2f} % without; MAPE "
      "{:.2f} %, median {:.2f} % with the residual\n{}",
      residual.row_count, kPercent * residual.without_mape_frac, kPercent * residual.without_median_frac,
      kPercent * residual.with_mape_frac, kPercent * residual.with_median_frac, wrote_text(session, options.out)));
  return 0;
}

std::string power_errors_text(const char* what, const gpu::PowerErrors& errors) {
  constexpr double kPercent = 100;
  return fmt::format("{}: MAPE {:.2f} %, median {:.2f} %, R2 {:.3f}, {} rows\n", what, kPercent * errors.mape_frac,
                     kPercent * errors.median_frac, errors.r2, errors.rows);
}

/// What the sensor's window does to some rows.
std::string unsettled_text(const gpu::PowerFit& fit) {
  if (fit.unsettled_rows == 0) return "";
  return fmt::format(
             "{} less than their neighbours, smaller and larger, and left out of the fit: a kernel was loaded "
             "there\n",
             fit.unsettled_rows == 1 ? "1 row reads" : fmt::format("{} rows read", fit.unsettled_rows)) +
         power_errors_text("held out, without these", fit.settled) +
         power_errors_text("of these below the cap", fit.settled_below_cap);
}

double shortest_s(const CalibrateOptions& options) {
  if (options.shortest_us.empty()) return 0;  // `measure` runs kernels back to back: the power of short ones is theirs
  const std::optional<double> value = parse_double(options.shortest_us);
  if (!value || !(*value >= 0)) {
    throw Error(ErrorKind::usage, fmt::format("--shortest-us '{}' is no duration", printable(options.shortest_us)));
  }
  return *value * units::kMicro;
}

/// Of power only what runtimes depend on as well is held: watt of busy SMs.
std::optional<double> held_active_w(const std::vector<std::string>& hold) {
  std::optional<double> held;
  for (const std::string& text : hold) {
    held = text.starts_with("active_w=") ? parse_double(text.substr(text.find('=') + 1)) : std::nullopt;
    if (!held || !(*held >= 0)) {
      throw Error(
          ErrorKind::usage,
          fmt::format("--hold '{}': with --power only active_w is held, in W: --hold active_w=166.5", printable(text)));
    }
  }
  return held;
}

/// Whether the rows' weights are as `calibrate` finds them recorded of this GPU, or all real data.
bool takes_recorded_operands(const std::string& text) {
  constexpr EnumNames<bool, 2> kTakesRecorded{{{false, "random"}, {true, "recorded"}}};
  return !text.empty() && parse_enum("--operands", text, kTakesRecorded);
}

/// The rows of a table that the options name, as a fit of power sees them; `result` gets their range.
std::vector<gpu::PowerMeasurement> measured_powers(const CalibrateOptions& options, const gpu::GpuSpec& spec,
                                                   const gpu::Predictor& predictor, gpu::DType dtype,
                                                   gpu::PowerCalibration& result) {
  const dataset::GemmColumns columns =
      options.columns.empty() ? dataset::GemmColumns{} : dataset::parse_gemm_columns(options.columns);
  const std::vector<dataset::PoweredGemm> powered = dataset::read_power_rows(
      dataset::read_table(options.measurements), columns, filters(options.where), dtype, quantisation_of(options),
      origin_of(options, spec, gpu::RunMode::sustained), shortest_s(options));
  std::vector<gpu::PowerMeasurement> rows;
  for (const auto& [measurement, power_w] : powered) {
    const auto& [gemm, latency_s] = measurement;
    rows.push_back(
        gpu::power_measurement(predictor, gemm, latency_s, power_w, gpu::recorded_operands(result.unwritten, gemm)));
    gpu::include(*result.range, gemm, latency_s);
  }
  return rows;
}

int calibrate_power(const CalibrateOptions& options, const Session& session) {
  if (options.mode == "burst") {
    throw Error(ErrorKind::usage, "calibrate --power: power is of sustained runs. Leave out --mode burst");
  }
  const std::optional<double> active_w = held_active_w(options.hold);
  const gpu::GpuSpec spec = fitted_gpu(options);
  const gpu::DType dtype = options.dtype.empty() ? gpu::DType::bf16 : gpu::parse_dtype(options.dtype);
  static_cast<void>(spec.rate(dtype));  // refuses a format that the GPU lacks
  require_quantised(options, {.dtype = dtype});
  const gpu::DTypeClass dtype_class = gpu::dtype_class(dtype);
  const gpu::Calibration runtime =
      gpu::load_calibration(spec, dtype, read_given_calibrations(options.calibrations, {spec}), gpu::Residuals::none);
  const gpu::Predictor predictor(spec, runtime, dtype);

  gpu::PowerCalibration result;
  result.gpu = spec.name;
  result.source = gpu::PowerSource::own;
  result.range.emplace();
  result.range->mode = gpu::RunMode::sustained;
  if (takes_recorded_operands(options.operands)) {
    const gpu::PowerCalibration known = gpu::load_power_calibration(spec, dtype_class);
    const bool of_dtype = known.range && known.range->dtypes[static_cast<std::size_t>(dtype)];
    if (of_dtype) result.unwritten = known.unwritten;
  }
  const std::vector<gpu::PowerMeasurement> rows = measured_powers(options, spec, predictor, dtype, result);
  gpu::PowerConstants start = gpu::default_power_constants(spec, dtype_class);
  start.op_j = runtime.constants.op_j;
  start.active_w = active_w.value_or(start.active_w);
  const gpu::PowerFitted fitted = active_w ? gpu::PowerFitted::shares_of_zero_weights : gpu::PowerFitted::all;
  const gpu::PowerFit fit = naming_table(options, [&] { return gpu::fit_power(spec, dtype, rows, start, fitted); });
  require_fit(options, gpu::fit_problem(fit.held_out));
  result.constants = fit.constants;
  result.data = data_text(options);
  result.row_count = static_cast<double>(rows.size());
  result.held_out_mape_frac = fit.held_out.mape_frac;
  result.held_out_median_frac = fit.held_out.median_frac;
  result.held_out_r2 = fit.held_out.r2;
  write_or_rehearse(
      session, options.out,
      gpu::to_yaml(result, dtype_class, command_text(options), session.provenance.started_at.substr(0, 10)));
  if (is_standard_output(options.out)) return 0;
  print(power_errors_text("fitted on all rows", fit.fitted) +
        power_errors_text("held out, five folds grouped by (n, k)", fit.held_out) +
        power_errors_text("of these below the cap", fit.held_out_below_cap) + unsettled_text(fit) +
        wrote_text(session, options.out));
  return 0;
}

int calibrate(const CalibrateOptions& options, const Session& session) {
  FileRoles()
      .reads("--gpu", options.gpu)
      .reads("--measurements", options.measurements)
      .reads("--calibration", options.calibrations)
      .writes("--out", options.out)
      .require_usable();
  if (options.power && !options.median.empty()) {
    throw Error(ErrorKind::usage, "calibrate: --median is of runtimes and does not go with --power. Leave it out");
  }
  if (options.power && options.residual) {
    throw Error(ErrorKind::usage,
                "calibrate: --power and --residual are two fits. Leave one of them out, and run it afterwards");
  }
  if ((options.residual && !options.hold.empty()) || ((options.power || options.residual) && !options.note.empty())) {
    throw Error(ErrorKind::usage,
                "calibrate: --hold does not go with --residual, --note neither with it nor with --power. Leave it out");
  }
  if (options.residual) return calibrate_residual(options, session);
  return options.power ? calibrate_power(options, session) : calibrate_runtimes(options, session);
}

}  // namespace

void add_calibrate(CLI::App& app, Session& session) {
  const auto options = std::make_shared<CalibrateOptions>();
  CLI::App* verb = app.add_subcommand("calibrate", "Fit the GEMM model to measured runtimes or power");
  verb->add_option("--gpu", options->gpu, "Name or spec file of the GPU that was measured")->required();
  verb->add_option("--measurements", options->measurements, "Table, .gz too: m, n, k, latency_us ...")->required();
  verb->add_option("--dtype", options->dtype, "Format of the rows, or which of them [bf16]");
  verb->add_option("--quantise", options->quantisation,
                   "How 8-bit rows that do not say so were quantised:\nnone, dynamic, static, block [none]");
  verb->add_option("--median", options->median, "One row per product: the median of at least INT rows")
      ->type_name("INT");
  verb->add_option("--columns", options->columns, "Columns by role: m=M,n=N,k=K,batch=B,latency_ms=lat_ms");
  repeatable(verb->add_option("--where", options->where, "COLUMN=VALUE: only rows that have it; repeatable"));
  repeatable(verb->add_option("--hold", options->hold, "CONSTANT=NUMBER: held, not fitted; repeatable"));
  verb->add_option("--note", options->note, "What is peculiar about the board, for the file");
  verb->add_option("--mode", options->mode, "How the rows were run: burst or sustained [burst]");
  verb->add_flag("--power", options->power, "Fit the power constants: rows with power_w");
  verb->add_option("--shortest-us", options->shortest_us, "--power: leave out shorter kernels [0]")->type_name("FLOAT");
  verb->add_option("--operands", options->operands, "--power: random or recorded data [random]");
  verb->add_flag("--residual", options->residual, "Learn what the constants leave unexplained (needs\nlibxgboost)");
  verb->add_option("--calibration", options->calibrations, "--power, --residual: fitted runtimes [shipped]");
  verb->add_flag("--force", options->force, "Take rows and write a fit that look wrong");
  verb->add_option("--out", options->out, "File to write [-: standard output]");
  add_dry_run(*verb, session);
  verb->footer(
      "`gemm` and `check` take the file by --calibration, or find it in\n"
      "data/gpus/calibration/gemm of HINDSIGHT_DATA_DIR; that of --power belongs into\n"
      "data/gpus/calibration/power there, that of --residual into .../residual.\n"
      "Example: hindsight calibrate --gpu l40s --measurements rows.csv --out l40s.yaml");
  verb->callback(
      [options, &session] { session.action = [options, &session] { return calibrate(*options, session); }; });
}

}  // namespace hindsight::app
