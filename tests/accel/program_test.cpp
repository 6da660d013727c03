/// Is the length of the compiled program what the tile loops say?
#include "hindsight/accel/program.h"

#include <gtest/gtest.h>

namespace hindsight::accel {
namespace {

TEST(LayerInstructions, AddSetupStepsAndDescriptors) {
  PeShare pe;
  pe.split_n = 4;
  pe.split_k = 2;
  const CoreShare core{.split_m = 3, .split_n = 2};
  const TilePlan plan{.tiles_m = 5, .tiles_n = 3, .tiles_k = 2};
  // 16 set-up + 4 * (4 + 8) rows and columns + 4 * 30 steps + (4 * 2 PEs * 2 cores) * 6 weight tiles.
  EXPECT_EQ(layer_instructions(pe, core, plan, 4, 8), 16 + 48 + 120 + 96);
}

TEST(LayerInstructions, PassesLoopInHardware) {
  const PeShare pe;
  const CoreShare core;
  TilePlan plan{.tiles_m = 5, .tiles_n = 3, .tiles_k = 2};
  const double once = layer_instructions(pe, core, plan, 1, 1);
  plan.weight_passes = 10;
  plan.input_passes = 7;
  plan.partial_sum_passes = 4;
  EXPECT_EQ(layer_instructions(pe, core, plan, 1, 1), once);
}

TEST(LayerInstructions, PixelSplitsShareDescriptors) {
  PeShare pe;
  const TilePlan plan;
  const double one = layer_instructions(pe, {}, plan, 8, 1);
  pe.split_m = 8;  // the same weights for every PE: one multicast
  EXPECT_EQ(layer_instructions(pe, {}, plan, 8, 1), one);
  pe.split_m = 1;
  pe.split_n = 8;  // eight PEs with weights of their own
  EXPECT_EQ(layer_instructions(pe, {}, plan, 8, 1), one + 7);
}

}  // namespace
}  // namespace hindsight::accel
