/// The design space of a log, rebuilt and proved by its definition hash.
#pragma once

#include <optional>
#include <string>

#include "hindsight/log/log.h"
#include "hindsight/space/design_space.h"

namespace hindsight::dataset {

/// The space to read: `wanted` is a name in the log or a space file; without it the only space with designs.
/// Errors: Error{usage} for an unknown or ambiguous choice; Error{incompatible} when the stored definition does not
/// have its hash.
[[nodiscard]] space::DesignSpace stored_space(const log::Log& log, const std::optional<std::string>& wanted);

}  // namespace hindsight::dataset
