/// How far predictions of GPU kernels that are no single GEMM are from measured ones.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hindsight/dataset/kernel_rows.h"
#include "hindsight/gpu/calibration.h"
#include "hindsight/gpu/spec.h"

namespace hindsight::check {

/// Of one row: predicted over measured, in a burst, with the launches of a CUDA graph. A row whose operands were
/// rotated through more bytes than 1.5 times the L2 is predicted with nothing of it in there; others as a network runs
/// them.
/// Errors: those of load_calibration, for a GPU without bf16 or, where rows need it, fp8.
[[nodiscard]] std::vector<double> predicted_kernels_s(const gpu::GpuSpec& spec,
                                                      const std::vector<dataset::KernelRow>& rows,
                                                      std::span<const gpu::Calibration> given = {});

/// Rows of one kind and library.
struct KernelScore {
  std::string kind, backend;
  std::size_t rows = 0;
  double mape_frac = 0;    ///< mean of |predicted / measured - 1|
  double median_frac = 0;  ///< of the same
  double bias_frac = 0;    ///< geometric mean of predicted / measured, less 1
  double worst_frac = 0;   ///< predicted / measured - 1 of the row that is farthest off
};
/// By kind and library, in the order of their first rows.
[[nodiscard]] std::vector<KernelScore> kernel_scores(const std::vector<dataset::KernelRow>& rows,
                                                     const std::vector<double>& predicted_s);

}  // namespace hindsight::check
