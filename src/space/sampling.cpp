/// The four samplers: uniform, Latin hypercube, Sobol, grid.
#include "hindsight/space/sampling.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/random.h"
#include "hindsight/core/text.h"
#include "hindsight/space/legal_designs.h"
#include "hindsight/space/permutation.h"
#include "hindsight/space/sobol.h"
#include "space/validation.h"

namespace hindsight::space {
namespace {

constexpr std::uint64_t kUnbounded = std::numeric_limits<std::int64_t>::max();
/// Most points of a Latin hypercube: levels times count stays below 2^56, so integer arithmetic is exact.
constexpr std::uint64_t kMaxLhsCount = std::uint64_t{1} << 40U;

constexpr EnumNames<SamplerKind, 4> kSamplers{{{SamplerKind::uniform, "uniform"},
                                               {SamplerKind::lhs, "lhs"},
                                               {SamplerKind::sobol, "sobol"},
                                               {SamplerKind::grid, "grid"}}};

std::vector<std::uint64_t> level_counts(const DesignSpace& space) {
  std::vector<std::uint64_t> counts;
  for (const Parameter& parameter : space.parameters()) {
    counts.push_back(parameter.level_count());
  }
  return counts;
}

/// floor(word / 2^64 * count) in exact integer arithmetic, count <= 2^32.
std::uint64_t position_of(std::uint64_t word, std::uint64_t count) {
  const std::uint64_t low = ((word & 0xffffffffU) * count) >> 32U;
  return ((word >> 32U) * count + low) >> 32U;
}

// Sequences of points: of point i the position on axis d of `axes`, which has `count` positions. An axis is a parameter
// with its levels or, where constraints tie parameters together, their legal combinations (legal_designs.h).

class UniformSequence {
 public:
  UniformSequence(std::size_t axes, std::uint64_t seed) : axes_(axes), stream_(seed, "space/uniform") {}
  [[nodiscard]] std::uint64_t position(std::uint64_t i, std::size_t axis, std::uint64_t count) const {
    return stream_.below(i * axes_ + axis, count);
  }
  [[nodiscard]] static std::uint64_t length() { return kUnbounded; }

 private:
  std::size_t axes_;
  RandomStream stream_;
};

/// Equation: position = floor(L * (s + r) / n), s = permutation of axis d at i, r uniform in [0, 1).
/// Source: [paper: mckay-1979] section 2.
/// Symbols: L positions, n points, s stratum.
/// Differs: floor(L * r) stands for L * r, which changes nothing, as n is an integer.
class LatinHypercube {
 public:
  LatinHypercube(std::size_t axes, std::uint64_t seed, std::uint64_t count)
      : axes_(axes), count_(count), jitter_(seed, "space/lhs/jitter") {
    permutations_.reserve(axes);
    for (std::size_t axis = 0; axis < axes; ++axis) {
      permutations_.emplace_back(count, seed, fmt::format("space/lhs/permutation/{}", axis));
    }
  }
  [[nodiscard]] std::uint64_t position(std::uint64_t i, std::size_t axis, std::uint64_t count) const {
    const std::uint64_t stratum = permutations_[axis](i);
    const std::uint64_t within = jitter_.below(i * axes_ + axis, count);
    return (count * stratum + within) / count_;
  }
  [[nodiscard]] std::uint64_t length() const { return count_; }

 private:
  std::size_t axes_;
  std::uint64_t count_;
  RandomStream jitter_;
  std::vector<Permutation> permutations_;
};

class ShiftedSobol {
 public:
  ShiftedSobol(std::size_t axes, std::uint64_t seed) : sequence_(axes) {
    const RandomStream stream(seed, "space/sobol/shift");
    for (std::size_t axis = 0; axis < axes; ++axis) shifts_.push_back(stream.word(axis));
  }
  [[nodiscard]] std::uint64_t position(std::uint64_t i, std::size_t axis, std::uint64_t count) const {
    return position_of(sequence_.word(i, axis) ^ shifts_[axis], count);
  }
  [[nodiscard]] static std::uint64_t length() { return kUnbounded; }

 private:
  SobolSequence sequence_;
  std::vector<std::uint64_t> shifts_;
};

/// Designs of a space without constraints: an axis per parameter.
template <class Sequence>
class PlainSampler final : public Sampler {
 public:
  PlainSampler(const DesignSpace& space, Sequence sequence)
      : counts_(level_counts(space)), sequence_(std::move(sequence)) {}

  void sample(std::uint64_t i, std::span<std::uint16_t> levels) const override {
    HINDSIGHT_EXPECT(levels.size() == counts_.size());
    HINDSIGHT_EXPECT(i < sequence_.length());
    for (std::size_t p = 0; p < counts_.size(); ++p) {
      levels[p] = static_cast<std::uint16_t>(sequence_.position(i, p, counts_[p]));
    }
  }
  [[nodiscard]] std::uint64_t length() const override { return sequence_.length(); }

 private:
  std::vector<std::uint64_t> counts_;
  Sequence sequence_;
};

/// Legal designs: an axis per slot. What is broken all the same is drawn again by a stream of the point's own.
template <class Sequence>
class LegalSampler final : public Sampler {
 public:
  LegalSampler(const DesignSpace& space, std::shared_ptr<const LegalDesigns> legal, Sequence sequence,
               std::uint64_t seed)
      : rules_(space.rules()), legal_(std::move(legal)), sequence_(std::move(sequence)), seed_(seed) {}

