/// Model files: the description and the weights of a model in a safetensors file with checksums.
#include <fmt/format.h>

#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "surrogate/json_entries.h"
#include "surrogate/model_text.h"
#include "surrogate/tensor_file.h"

namespace hindsight::surrogate {
namespace {

std::string member_prefix(std::size_t member) { return fmt::format("member.{}.", member); }

std::string model_bytes(const Model& model) {
  TensorFile file{.format_version = std::to_string(kModelFormatVersion), .text = model_text(model), .tensors = {}};
  const auto& members = model.parts().members;
  for (std::size_t m = 0; m < members.size(); ++m) {
    for (const auto& [name, tensor] : members[m].weights()) file.tensors.emplace_back(member_prefix(m) + name, tensor);
  }
  return serialise(file, FileKind::model);
}

void require_version(const std::string& text) {
  const auto version = parse_int(text);
  if (version && *version >= kOldestModelFormat && *version <= kModelFormatVersion) return;
  refuse(
      fmt::format("model format version {}, this program reads versions {} to {}. Train the model again, or use the "
                  "program that wrote it",
                  printable(text), kOldestModelFormat, kModelFormatVersion));
}

Model parse_model(std::string_view bytes) {
  TensorFile file = parse_tensor_file(bytes, FileKind::model, require_version);
  ModelText description = parse_model_text(file.text, static_cast<int>(parse_int(file.format_version).value_or(0)));
  std::vector<Weights> weights(description.architectures.size());
  for (auto& [name, tensor] : file.tensors) {
    const auto pieces = split(name, '.');
    const auto member = pieces.size() > 2 && pieces[0] == "member" ? parse_int(pieces[1]) : std::nullopt;
    if (!member || *member < 0 || static_cast<std::size_t>(*member) >= weights.size()) {
      refuse(fmt::format("tensor '{}' belongs to no member of the model", printable(name)));
    }
    const auto number = static_cast<std::size_t>(*member);
    if (!name.starts_with(member_prefix(number))) refuse(fmt::format("odd tensor name '{}'", printable(name)));
    weights[number].emplace(name.substr(member_prefix(number).size()), std::move(tensor));
  }
  for (std::size_t m = 0; m < weights.size(); ++m) {
    description.parts.members.emplace_back(description.architectures[m], std::move(weights[m]));
  }
  return Model(std::move(description.parts));
}

}  // namespace

void save_model(const Model& model, const std::filesystem::path& file) {
  const std::string bytes = model_bytes(model);
  if (bytes.size() > kMaxFileBytes) {
    throw Error(ErrorKind::failure, fmt::format("{}: a model of {} bytes is refused (at most {})",
                                                printable(file.string(), 400), bytes.size(), kMaxFileBytes));
  }
  static_cast<void>(parse_model(bytes));  // what is written can be read
  write_file_atomically(file, bytes);
  write_file_atomically(std::filesystem::path(file).replace_extension(".md"), model_card(model));
}

Model load_model(const std::filesystem::path& file) {
  const std::string bytes = read_file(file, kMaxFileBytes);
  try {
    return parse_model(bytes);
  } catch (const Error& error) {
    throw Error(ErrorKind::incompatible, fmt::format("{}: {}", printable(file.string(), 400), error.what()));
  }
}

}  // namespace hindsight::surrogate
