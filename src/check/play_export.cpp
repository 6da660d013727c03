/// Sweeps a task's log and writes the folder.
#include "hindsight/check/play_export.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <system_error>

#include "check/play_readme.h"
#include "hindsight/accel/config.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/nearest_design.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/csv_import.h"
#include "hindsight/log/query.h"
#include "hindsight/log/shareable.h"
#include "hindsight/study/trajectory.h"

namespace hindsight::check {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t kAroundSteps = 4;  // [chosen] 3 steps reach 1,118 designs only
constexpr double kWorseHalf = 0.5;

/// Metrics of a row of log.csv. Of infeasible rows those that the design alone decides are known.
const std::vector<std::string> kCsvMetrics = {"latency_s", "energy_j", "average_power_w", "area_mm2", "peak_power_w"};

/// A folder beside the one that it becomes; gone, with all in it, unless it became that.
class FolderToBe {
 public:
  explicit FolderToBe(const fs::path& out) : out_(out) {
    fs::path parent = fs::absolute(out).parent_path();
    std::string pattern = (parent / (".hindsight-export-XXXXXX")).string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw Error(ErrorKind::failure, fmt::format("{}: cannot make a folder: {}", printable(parent.string(), 200),
                                                  std::generic_category().message(errno)));
    }
    path_ = pattern;
    fs::create_directory(content());
  }
  ~FolderToBe() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  FolderToBe(const FolderToBe&) = delete;
  FolderToBe& operator=(const FolderToBe&) = delete;

  [[nodiscard]] fs::path content() const { return path_ / "content"; }
  /// For what does not stay.
  [[nodiscard]] const fs::path& scratch() const { return path_; }
  void become() {
    std::error_code error;
    fs::rename(content(), out_, error);
    if (error) {
      throw Error(ErrorKind::failure, fmt::format("{}: cannot be made: {}. Name another folder?",
                                                  printable(out_.string(), 200), error.message()));
    }
  }

 private:
  fs::path out_, path_;
};

/// One evaluation as a line: values of the parameters, then the rest of csv_header().
std::string csv_line(const log::EvaluationRecord& record, const std::string& workload) {
  std::string line;
  for (const std::string& piece : split(record.design_text_id, ',')) line += piece.substr(piece.find('=') + 1) + ",";
  std::vector<std::string> reasons;
  for (const log::ViolationRow& violation : record.violations) reasons.push_back(violation.code);
  line += fmt::format("{},{},{}", csv_cell(workload), record.feasible ? 1 : 0, csv_cell(join(reasons, ";")));
  const auto& standard = log::standard_metrics();
  for (const std::string& metric : kCsvMetrics) {
    const auto column = std::find(standard.begin(), standard.end(), metric) - standard.begin();
    const double value = record.standard[static_cast<std::size_t>(column)];
    line += std::isnan(value) ? "," : "," + shortest(value);
  }
  return line + "\n";
}

std::string csv_header(const space::DesignSpace& space) {
  std::string header;
  for (const space::Parameter& parameter : space.parameters()) header += parameter.name + ",";
  return header + "workload,feasible,reasons," + join(kCsvMetrics, ",") + "\n";
}

constexpr const char* kViolationsHeader = "row,code,quantity,value,limit\n";

/// How far limits were missed, a line per reason of the evaluation that is row `row` of log.csv.
std::string violation_lines(const log::EvaluationRecord& record, std::uint64_t row) {
  const auto number = [](double value) { return std::isnan(value) ? "" : shortest(value); };
  std::string lines;
  for (const log::ViolationRow& violation : record.violations) {
    lines += fmt::format("{},{},{},{},{}\n", row, csv_cell(violation.code), csv_cell(violation.quantity),
                         number(violation.value), number(violation.limit));
  }
  return lines;
}

/// log.csv, violations.csv and log.sqlite, the same rows in the same order.
PlayExported write_log(const log::Log& log, const sweep::SweepOptions& sweep, const fs::path& folder) {
  PlayExported written;
  std::vector<std::pair<std::int64_t, std::string>> names;
  for (const log::WorkloadRecord& workload : log::workloads(log))
    names.emplace_back(workload.workload_id, workload.name);
  std::string csv = csv_header(sweep.space()), violations = kViolationsHeader;
  log::for_each_evaluation(log, {}, log::Detail::all, [&](const log::EvaluationRecord& record) {
    const auto name =
        std::find_if(names.begin(), names.end(), [&](const auto& one) { return one.first == record.workload_id; });
    csv += csv_line(record, name->second);
    violations += violation_lines(record, ++written.rows);
    if (record.feasible) ++written.feasible;
    return true;
  });
  write_file_atomically(folder / "log.csv", csv);
  write_file_atomically(folder / "violations.csv", violations);
  log::write_shareable_copy(log, folder / "log.sqlite");
  return written;
}

