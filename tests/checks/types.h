/// Is a name given to two things?
#pragma once

#include <filesystem>

#include "checks/finding.h"

namespace hindsight::checks {

/// In the C++ sources of `src`, `include`, `apps` and `bench`: no two files define a class, struct or enum of one name
/// in one named namespace. Each would compile for itself; the linker would then take the copying and destroying of one
/// for both. Types inside others are not judged.
///
/// In the `.cpp` files of a layer of `src`, and of `apps/NAME`: no two have a type, a variable, or a function of the
/// same parameters with one name in an unnamed namespace. Builds that join sources (HINDSIGHT_UNITY) choose which they
/// join.
[[nodiscard]] Findings check_types(const std::filesystem::path& root);

}  // namespace hindsight::checks
