/// Short names of designs, for people: the first characters of the content hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "hindsight/space/design_space.h"

namespace hindsight::space {

/// Characters of a short id. [chosen] 40 bits: of 100,000 designs two share one with a chance of 1 in 200.
inline constexpr std::size_t kShortIdLength = 10;

/// The content hash in hexadecimal, 16 characters, and its first kShortIdLength.
[[nodiscard]] std::string hash_id(std::uint64_t content_hash);
[[nodiscard]] std::string short_id(const DesignSpace& space, const Design& design);
/// Whether `text` can be the beginning of a hash id: at least 4 characters of 0-9, a-f.
[[nodiscard]] bool is_short_id(const std::string& text);

}  // namespace hindsight::space
