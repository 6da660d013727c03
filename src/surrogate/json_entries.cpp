/// Bounded parsing of JSON, and its entries by type.
#include "surrogate/json_entries.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <set>

#include "hindsight/core/error.h"
#include "hindsight/core/json_bounds.h"
#include "hindsight/core/json_whole.h"
#include "hindsight/core/text.h"

namespace hindsight::surrogate {
namespace {

/// Deepest nesting of the JSON of a file. [chosen] the deepest that is written has five levels
constexpr int kDeepest = 16;

std::int64_t integer(const Json& value, const char* key) {
  if (!is_integer_number(value)) refuse(fmt::format("its '{}' is not a whole number", key));
  return integer_number(value);
}

}  // namespace

void refuse(const std::string& problem) { throw Error(ErrorKind::incompatible, problem); }

Json parse_bounded_json(std::string_view text, std::string_view what) {
  const std::string excess = json_excess(text, {.bytes = std::size_t{128} << 20U, .depth = kDeepest});
  if (!excess.empty()) refuse(fmt::format("{} is {}", what, excess));
  std::vector<std::set<std::string>> keys;
  std::string repeated;
  const Json::parser_callback_t watch = [&](int /*depth*/, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second) {
      repeated = value.get<std::string>();
    }
    return true;
  };
  Json json;
  try {
    json = Json::parse(text, watch);
  } catch (const nlohmann::json::exception& error) {
    refuse(fmt::format("{} is not JSON: {}", what, printable(error.what(), 200)));
  }
  if (!repeated.empty()) refuse(fmt::format("{} has the key '{}' twice", what, printable(repeated)));
  return json;
}

const Json& entry(const Json& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) refuse(fmt::format("its '{}' is missing", key));
  return object.at(key);
}
std::string text_of(const Json& object, const char* key) {
  const Json& value = entry(object, key);
  if (!value.is_string()) refuse(fmt::format("its '{}' is not text", key));
  return value.get<std::string>();
}
std::int64_t integer_of(const Json& object, const char* key) { return integer(entry(object, key), key); }
bool truth_of(const Json& object, const char* key) {
  const Json& value = entry(object, key);
  if (!value.is_boolean()) refuse(fmt::format("its '{}' is neither true nor false", key));
  return value.get<bool>();
}
double number(const Json& value, const char* key) {
  if (!value.is_number() || !std::isfinite(value.get<double>())) {
    refuse(fmt::format("its '{}' is not a finite number", key));
  }
  return value.get<double>();
}
const Json& list_of(const Json& object, const char* key) {
  const Json& value = entry(object, key);
  if (!value.is_array()) refuse(fmt::format("its '{}' is not a list", key));
  return value;
}
std::vector<std::string> texts_of(const Json& object, const char* key) {
  std::vector<std::string> texts;
  for (const Json& value : list_of(object, key)) {
    if (!value.is_string()) refuse(fmt::format("its '{}' is not a list of texts", key));
    texts.push_back(value.get<std::string>());
  }
  return texts;
}
std::vector<std::int64_t> integers_of(const Json& object, const char* key) {
  std::vector<std::int64_t> integers;
  for (const Json& value : list_of(object, key)) integers.push_back(integer(value, key));
  return integers;
}

Json metric(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
double metric_of(const Json& object, const char* key) {
  const Json& value = entry(object, key);
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : number(value, key);
}

}  // namespace hindsight::surrogate
