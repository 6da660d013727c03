/// Cost terms of a library GEMM on a GPU: one function per equation; the predictor (`predict.h`) puts them together.
///
/// Model: pure functions of doubles; times in s, sizes in bytes, rates per second.
/// Valid for: counts below 2^53. Ignores: what a caller does not pass in.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace hindsight::gpu {

/// Rounds that `parts` equal parts need on `slots` parallel slots; the last round may be partial.
/// Equation: ceil(parts / slots).
[[nodiscard]] constexpr double rounds(double parts, double slots) {
  const double quotient = parts / slots;
  const auto whole = static_cast<double>(static_cast<std::int64_t>(quotient));
  return whole < quotient ? whole + 1.0 : whole;
}

/// The same without a division, from `inverse` = 1 / slots: the product may be off by one unit in the last place, so
/// the whole number is checked. Exact for whole `parts` and `slots`.
[[nodiscard]] constexpr double rounds(double parts, double slots, double inverse) {
  const auto whole = static_cast<double>(static_cast<std::int64_t>(parts * inverse));
  return whole * slots < parts ? whole + 1.0 : whole - ((whole - 1.0) * slots >= parts ? 1.0 : 0.0);
}

/// Share of the tensor (or CUDA) cores' peak that the main loop of a tile reaches: small tiles issue more loads and
/// barriers per operation.
/// Equation: 1 / (1 + effort * (A0 / A - A0 / A1)), A = m x n of the tile, A0 = 64 x 64, A1 = the largest tile.
[[nodiscard]] constexpr double tile_efficiency(double tile_area, double largest_area, double effort) {
  constexpr double kSmallArea = 64.0 * 64.0;  // [chosen] the unit that `effort` is counted in
  return 1.0 / (1.0 + effort * (kSmallArea / tile_area - kSmallArea / largest_area));
}

/// Time per multiply-add of a main loop on the CUDA cores over that at their peak, for what its operands cost: every
/// thread reads one column of `rows` and one row of `columns` elements from shared memory per step of k and multiplies
/// them into rows x columns accumulators, while the SM reads 128 bytes per clock [spec: cuda-guide].
/// Equation: (1 + x^3)^(1/3), x = fma_per_clock * 4 bytes * (rows + columns) / (rows * columns * 128 bytes): reads and
/// arithmetic overlap as all else does (`overlapped_s`, p = 3).
/// An SM that multiplies 128 pairs per clock has half the bandwidth per operation of one that multiplies 64: with 8 x 8
/// outputs per thread x is 1 on Ada and Hopper, 1/2 on Volta, Turing and an A100.
/// Ignores: broadcasts within a warp, bank conflicts, and issue slots of what is no multiply-add; all are in what the
/// CUDA cores of an H100 were seen to reach with it (docs/gpu.md).
[[nodiscard]] inline double shared_memory_work(double fma_per_clock, double rows, double columns) {
  constexpr double kBytesPerClock = 128;  // [spec: cuda-guide] 32 banks of 4 bytes
  constexpr double kElementBytes = 4;     // [spec: ieee754] fp32
  const double x = fma_per_clock * kElementBytes * (rows + columns) / (rows * columns * kBytesPerClock);
  return std::cbrt(1.0 + x * x * x);
}

/// Main loop on the busiest SM: its CTAs share the SM's arithmetic.
/// Equation: ceil(ctas / sms) * m * n * k * (seconds per multiply-add of an SM), k rounded up to whole pipeline steps.
[[nodiscard]] constexpr double math_s(double ctas_on_busiest, double tile_area, double k_padded, double s_per_mac) {
  return ctas_on_busiest * tile_area * k_padded * s_per_mac;
}

/// Shortest main loop of a CTA, however little it computes: every step waits for the one before.
/// Equation: waves * k * (latency per k).
[[nodiscard]] constexpr double chain_s(double waves, double k_padded, double latency_per_k_s) {
  return waves * k_padded * latency_per_k_s;
}

/// Bytes that leave L2 for the SMs: each CTA reads a panel of both inputs. CTAs of a cluster read the longer panel
/// once for all of them (`shared_panel` of its bytes each; 1 without clusters).
/// Equation: ctas * (short + shared_panel * long) * k * bytes + output bytes.
[[nodiscard]] constexpr double l2_read_bytes(double ctas, double rows, double columns, double k_padded,
                                             double element_bytes, double shared_panel) {
  return ctas * (std::min(rows, columns) + shared_panel * std::max(rows, columns)) * k_padded * element_bytes;
}

/// Share of a buffer that is still in L2 when it is read again after `reuse_bytes` of other traffic.
/// Equation: 1 / (1 + (reuse / resident)^8).
/// [chosen] 8: nearly least-recently-used replacement; the knee of measured runtimes is that sharp.
[[nodiscard]] constexpr double resident_share(double reuse_bytes, double resident_bytes) {
  const double ratio = reuse_bytes / resident_bytes;
  const double squared = ratio * ratio;
  const double fourth = squared * squared;
  return 1.0 / (1.0 + fourth * fourth);
}

