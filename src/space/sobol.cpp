/// Sobol points from the direction numbers of Boost.Random.
#include "hindsight/space/sobol.h"

#include <fmt/format.h>

#include <bit>
#include <boost/random/sobol.hpp>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::space {
namespace {

constexpr unsigned kBits = 64;

}  // namespace

std::size_t SobolSequence::max_dimensions() { return boost::random::default_sobol_table::max_dimension; }

SobolSequence::SobolSequence(std::size_t dimensions) : dimensions_(dimensions), directions_(dimensions * kBits) {
  HINDSIGHT_EXPECT(dimensions >= 1);
  if (dimensions > max_dimensions()) {
    throw Error(ErrorKind::usage,
                fmt::format("{} parameters exceed the {} dimensions of the Sobol tables. Use uniform or lhs",
                            with_commas(dimensions), with_commas(max_dimensions())));
  }
  boost::random::sobol engine(dimensions);
  for (unsigned bit = 0; bit < kBits; ++bit) {
    // Point 2^(bit+1) - 1 has the Gray code 2^bit, so its coordinates are the direction numbers of `bit`.
    // Boost numbers the points without the zero point, hence one less.
    engine.seed((std::uint64_t{1} << bit) * 2 - 2);
    for (std::size_t dimension = 0; dimension < dimensions; ++dimension) {
      directions_[dimension * kBits + bit] = engine();
    }
  }
}

std::uint64_t SobolSequence::word(std::uint64_t i, std::size_t dimension) const {
  HINDSIGHT_EXPECT(dimension < dimensions_);
  const std::uint64_t* directions = directions_.data() + dimension * kBits;
  std::uint64_t x = 0;
  for (std::uint64_t gray = i ^ (i >> 1U); gray != 0; gray &= gray - 1) {
    x ^= directions[std::countr_zero(gray)];
  }
  return x;
}

}  // namespace hindsight::space
