/// Is a name of a type given to two types?
#pragma once

#include <filesystem>

#include "checks/finding.h"

namespace hindsight::checks {

/// In the C++ sources of `src`, `include`, `apps` and `bench`: no two files define a class, struct or enum of one name
/// in one named namespace. Each would compile for itself; the linker would then take the copying and destroying of one
/// for both. Types inside unnamed namespaces, and inside others, are not judged.
[[nodiscard]] Findings check_types(const std::filesystem::path& root);

}  // namespace hindsight::checks
