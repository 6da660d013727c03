/// A model without its weights as JSON text, and back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hindsight/surrogate/model.h"

namespace hindsight::surrogate {

/// Version of how designs become network inputs: level l of parameter i selects row l of embed.{i}.
inline constexpr int kEncodingVersion = 1;
/// The oldest version of the file format that is read.
inline constexpr int kOldestModelFormat = 2;

/// Everything of a model but the weights.
[[nodiscard]] std::string model_text(const Model& model);

struct ModelText {
  Model::Parts parts;                       ///< without members
  std::vector<Architecture> architectures;  ///< of the members
};
/// `format_version`: of the file, kOldestModelFormat or later. Error{incompatible} naming the entry that is missing, of
/// the wrong type or version. Bounded: see parse_bounded_json.
[[nodiscard]] ModelText parse_model_text(std::string_view text, int format_version);

/// The description of weights in a safetensors header: name, shape and place in the data section.
struct TensorEntry {
  std::string name;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;  ///< bytes of the data section
};
struct SafetensorsHeader {
  std::string format_version, data_sha256, model;  ///< entries of __metadata__
  std::vector<TensorEntry> tensors;                ///< in the order of their data
};
/// The header of a file; `header_sha256` is written as 64 zeros.
[[nodiscard]] std::string header_text(const SafetensorsHeader& header);
/// Error{incompatible} unless the text is an object of known entries, F32 tensors that fill the data section of
/// `data_bytes` bytes without hole or overlap.
[[nodiscard]] SafetensorsHeader parse_header_text(std::string_view text, std::uint64_t data_bytes);

}  // namespace hindsight::surrogate
