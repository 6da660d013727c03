/// Are the shared cost terms right?
#include "hindsight/accel/terms.h"

#include <gtest/gtest.h>

namespace hindsight::accel {
namespace {

TEST(Terms, TileCountCoversTheSize) {
  EXPECT_EQ(tile_count(8, 2), 4);
  EXPECT_EQ(tile_count(7, 2), 4);
  EXPECT_EQ(tile_count(1, 2), 1);
  EXPECT_EQ(tile_count(0, 3), 0);
  for (double size = 1; size <= 200; ++size) {
    for (double tile = 1; tile <= 200; ++tile) {
      const double tiles = tile_count(size, tile);
      ASSERT_GE(tiles * tile, size);
      ASSERT_LT((tiles - 1) * tile, size);
      ASSERT_GT(spatial_utilisation_frac(size, tile), 0);
      ASSERT_LE(spatial_utilisation_frac(size, tile), 1);
    }
  }
}

TEST(Terms, PipelinedTakesTheLongest) {
  EXPECT_EQ(pipelined_cycles(3.0), 3);
  EXPECT_EQ(pipelined_cycles(1.0, 5.0, 2.0), 5);
  EXPECT_EQ(pipelined_cycles(1.0, 2.0, 7.0, 3.0), 7);
}

TEST(Terms, DoubleBufferedExposesFirstLoadAndLastStore) {
  // 4 steps of work 10, load 3, store 2: 3 + 3*10 + 10 + 2 = 45. With load 20: 20 + 3*20 + 10 + 2 = 92.
  EXPECT_EQ(double_buffered_cycles(4, 10, 3, 2), 45);
  EXPECT_EQ(double_buffered_cycles(4, 10, 20, 2), 92);
  EXPECT_EQ(double_buffered_cycles(1, 10, 3, 2), 15);
}

TEST(Terms, SystolicFoldFillsStreamsAndDrains) {
  // A 2 x 3 array with a stream of 5: outputs in place 5 + 2 + 3 - 2 = 8; weights in place need 2 more to load.
  EXPECT_EQ(systolic_fold_cycles(Stationary::output, 2, 3, 5), 8);
  EXPECT_EQ(systolic_fold_cycles(Stationary::weight, 2, 3, 5), 10);
  EXPECT_EQ(systolic_fold_cycles(Stationary::input, 2, 3, 5), 10);
  // One unit that streams alone takes as long as the stream.
  EXPECT_EQ(systolic_fold_cycles(Stationary::output, 1, 1, 5), 5);
}

TEST(Terms, StationaryOperandPassesOnce) {
  const TileCounts tiles{.m = 2, .n = 3, .k = 5};
  const RefetchFactors output = refetch(Stationary::output, tiles);
  EXPECT_EQ(output.input_reads, 3);
  EXPECT_EQ(output.weight_reads, 2);
  EXPECT_EQ(output.output_writes, 1);
  EXPECT_EQ(output.output_reads, 0);
  const RefetchFactors weight = refetch(Stationary::weight, tiles);
  EXPECT_EQ(weight.input_reads, 3);
  EXPECT_EQ(weight.weight_reads, 1);
  EXPECT_EQ(weight.output_writes, 5);
  EXPECT_EQ(weight.output_reads, 4);
  const RefetchFactors input = refetch(Stationary::input, tiles);
  EXPECT_EQ(input.input_reads, 1);
  EXPECT_EQ(input.weight_reads, 2);
  EXPECT_EQ(input.output_writes, 5);
}

TEST(Terms, TileStaysWhenNothingItDependsOnMoves) {
  // Loops m, n, k with one tile along k and n: only m iterates, and the weights do not depend on it.
  const RefetchFactors factors = refetch(Stationary::output, {.m = 4, .n = 1, .k = 1});
  EXPECT_EQ(factors.weight_reads, 1);
  // One tile along k: the input tile of a row stays while n iterates.
  EXPECT_EQ(refetch(Stationary::output, {.m = 4, .n = 3, .k = 1}).input_reads, 1);
  EXPECT_EQ(refetch(Stationary::output, {.m = 4, .n = 3, .k = 1}).weight_reads, 4);
}

/// A loop nest that remembers which tile of an operand was used last counts the same transfers.
TEST(Terms, RefetchEqualsCountingInTheLoopNest) {
  for (const Stationary stationary : {Stationary::output, Stationary::weight, Stationary::input}) {
    const LoopOrder order = loop_order(stationary);
    for (int code = 0; code < 27; ++code) {
      const TileCounts tiles{.m = 1.0 + code % 3, .n = 1.0 + code / 3 % 3, .k = 1.0 + code / 9};
      int input_fetches = 0, weight_fetches = 0, output_fetches = 0;
      double last_input = -1, last_weight = -1, last_output = -1;
      for (double outer = 0; outer < tiles.at(order[0]); ++outer) {
        for (double middle = 0; middle < tiles.at(order[1]); ++middle) {
          for (double inner = 0; inner < tiles.at(order[2]); ++inner) {
            TileCounts at;
            const double indices[] = {outer, middle, inner};
            for (std::size_t i = 0; i < order.size(); ++i) {
              (order[i] == GemmDimension::m ? at.m : order[i] == GemmDimension::n ? at.n : at.k) = indices[i];
            }
            const auto fetch = [](int& fetches, double& last, double tile) {
              fetches += tile != last ? 1 : 0;
              last = tile;
            };
            fetch(input_fetches, last_input, at.m * 10 + at.k);
            fetch(weight_fetches, last_weight, at.n * 10 + at.k);
            fetch(output_fetches, last_output, at.m * 10 + at.n);
          }
        }
      }
      const RefetchFactors factors = refetch(stationary, tiles);
      ASSERT_EQ(factors.input_reads * tiles.m * tiles.k, input_fetches);
      ASSERT_EQ(factors.weight_reads * tiles.n * tiles.k, weight_fetches);
      ASSERT_EQ(factors.output_writes * tiles.m * tiles.n, output_fetches);
    }
  }
}

}  // namespace
}  // namespace hindsight::accel
