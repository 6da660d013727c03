/// Objectives as a user writes them: products of powers of logged metrics.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hindsight/core/direction.h"

namespace hindsight::dataset {

/// A product of powers of logged metrics, minimised: "latency_s", "energy_j * latency_s", "latency_s^2 * area_mm2",
/// "1 / tera_ops". The short names latency, energy, edp, power stand for latency_s, energy_j, their product,
/// average_power_w; in a log that has a metric of exactly that name they stand for it. `maximise` turns the sign of
/// every exponent.
struct Objective {
  struct Factor {
    std::string metric;
    double exponent = 1;
    std::string short_name = {};  ///< what the user wrote, when `metric` comes from a short name
  };
  std::string text;  ///< as the user wrote it; with `maximise` its reciprocal, which is what is minimised
  std::vector<Factor> factors;
};
/// The one metric that a short name stands for: "latency" is latency_s. Nothing for other words, and for edp.
[[nodiscard]] std::optional<std::string> metric_of_short_name(const std::string& name);
/// Whether two metrics are one quantity in two units of time, energy or power: latency_s and latency_ms. False for one
/// name twice.
[[nodiscard]] bool differ_in_unit(const std::string& a, const std::string& b);
using hindsight::Direction;
/// Error{usage} naming the offending factor.
[[nodiscard]] Objective parse_objective(const std::string& text, Direction direction);
/// Metrics of an objective that is minimised as it is written: every feasible row has them. Errors: those of
/// parse_objective().
[[nodiscard]] std::vector<std::string> objective_metrics(const std::string& text);
/// The metric of which more is better, where the objective is its reciprocal alone; nothing for all others.
[[nodiscard]] std::optional<std::string> maximised_metric(const Objective& objective);
/// "latency_s^2 * energy_j^-1": reads back as the same product when minimised.
[[nodiscard]] std::string to_string(const Objective& objective);

}  // namespace hindsight::dataset
