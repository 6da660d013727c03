/// JSON as text that a log keeps.
#pragma once

#include <string>

namespace hindsight {

/// One line. Bytes that are no UTF-8 are replaced, where nlohmann's dump() throws: names of files and what a person
/// typed may have some.
template <class Json>
[[nodiscard]] std::string json_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace hindsight
