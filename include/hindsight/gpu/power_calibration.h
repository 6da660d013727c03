/// Fitted power constants of a GPU, kept in `data/gpus/calibration/power/*.yaml` with the rows they were fitted on,
/// the split, the error, the date and the command.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "hindsight/gpu/gemm.h"
#include "hindsight/gpu/power.h"
#include "hindsight/gpu/spec.h"
#include "hindsight/gpu/validity.h"

namespace hindsight::gpu {

/// Where power constants come from.
enum class PowerSource : std::uint8_t {
  own,       ///< fitted on power measured on this GPU
  transfer,  ///< fitted on a GPU of the same architecture
  defaults,  ///< no GPU of the architecture was measured: `default_power_constants`
};
/// "own", "transfer", "defaults".
[[nodiscard]] std::string_view to_string(PowerSource source);

/// Shapes whose recorded power is not that of real data in tiles. Most had weights that nobody had written: the
/// collector allocates them without filling them, and memory fresh from the driver is zero; what was used before is
/// not.
struct UnwrittenWeights {
  double k_at_least = 0;              ///< partly zero; 0: none
  double weight_bytes_at_least = 0;   ///< zero; 0: none
  double long_vector_k_at_least = 0;  ///< `Operands::long_vector`, whatever the weights hold; 0: none
};

struct PowerCalibration {
  std::string gpu;  ///< whose rows were fitted; empty for `defaults`
  PowerSource source = PowerSource::defaults;
  PowerConstants constants;  ///< `op_j` is the architecture's; fitted runtimes know better (`Constants::op_j`)
  std::optional<ValidatedRange> range;  ///< of the fitted rows; none unless `own`
  UnwrittenWeights unwritten;           ///< of the fitted rows; none unless `own`
  std::string data;                     ///< the measurements
  double row_count = 0;
  double held_out_mape_frac = 0;  ///< grouped 5-fold
  double held_out_median_frac = 0;
  double held_out_r2 = 0;
};

/// Constants for a GPU and class: its own, else those of the calibrated GPU of its architecture, else defaults.
/// Errors: Error{usage} for a malformed file.
[[nodiscard]] PowerCalibration load_power_calibration(const GpuSpec& spec, DTypeClass dtype_class);

/// The text of a file of `data/gpus/calibration/power`.
[[nodiscard]] std::string to_yaml(const PowerCalibration& calibration, DTypeClass dtype_class,
                                  const std::string& command, const std::string& date);

/// What the operands of `gemm` held in the rows that a calibration was fitted on. The larger input counts as the
/// weights, so that a product and its mirror image agree. Long vectors are that first: their rows read alike whatever
/// their weights are said to hold.
[[nodiscard]] Operands recorded_operands(const UnwrittenWeights& unwritten, const Gemm& gemm);

}  // namespace hindsight::gpu
