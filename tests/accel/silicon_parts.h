/// What tests of version 2 of the model share: a technology of it, and what a chip of it costs.
#pragma once

#include <gtest/gtest.h>

#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/technology.h"
#include "hindsight/workload/network.h"

namespace hindsight::accel::test {

/// Differences of large sums that are nearly equal: their rounding over what is left.
inline constexpr double kDifference = 1e-6;

inline const Technology& silicon() {
  static const Technology technology = load_technology("16nm-silicon");
  return technology;
}

inline Metrics costs_of(const AcceleratorConfig& config, const workload::Network& network,
                        const Technology& technology = silicon()) {
  const Evaluation evaluation = evaluate(unchecked_chip_facts(config, technology), network.gemms(), Depth::all_checks);
  EXPECT_TRUE(evaluation.feasible()) << network.name();
  return evaluation.metrics.value_or(Metrics{});
}

}  // namespace hindsight::accel::test
