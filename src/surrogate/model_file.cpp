/// Model files: the description and the weights of a model in a safetensors file with checksums.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "surrogate/json_entries.h"
#include "surrogate/model_text.h"
#include "surrogate/tensor_file.h"

namespace hindsight::surrogate {
namespace {

std::string layers_name(std::size_t context) { return fmt::format("context.{}.layers", context); }

/// An application's layers, l x (f + 1): features and, last, repeats.
Tensor layers_tensor(const dataset::LayerList& layers) {
  Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows(layers.features.rows(),
                                                                             layers.features.cols() + 1);
  rows << layers.features, layers.repeats;
  return {.shape = {rows.rows(), rows.cols()}, .values = {rows.data(), rows.data() + rows.size()}};
}

dataset::LayerList layers_of(const std::string& name, const Tensor& tensor) {
  const bool usable = tensor.shape.size() == 2 && tensor.shape[0] > 0 && tensor.shape[1] > 1 &&
                      std::ranges::all_of(tensor.values, [](float value) { return std::isfinite(value); });
  if (!usable) refuse(fmt::format("tensor '{}' is no list of layers", printable(name)));
  const Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> rows(
      tensor.values.data(), tensor.shape[0], tensor.shape[1]);
  return {.features = rows.leftCols(rows.cols() - 1), .repeats = rows.rightCols(1)};
}

/// Where `name` is that of an application's layers, its number.
std::optional<std::size_t> context_number(const std::string& name, std::size_t contexts) {
  const auto pieces = split(name, '.');
  const auto number = pieces.size() == 3 && pieces[0] == "context" ? parse_int(pieces[1]) : std::nullopt;
  if (!number || *number < 0 || static_cast<std::size_t>(*number) >= contexts) return std::nullopt;
  if (name != layers_name(static_cast<std::size_t>(*number))) return std::nullopt;
  return static_cast<std::size_t>(*number);
}

std::string model_bytes(const Model& model) {
  TensorFile file{
      .format_version = std::to_string(model_format_version(model)), .text = model_text(model), .tensors = {}};
  const auto& members = model.parts().members;
  const auto& contexts = model.parts().training_contexts;
  const bool sees_layers = members.front().architecture().kind == NetworkKind::layers;
  for (std::size_t c = 0; sees_layers && c < contexts.size(); ++c) {
    file.tensors.emplace_back(layers_name(c), layers_tensor(contexts[c].layers));
  }
  for (std::size_t m = 0; m < members.size(); ++m) {
    for (const auto& [name, tensor] : members[m].weights()) file.tensors.emplace_back(member_prefix(m) + name, tensor);
  }
  return serialise(file, FileKind::model);
}

void require_model_version(const std::string& text) {
  const auto version = parse_int(text);
  if (version && *version >= kOldestModelFormat && *version <= kModelFormatVersion) return;
  refuse(
      fmt::format("model format version {}, this program reads versions {} to {}. Train the model again, or use the "
                  "program that wrote it",
                  printable(text), kOldestModelFormat, kModelFormatVersion));
}

Model parse_model(std::string_view bytes) {
  TensorFile file = parse_tensor_file(bytes, FileKind::model, require_model_version);
  ModelText description = parse_model_text(file.text, static_cast<int>(parse_int(file.format_version).value_or(0)));
  std::vector<Weights> weights(description.architectures.size());
  for (auto& [name, tensor] : file.tensors) {
    if (const auto context = context_number(name, description.parts.training_contexts.size())) {
      description.parts.training_contexts[*context].layers = layers_of(name, tensor);
      continue;
    }
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

int model_format_version(const Model& model) {
  return model.parts().context_scaler.words.empty() ? kWordlessModelFormat : kModelFormatVersion;
}

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
