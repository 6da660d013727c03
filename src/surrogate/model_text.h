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
/// The newest version whose models know no applications by words.
inline constexpr int kWordlessModelFormat = 5;

/// Everything of a model but the weights.
[[nodiscard]] std::string model_text(const Model& model);

struct ModelText {
  Model::Parts parts;                       ///< without members
  std::vector<Architecture> architectures;  ///< of the members
};
/// `format_version`: of the file, kOldestModelFormat or later. Error{incompatible} naming the entry that is missing, of
/// the wrong type or version. Bounded: see parse_bounded_json.
[[nodiscard]] ModelText parse_model_text(std::string_view text, int format_version);

}  // namespace hindsight::surrogate
