/// hindsight gemm: runtime, power and energy of matrix products on GPUs.
#include "hindsight/report/gemm.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>

#include "dry_run.h"
#include "file_roles.h"
#include "gemm_csv.h"
#include "given_calibrations.h"
#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/file_stream.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"
#include "hindsight/gpu/tensor_parallel.h"
#include "output.h"
#include "plot_output.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct GemmOptions {
  std::string gpus;
  std::string m, n, k, batch;  ///< as typed: read strictly
  std::string dtype;           ///< empty: bf16, or the format of a kernel that has but one
  std::string quantisation;    ///< empty: none
  std::string layout;          ///< empty: as frameworks store it
  std::string mode;
  std::string operands;
  std::string launch;
  std::string attention;  ///< of networks; empty: fused
  std::string devices;    ///< of networks; empty: 1
  std::string calibrations;
  std::string residuals;
  bool no_residual = false;
  std::string csv, workloads;
  std::string format;
  std::string out;
  bool json = false;
  bool explain = false;
  bool candidates = false;
  bool tiled = false;
  bool plot = false;
};

/// What the command line asks for.
enum class Task { product, table, networks };

std::int64_t whole_number(const std::string& option, const std::string& text, std::int64_t largest) {
  const std::optional<std::int64_t> value = parse_int(text);
  if (!value || *value < 1 || *value > largest) {
    throw Error(ErrorKind::usage, fmt::format("hindsight gemm: {}: '{}' is not a whole number from 1 to {}", option,
                                              printable(text), largest));
  }
  return *value;
}

constexpr EnumNames<OperandChoice, 2> kOperands{
    {{OperandChoice::recorded, "recorded"}, {OperandChoice::random, "random"}}};
constexpr EnumNames<LaunchChoice, 4> kLaunches{{{LaunchChoice::recorded, "recorded"},
                                                {LaunchChoice::kernel, "graph"},
                                                {LaunchChoice::kernel, "kernel"},
                                                {LaunchChoice::stream, "stream"}}};

gpu::RunMode run_mode(const GemmOptions& options, Task task) {
  // A network runs for long, a measured kernel is usually launched a few times.
  if (options.mode.empty()) return task == Task::networks ? gpu::RunMode::sustained : gpu::RunMode::burst;
  return gpu::parse_mode(options.mode);
}

Task task_of(const GemmOptions& options) {
  const bool sizes = !options.m.empty() || !options.n.empty() || !options.k.empty();
  const int given = (sizes ? 1 : 0) + (options.csv.empty() ? 0 : 1) + (options.workloads.empty() ? 0 : 1);
  if (given != 1) {
    throw Error(ErrorKind::usage,
                "hindsight gemm: give -m, -n and -k, or --csv, or --workload, and only one of them. See: "
                "hindsight gemm --help");
  }
  if (!options.csv.empty()) return Task::table;
  if (!options.workloads.empty()) return Task::networks;
  for (const auto& [name, text] : {std::pair("-m", &options.m), {"-n", &options.n}, {"-k", &options.k}}) {
    if (text->empty()) throw Error(ErrorKind::usage, fmt::format("hindsight gemm: {} is missing", name));
  }
  return Task::product;
}

void refuse(bool given, const char* option, const char* why) {
  if (given) throw Error(ErrorKind::usage, fmt::format("hindsight gemm: {} {}", option, why));
}

void check_options(const GemmOptions& options, Task task) {
  refuse(task != Task::table && !options.format.empty(), "--format", "goes with --csv; elsewhere it is --json");
  refuse(task != Task::product && options.candidates, "--candidates", "goes with -m, -n and -k");
  refuse(task == Task::table && options.explain, "--explain", "does not go with --csv");
  refuse(task == Task::networks && !options.layout.empty(), "--layout", "does not go with --workload");
  refuse(options.explain && options.candidates, "--explain", "and --candidates do not go together");
  refuse(task != Task::networks && !options.attention.empty(), "--attention", "goes with --workload");
  refuse(task != Task::networks && !options.devices.empty(), "--devices", "goes with --workload");
  refuse(task != Task::product && options.tiled, "--tiled", "goes with -m, -n and -k");
  refuse(options.tiled && (options.explain || options.candidates), "--tiled", "goes without --explain, --candidates");
  refuse(options.plot && task == Task::table, "--plot", "draws -m, -n and -k, or --workload; a table is for programs");
  refuse(options.plot && options.tiled, "--plot", "has no roofs for --tiled");
  refuse(options.tiled && !options.calibrations.empty(), "--calibration", "has no constants for --tiled");
  refuse(options.tiled && !options.launch.empty(), "--launch", "does not go with --tiled");
  refuse(options.tiled && !options.residuals.empty(), "--residual", "has no correction for --tiled");
  refuse(task == Task::networks && !options.residuals.empty(), "--residual",
         "goes with products: no row was measured inside a network");
  refuse(options.no_residual && !options.residuals.empty(), "--residual", "and --no-residual do not go together");
}

