/// Widths, entry sizes and tags that the PE-array template fixes; shared by area, energy and latency.
///
/// Each constant carries the tag of its source; the keys are in REFERENCES.md. The template's papers
/// publish the parameters and their ranges but not these widths, so most are [chosen], with the reason.
#pragma once

namespace hindsight::accel {

/// [chosen] One partial sum: a sum of int8 products up to depth 2^17 fits in int32.
inline constexpr double kAccumulatorBytes = 4;
/// [chosen] One entry of the parameter memory: int32 bias, then int32 requantisation multiplier with its
/// shift packed in (gemmlowp-style per-output-channel constants).
inline constexpr double kParameterEntryBytes = 8;
/// [chosen] One instruction: a 128-bit word, the width of one SRAM port access.
inline constexpr double kInstructionBytes = 16;

/// [chosen] Bytes that one NoC link moves per cycle: 51.2 GB/s at 800 MHz, above the fastest DRAM of the
/// space (30 GB/s), so that DRAM and not one link is the first limit of a single stream.
inline constexpr double kNocLinkBytesPerCycle = 64;

/// [chosen] Bytes per cycle of one core memory port: one 128-bit CACTI port.
inline constexpr double kCoreMemoryPortBytes = 16;
/// [chosen] Capacity of one bank of the PE memory; every bank has a port of its own.
inline constexpr double kPeMemoryBankBytes = 65536;
/// [chosen] Bytes per cycle of one PE memory bank's port: one 128-bit CACTI port.
inline constexpr double kPeMemoryBankPortBytes = 16;

/// [chosen] Bits of one int8 operand; a lane registers two of them per MAC and cycle.
inline constexpr double kOperandBits = 8;
/// [chosen] Bits of the accumulator register of one lane.
inline constexpr double kAccumulatorBits = 32;
/// [chosen] Pipeline registers of one lane, in bits, for `macs_per_lane` MACs: activation and weight operand
/// of every MAC plus one accumulator.
[[nodiscard]] constexpr double lane_register_bits(double macs_per_lane) {
  return macs_per_lane * 2 * kOperandBits + kAccumulatorBits;
}

}  // namespace hindsight::accel
