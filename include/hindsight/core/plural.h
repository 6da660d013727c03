/// Counts as a person writes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hindsight/core/text.h"

namespace hindsight {

/// "1 row", "2 rows", "1,000 rows": a count and what is counted, whose plural ends in s.
[[nodiscard]] inline std::string counted(std::uint64_t count, std::string_view noun) {
  return with_commas(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace hindsight
