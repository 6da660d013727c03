/// The endless sequence of candidates behind a sweep.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "hindsight/space/sampling.h"
#include "hindsight/sweep/sweep.h"

namespace hindsight::sweep {

/// Candidate number i, a pure function of (space, sampler, seed, strata).
///
/// uniform, Sobol, around: the sampler's own unbounded sequence. grid: ends after the last design. LHS: one hypercube
/// of `strata` points after the other, each with a seed of its own, because a constraint may reject any
/// share of the first one.
class Candidates {
 public:
  /// `options` must outlive this object.
  Candidates(const SweepOptions& options, std::uint64_t strata);

  /// Number of candidates.
  [[nodiscard]] std::uint64_t length() const { return length_; }
  /// Must cover a range before `sample` may be called for it (from any thread).
  void prepare(std::uint64_t begin, std::uint64_t end);
  void sample(std::uint64_t i, std::span<std::uint16_t> levels) const;

 private:
  [[nodiscard]] std::unique_ptr<space::Sampler> make_round(std::uint64_t round) const;

  const SweepOptions& options_;
  std::uint64_t length_;
  std::uint64_t round_length_;
  std::uint64_t first_round_ = 0;
  std::vector<std::unique_ptr<space::Sampler>> rounds_;  ///< rounds first_round_, first_round_ + 1, ...
};

}  // namespace hindsight::sweep
