/// The command that answers the question of proposals exactly.
#pragma once

#include <string>
#include <vector>

#include "hindsight/study/proposals.h"

namespace hindsight::study {

/// The words of `hindsight optimum` for the same networks, limits and objective, the program's name first. Empty where
/// it proves nothing: for a front, contexts, a space without exact bounds or that no word names, rows of another
/// evaluator, limits of what bounds do not cover, and the worst of several networks, which proposals take as a ratio.
/// `so_far`: a model, its options and its technology are enough.
[[nodiscard]] std::vector<std::string> optimum_command(const ProposalRequest& request, const Proposals& so_far);

}  // namespace hindsight::study
