/// What became of the rows of several logs and older spaces, in words and as facts of a model.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hindsight/dataset/load_logs.h"

namespace hindsight::report {

/// A sentence for each log that was taken over, and one for rows that counted once.
[[nodiscard]] std::vector<std::string> take_over_texts(const dataset::UnitedRows& united);

/// The same for a model's provenance and card: `taken_over`, `assumed`, `dropped`, `parameters_lost`,
/// `rows_counted_once`. Only what there is.
[[nodiscard]] std::map<std::string, std::string> take_over_facts(const dataset::UnitedRows& united);

}  // namespace hindsight::report
