/// Content hashes: a fast 64-bit one for identity inside a log, SHA-256 for files and definitions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hindsight {

/// FNV-1a 64-bit over the bytes, then the splitmix64 finaliser for well-spread low bits.
/// Stable across platforms and versions: logs store it.
[[nodiscard]] std::uint64_t content_hash(std::string_view bytes);

/// The splitmix64 finaliser (Steele et al. 2014): a bijection on 64-bit words.
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

/// SHA-256 as 64 lower-case hexadecimal digits.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

/// 16 lower-case hexadecimal digits.
[[nodiscard]] std::string hex64(std::uint64_t value);

}  // namespace hindsight
