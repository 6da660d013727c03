/// Are the bytes right that DRAM, NoC and memories move for one layer?
#include "hindsight/accel/traffic.h"

#include <gtest/gtest.h>

#include "tolerances.h"

namespace hindsight::accel {
namespace {

using test::kRounding;
using test::relative_error;

TEST(ResidentMemory, IsWhatWorkingSpaceLeaves) {
  AcceleratorConfig config;
  config.pes_x = 2;
  config.pes_y = 3;
  config.cores_per_pe = 4;
  config.pe_memory_bytes = 65536;
  config.core_memory_bytes = 8192;
  const ResidentMemory memory = resident_memory(config);
  EXPECT_EQ(memory.parameter_bytes, 147456);        // 6 * 4 * 8192 * 3/4
  EXPECT_EQ(memory.activation_half_bytes, 147456);  // 6 * 65536 * 3/4 / 2
  EXPECT_EQ(memory.input_chunk_bytes, 24576);       // 6 * 65536 / 4 / 4
  EXPECT_EQ(memory.weight_chunk_bytes, 24576);      // 6 * 4 * 8192 / 4 / 2
}

LayerShape thousand_byte_layer() {
  LayerShape layer;
  layer.input_bytes = 1000;
  layer.weight_bytes = 600;
  layer.output_bytes = 300;
  layer.out_rows = 20;
  return layer;
}
Traffic dram(const LayerShape& layer, const Residency& residency, const ResidentMemory& memory) {
  Traffic traffic;
  add_dram_traffic(layer, residency, memory, traffic);
  return traffic;
}

TEST(DramTraffic, InputOnChipStreamsOnlyUncachedWeights) {
  const ResidentMemory memory{.input_chunk_bytes = 1, .weight_chunk_bytes = 1};
  const Traffic traffic =
      dram(thousand_byte_layer(), {.input_on_chip = true, .output_on_chip = true, .weights_cached_frac = 0.5}, memory);
  EXPECT_EQ(traffic.dram_read_weight_bytes, 300);
  EXPECT_EQ(traffic.dram_read_input_bytes, 0);
  EXPECT_EQ(traffic.dram_write_output_bytes, 0);
}

TEST(DramTraffic, InputsInPlaceReadWeightsPerChunk) {
  // Half of 600 streams; ceil(1000 / 400) = 3 input chunks, ceil(300 / 100) = 3 weight chunks.
  // Inputs in place 1000 + 3 * 300 = 1900; weights in place 300 + 3 * 1000 = 3300.
  const ResidentMemory memory{.input_chunk_bytes = 400, .weight_chunk_bytes = 100};
  const Traffic traffic = dram(thousand_byte_layer(), {.weights_cached_frac = 0.5}, memory);
  EXPECT_EQ(traffic.dram_read_input_bytes, 1000);
  EXPECT_EQ(traffic.dram_read_weight_bytes, 900);
  EXPECT_EQ(traffic.dram_write_output_bytes, 300);
}

TEST(DramTraffic, WeightsInPlaceReadInputsPerChunk) {
  // ceil(300 / 150) = 2 weight chunks: 300 + 2 * 1000 = 2300; 20 input chunks: 1000 + 20 * 300 = 7000.
  const ResidentMemory memory{.input_chunk_bytes = 50, .weight_chunk_bytes = 150};
  const Traffic traffic = dram(thousand_byte_layer(), {.weights_cached_frac = 0.5}, memory);
  EXPECT_EQ(traffic.dram_read_input_bytes, 2000);
  EXPECT_EQ(traffic.dram_read_weight_bytes, 300);
}

TEST(DramTraffic, NothingIsReadTwiceExactlyWhenAChunkHoldsIt) {
  ResidentMemory memory{.input_chunk_bytes = 1000, .weight_chunk_bytes = 1};
  EXPECT_EQ(dram(thousand_byte_layer(), {}, memory).dram_bytes(), 1900);
  memory.input_chunk_bytes = 999;
  EXPECT_EQ(dram(thousand_byte_layer(), {}, memory).dram_bytes(), 2500);  // the weights twice
}

TEST(DramTraffic, InputChunksReadTheHaloTwice) {
  LayerShape layer = thousand_byte_layer();
  layer.windowed = true;
  layer.kernel_rows = 3;
  const ResidentMemory memory{.input_chunk_bytes = 400, .weight_chunk_bytes = 1};
  // 20 input rows of 50 bytes, three chunks: two borders of 3 - 1 rows = 2 * 2 * 50 = 200.
  EXPECT_EQ(dram(layer, {.weights_cached_frac = 0.5}, memory).dram_read_input_bytes, 1200);
  // A window no larger than the stride has no halo.
  layer.stride_rows = 3;
  EXPECT_EQ(dram(layer, {.weights_cached_frac = 0.5}, memory).dram_read_input_bytes, 1000);
}

TEST(DramTraffic, IndependentGemmsDoNotReadEachOthersWeights) {
  // Four GEMMs of 1000 and 600 bytes: each as alone. Three input chunks: 1000 + 3 * 600 = 2800 per GEMM.
  LayerShape layer = thousand_byte_layer();
  layer.count = 4;
  layer.input_bytes *= 4;
  layer.weight_bytes *= 4;
  layer.output_bytes *= 4;
  const ResidentMemory memory{.input_chunk_bytes = 400, .weight_chunk_bytes = 100};
  const Traffic traffic = dram(layer, {}, memory);
  EXPECT_EQ(traffic.dram_read_input_bytes, 4000);
  EXPECT_EQ(traffic.dram_read_weight_bytes, 7200);
  EXPECT_EQ(traffic.dram_write_output_bytes, 1200);
  // A chunk that holds one GEMM's input: nothing is read twice, however many GEMMs there are.
  const ResidentMemory larger{.input_chunk_bytes = 1000, .weight_chunk_bytes = 100};
  EXPECT_EQ(dram(layer, {}, larger).dram_bytes(), 4 * 1900);
}

LayerShape gemm(double m, double n, double k) {
  LayerShape layer;
  layer.m = layer.out_rows = m;
  layer.n = n;
  layer.k = layer.in_channels = k;
  return layer;
}

TEST(NocLoad, SplitReductionSendsPartialSums) {
  // 100 x 30 x 64 on 8 x 4 PEs, K along x and N along y: 8 of K, 8 channels (4 PEs), 100 pixels.
  const LayerShape layer = gemm(100, 30, 64);
  const PeShare pe = pe_share(layer, {GemmDimension::k, GemmDimension::n}, 8, 4);
  const TilePlan plan{.weight_passes = 2, .input_passes = 3};
  const NocLoad load = noc_load(layer, pe, core_share(pe, 1, 1), plan, {}, kAccumulatorBytes);
  EXPECT_EQ(load.weight_bytes, 4096);      // 8 * 8 bytes * 2 passes * 32 PEs
  EXPECT_EQ(load.input_bytes, 19200);      // 100 * 8 bytes * 3 passes * 8 parts of K; PEs of one column share them
  EXPECT_EQ(load.output_bytes, 92800);     // 4 * (800 int8 + 7 * 800 int32)
  EXPECT_EQ(load.pe_ingress_bytes, 5728);  // 128 weights + 2400 inputs + 3200 sums
  EXPECT_EQ(load.pe_egress_bytes, 3200);
}

TEST(NocLoad, SharedOperandsAreMulticast) {
  // 100 x 30 x 64 on 8 x 4 PEs, M along x and N along y: 13 pixels x 8 channels x 64.
  const LayerShape layer = gemm(100, 30, 64);
  const PeShare pe = pe_share(layer, {GemmDimension::m, GemmDimension::n}, 8, 4);
  const NocLoad load = noc_load(layer, pe, core_share(pe, 1, 1), {}, {}, kAccumulatorBytes);
  EXPECT_EQ(load.weight_bytes, 4 * 8 * 64);   // once for all PEs of a row
  EXPECT_EQ(load.input_bytes, 8 * 13 * 64);   // once for all PEs of a column
  EXPECT_EQ(load.output_bytes, 32 * 13 * 8);  // every PE its own
  EXPECT_EQ(load.pe_ingress_bytes, 8 * 64 + 13 * 64);
  EXPECT_EQ(load.pe_egress_bytes, 13 * 8);
}

TEST(NocLoad, IdlePesMoveNothing) {
  // 20 channels on 16 PEs: two each for ten PEs.
  const LayerShape layer = gemm(4, 20, 8);
  const PeShare pe = pe_share(layer, {GemmDimension::n, GemmDimension::m}, 16, 1);
  const NocLoad load = noc_load(layer, pe, core_share(pe, 1, 1), {}, {}, kAccumulatorBytes);
  EXPECT_EQ(load.weight_bytes, 20 * 8);
  EXPECT_EQ(load.output_bytes, 4 * 20);
  // 10 output columns on 16 PEs: ten of them take inputs, although there are 20 outputs.
  LayerShape map = gemm(20, 3, 8);
  map.windowed = true;
  map.out_rows = 2;
  map.out_columns = 10;
  const PeShare columns = pe_share(map, {GemmDimension::m, GemmDimension::n}, 16, 1);
  EXPECT_EQ(noc_load(map, columns, core_share(columns, 1, 1), {}, {}, kAccumulatorBytes).input_bytes, 20 * 8);
}

TEST(NocLoad, CachedWeightsStayOnlyWhereTheyAreUsed) {
  const LayerShape layer = gemm(100, 30, 64);
  const PeShare pe = pe_share(layer, {GemmDimension::n, GemmDimension::n}, 8, 4);
  const Residency cached{.weights_cached_frac = 1};
  EXPECT_EQ(noc_load(layer, pe, core_share(pe, 1, 4), {}, cached, kAccumulatorBytes).weight_bytes, 0);
  EXPECT_GT(noc_load(layer, pe, core_share(pe, 2, 2), {}, cached, kAccumulatorBytes).weight_bytes,
            0);  // cores share weights
  EXPECT_GT(
      noc_load(layer, pe, core_share(pe, 1, 4), {}, {.weights_cached_frac = 0.99}, kAccumulatorBytes).weight_bytes, 0);
  const PeShare shared = pe_share(layer, {GemmDimension::m, GemmDimension::n}, 8, 4);
  EXPECT_GT(noc_load(layer, shared, core_share(shared, 1, 4), {}, cached, kAccumulatorBytes).weight_bytes,
            0);  // PEs share weights
}

TEST(NocLoad, DepthwiseInputsAreNotShared) {
  // 6 x 10 outputs of 20 channels, 3 x 3: 8 input rows of 12 pixels; four PEs of 5 channels.
  LayerShape layer = gemm(60, 20, 9);
  layer.depthwise = layer.windowed = true;
  layer.out_rows = 6;
  layer.out_columns = 10;
  layer.kernel_rows = layer.kernel_columns = 3;
  layer.in_channels = 1;
  const PeShare pe = pe_share(layer, {GemmDimension::n, GemmDimension::m}, 4, 1);
  const NocLoad load = noc_load(layer, pe, core_share(pe, 1, 1), {}, {}, kAccumulatorBytes);
  EXPECT_EQ(load.input_bytes, 8 * 12 * 20);
  EXPECT_EQ(load.weight_bytes, 9 * 20);
}

TEST(NocCycles, AreTheBusiestLinkOrTheBuses) {
  const NocLoad load{.weight_bytes = 4096,
                     .input_bytes = 19200,
                     .output_bytes = 92800,
                     .pe_ingress_bytes = 5728,
                     .pe_egress_bytes = 3200};
  EXPECT_EQ(noc_cycles(load, {.pes_y = 4}), 453.5);   // 116096 bytes / (4 * 64)
  EXPECT_EQ(noc_cycles(load, {.pes_y = 100}), 89.5);  // ingress 5728 / 64
  EXPECT_EQ(noc_cycles({.pe_ingress_bytes = 64, .pe_egress_bytes = 640}, AcceleratorConfig{}), 10);
}

TEST(CoreWeightReads, OncePerBlockOfPixels) {
  LayerShape layer;
  layer.count = 2;
  const CoreShare core{.m = 13, .n = 7};
  EXPECT_EQ(core_weight_read_bytes(layer, core, 10, 4), 455);   // 2 * 10 * 7 * 13 / 4
  EXPECT_EQ(core_weight_read_bytes(layer, core, 10, 13), 140);  // one block
  EXPECT_EQ(core_weight_read_bytes(layer, core, 10, 20), 140);
}

TEST(PeMemoryLoad, DenseCoresShareReadsOfTheSamePixels) {
  LayerShape layer;
  layer.count = 3;
  PeShare pe;
  pe.m = 50;
  pe.n = 14;
  pe.k = 64;
  pe.input_bytes = 3200;
  const CoreShare core{.split_m = 4, .split_n = 2, .m = 13, .n = 7};
  const TilePlan plan{.input_passes = 2, .partial_sum_passes = 2};
  const PeMemoryLoad load = pe_memory_load(layer, pe, core, plan, 4, kAccumulatorBytes);
  // Activations 64 * 13 * ceil(7 / 4) * 4 = 6656; sums 50 * 14 * 4 bytes * 2 = 5600.
  EXPECT_EQ(load.read_bytes, 3 * (6656 + 5600));
  // Inputs 3200 * 2, outputs 700, sums 5600.
  EXPECT_EQ(load.write_bytes, 3 * (6400 + 700 + 5600));
}

TEST(PeMemoryLoad, DepthwiseLineBufferReusesOverlap) {
  LayerShape layer;
  layer.depthwise = layer.windowed = true;
  layer.kernel_columns = 3;
  PeShare pe;
  pe.m = 50;
  pe.n = 14;
  pe.k = 9;
  const CoreShare core{.m = 50, .n = 14};
  // 9 taps * 50 pixels * 14 channels, a third of the columns is new.
  EXPECT_LT(relative_error(pe_memory_load(layer, pe, core, {}, 4, kAccumulatorBytes).read_bytes, 2100), kRounding);
  layer.stride_columns = 4;  // windows do not overlap
  EXPECT_EQ(pe_memory_load(layer, pe, core, {}, 4, kAccumulatorBytes).read_bytes, 6300);
}

TEST(PeMemoryPort, GrowsWithBanksUpToTheCrossbar) {
  AcceleratorConfig config;
  const auto bytes_per_cycle = [&](double pe_memory_bytes) {
    config.pe_memory_bytes = pe_memory_bytes;
    return pe_memory_bytes_per_cycle(config);
  };
  EXPECT_EQ(bytes_per_cycle(1024), 16);       // one bank at least
  EXPECT_EQ(bytes_per_cycle(65536), 16);      // one bank
  EXPECT_EQ(bytes_per_cycle(262144), 64);     // four
  EXPECT_EQ(bytes_per_cycle(2097152), 512);   // 32
  EXPECT_EQ(bytes_per_cycle(16777216), 512);  // 256 banks, 32 reached
  config.pe_memory_bank_port_bytes = 8;
  EXPECT_EQ(bytes_per_cycle(262144), 32);
  config.pe_memory_bank_bytes = 32768;
  EXPECT_EQ(bytes_per_cycle(262144), 64);  // eight
  config.pe_memory_most_banks = 4;
  EXPECT_EQ(bytes_per_cycle(262144), 32);
}

TEST(TrafficSums, AddScaledScalesEveryField) {
  Traffic one;
  double* first = &one.dram_read_weight_bytes;
  constexpr std::size_t kFields = sizeof(Traffic) / sizeof(double);
  for (std::size_t i = 0; i < kFields; ++i) first[i] = static_cast<double>(i + 1);
  Traffic sum = one;
  sum.add_scaled(one, 3);
  const double* got = &sum.dram_read_weight_bytes;
  for (std::size_t i = 0; i < kFields; ++i) EXPECT_EQ(got[i], 4 * static_cast<double>(i + 1)) << i;
  EXPECT_EQ(one.dram_bytes(), 1 + 2 + 3);
}

}  // namespace
}  // namespace hindsight::accel
