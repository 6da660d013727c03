/// Letters without regard to case or locale.
#pragma once

#include <string>
#include <string_view>

namespace hindsight {

/// A to Z made small; other bytes as they are.
[[nodiscard]] inline std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

}  // namespace hindsight
