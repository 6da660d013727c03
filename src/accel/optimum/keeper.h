/// What is kept of the chips of a landscape: records for a file, or tallies of latencies.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "accel/optimum/axes.h"
#include "accel/optimum/legality.h"
#include "hindsight/accel/optimum/landscape.h"

namespace hindsight::accel::optimum {

/// How many designs have which latency, to one part in 1,024, and which is the best.
///
/// Bins are the double's own: exponent and the first ten bits of the fraction. Latencies from 2^-40 s to 2^24 s have
/// bins of their own; others count in the first and the last.
class LatencyTally {
 public:
  LatencyTally() : bins_(kBins) {}
  /// `designs` of them at `point` of group number `group`; the first of these has `point`'s pair of memories.
  void add(double latency_s, std::uint64_t designs, std::uint64_t group, const Point& point);
  /// What another thread counted.
  void merge(const LatencyTally& other);
  [[nodiscard]] std::uint64_t designs() const { return designs_; }
  /// Infinity when there is none.
  [[nodiscard]] double best_s() const { return best_s_; }
  /// Of the first in the order of the landscape.
  [[nodiscard]] const Point& best() const { return best_; }
  /// Latency that `share` of the designs do not exceed, rounded down to its bin; infinity without designs.
  [[nodiscard]] double quantile_s(double share) const;
  /// Designs in bins that begin no higher than `most_s`.
  [[nodiscard]] std::uint64_t designs_up_to(double most_s) const;

 private:
  static constexpr std::size_t kFractionBits = 10, kExponents = 64;
  static constexpr std::size_t kBins = kExponents << kFractionBits;
  [[nodiscard]] static std::size_t bin_of(double latency_s);
  [[nodiscard]] static double begin_of(std::size_t bin);

  std::vector<std::uint64_t> bins_;
  std::uint64_t designs_ = 0;
  double best_s_ = std::numeric_limits<double>::infinity();
  std::uint64_t best_group_ = 0;
  Point best_{};
};

enum class Keeps { records, tallies };

/// Takes the chips of groups, one thread's; the groups of one keeper in ascending order.
class Keeper {
 public:
  /// `question` and `legality` outlive it.
  Keeper(const Question& question, const Axes& axes, const Legality& legality, LandscapeMetrics metrics, Keeps keeps);
  /// A chip that can be built; `allowed`: bandwidths up to the last that is allowed with each parameter and instruction
  /// memory, parameter by parameter; `bandwidths`: the most of these.
  void chip(std::uint64_t group, const Point& point, std::uint16_t bandwidths, std::span<const std::uint16_t> allowed);
  /// What the applications cost on the chip at one of its bandwidths.
  void sites(std::uint16_t bandwidth, std::span<const Site> sites);
  /// Records since the last call.
  [[nodiscard]] std::string take_records();
  [[nodiscard]] const LandscapeSummary& summary() const { return summary_; }
  /// Per application, then, of several, their aggregate on the designs that run all.
  [[nodiscard]] const std::vector<LatencyTally>& tallies() const { return tallies_; }

 private:
  /// Designs at the current bandwidth whose two memories have at least these levels.
  [[nodiscard]] std::uint64_t designs_from(std::size_t parameter, std::size_t instruction) const;
  /// Whether the current chip at this bandwidth is a design with pair number `pair` of the two memories.
  [[nodiscard]] bool is_design(std::size_t pair, std::uint16_t bandwidth) const;
  void count_designs(std::uint16_t bandwidth);
  void tally(std::size_t row, double latency_s, std::size_t parameter, std::size_t instruction);

  const Question& question_;
  const Legality& legality_;
  LandscapeMetrics metrics_;
  Keeps keeps_;
  std::size_t parameters_, instructions_;
  std::string records_;
  LandscapeSummary summary_;
  std::vector<LatencyTally> tallies_;
  // The current chip:
  std::uint64_t group_ = 0;
  Point point_{};
  std::span<const std::uint16_t> allowed_;
  std::vector<std::uint32_t> designs_;  ///< designs_from(), parameters x instructions
  std::vector<double> each_;
};

}  // namespace hindsight::accel::optimum
