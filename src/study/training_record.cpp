/// Runs of the kind "train" and their models.
#include "hindsight/study/training_record.h"

namespace hindsight::study {

TrainingRecord::TrainingRecord(const std::filesystem::path& log, const Provenance& provenance,
                               const std::string& options_json)
    : log_(log::Log::open(log, log::OpenMode::read_write)), run_(log_, log::RunKind::train, provenance, options_json) {}

std::int64_t TrainingRecord::finish(const space::DesignSpace& space, const log::ModelRow& model) {
  const std::int64_t space_id = log_.add_space(space.name(), space.canonical_definition(), space.definition_hash());
  const std::int64_t id = log_.add_model(run_.id(), space_id, model);
  run_.finish(log::RunStatus::finished);
  return id;
}

}  // namespace hindsight::study
