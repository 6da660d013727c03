/// Counter-based random streams over the splitmix64 finaliser.
#include "hindsight/core/random.h"

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"

namespace hindsight {
namespace {

/// 2^64 / golden ratio, odd: the increment of splitmix64 (Steele et al. 2014).
constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;

/// High 64 bits of a 64 x 64 bit product.
std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(a) * b) >> 64U);
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view name) : key_(mix64(seed ^ content_hash(name))) {}

std::uint64_t RandomStream::word(std::uint64_t i) const { return mix64(mix64(key_ + i * kGolden) ^ key_); }

double RandomStream::uniform(std::uint64_t i) const { return static_cast<double>(word(i) >> 11U) * 0x1.0p-53; }

std::uint64_t RandomStream::below(std::uint64_t i, std::uint64_t bound) const {
  HINDSIGHT_EXPECT(bound > 0);
  return multiply_high(word(i), bound);
}

}  // namespace hindsight
