/// The library that trains: whether this installation has it.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace hindsight::surrogate {

/// The file that the first training opens; nothing when this installation has none, which can propose but not train.
[[nodiscard]] std::optional<std::filesystem::path> learner_library();

/// Why an installation has none, and what to do, as one clause. `features`: those that the program was built with; its
/// library may have stayed where it was built.
[[nodiscard]] std::string why_no_learner(std::span<const std::string> features);

}  // namespace hindsight::surrogate
