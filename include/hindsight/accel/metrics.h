/// The metrics that this model gives, in one table: log rows, limits, objectives and reports are loops over it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hindsight/accel/config.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/technology.h"
#include "hindsight/space/design_space.h"

namespace hindsight::accel {

struct Metric {
  std::string_view name;  ///< as in logs, limits and objectives
  std::string_view unit;  ///< the suffix of the name; "" for a number of instructions
  /// Of a feasible evaluation; of any where known_before_evaluation().
  double (*value)(const Evaluation& evaluation);
  /// The same number from the design alone; null: a network has to be evaluated.
  double (*of_design)(const AcceleratorConfig& config, const Technology& technology);
  /// The same from its facts; null where of_design is.
  double (*of_chip)(const ChipFacts& chip);
  [[nodiscard]] bool known_before_evaluation() const { return of_design != nullptr; }
};

/// In the order of a log's columns.
[[nodiscard]] std::span<const Metric> metrics();
/// Null when the model gives no metric of this name.
[[nodiscard]] const Metric* find_metric(std::string_view name);
[[nodiscard]] std::vector<std::string> metric_names();
/// area_mm2 and peak_power_w: what a limit can be checked on without a network.
[[nodiscard]] std::vector<std::string> metric_names_known_before_evaluation();

/// The smallest value that any design of the space has, of a metric that is known before evaluation: that of the design
/// with the smallest value of every parameter, because neither area nor peak power falls when a parameter grows.
[[nodiscard]] double smallest_value(const Metric& metric, const space::DesignSpace& space,
                                    const Technology& technology);

/// Ends of a range that holds the values of all designs of a box, for the same reason: those of its smallest and its
/// largest design, moved apart by 1e-12 of each for rounding. `box`: levels per parameter of the space that `binding`
/// binds, none means all.
[[nodiscard]] std::pair<double, double> value_range(const Metric& metric, const ConfigBinding& binding,
                                                    const space::DesignSpace& space,
                                                    const std::vector<std::vector<std::uint16_t>>& box,
                                                    const Technology& technology);

}  // namespace hindsight::accel
