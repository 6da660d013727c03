/// A number that may be missing, as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace hindsight::check {

[[nodiscard]] inline nlohmann::ordered_json or_null(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace hindsight::check
