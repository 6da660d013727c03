/// Readers of logs.
#include <array>

#include "fuzz/reader.h"
#include "hindsight/core/error.h"
#include "hindsight/core/provenance.h"
#include "hindsight/dataset/load.h"
#include "hindsight/log/content.h"
#include "hindsight/log/deep_check.h"
#include "hindsight/log/log.h"
#include "hindsight/log/query.h"
#include "hindsight/log/repair.h"

namespace hindsight::fuzz {
namespace {

/// Everything that verbs ask of a log which they only read.
void ask_everything(const log::Log& log) {
  (void)log::summary(log);
  (void)log::spaces(log);
  (void)log::evaluators(log);
  (void)log::workloads(log);
  (void)log::recent_runs(log, 10);
  (void)log::proposals(log, std::nullopt);
  (void)log::proposing_runs(log, 10);
  (void)log::metric_names(log);
  (void)log::workload_origins(log);
  (void)log::designs_by_hash(log, "ab");
  for (const log::WorkloadStats& one : log::workload_stats(log)) {
    (void)log::best_designs(log, one.workload, "area_mm2", 3);
  }
  log::for_each_evaluation(log, {}, log::Detail::all, [](const log::EvaluationRecord&) { return true; });
  (void)log::content(log);
}

void read_log(std::string_view bytes) {
  const auto file = as_file(bytes, ".sqlite");
  const log::Log log = log::Log::open(file, log::OpenMode::read_only);
  const log::Verification verification = log.verify();
  ask_everything(log);
  if (verification.sound()) (void)log::contradictions_in(log);
  dataset::Selection selection;
  selection.objective = dataset::parse_objective("latency_s", Direction::minimise);
  (void)dataset::load_dataset(file, selection);
}

/// A file that was repaired is a sound log. The repair asks that itself, in the same words, before its file has a name,
/// and refuses to write otherwise: that refusal is a finding.
void repair_log(std::string_view bytes) {
  const auto output = free_path("repaired.sqlite");
  try {
    (void)log::repair_log(as_file(bytes, ".sqlite"), output, Provenance());
  } catch (const Error& error) {
    require(std::string_view(error.what()).find(log::kUnsoundRepair) == std::string_view::npos, error.what());
    throw;
  }
  require(std::filesystem::file_size(output) > 0, "a repaired log is there");
}

}  // namespace

std::span<const Reader> log_readers() {
  static constexpr std::array kReaders{
      Reader{.name = "log", .read = read_log, .dictionary = "sqlite"},
      Reader{.name = "log_repair", .read = repair_log, .dictionary = "sqlite"},
  };
  return kReaders;
}

}  // namespace hindsight::fuzz
