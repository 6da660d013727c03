/// Text and JSON of the benchmark that others can play.
#pragma once

#include <string>

#include "hindsight/check/play_score.h"

namespace hindsight::report {

/// A row per task.
[[nodiscard]] std::string play_tasks_text(int columns);
[[nodiscard]] std::string play_tasks_json();

/// Feasible proposals and why others are not, then the best of the first 1, 10 and 128.
[[nodiscard]] std::string play_score_text(const check::PlayScore& score, int columns);
[[nodiscard]] std::string play_score_json(const check::PlayScore& score);

}  // namespace hindsight::report
