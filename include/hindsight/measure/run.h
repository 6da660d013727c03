/// Runs a plan of measurements on a GPU. In a build without CUDA everything here says so.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/measure/plan.h"
#include "hindsight/measure/record.h"

namespace hindsight::measure {

/// Whether this program can measure here.
struct Availability {
  bool built_in = false;             ///< compiled with CUDA
  std::string toolkit;               ///< "CUDA 13.0" when built in
  std::vector<std::string> devices;  ///< names of the devices found
  std::vector<std::string> uuids;    ///< of the devices, as Session::gpu_uuid
  std::string problem;               ///< empty when there is a device; else one clause that says why not
};
[[nodiscard]] Availability availability();
/// The errors of run() that do not depend on its plan. Measures nothing.
void require_device(int device);

/// Takes results as they come. What it throws ends the run.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Called once before the first result.
  virtual void session(const Session& session) = 0;
  /// All results of one task together, so that a killed run leaves whole tasks.
  virtual void results(const std::vector<GemmRow>& gemms, const std::vector<Quantity>& quantities) = 0;
  /// A task that could not be measured, and why. Those of GEMMs leave a row as well.
  virtual void failed(const std::string& task, const std::string& reason) = 0;
  /// Before each task. `position` counts from 0. False stops the run.
  virtual bool next(const std::string& task, std::size_t position, std::size_t total) = 0;
};

struct RunOptions {
  int device = 0;
  double budget_s = 0;                              ///< no task starts later than this; 0: no limit
  double settle_s = 1.0;                            ///< sustained mode: discarded; clocks and temperature settle
  double window_s = 1.2;                            ///< sustained mode: least energy window
  std::set<std::string> finished = {};              ///< keys of tasks to leave out
  std::string command_line, version, commit, host;  ///< provenance
};

struct RunResult {
  std::size_t measured = 0;
  std::size_t finished_before = 0;
  std::size_t failed = 0;
  std::size_t left = 0;  ///< not started: the budget was over, or the sink stopped
};
/// "12 tasks measured, 2 failed, 0 done before, 3 left", and after a failure what became of the rest.
[[nodiscard]] std::string summary(const RunResult& result);
/// Of a run that came to its end: `failure` (exit code 1) when a task failed, else nothing. A budget that ends a run
/// is no failure.
[[nodiscard]] std::optional<ErrorKind> failure_of(const RunResult& result);

/// Measures the tasks of `plan` in order. A GEMM that the library refuses or that fails becomes a row that says so;
/// every failure is told to the sink and counted.
/// Errors: Error{unavailable} without CUDA, device or cuBLASLt (where the plan needs it); Error{usage} for a device
/// number that does not exist; Error{failure} when the device stops working.
[[nodiscard]] RunResult run(const std::vector<Task>& plan, const RunOptions& options, Sink& sink);

/// What a check of the kernels found, one line each.
struct KernelCheck {
  std::vector<std::string> problems;  ///< kernels that disagree with the host, formats that must be there and are not
  std::vector<std::string> skipped;   ///< what the library or the device lacks, and so was not checked
  std::size_t agreed = 0;             ///< kernels that were right
};
/// Small products by every kernel against the host. Errors as run().
[[nodiscard]] KernelCheck check_kernels(int device);

}  // namespace hindsight::measure