/// Bytes that one product reads from DRAM beyond both inputs once, in the better of two orders:
/// - the CTAs in flight cover a block of P rows and Q columns of the output, P Q = outputs in flight and P = Q as far
///   as m and n go, and walk along k together: rows are read once per block of columns, columns once per block of rows,
///   a (n / Q - 1) + b (m / P - 1) with a, b = bytes of the rows and of the columns, m k and n k elements unless memory
///   holds fewer (Gemm::activation_bytes);
/// - rows (or columns) of `panel_bytes` stay in L2 over the whole k while the columns (or rows) pass:
///   the lesser of b (a / panel - 1) and a (b / panel - 1).
/// Nothing where one input fits in the panel or the whole output is in flight, and continuous there.
/// Source: blocking for two levels of memory [paper: hong-kung-1981].
[[nodiscard]] inline double reread_bytes(double m, double n, double a, double b, double outputs_in_flight,
                                         double panel_bytes) {
  if (m * n <= outputs_in_flight || std::min(a, b) <= panel_bytes) return 0.0;
  const double side = std::sqrt(outputs_in_flight);
  const double walked =
      std::min(m, n) < side ? (m < n ? a : b) * (m * n / outputs_in_flight - 1.0) : (a * n + b * m) / side - a - b;
  const double held = a * b / panel_bytes - std::max(a, b);
  return std::min(walked, held);
}

/// DRAM traffic at the reached bandwidth, and the time until the memory system is full: `ramp_s` of a kernel whose
/// data all come from DRAM.
/// Equation: dram bytes / bandwidth + ramp * dram bytes / all bytes.
[[nodiscard]] constexpr double dram_s(double dram_bytes, double all_bytes, double bytes_per_s, double ramp_s) {
  return dram_bytes / bytes_per_s + ramp_s * dram_bytes / all_bytes;
}

/// DRAM time of rows that a kernel reads in short pieces, one per pipeline step, over that of reading them at once:
/// pieces of short rows are neighbours in memory; those of long rows lie far apart.
/// Equation: 1 + penalty * row bytes / (row bytes + 400).
[[nodiscard]] constexpr double stepwise_read_cost(double row_bytes, double penalty) {
  constexpr double kHalfBytes = 400;  // [measured: k of 16 to 1024 on a V100 in fp32, 2026-11-21, docs/gpu.md]
  return 1.0 + penalty * row_bytes / (row_bytes + kHalfBytes);
}

/// How well loads, arithmetic and memory traffic overlap: `pipelined` through asynchronous copies issued by the warps
/// that compute, `specialised` through warps that do nothing but copy.
enum class Overlap : unsigned char { pipelined, specialised };

/// Activities that overlap, but get in each other's way where they take equally long.
/// Equation: (a^p + b^p + c^p)^(1/p), between the largest and 1.44 (p = 3) or 1.32 (p = 4) times it.
/// [chosen] p = 3 pipelined, 4 specialised: the smallest errors among 2, 3, 4 and 6 on A100 and L40S, and on H100.
[[nodiscard]] constexpr double overlap_power(Overlap overlap, double x) {
  return overlap == Overlap::pipelined ? x * x * x : (x * x) * (x * x);
}
[[nodiscard]] inline double overlapped_s(Overlap overlap, double a, double b, double c) {
  const double sum = overlap_power(overlap, a) + overlap_power(overlap, b) + overlap_power(overlap, c);
  return overlap == Overlap::pipelined ? std::cbrt(sum) : std::sqrt(std::sqrt(sum));
}

/// Adding up the partial sums of a split k: a second kernel, and the bytes that it moves through L2.
/// Equation: start + share * splits * outputs * 4 bytes * (seconds per byte of L2); nothing without a split.
[[nodiscard]] constexpr double reduction_s(double splits, double outputs, double start_s, double l2_s_per_byte) {
  constexpr double kPartialSumBytes = 4.0;  // [spec: ieee754] fp32
  constexpr double kExposedShare = 0.5;     // [chosen] the writes hide behind the main loop, the reads do not
  return splits > 1.0 ? start_s + kExposedShare * splits * outputs * kPartialSumBytes * l2_s_per_byte : 0.0;
}

/// Bytes that the quantisation of `elements` activations moves: 16 bits read, 8 written.
/// Equation: 3 * elements.
[[nodiscard]] constexpr double quantise_bytes(double elements) {
  constexpr double kReadBytes = 2.0, kWrittenBytes = 1.0;  // [spec: ieee754] bf16; fp8 and int8 have 8 bits
  return (kReadBytes + kWrittenBytes) * elements;
}

