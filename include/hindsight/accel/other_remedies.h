/// What cools a chip that fewer lanes alone do not: the remedies that check_cooling() leaves out.
///
/// They take chips by the dozen and are for a person who reads about one design. A log's remedy stays that of the
/// violation's own parameter.
#pragma once

#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/technology.h"
#include "hindsight/space/design_space.h"

namespace hindsight::accel {

/// For a violation of cooling whose own parameter has no value that passes, as name_levels() leaves it: of all numbers
/// of the space the nearest lower value that passes with all others kept, is legal beside them and breaks no other
/// check of the hardware. Nearest: the fewest values away; of several those watts that are the closest to the limit.
/// Where none passes either, the violation says so (Violation::of_any_parameter).
void name_other_parameter(ViolationList& violations, const space::DesignSpace& space, const space::Design& design,
                          const Technology& technology);

/// The same for a chip of no space: the fastest clock in whole MHz that passes.
void name_slower_clock(ViolationList& violations, const AcceleratorConfig& config, const Technology& technology);

}  // namespace hindsight::accel