gpu::DType dtype_of(const GemmOptions& options) {
  return options.dtype.empty() ? gpu::DType::bf16 : gpu::parse_dtype(options.dtype);
}

gpu::Quantisation quantisation_of(const GemmOptions& options) {
  return options.quantisation.empty() ? gpu::Quantisation::none : gpu::parse_quantisation(options.quantisation);
}

/// Refuses to quantise activations of 16 bits and more. A table's rows have formats of their own.
void require_quantisable(const GemmOptions& options, Task task) {
  if (task == Task::table) return;
  const std::string problem =
      gpu::quantisation_problem({.dtype = dtype_of(options), .quantisation = quantisation_of(options)});
  if (problem.empty()) return;
  throw Error(ErrorKind::usage,
              fmt::format("hindsight gemm: --quantise: {}. Add --dtype fp8 or int8, or leave --quantise out", problem));
}

gpu::Layout layout_of(const GemmOptions& options, std::int64_t batch) {
  return options.layout.empty() ? gpu::usual_layout(batch) : gpu::parse_layout(options.layout);
}

/// The GPUs of a list, and those of "all" that lack a dtype.
struct ChosenGpus {
  std::vector<gpu::GpuSpec> specs;
  std::vector<std::string> left_out;
};

ChosenGpus choose_gpus(const std::string& list, gpu::DType dtype) {
  ChosenGpus chosen;
  for (gpu::GpuSpec& spec : gpu::load_gpus(list)) {
    if (gpu::means_all_gpus(list) && !spec.has(dtype)) {
      chosen.left_out.push_back(spec.name);
      continue;
    }
    static_cast<void>(spec.rate(dtype));  // refuses a GPU that was named and lacks the format
    chosen.specs.push_back(std::move(spec));
  }
  return chosen;
}

/// Of "all" those that a kernel model serves; a GPU that was named and has none is refused.
std::vector<gpu::GpuSpec> choose_modelled_gpus(const std::string& list, gpu::DType dtype) {
  ChosenGpus chosen = choose_gpus(list, dtype);
  for (const gpu::GpuSpec& spec : chosen.specs) {
    if (gpu::means_all_gpus(list) && !gpu::has_kernel_model(spec)) {
      remark(fmt::format("left out, no kernel model: {}", spec.name));
    } else {
      gpu::require_kernel_model(spec, "so none of the tiled kernel either");
    }
  }
  std::erase_if(chosen.specs, [](const gpu::GpuSpec& spec) { return !gpu::has_kernel_model(spec); });
  return chosen.specs;
}

std::vector<report::CalibratedGpu> calibrated(const std::vector<gpu::GpuSpec>& specs, gpu::DType dtype,
                                              const RecordedChoice& choice, const std::string& files) {
  const std::vector<gpu::Calibration> given = read_given_calibrations(files, specs);
  require_residuals_serve(specs, std::span(&dtype, 1), choice, given);
  std::vector<report::CalibratedGpu> gpus;
  for (const gpu::GpuSpec& spec : specs) gpus.push_back({spec, calibration_for(spec, dtype, choice, given)});
  return gpus;
}

RecordedChoice recorded_choice(const GemmOptions& options, Task task) {
  // A network's weights are real data and its kernels follow each other; a product is compared with measurements.
  RecordedChoice choice;
  if (task == Task::networks) {
    choice.operands = OperandChoice::random;
    choice.launch = LaunchChoice::kernel;
  }
  if (!options.operands.empty()) {
    choice.operands = parse_enum("--operands", options.operands, kOperands);
  }
  if (!options.launch.empty()) {
    choice.launch = parse_enum("--launch", options.launch, kLaunches);
  }
  choice.residual = !options.no_residual;
  if (!options.residuals.empty()) choice.residual_files = split(options.residuals, ',');
  return choice;
}

void write(const GemmOptions& options, const std::string& text) { print_or_write(options.out, text); }

/// Text in a file is as wide as it needs to be.
int columns_for(const GemmOptions& options) { return is_standard_output(options.out) ? output_columns() : 0; }

