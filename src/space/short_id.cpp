/// Content hashes as text.
#include "hindsight/space/short_id.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "hindsight/core/hash.h"

namespace hindsight::space {

std::string hash_id(std::uint64_t content_hash) { return fmt::format("{:016x}", content_hash); }

std::string short_id(const DesignSpace& space, const Design& design) {
  return hash_id(space.content_hash(design)).substr(0, kShortIdLength);
}

std::string short_id(std::string_view text_id) { return hash_id(content_hash(text_id)).substr(0, kShortIdLength); }

bool is_short_id(const std::string& text) {
  constexpr std::size_t kLeast = 4, kMost = 16;
  return text.size() >= kLeast && text.size() <= kMost && std::all_of(text.begin(), text.end(), [](char c) {
           return std::isxdigit(static_cast<unsigned char>(c)) != 0;
         });
}

}  // namespace hindsight::space
