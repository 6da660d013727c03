/// Peer modes: the shared cost terms (`terms.h`) put together the way other published cost models do, so
/// that agreement with those tools is evidence for the terms that Hindsight's own model uses.
///
/// All sizes are counts of elements unless a suffix says otherwise; the peers count one element per word.
/// Accesses without a closed form are empty, never zero.
#pragma once

#include <optional>

#include "hindsight/accel/terms.h"

namespace hindsight::accel::peers {

/// output[m, n] = sum over k of input[m, k] * weight[k, n].
struct Gemm {
  double m = 1, n = 1, k = 1;
  [[nodiscard]] constexpr double macs() const { return m * n * k; }
  [[nodiscard]] constexpr double input_elements() const { return m * k; }
  [[nodiscard]] constexpr double weight_elements() const { return n * k; }
  [[nodiscard]] constexpr double output_elements() const { return m * n; }
};

/// A convolution without padding: the caller gives the padded input, as all four peers do.
struct Convolution {
  double in_height = 1, in_width = 1, kernel_height = 1, kernel_width = 1;
  double in_channels = 1, out_channels = 1;
  double stride = 1;
  [[nodiscard]] constexpr bool overlapping() const { return kernel_height > stride || kernel_width > stride; }
};

// ---- SCALE-Sim v2 ---------------------------------------------------------------------------------------

/// A systolic array with one double-buffered SRAM per operand.
struct ScaleSimArray {
  double rows = 1, columns = 1;
  double sram_words = 65536;  ///< of each operand's SRAM
};

/// Whether elements of the input matrix alias: im2col repeats the pixels of overlapping windows.
enum class InputMatrix { distinct, overlapping_windows };

/// Counts of one layer in SCALE-Sim's CALC mode (bandwidth without stalls).
struct ScaleSimCost {
  double folds = 0;
  double compute_cycles = 0;
  double input_sram_reads = 0, weight_sram_reads = 0, output_sram_writes = 0;
  /// Empty where the count depends on when SCALE-Sim's prefetch window happens to be flushed.
  std::optional<double> input_dram_reads, weight_dram_reads;
  double output_dram_writes = 0;
};

/// im2col as SCALE-Sim does it: output size = ceil((in - kernel + stride) / stride).
/// Differs: the usual floor((in - kernel) / stride) + 1 is one less when the stride does not divide.
[[nodiscard]] Gemm scale_sim_im2col(const Convolution& convolution);

/// Model: folds x systolic_fold_cycles - 1; SRAM accesses per fold.
/// Valid for: CALC mode, and the compute cycles of USER mode.
/// Ignores: USER mode's stalls, which follow no roofline (see docs/accuracy.md).
[[nodiscard]] ScaleSimCost scale_sim_cost(const ScaleSimArray& array, Stationary stationary, const Gemm& gemm,
                                          InputMatrix input_matrix);

// ---- Timeloop v3 ----------------------------------------------------------------------------------------

/// A PE array below a global buffer below DRAM; each level has separate read and write ports.
struct TimeloopArchitecture {
  double rows = 1, columns = 1;
  double buffer_words = 0;
  double buffer_words_per_cycle = 0;  ///< of each port
  double dram_words_per_cycle = 0;    ///< of each port
};

/// Output stationary: m over rows, n over columns. Weight stationary: k over rows, n over columns.
/// Above the global buffer k is the innermost loop in both.
struct TimeloopMapping {
  Stationary stationary = Stationary::output;
  double tile_m = 1, tile_n = 1, tile_k = 1;  ///< of the global buffer
};

struct TimeloopCost {
  double compute_cycles = 0;
  double dram_reads = 0, dram_writes = 0;
  double buffer_reads = 0, buffer_writes = 0;
  double cycles = 0;
  [[nodiscard]] double dram_accesses() const { return dram_reads + dram_writes; }
};

/// Model: cycles = ceil(max(compute, reads / bandwidth, writes / bandwidth of each level)); no fill or drain.
/// Valid for: dense GEMM, stationary output or weight, tiles that divide the dimensions.
/// Ignores: reuse in the PEs' register files, so buffer accesses are an upper bound.
[[nodiscard]] TimeloopCost timeloop_cost(const TimeloopArchitecture& architecture, const TimeloopMapping& mapping,
                                         const Gemm& gemm);

/// The fastest mapping over both dataflows and all tiles that divide the dimensions and fit the buffer
/// (one tile of each operand); fewer DRAM accesses break ties. Empty when not even one-element tiles fit.
struct TimeloopBest {
  TimeloopMapping mapping;
  TimeloopCost cost;
};
[[nodiscard]] std::optional<TimeloopBest> timeloop_best(const TimeloopArchitecture& architecture, const Gemm& gemm);

// ---- MAESTRO --------------------------------------------------------------------------------------------

/// PEs in clusters; a NoC between levels and an off-chip port.
struct MaestroArchitecture {
  double pes = 1, cluster_pes = 1;
  double noc_elements_per_cycle = 1;
  double offchip_elements_per_cycle = 1;
};

/// Both dimensions that are spread in space, in the order cluster grid then PEs of a cluster.
enum class MaestroDataflow {
  m_then_k,  ///< GEMM with n outermost (NMK) or n innermost (MKN): m over clusters, k inside
  m_then_n,  ///< GEMM output stationary (MNK): m over clusters, n inside, k innermost
};

struct MaestroCost {
  double steps = 0;
  double cluster_cycles = 0;  ///< of one step inside a cluster
  double step_cycles = 0;     ///< of every step but the first
  double cycles = 0;
  double ingress_elements = 0;  ///< of one step: input and weight tile
  double egress_elements = 0;   ///< of one step: output tile
  double peak_noc_elements_per_cycle = 0;
};

/// Model: MAESTRO's two-level double-buffered pipeline of equal steps.
/// Equation: cluster = macs + ceil(cluster ingress / noc); step = max(cluster, ceil(ingress / noc),
/// ceil(egress / noc), floor(max(ingress, egress) / offchip)); first = max(cluster + ceil(ingress / noc), offchip
/// term); cycles = first + (steps - 1) * step.
/// Differs: in reuse analysis the traffic of later steps can be smaller than the first's; here it is not, which
/// only matters where the NoC rather than the off-chip port limits.
[[nodiscard]] MaestroCost maestro_gemm_cost(const MaestroArchitecture& architecture, MaestroDataflow dataflow,
                                            const Gemm& gemm);
/// Dataflow kcp_ws: output channels over clusters, input channels over a cluster's PEs, one output pixel a step.
[[nodiscard]] MaestroCost maestro_convolution_cost(const MaestroArchitecture& architecture,
                                                   const Convolution& convolution);

// ---- ZigZag ---------------------------------------------------------------------------------------------

/// A spatially unrolled array with a weight memory, an activation memory and DRAM on one shared port.
struct ZigZagArchitecture {
  double unroll_k = 1, unroll_c = 1, unroll_ox = 1, unroll_oy = 1;
  double weight_memory_bytes = 0, activation_memory_bytes = 0;
  double dram_bytes_per_cycle = 0;
  double dram_read_pj_per_byte = 0, dram_write_pj_per_byte = 0;
};

/// [spec: zigzag] inputs/hardware/edge_tpu_like.yaml: D1..D4 = 8, 8, 4, 4; 262,144 and 16,777,216 bit memories;
/// DRAM 64 bit per cycle at 700 pJ (read) and 750 pJ (write) per access.
inline constexpr ZigZagArchitecture kEdgeTpuLike{.unroll_k = 8,
                                                 .unroll_c = 8,
                                                 .unroll_ox = 4,
                                                 .unroll_oy = 4,
                                                 .weight_memory_bytes = 32768,
                                                 .activation_memory_bytes = 2097152,
                                                 .dram_bytes_per_cycle = 8,
                                                 .dram_read_pj_per_byte = 700.0 / 8.0,
                                                 .dram_write_pj_per_byte = 750.0 / 8.0};
/// [spec: zigzag] inputs/hardware/tpu_like.yaml: D1, D2 = 32, 32; 1,024 bit of weights in each PE; the same
/// activation memory and DRAM.
inline constexpr ZigZagArchitecture kTpuLike{.unroll_k = 32,
                                             .unroll_c = 32,
                                             .weight_memory_bytes = 131072,
                                             .activation_memory_bytes = 2097152,
                                             .dram_bytes_per_cycle = 8,
                                             .dram_read_pj_per_byte = 700.0 / 8.0,
                                             .dram_write_pj_per_byte = 750.0 / 8.0};

/// Loops of a layer without kernel dimensions (a GEMM is ox = m, oy = 1, c = k, k = n); int8 in DRAM, 16-bit
/// partial sums on chip.
struct ZigZagLoops {
  double ox = 1, oy = 1, c = 1, k = 1;
};
[[nodiscard]] constexpr ZigZagLoops zigzag_loops(const Gemm& gemm) {
  return {.ox = gemm.m, .oy = 1, .c = gemm.k, .k = gemm.n};
}

struct ZigZagCost {
  double compute_cycles = 0;
  double dram_read_bytes = 0, dram_write_bytes = 0;
  double dram_cycles = 0;
  double onload_cycles = 0, offload_cycles = 0;
  double cycles = 0;
  double dram_energy_pj = 0;
};

/// Model: cycles = max(onload + compute + offload, DRAM bytes / bandwidth).
/// compute = product of ceil(loop / unrolling); onload = weights and inputs of the first pass of the array over
/// the whole reduction; offload = outputs of the last pass; weights stay while activations stream.
/// Valid for: pointwise layers. Ignores: ZigZag's per-port stalls and its search over partial tiles.
[[nodiscard]] ZigZagCost zigzag_cost(const ZigZagArchitecture& architecture, const ZigZagLoops& loops);

}  // namespace hindsight::accel::peers
