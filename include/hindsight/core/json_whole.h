/// Whole numbers of JSON of foreign origin.
#pragma once

#include <cstdint>

namespace hindsight {

/// The number from 0 on that stands there. nlohmann's exception for all else: its get() takes 1.5 for 1 and -1 for the
/// largest number there is, and the cast of 1e300 is undefined.
template <class Json>
[[nodiscard]] std::uint64_t whole_number(const Json& value) {
  return value.template get_ref<const typename Json::number_unsigned_t&>();
}

/// The same of any sign.
template <class Json>
[[nodiscard]] std::int64_t integer_number(const Json& value) {
  return value.template get_ref<const typename Json::number_integer_t&>();
}

}  // namespace hindsight
