/// Short names of designs, for people: the first characters of the content hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "hindsight/space/design_space.h"

namespace hindsight::space {

/// Characters of a short id. [chosen] 32 bits: in a log of 100,000 designs one id in 40,000 is also another's.
inline constexpr std::size_t kShortIdLength = 8;

/// The content hash in hexadecimal, 16 characters, and its first kShortIdLength.
[[nodiscard]] std::string hash_id(std::uint64_t content_hash);
[[nodiscard]] std::string short_id(const DesignSpace& space, const Design& design);
[[nodiscard]] std::string short_id(std::string_view text_id);
/// Whether `text` can be the beginning of a hash id: 4 to 16 characters of 0-9, a-f, A-F.
[[nodiscard]] bool is_short_id(const std::string& text);

}  // namespace hindsight::space
