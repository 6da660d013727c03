/// Is the include graph a pipeline? Folders may include only folders to their left, and every third-party
/// library only where it belongs.
#pragma once

#include <filesystem>

#include "checks/finding.h"

namespace hindsight::checks {

/// Judges include/hindsight/, src/ and apps/ under `root`:
/// - a file of layer X includes only layers left of X, X itself and core;
/// - a header in src/X is private to X;
/// - a third-party header appears only in the layers that own its library;
/// - dataset, surrogate and optimize reach accel, evaluator and sweep through no chain of includes, nor through a file
///   that implements a public header on the chain;
/// - a public header (include/hindsight/X) includes only the standard library, Eigen and public headers.
[[nodiscard]] Findings check_layering(const std::filesystem::path& root);

}  // namespace hindsight::checks
