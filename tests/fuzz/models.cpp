/// Readers of models and checkpoints.
#include <array>
#include <cstring>

#include "fuzz/made.h"
#include "fuzz/reader.h"
#include "hindsight/core/hash.h"
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

}  // namespace

std::span<const Reader> model_readers() {
  static constexpr std::array kReaders{
      Reader{.name = "model", .read = read_model, .seal = seal_tensors, .dictionary = "json"},
      Reader{.name = "checkpoint", .read = read_checkpoint, .seal = seal_tensors, .dictionary = "json"},
  };
  return kReaders;
}

}  // namespace hindsight::fuzz
