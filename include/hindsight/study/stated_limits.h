/// What an evaluator states of designs (evaluator::StatedLimit) is no matter of learning: `propose` keeps it exactly,
/// so that a surrogate need not know which designs are beyond it. What else these lack is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hindsight/dataset/dataset.h"
#include "hindsight/evaluator/evaluator.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::study {

/// "area_mm2 <= 858, peak_power_w <= 2.5".
[[nodiscard]] std::string stated_limits_text(const std::vector<evaluator::StatedLimit>& limits);

/// The built-in model that evaluated the rows, with noise or without: one whose definition this program has, by the
/// name of its technology. Null where another evaluator did, another release, or a technology of a file.
[[nodiscard]] std::shared_ptr<const evaluator::Evaluator> built_in_of_rows(const dataset::Dataset& data);

/// The rows whose designs are within stated_limits_of(evaluator), with all applications; of the others the reasons
/// that are not of a stated limit (dataset::ReasonRows), of applications that the first have. Without the reasons that
/// neither has. Facts of designs are asked (evaluator::Count::facts), nothing is evaluated.
[[nodiscard]] dataset::Dataset within_stated_limits(dataset::Dataset data, const evaluator::Evaluator& evaluator);
/// The same by built_in_of_rows(data); all rows where it is null.
[[nodiscard]] dataset::Dataset within_stated_limits(dataset::Dataset data);

/// Where most feasible rows are beyond a limit that the built-in model states which evaluated what `base` learnt from
/// (by the technology of its name): a sentence per limit. The base has learnt nothing of such designs: its own rows
/// beyond the limit took no part. `adapted`: what it became with the rows, which may have its feasibility from them.
[[nodiscard]] std::vector<std::string> rows_beyond_base(const surrogate::Model& base, const surrogate::Model& adapted,
                                                        const dataset::Dataset& rows);

}  // namespace hindsight::study