gpu::Gemm product_of(const GemmOptions& options) {
  const std::int64_t batch = options.batch.empty() ? 1 : whole_number("--batch", options.batch, gpu::kLargestDimension);
  const gpu::Gemm gemm{.m = whole_number("-m", options.m, gpu::kLargestDimension),
                       .n = whole_number("-n", options.n, gpu::kLargestDimension),
                       .k = whole_number("-k", options.k, gpu::kLargestDimension),
                       .batch = batch,
                       .dtype = dtype_of(options),
                       .layout = layout_of(options, batch),
                       .quantisation = quantisation_of(options)};
  gpu::require_valid(gemm);
  return gemm;
}

int predict_tiled(const GemmOptions& options) {
  const bool other_format = !options.dtype.empty() && dtype_of(options) != gpu::DType::fp32;
  refuse(other_format, "--tiled", "is a kernel in fp32: leave --dtype out");
  refuse(!options.layout.empty() || !options.mode.empty(), "--tiled", "takes no --layout and no --mode");
  const std::vector<gpu::GpuSpec> specs = choose_modelled_gpus(options.gpus, gpu::DType::fp32);
  const gpu::Gemm gemm = product_of(options);
  write(options,
        options.json ? report::tiled_json(specs, gemm) : report::tiled_text(specs, gemm, columns_for(options)));
  return 0;
}

int predict_product(const GemmOptions& options, gpu::RunMode mode) {
  const gpu::Gemm gemm = product_of(options);
  const ChosenGpus chosen = choose_gpus(options.gpus, gemm.dtype);
  report::GemmReport result{.gemm = gemm, .mode = mode, .gpus = {}, .left_out = chosen.left_out};
  for (const report::CalibratedGpu& gpu :
       calibrated(chosen.specs, gemm.dtype, recorded_choice(options, Task::product), options.calibrations)) {
    report::GemmOnGpu on = report::predict_on(gpu, gemm, mode);
    if (options.candidates) gpu::require_kernel_model(gpu.spec, "so no candidates");
    if (options.candidates) on.candidates = gpu::rank_candidates(gpu.spec, gpu.calibration, gemm, mode);
    result.gpus.push_back(std::move(on));
  }
  if (gpu::means_all_gpus(options.gpus)) {
    std::stable_sort(result.gpus.begin(), result.gpus.end(),
                     [](const auto& a, const auto& b) { return a.prediction.latency_s < b.prediction.latency_s; });
  }
  const int columns = columns_for(options);
  if (options.json) {
    write(options, report::gemm_json(result));
    return 0;
  }
  std::string text = options.candidates ? report::gemm_candidates_text(result, columns)
                     : options.explain  ? report::gemm_explanation(result, columns)
                                        : report::gemm_text(result, columns);
  if (options.plot) text += "\n" + report::gemm_plot_text(result, plot_columns(), plot_glyphs());
  write(options, text);
  return 0;
}

/// What of a table the user should know, on standard error.
void remark_on(const TableSummary& table) {
  for (const std::string& text : table.remarks) remark(text);
  if (table.of_zero_weights > 0) {
    remark(
        fmt::format("power of {} of {} predictions is that of unwritten weights or long vectors, as recorded for "
                    "these shapes; with --operands random it is that of real data",
                    with_commas(table.of_zero_weights), with_commas(table.predictions)));
  }
  if (table.rooflines > 0) {
    remark(fmt::format("{} of {} predictions are roofline estimates: their GPU has no kernel model",
                       with_commas(table.rooflines), with_commas(table.predictions)));
  }
  const auto say = [&](std::size_t outside, const char* what) {
    if (outside == 0) return;
    remark(fmt::format("{} of {} predictions are {}", with_commas(outside), with_commas(table.predictions), what));
  };
  say(table.outside_range, "of an uncalibrated GPU or outside the validated range");
  say(table.misaligned, "of rows that fill no 16 bytes (n, k), which nobody measured: expect slower kernels");
  say(table.beyond_memory, "of operands and results that the GPU's memory cannot hold");
  say(table.unmet_limits, "above their GPU's power limit, which not even the lowest clock meets");
  say(table.power_outside_range, "without measured power nearby: power_w, energy_mj not validated");
}

