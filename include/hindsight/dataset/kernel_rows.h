/// Measured GPU kernels that are no single GEMM, as scripts/measure-kernels.py writes them.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "hindsight/dataset/csv_import.h"
#include "hindsight/gpu/gemm.h"
#include "hindsight/gpu/other_kernels.h"

namespace hindsight::dataset {

/// One measured kernel.
struct KernelRow {
  std::string kind;  ///< for people: "attention, prompts", "softmax", ...
  std::variant<gpu::Attention, gpu::GroupedGemm, gpu::Gemm, gpu::Streaming> work;
  std::string backend = {};  ///< whose kernel: "cudnn", "flash", "triton", "torch"
  double latency_s = 0;
  double rotated_bytes = 0;  ///< operands that passed before the same ones came back; one set: its own bytes
  bool rotated = false;      ///< more than one set: where all of them exceed the L2, operands come from DRAM
};

/// The rows that were measured, in their order; those that the library did not offer (`status` other than ok) are left
/// out. Errors: Error{usage} with file:line:column for a column that is missing, a kernel that is not known and a cell
/// that is no size or no runtime, and when no row is left.
[[nodiscard]] std::vector<KernelRow> read_kernel_rows(const CsvTable& table);

}  // namespace hindsight::dataset
