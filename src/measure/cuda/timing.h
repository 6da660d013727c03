/// Timing of a kernel that is launched again and again over rotating operands, in the two modes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>

#include "hindsight/measure/board.h"
#include "hindsight/measure/statistics.h"
#include "measure/cuda/support.h"

namespace hindsight::measure {

/// Puts one launch on the stream, with operand set `copy`.
using Launch = std::function<void(cudaStream_t stream, std::int64_t copy)>;

/// What of a kernel was timed, and how.
struct Timing {
  Samples kernel_s;  ///< seconds of one kernel; a sample is the mean over one batch of launches
  std::int64_t kernels_per_sample = 0;
  bool graph = false;
  bool warmed_up = true;  ///< false: a burst whose batches still got shorter when the warm-up had to end
  BoardSummary board;
};

/// A fixed number of launches over the operand sets in turn: a CUDA graph for short kernels, whose launches would
/// otherwise be what is timed, else plain launches.
class Batch {
 public:
  /// `copies` operand sets, 1 to kMostCopies. A batch lasts about `batch_s`, is a whole number of rounds through the
  /// sets where it is a graph, and has at most kMostCopies launches.
  Batch(Launch launch, std::int64_t copies, double batch_s, cudaStream_t stream);
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  void enqueue();
  [[nodiscard]] std::int64_t launches() const { return launches_; }
  [[nodiscard]] bool is_graph() const { return graph_ != nullptr; }
  /// Rough time of one kernel, from the first launches.
  [[nodiscard]] double estimate_s() const { return estimate_s_; }

 private:
  void estimate();
  void capture();

  Launch launch_;
  std::int64_t copies_;
  cudaStream_t stream_;
  std::int64_t launches_ = 1;
  std::int64_t next_copy_ = 0;
  double estimate_s_ = 0;
  cudaGraphExec_t graph_ = nullptr;
};

/// Burst: batches of warm-up until they no longer get shorter (`WarmUpRule`), then batches back to back until the rule
/// is content.
[[nodiscard]] Timing time_burst(const Launch& launch, std::int64_t copies, const StoppingRule& rule, Board* board,
                                const Stream& stream);

struct SustainedOptions {
  double settle_s = 1.0;
  double window_s = 1.2;
};
/// Sustained: back to back for settle_s, which is discarded, then until the energy counter has covered window_s (or
/// three times as long, where there is no such counter). The queue never runs dry.
[[nodiscard]] Timing time_sustained(const Launch& launch, std::int64_t copies, const SustainedOptions& options,
                                    Board* board, const Stream& stream);

/// Seconds on a steady clock.
[[nodiscard]] double steady_now_s();

}  // namespace hindsight::measure
