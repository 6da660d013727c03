/// Does every source open with its job?
#pragma once

#include <filesystem>

#include "checks/finding.h"

namespace hindsight::checks {

/// Every C++ and CUDA source of the repository at `root` begins with `///` and at least one sentence.
[[nodiscard]] Findings check_openings(const std::filesystem::path& root);

}  // namespace hindsight::checks
