/// A Feistel network with cycle walking.
#include "hindsight/space/permutation.h"

#include <bit>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/random.h"

namespace hindsight::space {

Permutation::Permutation(std::uint64_t count, std::uint64_t seed, std::string_view name) : count_(count) {
  HINDSIGHT_EXPECT(count >= 1 && count <= std::uint64_t{1} << 63U);
  const auto bits = static_cast<unsigned>(std::bit_width(count - 1));
  low_bits_ = (bits + 1) / 2;
  low_mask_ = (std::uint64_t{1} << low_bits_) - 1;
  high_mask_ = (std::uint64_t{1} << (bits - low_bits_)) - 1;
  const RandomStream stream(seed, name);
  for (std::size_t round = 0; round < kRounds; ++round) {
    round_keys_[round] = stream.word(round);
  }
}

std::uint64_t Permutation::operator()(std::uint64_t i) const {
  HINDSIGHT_EXPECT(i < count_);
  std::uint64_t value = i;
  do {
    std::uint64_t low = value & low_mask_;
    std::uint64_t high = value >> low_bits_;
    for (std::size_t round = 0; round < kRounds; round += 2) {
      high ^= mix64(low ^ round_keys_[round]) & high_mask_;
      low ^= mix64(high ^ round_keys_[round + 1]) & low_mask_;
    }
    value = (high << low_bits_) | low;
  } while (value >= count_);
  return value;
}

}  // namespace hindsight::space
