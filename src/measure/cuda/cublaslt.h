/// cuBLASLt, opened at run time: a build needs its header only, and a program that times no GEMM does not load it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hindsight/gpu/gemm.h"

namespace hindsight::measure {

/// Row-major operands of one GEMM; see gpu::Layout for their storage.
struct Operands {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
};

/// One GEMM prepared for repeated launches by one algorithm of the library.
class PreparedGemm {
 public:
  virtual ~PreparedGemm() = default;
  /// Algorithms found, the library's favourite first; 0 when it has none for this product.
  [[nodiscard]] virtual int algorithm_count() const = 0;
  /// "id=.. tile=.. stages=.. split_k=.. cluster=.."
  [[nodiscard]] virtual std::string description(int rank) const = 0;
  [[nodiscard]] virtual std::int64_t workspace_bytes(int rank) const = 0;
  /// Error{failure} with the library's status.
  virtual void launch(int rank, const Operands& operands, cudaStream_t stream) const = 0;
};

class CublasLt {
 public:
  /// Error{unavailable} when the library is not found or does not start.
  CublasLt();
  ~CublasLt();
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;
  [[nodiscard]] std::int64_t version() const;
  /// Asks for the `algorithms` best by the library's own ranking. Outputs as gpu::output_bytes says: fp32 for fp32 and
  /// tf32, bf16 for fp8, int32 for int8. fp8 is e4m3 with scales 1 and fast accumulation.
  /// The prepared GEMM must not outlive this object.
  [[nodiscard]] std::unique_ptr<PreparedGemm> prepare(const gpu::Gemm& gemm, int algorithms) const;

  struct Library;

 private:
  std::unique_ptr<Library> library_;
};

}  // namespace hindsight::measure
