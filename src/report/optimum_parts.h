/// What several answers about all designs of a space have in common.
#pragma once

#include <string>

#include "hindsight/study/optimum.h"
#include "report/json.h"

namespace hindsight::report {

/// The space, the evaluator and the limits of the question.
[[nodiscard]] Json question_json(const study::OptimumTask& task);
/// ", area_mm2 <= 27" for each limit.
[[nodiscard]] std::string limits_text(const study::OptimumTask& task);

}  // namespace hindsight::report
