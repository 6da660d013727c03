/// Are the equations of the GEMM model right? Each expectation is worked by hand.
#include "hindsight/gpu/gemm_terms.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tolerances.h"

namespace hindsight::gpu {
namespace {

using test::kRounding;
using test::relative_error;

TEST(GemmTerms, RoundsAreWholeAndTheSameWithoutDivision) {
  EXPECT_EQ(rounds(256, 108), 3);
  EXPECT_EQ(rounds(216, 108), 2);
  for (double slots = 1; slots < 300; ++slots) {
    for (double parts = 1; parts < 2000; parts += 7) {
      ASSERT_EQ(rounds(parts, slots, 1 / slots), rounds(parts, slots)) << parts << " / " << slots;
      ASSERT_EQ(rounds(parts * slots, slots, 1 / slots), parts) << parts << " / " << slots;
    }
  }
}

TEST(GemmTerms, LargestTileReachesThePeak) {
  EXPECT_EQ(tile_efficiency(32768, 32768, 1.1), 1);
  // 64 x 64 of 128 x 256: 1 / (1 + 1.1 * (1 - 1/8)) = 1 / 1.9625
  EXPECT_LT(relative_error(tile_efficiency(4096, 32768, 1.1), 1 / 1.9625), kRounding);
}

/// Reads of 8 x 8 outputs: 16 elements of 4 bytes for 64 multiply-adds, that is 1 byte each; an SM reads 128 per clock.
TEST(GemmTerms, SharedMemoryByHand) {
  EXPECT_LT(relative_error(shared_memory_work(128, 8, 8), std::cbrt(2.0)), kRounding);    // x = 1
  EXPECT_LT(relative_error(shared_memory_work(64, 8, 8), std::cbrt(1.125)), kRounding);   // x = 1/2
  EXPECT_LT(relative_error(shared_memory_work(64, 4, 4), std::cbrt(2.0)), kRounding);     // 2 bytes each: x = 1
  EXPECT_LT(relative_error(shared_memory_work(128, 8, 4), std::cbrt(4.375)), kRounding);  // 1.5 bytes each: x = 3/2
  EXPECT_EQ(shared_memory_work(128, 8, 4), shared_memory_work(128, 4, 8));
  for (double units = 1; units < 1024; units *= 2) {
    EXPECT_LT(shared_memory_work(2 * units, 8, 8) / (2 * units), shared_memory_work(units, 8, 8) / units)
        << "more units are faster, however little they are fed";
  }
}

TEST(GemmTerms, MathCountsTheBusiestSm) {
  // 2 CTAs of 128 x 128 x 64 at 1e12 multiply-adds per s: 2 * 1048576 / 1e12
  EXPECT_LT(relative_error(math_s(2, 128 * 128, 64, 1e-12), 2.097152e-6), kRounding);
  EXPECT_LT(relative_error(chain_s(2, 1024, 1.33e-9), 2.72384e-6), kRounding);
}

TEST(GemmTerms, ClustersReadTheLongerPanelOnce) {
  // 10 CTAs of 128 x 256, k 64, 2 bytes
  EXPECT_EQ(l2_read_bytes(10, 128, 256, 64, 2, 1), 10 * (128 + 256) * 64 * 2);
  EXPECT_EQ(l2_read_bytes(10, 256, 128, 64, 2, 0.25), 10 * (128 + 64) * 64 * 2);
}

TEST(GemmTerms, QuantisingReadsTwoBytesAndWritesOne) {
  EXPECT_EQ(quantise_bytes(1000), 3000);
  // 300 rows, 132 at a time: 3 rounds of 1 us and 128 elements of 2 ns
  EXPECT_LT(relative_error(quantise_rows_s(300, 132, 128, 1e-6, 2e-9), 3.768e-6), kRounding);
  EXPECT_LT(relative_error(quantise_rows_s(264, 132, 128, 1e-6, 2e-9), 2.512e-6), kRounding) << "whole rounds";
  // 3^3 + 4^3 + 5^3 = 6^3
  EXPECT_LT(relative_error(quantise_s(2e-6, 3e-6, 4e-6, 5e-6), 8e-6), kRounding);
}

TEST(GemmTerms, SmallBlocksWaitForTheHost) {
  EXPECT_EQ(small_block_floor_s(128, 128), 0);
  EXPECT_EQ(small_block_floor_s(127, 128), 90e-6);
  EXPECT_EQ(small_block_floor_s(64, 128), 90e-6);
  EXPECT_EQ(small_block_floor_s(63, 128), 178e-6);
  EXPECT_EQ(small_block_floor_s(4096, 127), 178e-6);
}

TEST(GemmTerms, ResidencyHalvesWhereTheReuseFillsTheCache) {
  EXPECT_EQ(resident_share(30e6, 30e6), 0.5);
  EXPECT_LT(relative_error(resident_share(15e6, 30e6), 256.0 / 257.0), kRounding);  // 1 / (1 + 2^-8)
  EXPECT_LT(relative_error(resident_share(60e6, 30e6), 1.0 / 257.0), kRounding);
}

/// 100 outputs in flight are a block of 10 x 10; one byte per element, k = 1000.
TEST(GemmTerms, InputsAreReadAgainByHand) {
  EXPECT_EQ(reread_bytes(10, 10, 10e3, 10e3, 100, 1), 0) << "the whole output is in flight";
  EXPECT_EQ(reread_bytes(40, 80, 40e3, 80e3, 100, 40e3), 0) << "a fits in L2";
  // Walking: a = 40e3 read 80 / 10 times, b = 80e3 read 40 / 10 times: 7 x 40e3 + 3 x 80e3.
  EXPECT_LT(relative_error(reread_bytes(40, 80, 40e3, 80e3, 100, 1e3), 520e3), kRounding);
  // An image of a quarter of a's bytes, read as often: 7 x 10e3 + 3 x 80e3.
  EXPECT_LT(relative_error(reread_bytes(40, 80, 10e3, 80e3, 100, 1e3), 310e3), kRounding);
  // Holding a panel of 20e3 bytes, half of a: b once more.
  EXPECT_LT(relative_error(reread_bytes(40, 80, 40e3, 80e3, 100, 20e3), 80e3), kRounding);
  // 5 rows: the block is 5 x 20, a = 5e3 is read 80 / 20 times.
  EXPECT_LT(relative_error(reread_bytes(5, 80, 5e3, 80e3, 100, 1), 15e3), kRounding);
  EXPECT_EQ(reread_bytes(80, 5, 80e3, 5e3, 100, 1), reread_bytes(5, 80, 5e3, 80e3, 100, 1));
}

TEST(GemmTerms, ReadingAgainBeginsGraduallyWhereInputsJustFit) {
  EXPECT_LT(reread_bytes(40.001, 80, 40.001e3, 80e3, 100, 40e3), 4) << "of 120e3 bytes";
  EXPECT_LT(reread_bytes(10.0001, 10, 10.0001e3, 10e3, 100, 1), 1) << "of 20e3 bytes";
  const double below = reread_bytes(9.9999, 80, 9.9999e3, 80e3, 100, 1),
               above = reread_bytes(10.0001, 80, 10.0001e3, 80e3, 100, 1);
  EXPECT_LT(relative_error(below, above), 1e-4) << "where the block becomes square";
}

TEST(GemmTerms, DramTakesItsRampOnlyForWhatItMoves) {
  EXPECT_LT(relative_error(dram_s(3e9, 3e9, 3e12, 1e-6), 1e-3 + 1e-6), kRounding);
  EXPECT_LT(relative_error(dram_s(1.5e9, 3e9, 3e12, 1e-6), 5e-4 + 5e-7), kRounding);
  EXPECT_EQ(dram_s(0, 3e9, 3e12, 1e-6), 0);
}

TEST(GemmTerms, LongRowsReadStepwiseCostMore) {
  EXPECT_EQ(stepwise_read_cost(4096, 0), 1);
  EXPECT_LT(relative_error(stepwise_read_cost(400, 0.9), 1.45), kRounding);
  EXPECT_LT(relative_error(stepwise_read_cost(3600, 0.9), 1.81), kRounding);
}

TEST(GemmTerms, OverlapLiesBetweenTheLargestAndTheSum) {
  EXPECT_LT(relative_error(overlapped_s(Overlap::pipelined, 3, 4, 5), 6), kRounding);  // 27 + 64 + 125 = 6^3
  EXPECT_LT(relative_error(overlapped_s(Overlap::specialised, 2, 0, 0), 2), kRounding);
  EXPECT_LT(relative_error(overlapped_s(Overlap::specialised, 1, 1, 1), 1.3160740129524924), kRounding);  // 3^(1/4)
}

TEST(GemmTerms, ReductionOnlyWithParts) {
  EXPECT_EQ(reduction_s(1, 1e6, 2e-6, 1e-12), 0);
  // half of 4 parts x 1e6 outputs x 4 bytes at 1e12 B/s = 8 us, after a start of 2 us
  EXPECT_LT(relative_error(reduction_s(4, 1e6, 2e-6, 1e-12), 10e-6), kRounding);
}

TEST(GemmTerms, PowerCapSlowsDown) {
  EXPECT_EQ(settled_slowdown(699, 700, 100), 1);
  // twice the dynamic power: 1 + (2^0.55 - 1) / 0.88
  EXPECT_LT(relative_error(settled_slowdown(1300, 700, 100), 1.5273701090291198), kRounding);
  EXPECT_EQ(settled_share(1e-3, 1e-3), 0.44);
  EXPECT_LT(settled_share(1e3, 1e-3), 0.88) << "however long its kernels, a burst is over before the board is warm";
}

/// 1.8 times as long is 1.2 times, and from there 1.5 times: the shares multiply.
TEST(GemmTerms, PowerFromALockGoesOnAsFromTheHighestClock) {
  EXPECT_EQ(steepness_from(1), 0.88);
  const double lock = 1.2, further = 1.5, steepness = steepness_from(lock);
  EXPECT_LT(relative_error(dynamic_share(lock) * dynamic_share(further, steepness), dynamic_share(lock * further)),
            kRounding);
  // 1200 W above 100 W of idle power, held at 700 W.
  const double locked_w = 100 + 1200 * dynamic_share(lock);
  EXPECT_LT(relative_error(lock * settled_slowdown(locked_w, 700, 100, steepness), settled_slowdown(1300, 700, 100)),
            kRounding);
}

TEST(GemmTerms, LaunchFloorHoldsShortKernels) {
  EXPECT_EQ(launched_s(5e-6, 0), 5e-6);
  EXPECT_LT(relative_error(launched_s(1e-9, 30e-6), 30e-6), kRounding);
  EXPECT_LT(relative_error(launched_s(1, 30e-6), 1), kRounding);
}

}  // namespace
}  // namespace hindsight::gpu
