/// What a training leaves in the log that it learned from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "hindsight/core/provenance.h"
#include "hindsight/log/log.h"
#include "hindsight/space/design_space.h"

namespace hindsight::study {

/// Notes a training as a run of `log`, with the model that it wrote; nothing for `model` when it was interrupted, which
/// writes none. Gives the number of the model. Error{failure} when the log cannot be written.
std::optional<std::int64_t> record_training(const std::filesystem::path& log, const Provenance& provenance,
                                            const std::string& options_json, const space::DesignSpace& space,
                                            const std::optional<log::ModelRow>& model);

}  // namespace hindsight::study
