/// Timed GEMMs as CSV, in the units and names that `hindsight gemm --csv` uses.
#pragma once

#include <string>
#include <vector>

#include "hindsight/measure/json_lines.h"

namespace hindsight::measure {

/// A header and one line per GEMM row of every session: gpu, kernel, dtype, layout, batch, m, n, k, tile, rank, mode,
/// status, latency_us, power_w, energy_mj, tflops, sm_clock_mhz, temperature_c, throttle_reasons, spread_frac,
/// samples, algorithm, message. Unknown numbers are empty cells.
[[nodiscard]] std::string gemms_csv(const std::vector<SessionRecords>& sessions);

/// Operations per second that a row reached; NaN where it has no latency.
[[nodiscard]] double ops_per_s(const GemmRow& row);

}  // namespace hindsight::measure