/// Shortest time of the kernel that quantises: each SM takes so many rows of the activations at a time.
/// Equation: ceil(rows / (SMs * rows at a time)) * (seconds per row + k * seconds per element).
[[nodiscard]] constexpr double quantise_rows_s(double rows, double rows_at_a_time, double k, double s_per_row,
                                               double s_per_element) {
  return rounds(rows, rows_at_a_time) * (s_per_row + k * s_per_element);
}

/// The kernel that quantises: its start, then rows, L2 and DRAM traffic that overlap.
/// Equation: start + (rows^3 + l2^3 + dram^3)^(1/3).
[[nodiscard]] inline double quantise_s(double start_s, double rows_s, double l2_s, double dram_s) {
  return start_s + overlapped_s(Overlap::pipelined, rows_s, l2_s, dram_s);
}

/// Least time of a product in blocks of 128 x 128 that is too small for them: `n` columns of the weights, `k` deep. The
/// one framework that takes such products calls several kernels from the host, twice as many where k or half a block of
/// columns is short too.
/// Equation: 178 us for n < 64 or k < 128, else 90 us for n < 128, else 0.
/// [measured: 3,034 fp8_block rows of vLLM on an H100, one collection, quartiles 170 and 186 us; 86 and 97 us for n =
/// 64, 2026-11-24, docs/gpu.md]
[[nodiscard]] constexpr double small_block_floor_s(double n, double k) {
  constexpr double kBlock = 128;  // [data: aiconfigurator] scales of the weights are of 128 x 128
  constexpr double kPaddedSeconds = 90e-6, kTwicePaddedSeconds = 178e-6;
  if (n < kBlock / 2 || k < kBlock) return kTwicePaddedSeconds;
  return n < kBlock ? kPaddedSeconds : 0.0;
}

/// Most of a settled slow-down that a burst shows, however long its kernels: it is over in some tens of milliseconds,
/// before the board is warm. [measured: 66 settled products of 50 us and more, tensor cores of an H100 and an H200,
/// data/measurements, 2026-11-27, docs/gpu.md] Of other architectures and of CUDA cores it was not measured.
inline constexpr double kMostOfBurst = 0.88;

/// Inverse of how the power above idle follows the clock.
/// [chosen] 0.55, of bursts: P grows with f V^2 and the voltage falls with the clock, so P ~ f^1.8 between f, at the
/// lowest voltage, and f^3; from 0.3 to 0.67 the errors on A100, H100, L40S, T4 and V100 differ by less than a tenth.
inline constexpr double kClockExponent = 0.55;

/// How much longer a kernel takes at the clock where its power meets the cap than at full clock: the solution s of
/// idle + (P - idle) * (1 + 0.88 (s - 1))^(-1 / 0.55) = cap, with s = f_max / f; `steepness` stands for the 0.88.
/// Equation: 1 + (((P - idle) / (cap - idle))^0.55 - 1) / 0.88 for P > cap, else 1.
[[nodiscard]] inline double settled_slowdown(double full_clock_w, double cap_w, double idle_w,
                                             double steepness = kMostOfBurst) {
  if (full_clock_w <= cap_w) return 1.0;
  return 1.0 + (std::pow((full_clock_w - idle_w) / std::max(cap_w - idle_w, 1.0), kClockExponent) - 1.0) / steepness;
}

/// Share of the power above idle that is left at 1 / `slowdown` of the highest clock: what `settled_slowdown` solves.
/// Equation: (1 + 0.88 (s - 1))^(-1 / 0.55), with s = f_max / f; `steepness` stands for the 0.88.
[[nodiscard]] inline double dynamic_share(double slowdown, double steepness = kMostOfBurst) {
  return std::pow(1.0 + steepness * (slowdown - 1.0), -1.0 / kClockExponent);
}

/// What stands for the 0.88 of the two above where s counts from a clock that is locked at 1 / `lock` of the highest:
/// the shares from there are those of the whole way over that of the lock.
/// Equation: 0.88 l / (1 + 0.88 (l - 1)), with l = f_max / f_lock: 0.88 without a lock.
[[nodiscard]] constexpr double steepness_from(double lock) {
  return kMostOfBurst * lock / (1.0 + kMostOfBurst * (lock - 1.0));
}

/// Part of the settled slow-down that a burst of a few launches shows: the power controller needs time.
/// Equation: 0.88 t / (t + settle).
[[nodiscard]] constexpr double settled_share(double latency_s, double settle_s) {
  return kMostOfBurst * latency_s / (latency_s + settle_s);
}

/// A kernel that cannot be launched more often than every `floor_s`.
/// Equation: (t^4 + floor^4)^(1/4).
[[nodiscard]] inline double launched_s(double kernel_s, double floor_s) {
  if (floor_s <= 0.0) return kernel_s;
  const double a = kernel_s * kernel_s, b = floor_s * floor_s;
  return std::sqrt(std::sqrt(a * a + b * b));
}

}  // namespace hindsight::gpu
