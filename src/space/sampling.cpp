/// The four samplers: uniform, Latin hypercube, Sobol, grid.
#include "hindsight/space/sampling.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <vector>

#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/random.h"
#include "hindsight/core/text.h"
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

/// floor(word / 2^64 * count) in exact integer arithmetic, count <= 2^16.
std::uint16_t level_of(std::uint64_t word, std::uint64_t count) {
  const std::uint64_t low = ((word & 0xffffffffU) * count) >> 32U;
  return static_cast<std::uint16_t>(((word >> 32U) * count + low) >> 32U);
}

class UniformSampler final : public Sampler {
 public:
  UniformSampler(const DesignSpace& space, std::uint64_t seed)
      : counts_(level_counts(space)), stream_(seed, "space/uniform") {}

  void sample(std::uint64_t i, std::span<std::uint16_t> levels) const override {
    HINDSIGHT_EXPECT(levels.size() == counts_.size());
    for (std::size_t p = 0; p < counts_.size(); ++p) {
      levels[p] = static_cast<std::uint16_t>(stream_.below(i * counts_.size() + p, counts_[p]));
    }
  }
  [[nodiscard]] std::uint64_t length() const override { return kUnbounded; }

 private:
  std::vector<std::uint64_t> counts_;
  RandomStream stream_;
};

/// Equation: level = floor(L * (s + r) / n), s = permutation of parameter p at i, r uniform in [0, 1).
/// Source: [paper: mckay-1979] section 2.
/// Symbols: L levels, n points, s stratum.
/// Differs: floor(L * r) stands for L * r, which changes nothing, as n is an integer.
class LatinHypercubeSampler final : public Sampler {
 public:
  LatinHypercubeSampler(const DesignSpace& space, std::uint64_t seed, std::uint64_t count)
      : counts_(level_counts(space)), count_(count), jitter_(seed, "space/lhs/jitter") {
    permutations_.reserve(counts_.size());
    for (std::size_t p = 0; p < counts_.size(); ++p) {
      permutations_.emplace_back(count, seed, fmt::format("space/lhs/permutation/{}", p));
    }
  }

  void sample(std::uint64_t i, std::span<std::uint16_t> levels) const override {
    HINDSIGHT_EXPECT(levels.size() == counts_.size());
    HINDSIGHT_EXPECT(i < count_);
    for (std::size_t p = 0; p < counts_.size(); ++p) {
      const std::uint64_t stratum = permutations_[p](i);
      const std::uint64_t within = jitter_.below(i * counts_.size() + p, counts_[p]);
      levels[p] = static_cast<std::uint16_t>((counts_[p] * stratum + within) / count_);
    }
  }
  [[nodiscard]] std::uint64_t length() const override { return count_; }

 private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_;
  RandomStream jitter_;
  std::vector<Permutation> permutations_;
};

class SobolSampler final : public Sampler {
 public:
  SobolSampler(const DesignSpace& space, std::uint64_t seed) : counts_(level_counts(space)), sequence_(counts_.size()) {
    const RandomStream stream(seed, "space/sobol/shift");
    for (std::size_t p = 0; p < counts_.size(); ++p) {
      shifts_.push_back(stream.word(p));
    }
  }

  void sample(std::uint64_t i, std::span<std::uint16_t> levels) const override {
    HINDSIGHT_EXPECT(levels.size() == counts_.size());
    for (std::size_t p = 0; p < counts_.size(); ++p) {
      levels[p] = level_of(sequence_.word(i, p) ^ shifts_[p], counts_[p]);
    }
  }
  [[nodiscard]] std::uint64_t length() const override { return kUnbounded; }

 private:
  std::vector<std::uint64_t> counts_;
  SobolSequence sequence_;
  std::vector<std::uint64_t> shifts_;
};

class GridSampler final : public Sampler {
 public:
  explicit GridSampler(const DesignSpace& space) : space_(space) {}

  void sample(std::uint64_t i, std::span<std::uint16_t> levels) const override { space_.decode(i, levels); }
  [[nodiscard]] std::uint64_t length() const override { return *space_.size(); }

 private:
  DesignSpace space_;
};

void require_grid(const DesignSpace& space, std::uint64_t grid_limit) {
  if (!space.size()) {
    throw Error(ErrorKind::usage,
                fmt::format("a grid over space {} has more than {} designs (they cannot be numbered). Use uniform, lhs "
                            "or sobol",
                            in_quotes(space.name()), with_commas(kUnbounded)));
  }
  if (*space.size() > grid_limit) {
    throw Error(
        ErrorKind::usage,
        fmt::format("a grid over space {} has {} designs (limit: {}). Raise --grid-limit, or use uniform, lhs or "
                    "sobol",
                    in_quotes(space.name()), with_commas(*space.size()), with_commas(grid_limit)));
  }
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
      return std::make_unique<UniformSampler>(space, seed);
    case SamplerKind::lhs:
      require_lhs_count(count);
      return std::make_unique<LatinHypercubeSampler>(space, seed, count);
    case SamplerKind::sobol:
      return std::make_unique<SobolSampler>(space, seed);
    case SamplerKind::grid:
      break;
  }
  require_grid(space, grid_limit);
  return std::make_unique<GridSampler>(space);
}

}  // namespace hindsight::space
