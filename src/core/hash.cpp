/// FNV-1a for identity inside a log, SHA-256 (OpenSSL) for files.
#include "hindsight/core/hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <memory>

#include "hindsight/core/error.h"

namespace hindsight {
namespace {

void require_openssl(bool worked) {
  if (worked) return;
  throw Error(ErrorKind::failure, "OpenSSL refused to compute SHA-256. Is its configuration broken?");
}

}  // namespace

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

struct Sha256::State {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  require_openssl(state_->context && EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr) == 1);
}
Sha256::~Sha256() = default;

void Sha256::add(std::string_view bytes) {
  require_openssl(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) == 1);
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  require_openssl(EVP_DigestFinal_ex(state_->context.get(), digest.data(), &size) == 1);
  std::string text;
  text.reserve(2 * static_cast<std::size_t>(size));
  for (unsigned int i = 0; i < size; ++i) {
    fmt::format_to(std::back_inserter(text), "{:02x}", digest[i]);
  }
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.hex();
}

std::string hex64(std::uint64_t value) { return fmt::format("{:016x}", value); }

}  // namespace hindsight
