/// The library that trains: whether this installation has it.
#pragma once

#include <filesystem>
#include <optional>

namespace hindsight::surrogate {

/// The file that the first training opens; nothing when this installation has none, which can propose but not train.
[[nodiscard]] std::optional<std::filesystem::path> learner_library();

}  // namespace hindsight::surrogate
