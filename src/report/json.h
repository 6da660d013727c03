/// The one JSON type of the reports: keys in the order they are added.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "report/fields.h"

namespace hindsight::report {

using Json = nlohmann::ordered_json;

[[nodiscard]] inline Json object(const NamedValues& values) {
  Json json = Json::object();
  for (const auto& [name, value] : values) json[std::string(name)] = value;
  return json;
}

/// Indented by two, ending in a newline; bytes that are not UTF-8 are replaced.
[[nodiscard]] inline std::string to_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hindsight::report
