/// What a training leaves in the log that it learns from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "hindsight/core/provenance.h"
#include "hindsight/log/log.h"
#include "hindsight/space/design_space.h"

namespace hindsight::study {

/// The run of a training, begun before it and ended as log::Run does: one that goes away unfinished has failed, or was
/// interrupted. The log is open meanwhile, not locked: others write to it.
class TrainingRecord {
 public:
  /// Error{failure} when the log cannot be written.
  TrainingRecord(const std::filesystem::path& log, const Provenance& provenance, const std::string& options_json);
  /// Stores the model that was written; gives its number.
  std::int64_t finish(const space::DesignSpace& space, const log::ModelRow& model);

 private:
  log::Log log_;
  log::Run run_;
};

}  // namespace hindsight::study
