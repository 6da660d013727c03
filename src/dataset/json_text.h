/// JSON of foreign origin: what Python writes, errors by line and column, values as cells. Private to the dataset
/// layer.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "hindsight/core/text.h"

namespace hindsight::dataset {

using Json = nlohmann::json;
/// Keys keep their order; for small objects, whose keys are looked up one by one.
using OrderedJson = nlohmann::ordered_json;

/// Where a text comes from, and what it should be. Refers to both.
struct JsonOrigin {
  const std::filesystem::path& file;
  std::string_view expected;
  std::size_t first_line = 1;
};

/// `text` as JSON. Python's NaN, Infinity and -Infinity become the texts "nan", "inf" and "-inf". `first_line` is the
/// line of the file that `text` begins in. Error{usage} with file:line:column, what is wrong, and that `expected` was
/// expected, also for a key that one object has twice and for a NUL byte, where a parser would end.
[[nodiscard]] Json parse_json(std::string_view text, const std::filesystem::path& file, std::string_view expected,
                              std::size_t first_line = 1);
[[nodiscard]] OrderedJson parse_ordered_json(std::string_view text, const std::filesystem::path& file,
                                             std::string_view expected, std::size_t first_line = 1);
/// The same, or nothing where it is no JSON. Of a key that one object has twice, one value is kept.
[[nodiscard]] std::optional<Json> try_json(std::string_view text);
/// Of a text that is JSON. Error{usage} as parse_json() for a key that one object has twice.
void require_names_once(std::string_view text, const JsonOrigin& origin);

/// A number, text or truth value as a cell of a table: "2", "0.1", "true"; null is "". Lists and objects as JSON.
template <class Value>
[[nodiscard]] std::string cell_of(const Value& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.template get<std::string>();
  if (value.is_number_float()) return shortest(value.template get<double>());
  return value.dump(-1, ' ', false, Value::error_handler_t::replace);
}

/// A number, also one written as text ("inf" is none).
template <class Value>
[[nodiscard]] std::optional<double> number_of(const Value& value) {
  if (value.is_number()) return value.template get<double>();
  if (value.is_string()) return parse_double(value.template get<std::string>());
  return std::nullopt;
}

/// The value of a key, or null.
template <class Object>
[[nodiscard]] const Object& value_of(const Object& object, const std::string& key) {
  static const Object kNull = nullptr;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

/// The text of a key, or "".
template <class Object>
[[nodiscard]] std::string text_of(const Object& object, const std::string& key) {
  const Object& value = value_of(object, key);
  return value.is_string() ? value.template get<std::string>() : std::string();
}

}  // namespace hindsight::dataset
