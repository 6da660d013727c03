/// Does a loop walk over what a temporary owned?
#pragma once

#include <filesystem>

#include "checks/finding.h"

namespace hindsight::checks {

/// In every C++ and CUDA source of the repository at `root`: no range of a `for` is what a member function of a
/// temporary returned, `for (x : f().items())`. In C++20 the object that f returned is gone before the first step
/// (C++23 keeps it). Data members keep the object; members of named objects are not judged, whatever they return.
[[nodiscard]] Findings check_loops(const std::filesystem::path& root);

}  // namespace hindsight::checks