int predict_rows(const GemmOptions& options, gpu::RunMode mode) {
  constexpr EnumNames<report::TableFormat, 2> kFormats{
      {{report::TableFormat::csv, "csv"}, {report::TableFormat::json, "json"}}};
  const std::string format = options.format.empty() ? (options.json ? "json" : "csv") : options.format;
  TableRequest request{
      .file = options.csv,
      .gpus = options.gpus,
      .defaults = {.batch = 1, .dtype = dtype_of(options), .quantisation = quantisation_of(options), .layout = {}},
      .recorded = recorded_choice(options, Task::table),
      .calibrations = options.calibrations,
      .mode = mode,
      .format = parse_enum("--format", format, kFormats)};
  if (!options.batch.empty()) {
    request.defaults.batch = whole_number("--batch", options.batch, gpu::kLargestDimension);
  }
  if (!options.layout.empty()) request.defaults.layout = gpu::parse_layout(options.layout);
  install_interrupt_handlers();
  if (is_standard_output(options.out)) {
    remark_on(predict_table(request, {.write = [](std::string_view text) { print(text); }}));
    return 0;
  }
  AtomicFile out(options.out);
  const auto write_out = [&](std::string_view text) { out.write(text); };
  const TableSummary summary = predict_table(request, {.write = write_out, .can_take_back = !out.is_direct()});
  out.commit();
  remark_on(summary);
  return 0;
}

std::vector<std::int64_t> devices_of(const GemmOptions& options) {
  std::vector<std::int64_t> devices;
  for (const std::string& piece : split(options.devices.empty() ? "1" : options.devices, ',')) {
    if (piece.empty()) {
      throw Error(ErrorKind::usage,
                  fmt::format("hindsight gemm: --devices '{}': an empty number. Is there a comma too many?",
                              printable(options.devices)));
    }
    const std::int64_t count = whole_number("--devices", piece, gpu::kMostDevices);
    if (std::find(devices.begin(), devices.end(), count) != devices.end()) {
      throw Error(ErrorKind::usage, fmt::format("hindsight gemm: --devices: {} is given twice", count));
    }
    devices.push_back(count);
  }
  return devices;
}

/// Nothing for a GPU of "all" without links.
std::optional<report::NetworkOnGpu> shared_network(const GemmOptions& options, const report::CalibratedGpu& gpu,
                                                   const workload::Network& network, gpu::DType dtype,
                                                   const gpu::NetworkRun& run, std::int64_t devices) {
  gpu::Link link;
  if (devices > 1) {
    if (gpu::means_all_gpus(options.gpus) && !gpu::has_link(gpu.spec.name)) return std::nullopt;
    link = gpu::load_link(gpu.spec.name);
    if (devices > link.most) {
      throw Error(ErrorKind::usage, fmt::format("hindsight gemm: --devices {}: machines have up to {} of {}", devices,
                                                link.most, gpu.spec.name));
    }
  }
  const auto predicted_on = [&](const gpu::GpuSpec& spec) {
    return gpu::predict_shared(spec, gpu.calibration, network, dtype, run, devices, link);
  };
  return report::NetworkOnGpu{
      .gpu = gpu,
      .prediction = predicted_on(gpu.spec),
      .devices = devices,
      .resident_bytes = gpu::resident_bytes(devices > 1 ? gpu::share_out(network, devices).network : network, dtype),
      .without_lock_s = gpu.spec.unlocked_hz > 0 ? predicted_on(gpu::without_lock(gpu.spec)).latency_s : 0};
}

int predict_networks(const GemmOptions& options, gpu::RunMode mode) {
  const gpu::DType dtype = dtype_of(options);
  const ChosenGpus chosen = choose_gpus(options.gpus, dtype);
  const std::vector<report::CalibratedGpu> gpus =
      calibrated(chosen.specs, dtype, recorded_choice(options, Task::networks), options.calibrations);
  const std::vector<std::int64_t> devices = devices_of(options);
  std::vector<workload::Network> networks = workload::load_networks(options.workloads);
  if (!options.batch.empty()) {
    const std::int64_t batch = whole_number("--batch", options.batch, workload::kLargestBatch);
    for (workload::Network& network : networks) network = network.with_batch(batch);
  }
  gpu::NetworkRun run{.mode = mode};
  if (!options.attention.empty()) run.attention = gpu::parse_attention_run(options.attention);
  run.quantisation = quantisation_of(options);
  std::vector<report::NetworkReport> reports;
  for (const workload::Network& network : networks) {
    report::NetworkReport result{.network = &network,
                                 .dtype = dtype,
                                 .quantisation = run.quantisation,
                                 .mode = mode,
                                 .gpus = {},
                                 .left_out = chosen.left_out};
    for (const report::CalibratedGpu& gpu : gpus) {
      for (const std::int64_t count : devices) {
        if (auto on = shared_network(options, gpu, network, dtype, run, count)) result.gpus.push_back(std::move(*on));
      }
    }
    reports.push_back(std::move(result));
  }
  const int columns = columns_for(options);
  if (options.json) {
    write(options, report::networks_gemm_json(reports));
    return 0;
  }
  std::string text = options.explain ? report::networks_gemm_explanation(reports, columns)
                                     : report::networks_gemm_text(reports, columns);
  if (options.plot) text += report::networks_plot_text(reports, plot_columns(), plot_glyphs());
  write(options, text);
  return 0;
}

