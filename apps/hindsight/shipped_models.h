/// Pretrained surrogates in `models/`, by name.
#pragma once

#include <string>
#include <vector>

#include "hindsight/surrogate/model.h"

namespace hindsight::app {

/// The model a command takes when none is named, of the space `edge`.
inline constexpr const char* kShippedModel = "edge-any";
/// That of a space, by the name or file of the space; kShippedModel for spaces that none is shipped for, which says in
/// its errors what the two differ in.
[[nodiscard]] std::string shipped_model_of(const std::string& space);

/// The shipped model for any network that answers the same question as `model`, with labels of these names besides: of
/// its space, evaluator and objective. "" where none does, and where it is `model`.
[[nodiscard]] std::string any_model_like(const surrogate::Model& model, const std::vector<std::string>& labels);

/// A file that exists as given, else the shipped model of that name. Error{usage} with the nearest name.
[[nodiscard]] std::string model_file(const std::string& name_or_path);

/// Names of the models that ship with Hindsight, sorted.
[[nodiscard]] std::vector<std::string> shipped_models();

}  // namespace hindsight::app
