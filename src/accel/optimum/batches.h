/// A question's chips as batches of sites.
#pragma once

#include "accel/optimum/chips.h"
#include "hindsight/accel/optimum/landscape.h"

namespace hindsight::accel::optimum {

/// The question of all batches.
[[nodiscard]] SiteQuestion site_question(const Axes& axes, const std::vector<const workload::Network*>& networks,
                                         LandscapeMetrics metrics);
/// The chip of `point` and `core`, for SiteBatch::add_chip().
[[nodiscard]] BatchChip batch_chip(const Point& point, const Core& core, std::uint16_t bandwidths);

}  // namespace hindsight::accel::optimum
