/// FNV-1a for identity inside a log, SHA-256 (OpenSSL) for files.
#include "hindsight/core/hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "hindsight/core/error.h"

namespace hindsight {

std::uint64_t content_hash(std::string_view bytes) {
  // FNV-1a: hash = (hash xor byte) * prime, from the offset basis (Fowler, Noll, Vo; 64-bit constants).
  constexpr std::uint64_t kOffsetBasis = 0xcbf29ce484222325ULL;
  constexpr std::uint64_t kPrime = 0x100000001b3ULL;
  std::uint64_t hash = kOffsetBasis;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * kPrime;
  }
  return mix64(hash);
}

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw Error(ErrorKind::failure, "OpenSSL refused to compute SHA-256. Is its configuration broken?");
  }
  std::string text;
  text.reserve(2 * static_cast<std::size_t>(size));
  for (unsigned int i = 0; i < size; ++i) {
    fmt::format_to(std::back_inserter(text), "{:02x}", digest[i]);
  }
  return text;
}

std::string hex64(std::uint64_t value) { return fmt::format("{:016x}", value); }

}  // namespace hindsight
