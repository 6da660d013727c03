/// Do tiles fit exactly when the equations say so, and what must be fetched again when they do not?
#include "hindsight/accel/tiling.h"

#include <gtest/gtest.h>

namespace hindsight::accel {
namespace {

TEST(WorkingMemory, IsAQuarterInDoubleBuffers) {
  AcceleratorConfig config;
  config.pe_memory_bytes = 65536;
  config.core_memory_bytes = 8192;
  config.cores_per_pe = 4;
  config.activation_memory_entries = 1024;
  const WorkingMemory memory = working_memory(config);
  EXPECT_EQ(memory.input_tile_bytes, 4096);      // 65536 / 4 working, half for inputs, two buffers
  EXPECT_EQ(memory.output_tile_bytes, 4096);     // the other half
  EXPECT_EQ(memory.partial_sum_bytes, 8192);     // both output buffers
  EXPECT_EQ(memory.weight_tile_bytes, 1024);     // 8192 / 4 working, two buffers
  EXPECT_EQ(memory.accumulators_per_core, 128);  // 1024 / (2 * 4)
}

TEST(AccumulatorReuse, IsWholePixels) {
  EXPECT_EQ(accumulator_reuse(128, 12), 10);  // 10.67
  EXPECT_EQ(accumulator_reuse(128, 128), 1);
  EXPECT_EQ(accumulator_reuse(128, 129), 0);  // such a chip fails the `accumulators` check
}

/// 20 rows x 10 columns of 5 channels; 3 x 3 window, stride 2 down; input rows of 12 pixels of 8 bytes.
struct ConvolutionOnAPe {
  LayerShape layer;
  PeShare pe;
  ConvolutionOnAPe() {
    layer.windowed = true;
    layer.kernel_rows = layer.kernel_columns = 3;
    layer.stride_rows = 2;
    layer.k = 72;
    layer.in_channels = 8;
    pe.rows = 20;
    pe.columns = 10;
    pe.m = 200;
    pe.n = 5;
    pe.k = 72;
    pe.in_columns = 12;
    pe.pixel_bytes = 8;
  }
};

TEST(SmallestTile, ConvolutionNeedsOneWindowOfRows) {
  const ConvolutionOnAPe c;
  const SmallestTile tile = smallest_tile(c.layer, c.pe, {});
  EXPECT_EQ(tile.input_bytes, 288);  // 3 rows * 12 pixels * 8 bytes
  EXPECT_EQ(tile.output_bytes, 50);  // one row: 10 pixels * 5 channels
}

TEST(SmallestTile, GemmStreamsItsReduction) {
  LayerShape layer;
  PeShare pe;
  pe.k = 1000;
  pe.n = 30;
  EXPECT_EQ(smallest_tile(layer, pe, {}).input_bytes, 4);  // one four-way group
  EXPECT_EQ(smallest_tile(layer, pe, {}).output_bytes, 1);
  pe.k = 3;
  EXPECT_EQ(smallest_tile(layer, pe, {}).input_bytes, 3);
}

TEST(SmallestWeightTile, IsAWindowOfFourChannelsPerLane) {
  const ConvolutionOnAPe c;
  EXPECT_EQ(smallest_weight_tile_bytes(c.layer, 6, 4), 216);  // 9 taps * 4 channels * 6 lanes
  LayerShape shallow = c.layer;
  shallow.k = 18;
  shallow.in_channels = 2;
  EXPECT_EQ(smallest_weight_tile_bytes(shallow, 6, 4), 108);  // only 2 channels: 18 * 6
  LayerShape depthwise = c.layer;
  depthwise.depthwise = true;
  depthwise.k = 9;
  depthwise.in_channels = 1;
  EXPECT_EQ(smallest_weight_tile_bytes(depthwise, 6, 4), 54);  // 9 taps * 6 lanes, a channel each
  LayerShape gemm;
  gemm.k = 1000;
  EXPECT_EQ(smallest_weight_tile_bytes(gemm, 6, 4), 24);  // 4 * 6
}

TEST(RowBands, HoldWholeRowsOfInputsAndOutputs) {
  const ConvolutionOnAPe c;
  WorkingMemory memory;
  memory.output_tile_bytes = 4096;
  // 960 / 96 = 10 input rows: (10 - 3) / 2 + 1 = 4.5, four output rows, five bands.
  memory.input_tile_bytes = 960;
  EXPECT_EQ(row_bands(c.layer, c.pe, memory), 5);
  // Outputs bind: 100 / 50 = 2 rows, ten bands.
  memory.output_tile_bytes = 100;
  EXPECT_EQ(row_bands(c.layer, c.pe, memory), 10);
}

TEST(RowBands, OneBandExactlyWhenTheShareFits) {
  const ConvolutionOnAPe c;
  WorkingMemory memory;
  // 20 output rows need (20 - 1) * 2 + 3 = 41 input rows of 96 bytes = 3936, and 20 * 50 = 1000 bytes of outputs.
  memory.input_tile_bytes = 3936;
  memory.output_tile_bytes = 1000;
  EXPECT_EQ(row_bands(c.layer, c.pe, memory), 1);
  memory.input_tile_bytes = 3935;
  EXPECT_EQ(row_bands(c.layer, c.pe, memory), 2);
  memory.input_tile_bytes = 3936;
  memory.output_tile_bytes = 999;
  EXPECT_EQ(row_bands(c.layer, c.pe, memory), 2);
}

TEST(RowBands, OneRowAtATimeAtTheSmallestTile) {
  const ConvolutionOnAPe c;
  WorkingMemory memory;
  memory.input_tile_bytes = 288;
  memory.output_tile_bytes = 50;
  EXPECT_EQ(row_bands(c.layer, c.pe, memory), 20);
}

/// 1000 outputs, two apart, of windows of 9 pixels of 8 channels; 5 output channels.
struct SequenceOnAPe {
  LayerShape layer;
  PeShare pe;
  WorkingMemory memory;
  SequenceOnAPe() {
    layer.windowed = layer.of_sequence = true;
    layer.kernel_columns = 9;
    layer.stride_columns = 2;
    pe.columns = pe.m = 1000;
    pe.n = 5;
    pe.in_columns = 2007;
    pe.pixel_bytes = 8;
    memory.cuts_sequences = true;
  }
};

TEST(SmallestTile, OfASequenceIsOneWindow) {
  SequenceOnAPe c;
  EXPECT_EQ(smallest_tile(c.layer, c.pe, c.memory).input_bytes, 9 * 8);
  EXPECT_EQ(smallest_tile(c.layer, c.pe, c.memory).output_bytes, 5);
  c.memory.cuts_sequences = false;
  EXPECT_EQ(smallest_tile(c.layer, c.pe, c.memory).input_bytes, 2007 * 8) << "before version 4";
  EXPECT_EQ(smallest_tile(c.layer, c.pe, c.memory).output_bytes, 5000);
  c.memory.cuts_sequences = true;
  c.layer.of_sequence = false;
  EXPECT_EQ(smallest_tile(c.layer, c.pe, c.memory).input_bytes, 2007 * 8) << "a map has rows";
}

TEST(RowBands, OfASequenceArePartsOfItsRow) {
  SequenceOnAPe c;
  c.memory.input_tile_bytes = 2007 * 8;
  c.memory.output_tile_bytes = 5000;
  EXPECT_EQ(row_bands(c.layer, c.pe, c.memory), 1) << "it fits as a whole";
  // Inputs bind: (800 / 8 - 9) / 2 + 1 = 46.5, so 46 outputs at a time, 22 times.
  c.memory.input_tile_bytes = 800;
  EXPECT_EQ(row_bands(c.layer, c.pe, c.memory), 22);
  c.memory.output_tile_bytes = 50;  // outputs bind: 10 at a time
  EXPECT_EQ(row_bands(c.layer, c.pe, c.memory), 100);
  c.memory.input_tile_bytes = 9 * 8;
  c.memory.output_tile_bytes = 5;
  EXPECT_EQ(row_bands(c.layer, c.pe, c.memory), 1000) << "one window at a time";
}

TEST(RowBands, GemmRowsAreTheReduction) {
  LayerShape layer;
  PeShare pe;
  pe.rows = pe.m = 10;
  pe.n = 7;
  pe.k = pe.pixel_bytes = 100;
  WorkingMemory memory;
  memory.output_tile_bytes = 1000;
  memory.input_tile_bytes = 300;
  EXPECT_EQ(row_bands(layer, pe, memory), 4);  // 3 rows a band
  memory.input_tile_bytes = 50;
  EXPECT_EQ(row_bands(layer, pe, memory), 10);  // K streams through, one row a band
}

/// 40 pixels, 20 channels, K of 100; a core has all of it.
struct GemmOnACore {
  PeShare pe;
  CoreShare core;
  WorkingMemory memory;
  GemmOnACore() {
    pe.m = core.m = 40;
    pe.n = core.n = 20;
    pe.k = 100;
    memory.weight_tile_bytes = 1024;
    memory.partial_sum_bytes = 8192;
  }
};
constexpr double kLanes = 4;
constexpr double kReuse = 4;
constexpr double kBands = 5;

TEST(OutputStationary, FetchesWeightsOncePerBandWhenGroupsFit) {
  const GemmOnACore g;
  // A lane group is 100 * 4 = 400 bytes; two fit: 8 channels a tile, ceil(20 / 8) = 3 tiles.
  const TilePlan plan = plan_output_stationary(g.pe, g.core, kLanes, kReuse, kBands, g.memory);
  EXPECT_EQ(plan.tiles_m, 5);
  EXPECT_EQ(plan.tiles_n, 3);
  EXPECT_EQ(plan.tiles_k, 1);
  EXPECT_EQ(plan.weight_passes, 5);
  EXPECT_EQ(plan.input_passes, 1);
  EXPECT_EQ(plan.partial_sum_passes, 0);
}

TEST(OutputStationary, FetchesWeightsOnceWhenAllFit) {
  GemmOnACore g;
  g.core.n = 8;
  EXPECT_EQ(plan_output_stationary(g.pe, g.core, kLanes, kReuse, kBands, g.memory).weight_passes, 1);
  g.core.n = 9;
  EXPECT_EQ(plan_output_stationary(g.pe, g.core, kLanes, kReuse, kBands, g.memory).weight_passes, 5);
}

TEST(OutputStationary, StreamsTheReductionWhenAGroupDoesNotFit) {
  GemmOnACore g;
  g.memory.weight_tile_bytes = 399;
  const TilePlan plan = plan_output_stationary(g.pe, g.core, kLanes, kReuse, kBands, g.memory);
  EXPECT_EQ(plan.tiles_n, 5);         // 20 / 4
  EXPECT_EQ(plan.tiles_k, 2);         // ceil(400 / 399)
  EXPECT_EQ(plan.weight_passes, 10);  // 40 pixels in blocks of 4, more than the 5 bands
  EXPECT_EQ(plan_output_stationary(g.pe, g.core, kLanes, 40, kBands, g.memory).weight_passes, 5);  // one block
  g.memory.weight_tile_bytes = 400;
  EXPECT_EQ(plan_output_stationary(g.pe, g.core, kLanes, kReuse, kBands, g.memory).tiles_k, 1);
}

TEST(WeightStationary, FetchesWeightsOnceAndInputsPerChannelTile) {
  const GemmOnACore g;
  const TilePlan plan = plan_weight_stationary(g.pe, g.core, kLanes, kBands, g.memory);
  EXPECT_EQ(plan.tiles_n, 3);
  EXPECT_EQ(plan.weight_passes, 1);
  EXPECT_EQ(plan.input_passes, 3);
  EXPECT_EQ(plan.partial_sum_passes, 0);
  // The whole input in its buffer is read once.
  EXPECT_EQ(plan_weight_stationary(g.pe, g.core, kLanes, 1, g.memory).input_passes, 1);
}

TEST(WeightStationary, SpillsPartialSumsWhenTheReductionDoesNotFit) {
  GemmOnACore g;
  g.memory.weight_tile_bytes = 150;
  const TilePlan plan = plan_weight_stationary(g.pe, g.core, kLanes, kBands, g.memory);
  EXPECT_EQ(plan.tiles_n, 5);
  EXPECT_EQ(plan.tiles_k, 3);             // ceil(400 / 150)
  EXPECT_EQ(plan.partial_sum_passes, 2);  // the first pass starts from zero
  EXPECT_EQ(plan.weight_passes, 1);
  EXPECT_EQ(plan.input_passes, 5);
}

TEST(WeightStationary, FetchesWeightsPerPixelBlockWhenSumsDoNotFit) {
  GemmOnACore g;
  g.memory.weight_tile_bytes = 150;
  g.core.split_n = 2;
  // 40 pixels * (4 lanes * 2 cores) channels * 4 bytes = 1280.
  g.memory.partial_sum_bytes = 1280;
  EXPECT_EQ(plan_weight_stationary(g.pe, g.core, kLanes, 1, g.memory).weight_passes, 1);
  g.memory.partial_sum_bytes = 1279;
  const TilePlan plan = plan_weight_stationary(g.pe, g.core, kLanes, 1, g.memory);
  EXPECT_EQ(plan.weight_passes, 2);
  EXPECT_EQ(plan.tiles_m, 2);
  // Only channels that exist need sums: 40 * 5 * 4 = 800 bytes.
  g.pe.n = 5;
  g.memory.partial_sum_bytes = 800;
  EXPECT_EQ(plan_weight_stationary(g.pe, g.core, kLanes, 1, g.memory).weight_passes, 1);
}

}  // namespace
}  // namespace hindsight::accel
