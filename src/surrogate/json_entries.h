/// Reading JSON from outside: bounded, and an entry that is missing or odd is named.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hindsight::surrogate {

using Json = nlohmann::ordered_json;

/// Error{incompatible}.
[[noreturn]] void refuse(const std::string& problem);

/// Parses a text of bounded nesting, no key twice in an object. `what` names it in messages.
[[nodiscard]] Json parse_bounded_json(std::string_view text, std::string_view what);

// Entries of an object; Error{incompatible} naming the one that is missing or of another type.
[[nodiscard]] const Json& entry(const Json& object, const char* key);
[[nodiscard]] std::string text_of(const Json& object, const char* key);
[[nodiscard]] std::int64_t integer_of(const Json& object, const char* key);
[[nodiscard]] bool truth_of(const Json& object, const char* key);
[[nodiscard]] const Json& list_of(const Json& object, const char* key);
[[nodiscard]] std::vector<std::string> texts_of(const Json& object, const char* key);
[[nodiscard]] std::vector<std::int64_t> integers_of(const Json& object, const char* key);
/// `value` as a finite number; `key` names it in messages.
[[nodiscard]] double number(const Json& value, const char* key);

/// An undefined metric (no infeasible validation row, for example) is null.
[[nodiscard]] Json metric(double value);
[[nodiscard]] double metric_of(const Json& object, const char* key);

}  // namespace hindsight::surrogate
