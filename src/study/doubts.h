/// When a model must not be trusted with a question.
#pragma once

#include <string>
#include <vector>

#include "hindsight/study/proposals.h"

namespace hindsight::study {

/// Reasons, each a sentence; none for a model that is as good as it can tell.
[[nodiscard]] std::vector<std::string> doubts_about(const Proposals& proposals);

}  // namespace hindsight::study
