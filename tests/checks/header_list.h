/// Did this build compile every public header alone?
#pragma once

#include <filesystem>

#include "checks/finding.h"

namespace hindsight::checks {

/// `compiled_list` holds one path per line, relative to include/: the headers that the build compiled alone
/// (HeaderChecks.cmake). Every header of include/ must be in it.
[[nodiscard]] Findings check_header_list(const std::filesystem::path& root, const std::filesystem::path& compiled_list);

}  // namespace hindsight::checks
