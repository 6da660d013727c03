/// What a user writes to `hindsight measure`, and the plan of GEMMs that it means.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/measure/run.h"

namespace hindsight::app {

/// The options of all verbs of `measure`.
struct MeasureOptions {
  std::optional<std::int64_t> m = {}, n = {}, k = {};  ///< one product; nothing: `shapes`
  std::int64_t batch = 1;
  std::string shapes = "grid", dtype = "all", layout = "nt", kernel = "cublaslt", mode = "burst";
  std::int64_t algorithms = 1, first_tile = 1, last_tile = gpu::kLargestTile;
  measure::RunOptions run;
  std::string log, csv, sheet, file;
  bool resume = false, json = false, quiet = false;
};

/// Errors: Error{usage} for unknown words (the nearest is offered), sizes that are none, a malformed CSV.
[[nodiscard]] std::vector<measure::Task> gemm_plan(const MeasureOptions& options);

}  // namespace hindsight::app
