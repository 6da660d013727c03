/// Rows of one space as rows of another, and datasets of one space as one. Private to the dataset layer.
#pragma once

#include <string>
#include <vector>

#include "hindsight/dataset/load_logs.h"

namespace hindsight::dataset {

/// The rows of `data` whose values `space` has, as rows of it. `taken` says what was assumed and dropped. Error{usage}
/// for a parameter without an assumption, and when no row fits.
[[nodiscard]] Dataset take_over(const Dataset& data, const space::DesignSpace& space,
                                const std::vector<Assumption>& assumptions, TakenOver& taken);

/// Error{usage} for an assumption that is none of `space`.
void require_assumptions(const std::vector<Assumption>& assumptions, const space::DesignSpace& space);

/// Adds rows of the same space to `united.data`; designs that it has for the same application are counted, not added.
/// `logs`: where they are from, for messages. Error{usage} where evaluators or applications differ.
void add_rows(const Dataset& more, const std::string& logs, UnitedRows& united);

}  // namespace hindsight::dataset
