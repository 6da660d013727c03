/// Whole numbers of JSON of foreign origin.
#pragma once

#include <cstdint>
#include <limits>

namespace hindsight {

/// The number from 0 on that stands there. nlohmann's exception for all else: its get() takes 1.5 for 1 and -1 for the
/// largest number there is, and the cast of 1e300 is undefined.
template <class Json>
[[nodiscard]] std::uint64_t whole_number(const Json& value) {
  return value.template get_ref<const typename Json::number_unsigned_t&>();
}

/// Whether a whole number of 64 bits with a sign stands there.
template <class Json>
[[nodiscard]] bool is_integer_number(const Json& value) {
  const auto* large = value.template get_ptr<const typename Json::number_unsigned_t*>();
  return value.is_number_integer() &&
         (large == nullptr || *large <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
}

/// That number; nlohmann's exception for all else.
template <class Json>
[[nodiscard]] std::int64_t integer_number(const Json& value) {
  // One that is too large is a whole number to nlohmann, and no text.
  if (!is_integer_number(value)) static_cast<void>(value.template get_ref<const typename Json::string_t&>());
  return value.template get_ref<const typename Json::number_integer_t&>();
}

}  // namespace hindsight
