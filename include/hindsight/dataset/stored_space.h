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
/// The space that a person names beside a log: the log's own of that name, where it has designs, else a shipped one or
/// a file. Error{usage}: none of these.
[[nodiscard]] space::DesignSpace named_beside(const log::Log& log, const std::string& name);

}  // namespace hindsight::dataset
