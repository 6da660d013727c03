/// Readers of whole files: models, checkpoints, logs, landscapes.
#include <array>
#include <cstring>

#include "fuzz/made.h"
#include "fuzz/reader.h"
#include "hindsight/accel/optimum/landscape.h"
#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/dataset/load.h"
#include "hindsight/log/content.h"
#include "hindsight/log/deep_check.h"
#include "hindsight/log/log.h"
#include "hindsight/log/query.h"
#include "hindsight/log/repair.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::fuzz {
namespace {

/// Puts the right checksums into a safetensors file of ours, where its header can be told from its data.
std::string seal_tensors(std::string bytes) {
  constexpr std::size_t kLength = 8, kDigits = 64;
  constexpr std::string_view kHeaderKey = R"("header_sha256":")", kDataKey = R"("data_sha256":")";
  std::uint64_t length = 0;
  if (bytes.size() < kLength) return bytes;
  std::memcpy(&length, bytes.data(), kLength);
  if (length > bytes.size() - kLength) {
    length = bytes.size() - kLength;
    std::memcpy(bytes.data(), &length, kLength);
  }
  const auto put = [&](std::string_view key, const std::string& digits) {
    const std::size_t at = bytes.find(key, kLength);
    if (at == std::string::npos || at + key.size() + kDigits > kLength + length) return;
    bytes.replace(at + key.size(), kDigits, digits);
  };
  put(kDataKey, sha256_hex(std::string_view(bytes).substr(kLength + length)));
  put(kHeaderKey, std::string(kDigits, '0'));
  put(kHeaderKey, sha256_hex(std::string_view(bytes).substr(kLength, length)));
  return bytes;
}

/// A model that is accepted can be asked, whatever its weights are, and reads back as it was.
void read_model(std::string_view bytes) {
  const surrogate::Model model = surrogate::load_model(as_file(bytes, ".safetensors"));
  require(!surrogate::model_card(model).empty(), "a model has a card");
  const auto& parts = model.parts();
  surrogate::LevelMatrix levels(2, static_cast<Eigen::Index>(parts.space.parameters().size()));
  levels.setZero();
  if (!parts.training_contexts.empty()) {
    const surrogate::EnsemblePrediction prediction = model.predict(levels, parts.training_contexts.front());
    require(prediction.score.size() == 2, "a prediction per design");
  }
  const std::filesystem::path again = free_path("again.safetensors");
  surrogate::save_model(model, again);
  require(surrogate::load_model(again).parts().space.definition_hash() == parts.space.definition_hash(),
          "a model reads back");
}

void read_checkpoint(std::string_view bytes) { load_made_checkpoint(as_file(bytes, ".checkpoint")); }

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

/// A file that was repaired is a sound log.
void repair_log(std::string_view bytes) {
  const auto output = free_path("repaired.sqlite");
  (void)log::repair_log(as_file(bytes, ".sqlite"), output, made_provenance());
  const log::Verification verification = log::Log::open(output, log::OpenMode::read_only).verify();
  require(verification.sound(), "a repaired log is sound");
}

void read_landscape(std::string_view bytes) { (void)accel::optimum::Landscape::read(as_file(bytes, ".landscape")); }

}  // namespace

std::span<const Reader> binary_readers() {
  static constexpr std::array kReaders{
      Reader{.name = "model", .read = read_model, .seal = seal_tensors, .dictionary = "json"},
      Reader{.name = "checkpoint", .read = read_checkpoint, .seal = seal_tensors, .dictionary = "json"},
      Reader{.name = "log", .read = read_log, .dictionary = "sqlite"},
      Reader{.name = "log_repair", .read = repair_log, .dictionary = "sqlite"},
      Reader{.name = "landscape", .read = read_landscape},
  };
  return kReaders;
}

}  // namespace hindsight::fuzz
