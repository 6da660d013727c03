/// Limits of what an evaluator knows about a design without evaluating it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "hindsight/evaluator/evaluator.h"
#include "hindsight/optimize/problem.h"

namespace hindsight::study {

/// metric <= limit by the evaluator's facts (area_mm2, peak_power_w of the built-in model); nothing when it has no such
/// fact. Costs no evaluation. The function may be called concurrently.
[[nodiscard]] std::optional<optimize::Constraint> analytic_constraint(
    const std::shared_ptr<const evaluator::Evaluator>& evaluator, const std::string& metric, double limit);

}  // namespace hindsight::study
