/// Widths, entry sizes and tags that the PE-array template fixes; shared by area, energy and latency.
///
/// Each constant carries the tag of its source; the keys are in REFERENCES.md. The template's papers publish the
/// parameters and their ranges but not these widths, which are those of other accelerators; where none states one, it
/// is [chosen], with the reason. docs/silicon.md lists both kinds, and what is published beside the second.
#pragma once

#include "hindsight/workload/vector_work.h"

namespace hindsight::accel {

/// [paper: tpu-2017] One partial sum: its accumulators have 32 bits, in which sums of int8 products up to depth 2^17
/// fit.
inline constexpr double kAccumulatorBytes = 4;
/// [spec: k210-kpu, kpu_batchnorm_argument_t] One entry of the parameter memory: a channel's bias of 32 bits, its
/// requantisation multiplier of 24 and its shift of 4, in one word of 64.
inline constexpr double kParameterEntryBytes = 8;
/// One instruction: a 256-bit word. [paper: tpu-2017, section 2] 12 bytes; [data: edgetpuxray] 128 bits, 16 bytes;
/// [data: tpuv2-hotchips] 322 bits, 40 bytes. Between them: PRIME publishes program sizes in bytes (224,992 to
/// 1,331,360, with 32 as greatest common divisor) and instruction memories in entries (8,192 to 65,536); at 32 bytes
/// the programs (7,031 to 41,605 words) fall inside the range of the memories, at 16 bytes the longest fits none of
/// them [paper: prime-2022].
inline constexpr double kInstructionBytes = 32;

/// [paper: floonoc] Bytes that one NoC link moves per cycle: 629 Gb/s per link at 1.23 GHz are 512 bits. 51.2 GB/s at
/// 800 MHz are above the fastest DRAM of the space (30 GB/s), so that DRAM and not one link is the first limit of a
/// single stream.
inline constexpr double kNocLinkBytesPerCycle = 64;

/// [spec: nvdla-hw] Bytes per cycle of one core memory: CBUF_BANK_WIDTH of nv_medium_512 (nv_small 8, nv_large 64).
/// Two banks with one 128-bit CACTI port each.
inline constexpr double kCoreMemoryPortBytes = 32;
/// [data: gemmini-code] Capacity of one bank of the PE memory: a scratchpad of 256 KiB in 4 banks; every bank has a
/// port of its own.
inline constexpr double kPeMemoryBankBytes = 65536;
/// [data: gemmini-code] Bytes per cycle of one PE memory bank's port: a row of 16 int8 operands; a 128-bit CACTI port.
inline constexpr double kPeMemoryBankPortBytes = 16;

/// [spec: cuda-guide] Banks of one PE memory that its crossbar can read in one cycle: those of a GPU's shared memory.
inline constexpr double kPeMemoryMaxBanks = 32;

/// Share of the DRAM's peak bandwidth that long bursts reach (refresh, row misses, turn-around).
/// [data: ti-am64-memory] 0.67 to 0.79, copies by a processor; [spec: intel-emif] about 0.7, by a controller to 0.92.
inline constexpr double kDramEfficiency = 0.8;
/// Latency of a DRAM access seen by the DMA engine, in nanoseconds (LPDDR4 read latency plus controller).
/// [spec: nvdla-hw] PRIMARY_MEMIF_LATENCY, cycles at 1 GHz [spec: nvdla-primer]: nv_small 50, nv_medium_512 128.
inline constexpr double kDramLatencyNs = 100;
/// [chosen] Bytes a chip-wide DMA burst moves before the first PE can start (and after the last one ends): some tiles.
/// Published are 4 times as many, a tile of weights of TPU v1 [paper: tpu-2017], and 1/64, a block of Gemmini's
/// [data: gemmini-code].
inline constexpr double kDmaGranuleBytes = 16384;

/// [spec: nvdla-units, stripe operation] Outputs that one read of a channel's requantisation constants serves (they
/// wait in a register while a row of pixels of the channel leaves): 16 to 32 points leave an accumulator at a time.
inline constexpr double kRequantisationReuse = 16;

/// [chosen] Instructions to set up a layer: loop nest, requantisation, synchronisation. Published are 0.75 times as
/// many, the 12 words of a layer of K210's [spec: k210-kpu].
inline constexpr double kSetupInstructions = 16;
/// [chosen] Instructions that address one row or column of PEs when a layer starts: as many as a tile step.
inline constexpr double kSetupInstructionsPerRowAndColumn = 4;
/// [spec: vta-guide] Instructions of one tile step, four as LOAD, GEMM, ALU and STORE: wait, input DMA, compute,
/// output DMA. [paper: tpu-2017, section 2] Read_Weights, MatrixMultiply, Activate and a synchronisation.
inline constexpr double kInstructionsPerTile = 4;
/// [spec: riscv-isa] Instructions that close a loop: count, and a branch that compares.
inline constexpr double kInstructionsPerLoop = 2;
/// Instructions of one layer in a program with loops: set-up, addresses of rows and of columns, a tile step and a
/// weight descriptor, in loops over rows, columns and the three tile dimensions.
inline constexpr double kLoopedLayerInstructions =
    kSetupInstructions + 2 * kSetupInstructionsPerRowAndColumn + kInstructionsPerTile + 1 + 5 * kInstructionsPerLoop;

/// [paper: tpu-2017, Fig. 4] Buses of `kNocLinkBytesPerCycle` that end in every PE, its row's multicast bus and its
/// column's: data flows in from the left, weights are loaded from the top.
inline constexpr double kNocBusesPerPe = 2;

/// Bits of one operand at int8 and fp8.
inline constexpr double kOperandBits = 8;
/// [paper: tpu-2017] Bits of a lane's accumulator register: one int32 partial sum.
inline constexpr double kAccumulatorBits = 32;
/// Pipeline register bits of one core. [spec: nvdla-units, atomic operation] Every lane holds its own weights (one
/// operand per MAC) and one accumulator; activations are registered once per core, because all lanes of a core share
/// them.
[[nodiscard]] constexpr double core_register_bits(double compute_lanes, double macs_per_lane,
                                                  double operand_bytes = 1) {
  const double operand_bits = kOperandBits * operand_bytes;
  return compute_lanes * (macs_per_lane * operand_bits + kAccumulatorBits) + macs_per_lane * operand_bits;
}

/// Area of a processor with its caches over that of an engine, both logic of the same node.
/// [paper: gemmini-2021, Fig. 6a] Rocket, 0.171 mm2 at 22FFL, 0.144 at 16 nm (data/silicon/areas.yaml);
/// [data: silicon-areas] engine 0.228 mm2.
inline constexpr double kProcessorEngines = 0.144 / 0.228;
/// Energy of a processor's cycle over that of an int8 MAC of the same node. [paper: ariane-2019] 40 Gop/s per watt at
/// its most efficient supply, 25 pJ at 22 nm, so rather too little at 0.8 V; single issue, at peak one operation a
/// cycle. A MAC of 22nm-silicon has 0.04454 pJ.
inline constexpr double kProcessorMacs = 25 / 0.04454;

// Work of the vector unit (version 2, where a design has one). Operations per element; an exponential counts as one, as
// a table with interpolation gives it.
/// [data: electra-flops] Softmax: largest, difference, exponential, sum, product.
inline constexpr double kSoftmaxOps = 5;
/// [paper: transformer-2017] A residual and the normalisation of the sum, counted as networks state them.
inline constexpr double kNormalisationOps =
    workload::vector_cost(workload::VectorWork::add).ops + workload::vector_cost(workload::VectorWork::norm).ops;
/// [paper: transformer-2017] Normalisations per attention: of it, and of the feed-forward layers behind it.
inline constexpr double kNormalisationsPerAttention = 2;
/// [chosen] Share of the shared memory that keeps weights; the rest keeps activations: half each.
inline constexpr double kSharedWeightFrac = 0.5;

}  // namespace hindsight::accel
