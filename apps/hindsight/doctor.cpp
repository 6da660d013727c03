/// hindsight doctor: what this installation is and what it finds.
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <thread>

#include "hindsight/accel/evaluation.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/core/thread_pool.h"
#include "hindsight/log/log.h"
#include "hindsight/measure/run.h"
#include "hindsight/report/catalogue.h"
#include "hindsight/surrogate/learner_library.h"
#include "output.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

/// The value of the first line "key : value" of a /proc file, or nothing.
std::optional<std::string> proc_value(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(':');
    if (colon != std::string::npos && line.starts_with(key)) return split(line.substr(colon + 1), '\n').front();
  }
  return std::nullopt;
}

std::string memory_text() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page_bytes <= 0) return "unknown";
  return binary_bytes(static_cast<double>(pages) * static_cast<double>(page_bytes));
}

std::string found(const std::string& folder) {
  const std::vector<std::string> names = list_data_files(folder);
  return names.empty() ? "none found" : fmt::format("{} ({})", names.size(), join(names, ", "));
}

std::string paths_text(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::string> names;
  for (const auto& path : paths) names.push_back(path.string());
  return names.empty() ? "none found" : join(names, ", ");
}

std::string training_text(const std::vector<std::string>& features) {
  const auto library = surrogate::learner_library();
  return library ? library->string() : surrogate::why_no_learner(features);
}

std::string measuring_text() {
  const measure::Availability here = measure::availability();
  if (!here.built_in) return fmt::format("not built in: {}", here.problem);
  return fmt::format("{}, {}", here.toolkit, here.devices.empty() ? here.problem : join(here.devices, ", "));
}

int doctor(bool json) {
  const BuildInfo& build = build_info();
  const report::Facts facts{
      {"version", build.version},
      {"commit", build.commit},
      {"compiler", build.compiler},
      {"build", build.build_type},
      {"features", build.features.empty() ? "none" : join(build.features, ", ")},
      {"libraries", fmt::format("CLI11 {}, fmt {}.{}.{}, nlohmann-json {}", CLI11_VERSION, FMT_VERSION / 10000,
                                FMT_VERSION / 100 % 100, FMT_VERSION % 100, report::json_library_version())},
      {"log schema", fmt::format("{} (SQLite application_id 0x{:08X})", log::kSchemaVersion, log::kApplicationId)},
      {"accelerator model", fmt::format("{} {}, {} with the technologies *-silicon", accel::kModelName,
                                        accel::kModelVersion, accel::kSiliconModelVersion)},
      {"training", training_text(build.features)},
      {"GPU", measuring_text()},
      {"CPU", proc_value("/proc/cpuinfo", "model name").value_or("unknown")},
      {"cores", fmt::format("{} ({} usable by this process)", std::thread::hardware_concurrency(), resolve_threads(0))},
      {"memory", memory_text()},
      {"data folders", paths_text(data_roots())},
      {"design spaces", found("configs/spaces")},
      {"reference chips", found("configs/designs")},
      {"workloads", found("data/workloads")},
      {"technologies", found("data/technology")},
      {"GPUs", found("data/gpus")}};
  print(json ? report::facts_json(facts) : report::facts_text(facts, output_columns()));
  const bool complete = !list_data_files("configs/spaces").empty() && !list_data_files("data/workloads").empty() &&
                        !list_data_files("data/technology").empty();
  if (complete) return 0;
  complain(
      "the data that ships with Hindsight is missing. Set HINDSIGHT_DATA_DIR to the folder of configs/ and data/?");
  return exit_code(ErrorKind::failure);
}

}  // namespace

void add_doctor(CLI::App& app, Session& session) {
  const auto json = std::make_shared<bool>(false);
  CLI::App* verb = app.add_subcommand("doctor", "What is built in, versions, hardware, data found");
  verb->add_flag("--json", *json, "As JSON");
  verb->footer("Example: hindsight doctor");
  verb->callback([json, &session] { session.action = [json] { return doctor(*json); }; });
}

}  // namespace hindsight::app
