/// Factors of units: a number in a unit times the factor is the number in the base unit (s, bytes, J, W, Hz, ops, mm2),
/// and divided by it the other way: `latency_us = latency_s / units::kMicro`. Which unit a number is in, its name says.
/// kB = 1000 bytes, KiB = 1024 bytes.
#pragma once

#include <cstdint>

namespace hindsight {

namespace units {
inline constexpr double kPico = 1e-12;
inline constexpr double kNano = 1e-9;
inline constexpr double kMicro = 1e-6;
inline constexpr double kMilli = 1e-3;
inline constexpr double kMega = 1e6;
inline constexpr double kGiga = 1e9;
inline constexpr double kTera = 1e12;
inline constexpr double kKib = 1024;
inline constexpr double kMib = 1024 * kKib;
// How many of the small unit make one: multiplying by these is exact where dividing by 1e-6 is not.
inline constexpr double kPerMilli = 1e3;
inline constexpr double kPerMicro = 1e6;
}  // namespace units

inline constexpr double kBitsPerByte = 8;
/// Doubles, and so numbers in JSON, hold every whole number up to this one: 2^53.
inline constexpr std::int64_t kLargestExactInteger = std::int64_t{1} << 53;

/// Operations per multiply-accumulate (MAC).
inline constexpr double kOpsPerMac = 2.0;

}  // namespace hindsight
