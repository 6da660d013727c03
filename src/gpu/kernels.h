/// The kernels that vendors' libraries choose from, by architecture and class of formats.
#pragma once

#include <span>

#include "hindsight/gpu/gemm.h"
#include "hindsight/gpu/gemm_terms.h"
#include "hindsight/gpu/spec.h"

namespace hindsight::gpu {

/// Output tile of one CTA, rows x columns.
struct TileShape {
  double m = 0;
  double n = 0;
};

/// Kernels that differ in their tile only.
struct KernelFamily {
  std::span<const TileShape> tiles;  ///< largest first
  double largest_area = 0;           ///< the tile that reaches the peak, m x n
  double tile_effort = 0;            ///< see `tile_efficiency`
  double shared_panel = 1;           ///< see `l2_read_bytes`
  double k_step = 0;                 ///< depth of one pipeline step
  double vector_step_s = 0;          ///< matrix times vector: seconds per doubling of k; 0: no such kernel
  Overlap overlap = Overlap::pipelined;
  bool split_k = true;
};

[[nodiscard]] const KernelFamily& kernel_family(Architecture architecture, DTypeClass dtype_class, Layout layout);

/// Numbers of parts that k may be split into.
[[nodiscard]] std::span<const double> split_candidates();

}  // namespace hindsight::gpu
