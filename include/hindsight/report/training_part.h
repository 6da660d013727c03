/// Renders what a shard of a training did.
#pragma once

#include <filesystem>
#include <string>

#include "hindsight/surrogate/parts.h"
#include "hindsight/surrogate/recipe.h"

namespace hindsight::report {

/// "Shard 0/2: 2 members trained in 12 s, model.0.safetensors".
[[nodiscard]] std::string part_text(const surrogate::PartResult& result, const surrogate::TrainingShard& shard,
                                    const surrogate::Recipe& recipe, const std::filesystem::path& file);
/// The same as JSON; `file` is null of an interrupted one.
[[nodiscard]] std::string part_json(const surrogate::PartResult& result, const surrogate::TrainingShard& shard,
                                    const surrogate::Recipe& recipe, const std::filesystem::path& file);

}  // namespace hindsight::report
