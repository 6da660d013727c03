/// hindsight calibrate: fits the constants of the GEMM model to measured runtimes.
#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "file_roles.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/gemm_rows.h"
#include "hindsight/gpu/calibration.h"
#include "output.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct Options {
  std::string gpu;
  std::string measurements;
  std::string dtype;
  std::string columns;
  std::vector<std::string> where;
  std::string mode = "burst";
  std::string out;
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

std::string errors_text(const char* what, const gpu::LatencyErrors& errors) {
  constexpr double kPercent = 100;
  return fmt::format("{}: MAPE {:.2f} %, median {:.2f} %, p90 {:.1f} %, R2 of log latency {:.4f}, {} rows\n", what,
                     kPercent * errors.mape_frac, kPercent * errors.median_frac, kPercent * errors.p90_frac,
                     errors.r2_log, errors.rows);
}

/// The command as anyone would repeat it: without folders and without the output.
std::string command_text(const Options& options) {
  std::string text = fmt::format("hindsight calibrate --gpu {} --measurements {}",
                                 std::filesystem::path(options.gpu).filename().string(),
                                 std::filesystem::path(options.measurements).filename().string());
  if (!options.dtype.empty()) text += " --dtype " + options.dtype;
  if (!options.columns.empty()) text += " --columns " + options.columns;
  for (const std::string& where : options.where) text += fmt::format(" --where '{}'", where);
  if (options.mode != "burst") text += " --mode " + options.mode;
  return text;
}

int calibrate(const Options& options, const Provenance& provenance) {
  FileRoles()
      .reads("--gpu", options.gpu)
      .reads("--measurements", options.measurements)
      .writes("--out", options.out)
      .require_separate();
  const gpu::GpuSpec spec = gpu::load_gpu(options.gpu);
  const std::optional<gpu::DType> dtype =
      options.dtype.empty() ? std::nullopt : std::optional(gpu::parse_dtype(options.dtype));
  const dataset::GemmColumns columns =
      options.columns.empty() ? dataset::GemmColumns{} : dataset::parse_gemm_columns(options.columns);
  const std::vector<gpu::GemmMeasurement> rows =
      dataset::read_gemm_rows(dataset::read_csv(options.measurements), columns, filters(options.where), dtype);
  for (const gpu::GemmMeasurement& row : rows) static_cast<void>(spec.rate(row.gemm.dtype));

  gpu::CalibrateOptions fit;
  fit.mode = gpu::parse_mode(options.mode);
  fit.start = gpu::start_constants(spec, gpu::dtype_class(rows.front().gemm.dtype));
  gpu::CalibrationReport report = gpu::calibrate(spec, rows, fit);
  const std::filesystem::path file(options.measurements);
  report.calibration.data =
      fmt::format("{}, sha256 {}", file.filename().string(), sha256_hex(read_file(file)).substr(0, 16));
  const std::string yaml = gpu::to_yaml(report, command_text(options), provenance.started_at.substr(0, 10));
  if (options.out.empty()) {
    print(yaml);
  } else {
    write_file_atomically(options.out, yaml);
    print(errors_text("fitted on all rows", report.fitted) +
          errors_text("held out, five folds grouped by (n, k)", report.held_out) +
          fmt::format("wrote {}\n", options.out));
  }
  return 0;
}

}  // namespace

void add_calibrate(CLI::App& app, Session& session) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("calibrate", "Fit the GEMM model of a GPU to measured runtimes");
  verb->add_option("--gpu", options->gpu, "Name or spec file of the GPU that was measured")->required();
  verb->add_option("--measurements", options->measurements, "CSV file, may be gzipped: m, n, k, latency_us ...")
      ->required();
  verb->add_option("--dtype", options->dtype, "Format of the rows, or which rows where there is a column dtype [bf16]");
  verb->add_option("--columns", options->columns, "Columns by role: m=M,n=N,k=K,batch=B,latency_ms=lat_ms");
  repeatable(verb->add_option("--where", options->where, "COLUMN=VALUE: only rows that have it; repeatable"));
  verb->add_option("--mode", options->mode, "How the rows were run: burst or sustained [burst]");
  verb->add_option("--out", options->out, "File to write [standard output]");
  verb->footer(
      "`hindsight gemm` and `hindsight check` take the file by --calibration, or find it in\n"
      "data/gpus/calibration/gemm of HINDSIGHT_DATA_DIR.\n"
      "Example: hindsight calibrate --gpu l40s --measurements rows.csv --out data/gpus/calibration/gemm/l40s.yaml");
  verb->callback([options, &session] {
    session.action = [options, &session] { return calibrate(*options, session.provenance); };
  });
}

}  // namespace hindsight::app
