/// Whether the DRAM holds the networks that designs are proposed for: known without an evaluation.
#pragma once

#include <optional>
#include <vector>

#include "hindsight/optimize/problem.h"
#include "hindsight/space/design_space.h"
#include "hindsight/space/legal_designs.h"
#include "hindsight/workload/network.h"

namespace hindsight::study {

/// The name of the limit, and the share of the DRAM that the largest network fills.
inline constexpr const char* kDramFilled = "dram_filled_frac";

/// Equation: operands stored (accel::stored_operands(), version 3) * bytes per operand / (devices * bytes of a device)
/// <= 1, of the largest of `networks`: what the accelerator's model refuses as `dram_capacity`
/// (accel::check_dram_capacity). Nothing where the space does not choose the devices. The function may be called
/// concurrently.
[[nodiscard]] std::optional<optimize::Constraint> dram_capacity_constraint(
    const space::DesignSpace& space, const std::vector<std::optional<workload::Network>>& networks);

/// Error{no_feasible} where no design of `allowed` levels has a DRAM that holds the largest of `networks`: with what it
/// needs and what the largest holds.
void require_dram_holds(const space::DesignSpace& space, const space::AllowedLevels& allowed,
                        const std::vector<std::optional<workload::Network>>& networks);

}  // namespace hindsight::study
