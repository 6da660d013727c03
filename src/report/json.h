/// The one JSON type of the reports: keys in the order they are added.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "report/fields.h"

namespace hindsight::report {

using Json = nlohmann::ordered_json;

[[nodiscard]] inline Json object(const NamedValues& values) {
  Json json = Json::object();
  for (const auto& [name, value] : values) json[std::string(name)] = value;
  return json;
}

/// null where it is not finite.
[[nodiscard]] inline Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

/// null where there is none.
template <class Value>
[[nodiscard]] Json value_or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Beside what the model says; null where no area of the chip is published.
[[nodiscard]] inline Json published_json(const std::optional<accel::ComparedArea>& area) {
  if (!area) return nullptr;
  return {{"published_mm2", area->published.mm2},
          {"at_most", area->published.at_most},
          {"of", std::string(accel::to_string(area->published.scope))},
          {"modelled_mm2", area->modelled_mm2}};
}

/// Indented by two, ending in a newline; bytes that are not UTF-8 are replaced.
[[nodiscard]] inline std::string to_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hindsight::report
