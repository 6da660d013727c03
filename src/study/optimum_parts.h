/// What the exact optimum and the search with a gap have in common: a question about one of its limits, and its words.
#pragma once

#include <string>
#include <vector>

#include "hindsight/study/optimum.h"

namespace hindsight::study {

[[nodiscard]] const std::string& name_of(const accel::optimum::DerivedLimit& limit);
/// "area_mm2 <= 27, latency_s <= 0.001".
[[nodiscard]] std::string limits_text(const accel::optimum::Question& question);
/// "area_mm2 <= 1.11, or latency_s <= 0.5", with ", or " between.
[[nodiscard]] std::string text_of(const std::vector<NearestLimit>& limits, const char* between);
/// "no design of the space edge runs unet".
[[nodiscard]] std::string none_runs(const OptimumTask& task);

/// Which design has the least of limited metric number `k`, by the application that has the most of it. `others_kept`:
/// within the other limits; otherwise under none.
[[nodiscard]] accel::optimum::Question least_of_limit(const accel::optimum::Question& question, std::size_t k,
                                                      bool others_kept);
/// The least value under any goal that bounds cover, by the application that has the most of it.
[[nodiscard]] accel::optimum::Question least_of(accel::optimum::Question question, const accel::optimum::Goal& goal);

/// find_optimum() of a space without exact bounds.
[[nodiscard]] Optimum find_with_gap(const OptimumTask& task, const accel::optimum::Watch& watch);

}  // namespace hindsight::study
