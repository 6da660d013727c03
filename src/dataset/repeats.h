/// Repeated measurements of a design as one row. Private to the dataset layer.
#pragma once

#include <cstdint>
#include <vector>

#include "hindsight/dataset/dataset.h"

namespace hindsight::dataset {

/// Rows of one design and context become one row, in the place of the first and with its evaluation id. It is feasible
/// when more than half of them are. Objective and labels are the means over the rows that are so too, labels and
/// margins over those that have one; the reasons of an infeasible row are those of all. How far measurements of one
/// design differ stands in `repeats`. `design` names the design of every row.
[[nodiscard]] Dataset mean_of_repeats(const Dataset& data, const std::vector<std::int64_t>& design);

}  // namespace hindsight::dataset