/// What the simulator is told of the networks: one line per layer.
std::string layers_csv(const PlayTask& task) {
  std::vector<std::string> names = task.train;
  for (const std::string& name : task.apply) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::string csv =
      "workload,layer,type,repeat,m,n,k,count,kernel_height,kernel_width,stride_height,stride_width,depthwise,macs,"
      "parameters,weight_bytes,input_bytes,output_bytes\n";
  for (const std::string& name : names) {
    const workload::Network network = workload::load_network(name);
    for (std::size_t i = 0; i < network.gemms().size(); ++i) {
      const workload::Layer& layer = network.layer_of(i);
      const workload::GemmLayer& gemm = network.gemms()[i];
      csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_cell(name),
                         csv_cell(layer.name), workload::to_string(layer.type), gemm.repeat, gemm.m, gemm.n, gemm.k,
                         gemm.count, gemm.kernel_height, gemm.kernel_width, gemm.stride_height, gemm.stride_width,
                         gemm.depthwise ? 1 : 0, gemm.macs, gemm.parameters, gemm.weight_bytes, gemm.input_bytes,
                         gemm.output_bytes);
    }
  }
  return csv;
}

Json space_json(const space::DesignSpace& space) {
  Json parameters = Json::array();
  for (const space::Parameter& parameter : space.parameters()) {
    Json values = Json::array();  // as they are written in the log: 4, not 4.0
    for (const std::string& label : parameter.labels) values.push_back(Json::parse(label));
    parameters.push_back({{"name", parameter.name}, {"unit", parameter.unit}, {"values", values}});
  }
  return {{"name", space.name()},
          {"designs", *space.size()},
          {"definition_hash", space.definition_hash()},
          {"parameters", parameters}};
}

std::string task_json(const PlayTask& task, const PlayExport& options, const PlayExported& written,
                      const space::DesignSpace& space) {
  Json limits = Json::object();
  for (const sweep::FactLimit& bound : task.limits) limits[bound.fact] = bound.limit;
  const Json json{{"task", task.name},
                  {"version", task.version},
                  {"model_version", play_technology().model_version},
                  {"seed", options.seed},
                  {"objective", formula_of(task.objective)},
                  {"aggregate", "mean"},
                  {"direction", "minimise"},
                  {"train", task.train},
                  {"apply", task.apply},
                  {"limits", limits},
                  {"most_proposals", kMostPlayProposals},
                  {"log",
                   {{"kind", to_string(task.log.kind)},
                    {"designs", written.designs},
                    {"rows", written.rows},
                    {"feasible_rows", written.feasible}}},
                  {"space", space_json(space)}};
  return json.dump(2) + "\n";
}

}  // namespace

void require_new_folder(const std::filesystem::path& out) {
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(out, ignored))) return;
  if (fs::is_directory(fs::symlink_status(out, ignored)) && fs::is_empty(out, ignored)) return;
  throw Error(ErrorKind::usage, fmt::format("{}: is there already, and nothing is written over. Name a new folder?",
                                            printable(out.string(), 200)));
}

sweep::SweepOptions play_sweep(const PlayTask& task, const PlayExport& options, const std::filesystem::path& log) {
  sweep::SweepOptions sweep{.evaluator = play_evaluator(),
                            .networks = workload::load_networks(join(task.train, ",")),
                            .sampler = space::SamplerKind::uniform,
                            .samples = task.log.samples,
                            .seed = options.seed,
                            .limits = {{.fact = "area_mm2", .limit = kPlayLogAreaLimit}},
                            .shard = {},
                            .log = log,
                            .threads = options.threads,
                            .quiet = options.quiet,
                            .provenance = options.provenance};
  switch (task.log.kind) {
    case PlayLog::Kind::uniform:
      break;
    case PlayLog::Kind::around: {
      const accel::ReferenceChip chip = accel::load_reference_chip("coral_edge_tpu");
      sweep.around =
          space::Neighbourhood{.centre = accel::nearest_design(chip, sweep.space()).design, .steps = kAroundSteps};
      break;
    }
    case PlayLog::Kind::trajectory:
      sweep.search = study::kTrajectory;
      sweep.objective = formula_of(task.objective);
      sweep.limits = task.limits;
      break;
    case PlayLog::Kind::worst_half:
      sweep.keep = sweep::Keep{.kind = sweep::KeepKind::worst, .share_frac = kWorseHalf};
      sweep.objective = formula_of(task.objective);
      break;
  }
  return sweep;
}

PlayExported export_play(const PlayTask& task, const std::filesystem::path& out, const PlayExport& options) {
  require_new_folder(out);
  FolderToBe folder(out);
  const fs::path raw = folder.scratch() / "raw.sqlite";
  const sweep::SweepOptions sweep = play_sweep(task, options, raw);
  const sweep::SweepSummary summary = sweep.search.empty() ? sweep::run_sweep(sweep) : study::run_trajectory(sweep);
  if (summary.status == sweep::SweepStatus::interrupted) {
    throw Error(ErrorKind::interrupted, "interrupted; nothing was written");
  }
  HINDSIGHT_ENSURE(summary.designs == task.log.samples);
  const log::Log log = log::Log::open(raw, log::OpenMode::read_write);
  PlayExported written = write_log(log, sweep, folder.content());
  written.designs = summary.designs;
  write_file_atomically(folder.content() / "space.yaml", dataset::to_yaml(sweep.space()));
  write_file_atomically(folder.content() / "layers.csv", layers_csv(task));
  write_file_atomically(folder.content() / "task.json", task_json(task, options, written, sweep.space()));
  write_file_atomically(folder.content() / "README.md", play_readme(task, options, written));
  folder.become();
  return written;
}

}  // namespace hindsight::check