int gemm(const GemmOptions& options, const Session& session) {
  const Task task = task_of(options);
  check_options(options, task);
  require_drawable(options.plot, options.json);
  require_quantisable(options, task);
  FileRoles roles;
  roles.reads("--csv", options.csv)
      .reads("--workload", options.workloads)
      .reads("--gpu", options.gpus)
      .reads("--calibration", options.calibrations)
      .reads("--residual", options.residuals)
      .writes("--out", options.out)
      .require_usable();
  const gpu::RunMode mode = run_mode(options, task);
  if (session.dry_run) {
    static_cast<void>(gpu::load_gpus(options.gpus));
    if (task == Task::networks) static_cast<void>(workload::load_networks(options.workloads));
    return show_dry_run(roles, {{"--out", "the predictions"}},
                        {.evaluations = 0, .basis = "one prediction takes less than a millisecond"},
                        dry_run_style(options.json));
  }
  switch (task) {
    case Task::product:
      return options.tiled ? predict_tiled(options) : predict_product(options, mode);
    case Task::table:
      return predict_rows(options, mode);
    case Task::networks:
      return predict_networks(options, mode);
  }
  return 0;
}

}  // namespace

void add_gemm(CLI::App& app, Session& session) {
  const auto options = std::make_shared<GemmOptions>();
  CLI::App* verb = app.add_subcommand("gemm", "Predict matrix products on GPUs");
  verb->add_option("--gpu,--gpus", options->gpus, "Names a,b,c; all; or a YAML file")->required();
  verb->add_option("-m", options->m, "Rows of the result")->type_name("INT");
  verb->add_option("-n", options->n, "Columns of the result")->type_name("INT");
  verb->add_option("-k", options->k, "Products added per element")->type_name("INT");
  verb->add_option("--dtype", options->dtype, "fp32, tf32, fp16, bf16, fp8, int8, fp4 [bf16]");
  verb->add_option("--quantise", options->quantisation,
                   "Kernel that makes fp8 or int8 activations:\nnone, dynamic, static, block [none]");
  verb->add_option("--batch", options->batch, "Independent products; of a network: inferences")->type_name("INT");
  verb->add_option("--layout", options->layout, "nn, nt, tn, tt (t: transposed) [nt; batched nn]");
  verb->add_option("--mode", options->mode, "burst or sustained [burst; networks: sustained]");
  verb->add_option("--operands", options->operands,
                   "Power as recorded, or of random data\n[recorded; networks: random]");
  verb->add_option("--launch", options->launch, "recorded, or from a graph or stream\n[recorded; networks: graph]");
  verb->add_option("--attention", options->attention, "Of networks: fused, or its gemms alone [fused]");
  verb->add_option("--devices", options->devices, "GPUs that share a network, 1,2,4: an estimate [1]");
  verb->add_option("--calibration", options->calibrations, "Files of calibrate, a.yaml,b.yaml [the shipped ones]");
  verb->add_option("--residual", options->residuals, "Learned corrections, a.yaml,b.yaml [the shipped ones]");
  verb->add_flag("--no-residual", options->no_residual, "The analytical model alone");
  verb->add_option("--csv", options->csv,
                   "Table with columns m,n,k[,batch,dtype,\nquantise,layout];\n- reads standard input, row by row");
  verb->add_option("--workload,--workloads", options->workloads, kWorkloadsHelp);
  verb->add_option("--format", options->format, "Of a table: csv or json [csv]");
  verb->add_option("--out", options->out, "File to write, whole or not at all [-: print]");
  verb->add_flag("--explain", options->explain, "The terms behind each figure");
  verb->add_flag("--candidates", options->candidates, "The library's kernels, ranked");
  verb->add_flag("--tiled", options->tiled, "The plain tiled fp32 kernel at tiles 1 to 32");
  verb->add_flag("--plot", options->plot, "Also draw the products below the GPUs' roofs");
  verb->add_flag("--json", options->json, "As JSON");
  add_dry_run(*verb, session);
  verb->footer("Example: hindsight gemm --gpu h100-sxm5,l40s -m 4096 -n 4096 -k 4096 --explain");
  verb->callback([options, &session] { session.action = [options, &session] { return gemm(*options, session); }; });
}

}  // namespace hindsight::app
