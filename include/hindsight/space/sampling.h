/// Samplers: the i-th design of a deterministic sequence that depends only on (space, sampler, seed, count).
///
/// A sequence can be cut into shards or run on any number of threads with the same result.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/space/design_space.h"

namespace hindsight::space {

enum class SamplerKind { uniform, lhs, sobol, grid };

/// Parses "uniform", "lhs", "sobol", "grid"; Error{usage} with the nearest name.
[[nodiscard]] SamplerKind parse_sampler(std::string_view name);
[[nodiscard]] std::string to_string(SamplerKind kind);
[[nodiscard]] std::vector<std::string> sampler_names();

/// A deterministic sequence of designs.
///
/// uniform: independent and uniform over the space, unbounded length (may repeat designs).
/// lhs:     Latin hypercube (McKay et al. 1979): `count` points, every parameter's unit interval cut into
///          `count` strata, each used once (a seeded permutation per parameter), then mapped to levels.
///          At most 2^40 points.
/// sobol:   Sobol sequence (Joe-Kuo direction numbers, Boost.Random) with a seeded random digital shift;
///          unbounded length.
/// grid:    every design once, in index order; length = size of the space.
///
/// In a space with constraints every design of each sequence is legal. Where parameters are tied together, their legal
/// combinations are the levels of one axis (legal_designs.h): uniform over the legal designs, one stratum of lhs and
/// one coordinate of sobol for all of them. Of groups that are too large to be listed, combinations that break a
/// constraint are drawn again, uniformly. The grid goes through the legal combinations, the first group most
/// significant.
class Sampler {
 public:
  virtual ~Sampler() = default;
  /// Levels of design i; i < length(). Thread-safe, no state between calls; no allocation without constraints.
  /// With them Error{usage} where one has no value, and Error{failure} where no legal design is found (a group of very
  /// many combinations of which almost none is legal).
  virtual void sample(std::uint64_t i, std::span<std::uint16_t> levels) const = 0;
  /// Number of designs in the sequence (2^63 - 1 when unbounded).
  [[nodiscard]] virtual std::uint64_t length() const = 0;
};

/// `count` is the number of designs wanted (lhs needs it beforehand; others ignore it).
/// Errors: Error{usage} for a grid over more than `grid_limit` designs (the message says the count and the
/// remedy), a space without size() for grid, or more dimensions than the Sobol tables hold. Error{no_feasible} when
/// constraints leave no design, naming the one that is in the way.
[[nodiscard]] std::unique_ptr<Sampler> make_sampler(SamplerKind kind, const DesignSpace& space, std::uint64_t seed,
                                                    std::uint64_t count, std::uint64_t grid_limit);

}  // namespace hindsight::space
