/// Is every function short, or does it say why not?
#pragma once

#include <filesystem>

#include "checks/finding.h"

namespace hindsight::checks {

/// Every function of the repository at `root` has at most 60 lines, from its signature to its brace, or a comment above
/// it with `Long:` and the reason.
[[nodiscard]] Findings check_functions(const std::filesystem::path& root);

}  // namespace hindsight::checks
