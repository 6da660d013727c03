/// Do the factors between nodes meet the published ones, and do they compose?
#include "hindsight/check/node_scaling.h"

#include <gtest/gtest.h>

#include "tolerances.h"

namespace hindsight::check {
namespace {

using hindsight::test::kRounding;
using hindsight::test::relative_error;

TEST(NodeScaling, MeetsThePublishedNodes) {
  // 45 to 7 nm: energy 0.094, area 0.059; and 7 nm logic is 1.8 times as dense in 5 nm.
  EXPECT_LT(relative_error(node_scaling(45, 7).energy, 0.094), kRounding);
  EXPECT_LT(relative_error(node_scaling(45, 7).area, 0.059), kRounding);
  EXPECT_LT(relative_error(node_scaling(7, 5).area, 1 / 1.8), kRounding);
  EXPECT_LT(relative_error(node_scaling(7, 5).energy, 0.7), kRounding);
}

TEST(NodeScaling, ComposesAndInverts) {
  const NodeScaling down = node_scaling(22, 12), further = node_scaling(12, 5), both = node_scaling(22, 5);
  EXPECT_LT(relative_error(down.energy * further.energy, both.energy), kRounding);
  EXPECT_LT(relative_error(down.area * node_scaling(12, 22).area, 1), kRounding);
  EXPECT_EQ(node_scaling(16, 16).area, 1);
}

TEST(NodeScaling, AFinerNodeIsNeverWorse) {
  double energy = 2, area = 2;
  for (double nm = 60; nm > 3; nm -= 0.5) {
    const NodeScaling scaling = node_scaling(45, nm);
    EXPECT_LE(scaling.energy, energy) << nm;
    EXPECT_LE(scaling.area, area) << nm;
    energy = scaling.energy;
    area = scaling.area;
  }
}

TEST(NodeScaling, KnowsTheFoundryNodesOfTheShippedGpus) {
  EXPECT_EQ(node_class_nm("TSMC 4N"), 5);
  EXPECT_EQ(node_class_nm("TSMC N7"), 7);
  EXPECT_EQ(node_class_nm("TSMC 12FFN"), 16);
  EXPECT_FALSE(node_class_nm("a node of tomorrow"));
}

}  // namespace
}  // namespace hindsight::check
