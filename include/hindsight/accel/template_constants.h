/// Widths, entry sizes and tags that the PE-array template fixes; shared by area, energy and latency.
///
/// Each constant carries the tag of its source; the keys are in REFERENCES.md. The template's papers
/// publish the parameters and their ranges but not these widths, so most are [chosen], with the reason.
#pragma once

#include "hindsight/workload/vector_work.h"

namespace hindsight::accel {

/// [paper: tpu-2017] One partial sum: its accumulators have 32 bits, in which sums of int8 products up to depth 2^17
/// fit.
inline constexpr double kAccumulatorBytes = 4;
/// [chosen] One entry of the parameter memory: int32 bias, then int32 requantisation multiplier with its
/// shift packed in (gemmlowp-style per-output-channel constants).
inline constexpr double kParameterEntryBytes = 8;
/// [chosen] One instruction: a 256-bit word. PRIME publishes program sizes in bytes (224,992 to 1,331,360) and
/// instruction memories in entries (8,192 to 65,536); at 32 bytes the programs (7,031 to 41,605 words) fall inside
/// the range of the memories, at 16 bytes the longest fits none of them [paper: prime-2022].
inline constexpr double kInstructionBytes = 32;

/// [chosen] Bytes that one NoC link moves per cycle: 51.2 GB/s at 800 MHz, above the fastest DRAM of the
/// space (30 GB/s), so that DRAM and not one link is the first limit of a single stream.
inline constexpr double kNocLinkBytesPerCycle = 64;

/// [chosen] Bytes per cycle of one core memory: two banks with one 128-bit CACTI port each.
inline constexpr double kCoreMemoryPortBytes = 32;
/// [chosen] Capacity of one bank of the PE memory; every bank has a port of its own.
inline constexpr double kPeMemoryBankBytes = 65536;
/// [chosen] Bytes per cycle of one PE memory bank's port: one 128-bit CACTI port.
inline constexpr double kPeMemoryBankPortBytes = 16;

/// [chosen] Banks of one PE memory that its crossbar can read in one cycle.
inline constexpr double kPeMemoryMaxBanks = 32;

/// [chosen] Share of the DRAM's peak bandwidth that long bursts reach (refresh, row misses, turn-around).
inline constexpr double kDramEfficiency = 0.8;
/// [chosen] Latency of a DRAM access seen by the DMA engine, in nanoseconds (LPDDR4 read latency plus controller).
inline constexpr double kDramLatencyNs = 100;
/// [chosen] Bytes a chip-wide DMA burst moves before the first PE can start (and after the last one ends).
inline constexpr double kDmaGranuleBytes = 16384;

/// [chosen] Outputs that one read of a channel's requantisation constants serves (they wait in a register while a row
/// of pixels of the channel leaves).
inline constexpr double kRequantisationReuse = 16;

/// [chosen] Instructions to set up a layer: loop nest, requantisation, synchronisation.
inline constexpr double kSetupInstructions = 16;
/// [chosen] Instructions that address one row or column of PEs when a layer starts.
inline constexpr double kSetupInstructionsPerRowAndColumn = 4;
/// [chosen] Instructions of one tile step: wait, input DMA, compute, output DMA.
inline constexpr double kInstructionsPerTile = 4;
/// [chosen] Instructions that close a loop: count, branch.
inline constexpr double kInstructionsPerLoop = 2;
/// Instructions of one layer in a program with loops: set-up, addresses of rows and of columns, a tile step and a
/// weight descriptor, in loops over rows, columns and the three tile dimensions.
inline constexpr double kLoopedLayerInstructions =
    kSetupInstructions + 2 * kSetupInstructionsPerRowAndColumn + kInstructionsPerTile + 1 + 5 * kInstructionsPerLoop;

/// [chosen] Buses of `kNocLinkBytesPerCycle` that end in every PE: its row's multicast bus and its column's.
inline constexpr double kNocBusesPerPe = 2;

/// Bits of one operand at int8 and fp8.
inline constexpr double kOperandBits = 8;
/// [paper: tpu-2017] Bits of a lane's accumulator register: one int32 partial sum.
inline constexpr double kAccumulatorBits = 32;
/// Pipeline register bits of one core. [chosen] Every lane holds its own weights (one operand per MAC) and one
/// accumulator; activations are registered once per core, because all lanes of a core share them.
[[nodiscard]] constexpr double core_register_bits(double compute_lanes, double macs_per_lane,
                                                  double operand_bytes = 1) {
  const double operand_bits = kOperandBits * operand_bytes;
  return compute_lanes * (macs_per_lane * operand_bits + kAccumulatorBits) + macs_per_lane * operand_bits;
}

/// Area of a processor with its caches over that of an engine, both logic of the same node.
/// [paper: gemmini-2021, Fig. 6a] Rocket, 0.171 mm2 at 22FFL, 0.144 at 16 nm (data/silicon/areas.yaml);
/// [data: silicon-areas] engine 0.228 mm2.
inline constexpr double kProcessorEngines = 0.144 / 0.228;
/// Energy of a processor's cycle over that of an int8 MAC of the same node; one operation a cycle [chosen].
/// [paper: ariane-2019] 40 Gop/s per watt at its most efficient supply, 25 pJ at 22 nm, so rather too little at 0.8 V;
/// a MAC of 22nm-silicon has 0.04454 pJ.
inline constexpr double kProcessorMacs = 25 / 0.04454;

// Work of the vector unit (version 2, where a design has one). Operations per element; an exponential counts as one, as
// a table with interpolation gives it.
/// [chosen] Softmax: largest, difference, exponential, sum, product.
inline constexpr double kSoftmaxOps = 5;
/// [paper: transformer-2017] A residual and the normalisation of the sum, counted as networks state them.
inline constexpr double kNormalisationOps =
    workload::vector_cost(workload::VectorWork::add).ops + workload::vector_cost(workload::VectorWork::norm).ops;
/// [paper: transformer-2017] Normalisations per attention: of it, and of the feed-forward layers behind it.
inline constexpr double kNormalisationsPerAttention = 2;
/// [chosen] Share of the shared memory that keeps weights; the rest keeps activations.
inline constexpr double kSharedWeightFrac = 0.5;

}  // namespace hindsight::accel
