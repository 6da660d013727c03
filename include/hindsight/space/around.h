/// Designs around a known one: what people try who start from the chip they have.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "hindsight/space/design_space.h"
#include "hindsight/space/sampling.h"

namespace hindsight::space {

/// A step moves one parameter: an ordinal one to a neighbouring level, a categorical one to any other level.
struct Neighbourhood {
  Design centre;
  std::uint64_t steps = 1;  ///< most steps away from the centre; 1 to kMostSteps
};
/// [chosen] A walk of more steps has forgotten where it began, and a uniform sampler is cheaper.
inline constexpr std::uint64_t kMostSteps = 1000;

/// Design i is the end of a walk of its own from the centre: 1 to `steps` steps (each number equally likely), each of a
/// parameter drawn uniformly from those with more than one level, in a direction drawn uniformly from those there are.
/// So designs near the centre come more often, walks may cross, and from two steps on the centre itself may come back.
/// In a space with constraints a walk may cross designs that break one; inactive parameters get their first value where
/// it ends, and a walk that ends at a broken constraint is walked again. The centre comes where 4096 do.
/// Unbounded length. Errors: Error{usage} for steps out of range and for a space of a single design.
[[nodiscard]] std::unique_ptr<Sampler> make_around_sampler(const DesignSpace& space, const Neighbourhood& around,
                                                           std::uint64_t seed);

/// How many different designs such a walk can end at; nothing when it exceeds 2^53 or constraints leave some out.
[[nodiscard]] std::optional<std::uint64_t> reachable_count(const DesignSpace& space, const Neighbourhood& around);
/// One draw is a given one of them with at least this probability (but for the exception above).
[[nodiscard]] double smallest_share(const DesignSpace& space, const Neighbourhood& around);

}  // namespace hindsight::space
