/// --keep with an evaluator whose answers take long: the sample is answered once, into a log of its own.
#pragma once

#include <functional>

#include "hindsight/sweep/sweep.h"

namespace hindsight::sweep {

/// Answers the whole sample by `run` (a sweep without `keep`) into sample_file(), then by `run` the sweep that was
/// asked for, with these answers. Continues what was interrupted or killed in either. Errors: those of `run`;
/// Error{incompatible} for a file of that name that is no such sample.
[[nodiscard]] SweepSummary run_kept_sample(const SweepOptions& options,
                                           const std::function<SweepSummary(const SweepOptions&)>& run);

}  // namespace hindsight::sweep
