/// The design space of a log, rebuilt and proved by its definition hash. Private to the dataset layer.
#pragma once

#include <optional>
#include <string>

#include "hindsight/log/log.h"
#include "hindsight/space/design_space.h"

namespace hindsight::dataset {

/// The record by which an import keeps the canonical definition of its space in the log.
[[nodiscard]] log::Checkpoint definition_checkpoint(const space::DesignSpace& space);

/// The space to read: `wanted` is a name in the log or a space file; without it the only space with designs.
/// A definition comes from the log's record of an import, from `wanted`, or from the shipped spaces, and counts only
/// when its hash is that of the log. Errors: Error{usage} for an unknown or ambiguous choice, or when nothing has the
/// definition (give the space file).
[[nodiscard]] space::DesignSpace stored_space(const log::Log& log, const std::optional<std::string>& wanted);

}  // namespace hindsight::dataset
