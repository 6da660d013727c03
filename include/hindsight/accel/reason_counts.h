/// What refuses uniform random designs within an area, reason by reason.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "hindsight/accel/evaluation.h"
#include "hindsight/workload/network.h"

namespace hindsight::accel {

/// Counts over pairs of a design and a network. Every check is made, so that a pair has all its reasons.
struct ReasonCounts {
  /// Pairs of some designs.
  struct Pairs {
    std::uint64_t all = 0, infeasible = 0;
    std::array<std::uint64_t, kReasonCount> with{};  ///< by reason
    [[nodiscard]] double infeasible_frac() const { return frac(infeasible); }
    [[nodiscard]] double frac_with(Reason reason) const { return frac(with[static_cast<std::size_t>(reason)]); }

   private:
    [[nodiscard]] double frac(std::uint64_t count) const {
      return all > 0 ? static_cast<double>(count) / static_cast<double>(all) : 0.0;
    }
  };
  std::uint64_t designs = 0;
  Pairs within_area;
  Pairs within_watts;  ///< those whose design draws no more than its cooling class removes
};

/// [chosen] Of some 200 random designs of the edge space one has at most 27 mm2 at 22 nm.
inline constexpr std::uint64_t kMostDrawsPerDesign = 1000;
/// Of the first `designs` legal designs of at most `area_mm2` of one random sequence, fewer where there are fewer
/// within kMostDrawsPerDesign draws for each. Error{no_feasible} where there is none.
[[nodiscard]] ReasonCounts count_reasons(const space::DesignSpace& space, const Technology& technology, double area_mm2,
                                         std::span<const workload::Network> networks, std::uint64_t designs);

}  // namespace hindsight::accel
