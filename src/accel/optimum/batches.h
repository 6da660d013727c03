/// A question's chips as batches of sites.
#pragma once

#include "accel/optimum/enumeration.h"
#include "hindsight/accel/optimum/landscape.h"

namespace hindsight::accel::optimum {

/// The question of all batches.
[[nodiscard]] SiteQuestion site_question(const Axes& axes, const std::vector<const workload::Network*>& networks,
                                         LandscapeMetrics metrics);
/// A chip for SiteBatch::add_chip().
[[nodiscard]] BatchChip batch_chip(const BuildableChip& chip);

}  // namespace hindsight::accel::optimum
