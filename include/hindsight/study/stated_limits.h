/// What an evaluator states of designs (evaluator::StatedLimit) is no matter of learning: `propose` keeps it exactly,
/// so that a surrogate need not know which designs are beyond it.
#pragma once

#include <string>
#include <vector>

#include "hindsight/dataset/dataset.h"
#include "hindsight/evaluator/evaluator.h"

namespace hindsight::study {

/// What evaluated the rows states, as far as the program knows it: the built-in model in a technology that is there.
/// None of any other evaluator, and none of what the space itself means something else by.
[[nodiscard]] std::vector<evaluator::StatedLimit> stated_limits_of(const dataset::Dataset& data);

/// "area_mm2 <= 858, peak_power_w <= 2.5".
[[nodiscard]] std::string stated_limits_text(const std::vector<evaluator::StatedLimit>& limits);

/// The rows whose designs are within stated_limits_of(data), with all applications, and without the reasons that no row
/// of these has. Their facts are asked (evaluator::Count::facts), nothing is evaluated.
[[nodiscard]] dataset::Dataset within_stated_limits(dataset::Dataset data);

}  // namespace hindsight::study
