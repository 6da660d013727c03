/// Readers of models and checkpoints.
#include <array>
#include <cstring>
#include <fstream>

#include "fuzz/made.h"
#include "fuzz/reader.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/surrogate/model.h"
#include "hindsight/surrogate/parts.h"
#include "hindsight/surrogate/trials.h"
#include "hindsight/surrogate/tune.h"

namespace hindsight::fuzz {
namespace {

const std::string kMadeTrial = "a";  ///< what the trial is known by

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
  const surrogate::Model copy = surrogate::load_model(again);
  require(copy.parts().space.definition_hash() == parts.space.definition_hash(), "a model reads back");
  const std::string saved = read_file(again);
  surrogate::save_model(copy, again);
  require(read_file(again) == saved, "a model that was saved and read is saved as the same bytes");
}

/// The facts of a part, and the model that it makes where it is all of a training.
void read_training_part(std::string_view bytes) {
  const std::filesystem::path file = as_file(bytes, ".part");
  const surrogate::PartFacts facts = surrogate::read_part_facts(file);
  require(facts.shard.index < facts.shard.count, "a shard is one of its count");
  (void)surrogate::read_whole_training({file});
  join_made_part(file);
}

/// A result that is there is taken or refused, and never made again.
void read_trial(std::string_view bytes) {
  static const std::filesystem::path folder = free_path("trials");
  surrogate::SharedTrials shared({.folder = folder});
  std::ofstream(folder / (sha256_hex(kMadeTrial) + ".json"), std::ios::binary) << bytes;
  const auto results = shared.results(
      {surrogate::SharedTrial{.identity = kMadeTrial}},
      [](std::size_t /*trial*/) -> std::string { throw Broken("a trial whose result is there is run again"); }, {});
  require(results.size() == 1 && results.front(), "a result per trial");
  surrogate::Trial trial;
  surrogate::set_scores(trial, *results.front());
}

void read_checkpoint(std::string_view bytes) { load_made_checkpoint(as_file(bytes, ".checkpoint")); }

}  // namespace

std::span<const Reader> model_readers() {
  static constexpr std::array kReaders{
      Reader{.name = "model", .read = read_model, .seal = seal_tensors, .dictionary = "json"},
      Reader{.name = "checkpoint", .read = read_checkpoint, .seal = seal_tensors, .dictionary = "json"},
      Reader{.name = "training_part", .read = read_training_part, .seal = seal_tensors, .dictionary = "json"},
      Reader{.name = "trials", .read = read_trial, .dictionary = "json"},
  };
  return kReaders;
}

}  // namespace hindsight::fuzz
