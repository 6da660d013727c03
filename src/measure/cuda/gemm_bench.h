/// Times GEMM tasks: operands, rotation, kernels, rows.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "hindsight/measure/board.h"
#include "hindsight/measure/plan.h"
#include "measure/cuda/cublaslt.h"
#include "measure/cuda/support.h"
#include "measure/cuda/timing.h"

namespace hindsight::measure {

class GemmBench {
 public:
  /// `board` may be null. `cublaslt` may be null when no task needs it.
  GemmBench(double l2_bytes, std::uint64_t seed, const SustainedOptions& sustained, const CublasLt* cublaslt,
            Board* board, const Stream& stream)
      : l2_bytes_(l2_bytes), seed_(seed), sustained_(sustained), cublaslt_(cublaslt), board_(board), stream_(stream) {}

  /// One row per algorithm; a single row that says why when the library has none.
  [[nodiscard]] std::vector<GemmRow> measure(const Task& task);

 private:
  struct Sets;
  [[nodiscard]] Sets prepare_operands(const gpu::Gemm& gemm);
  void time(const Task& task, const Sets& sets, const Launch& launch, GemmRow& row);

  double l2_bytes_;
  std::uint64_t seed_;
  SustainedOptions sustained_;
  const CublasLt* cublaslt_;
  Board* board_;
  const Stream& stream_;
  DeviceBuffer inputs_, outputs_;
  std::optional<gpu::DType> filled_;
};

}  // namespace hindsight::measure
