/// The loop over a plan of measurements, on whatever measures: a GPU, or what stands for one where there is none.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hindsight/measure/plan.h"
#include "hindsight/measure/record.h"
#include "hindsight/measure/run.h"

namespace hindsight::measure {

/// What one task gave.
struct TaskResults {
  std::vector<GemmRow> gemms = {};  ///< of a GEMM that failed: a row that says so
  std::vector<Quantity> quantities = {};
  std::vector<std::string> problems = {};  ///< why the task, or rows of it, failed; empty where it is measured
};

/// A device that is ready to measure.
class Bench {
 public:
  virtual ~Bench() = default;
  [[nodiscard]] virtual const Session& session() const = 0;
  /// All but when it was measured, and the task of quantities. Errors: Error{failure} when the device stops working.
  [[nodiscard]] virtual TaskResults measure(const Task& task) = 0;
};
/// `needs_cublaslt`: a task that is left measures a GEMM of the library. Errors as run().
using OpenBench = std::function<std::unique_ptr<Bench>(bool needs_cublaslt)>;

/// What run() does, on what `open` gives. An error of the sink ends it before the next task starts.
[[nodiscard]] RunResult run_on(const OpenBench& open, const std::vector<Task>& plan, const RunOptions& options,
                               Sink& sink);

/// This second in UTC, as records have it: 2026-01-31T12:00:00Z.
[[nodiscard]] std::string utc_second();

}  // namespace hindsight::measure