  void sample(std::uint64_t i, std::span<std::uint16_t> levels) const override {
    HINDSIGHT_EXPECT(levels.size() == rules_->parameters().size());
    HINDSIGHT_EXPECT(i < sequence_.length());
    const std::vector<std::uint64_t>& slots = legal_->slots();
    std::vector<std::uint64_t> positions(slots.size());
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      positions[slot] = sequence_.position(i, slot, slots[slot]);
    }
    legal_->decode(positions, levels);
    if (legal_->is_complete()) return;
    const RandomStream again(mix64(seed_ ^ mix64(i)), "space/legal/again");
    std::uint64_t word = 0;
    legal_->mend(levels, [&](std::uint64_t bound) { return again.below(word++, bound); });
  }
  [[nodiscard]] std::uint64_t length() const override { return sequence_.length(); }

 private:
  std::shared_ptr<const Rules> rules_;  ///< to which legal_ refers
  std::shared_ptr<const LegalDesigns> legal_;
  Sequence sequence_;
  std::uint64_t seed_;
};

class GridSampler final : public Sampler {
 public:
  explicit GridSampler(const DesignSpace& space) : space_(space) {}

  void sample(std::uint64_t i, std::span<std::uint16_t> levels) const override { space_.decode(i, levels); }
  [[nodiscard]] std::uint64_t length() const override { return *space_.size(); }

 private:
  DesignSpace space_;
};

class LegalGridSampler final : public Sampler {
 public:
  LegalGridSampler(const DesignSpace& space, std::shared_ptr<const LegalDesigns> legal)
      : rules_(space.rules()), legal_(std::move(legal)), length_(*legal_->count()) {}

  void sample(std::uint64_t i, std::span<std::uint16_t> levels) const override {
    HINDSIGHT_EXPECT(i < length_);
    legal_->decode(i, levels);
  }
  [[nodiscard]] std::uint64_t length() const override { return length_; }

 private:
  std::shared_ptr<const Rules> rules_;  ///< to which legal_ refers
  std::shared_ptr<const LegalDesigns> legal_;
  std::uint64_t length_;
};

/// `make(axes)` gives the sequence.
template <class Make>
std::unique_ptr<Sampler> sampler_of(const DesignSpace& space, std::uint64_t seed, const Make& make) {
  using Sequence = decltype(make(std::size_t{0}));
  if (!space.is_constrained()) {
    return std::make_unique<PlainSampler<Sequence>>(space, make(space.parameters().size()));
  }
  auto legal = space.rules()->legal_designs(Listing::for_drawing);
  Sequence sequence = make(legal->slots().size());
  return std::make_unique<LegalSampler<Sequence>>(space, std::move(legal), std::move(sequence), seed);
}

void require_grid_size(const DesignSpace& space, std::uint64_t designs, std::uint64_t grid_limit) {
  if (designs <= grid_limit) return;
  throw Error(ErrorKind::usage,
              fmt::format("a grid over space {} has {} designs (limit: {}). Raise --grid-limit, or use uniform, lhs or "
                          "sobol",
                          in_quotes(space.name()), with_commas(designs), with_commas(grid_limit)));
}

std::unique_ptr<Sampler> make_legal_grid(const DesignSpace& space, std::uint64_t grid_limit) {
  auto legal = space.rules()->legal_designs(Listing::complete);
  if (!legal->is_complete()) {
    throw Error(
        ErrorKind::usage,
        fmt::format("a grid over space {} needs a list of all combinations of {}, which its constraints tie "
                    "together: there are more than {} legal ones, or too many to visit. Use uniform, lhs or "
                    "sobol",
                    in_quotes(space.name()), printable(join(legal->unlisted(), ", "), 200), with_commas(kMostListed)));
  }
  require_grid_size(space, legal->count().value_or(kUnbounded), grid_limit);
  return std::make_unique<LegalGridSampler>(space, std::move(legal));
}

void require_grid(const DesignSpace& space, std::uint64_t grid_limit) {
  if (!space.size()) {
    throw Error(ErrorKind::usage,
                fmt::format("a grid over space {} has more than {} designs (they cannot be numbered). Use uniform, lhs "
                            "or sobol",
                            in_quotes(space.name()), with_commas(kUnbounded)));
  }
  require_grid_size(space, *space.size(), grid_limit);
}

void require_lhs_count(std::uint64_t count) {
  if (count == 0 || count > kMaxLhsCount) {
    throw Error(ErrorKind::usage,
                fmt::format("a Latin hypercube of {} designs (it takes 1 to {}). Choose another count, or use uniform "
                            "or sobol",
                            with_commas(count), with_commas(kMaxLhsCount)));
  }
}

}  // namespace

SamplerKind parse_sampler(std::string_view name) { return parse_enum("sampler", name, kSamplers); }

std::vector<std::string> sampler_names() { return names_in(kSamplers); }

std::string to_string(SamplerKind kind) { return std::string(name_in(kSamplers, kind)); }

std::unique_ptr<Sampler> make_sampler(SamplerKind kind, const DesignSpace& space, std::uint64_t seed,
                                      std::uint64_t count, std::uint64_t grid_limit) {
  switch (kind) {
    case SamplerKind::uniform:
      return sampler_of(space, seed, [&](std::size_t axes) { return UniformSequence(axes, seed); });
    case SamplerKind::lhs:
      require_lhs_count(count);
      return sampler_of(space, seed, [&](std::size_t axes) { return LatinHypercube(axes, seed, count); });
    case SamplerKind::sobol:
      return sampler_of(space, seed, [&](std::size_t axes) { return ShiftedSobol(axes, seed); });
    case SamplerKind::grid:
      break;
  }
  if (space.is_constrained()) return make_legal_grid(space, grid_limit);
  require_grid(space, grid_limit);
  return std::make_unique<GridSampler>(space);
}

}  // namespace hindsight::space
