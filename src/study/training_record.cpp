/// Runs of the kind "train" and their models.
#include "hindsight/study/training_record.h"

namespace hindsight::study {

std::optional<std::int64_t> record_training(const std::filesystem::path& log, const Provenance& provenance,
                                            const std::string& options_json, const space::DesignSpace& space,
                                            const std::optional<log::ModelRow>& model) {
  log::Log opened = log::Log::open(log, log::OpenMode::read_write);
  log::Run run(opened, log::RunKind::train, provenance, options_json);
  std::optional<std::int64_t> id;
  if (model) {
    const std::int64_t space_id = opened.add_space(space.name(), space.canonical_definition(), space.definition_hash());
    id = opened.add_model(run.id(), space_id, *model);
  }
  run.finish(model ? log::RunStatus::finished : log::RunStatus::interrupted);
  return id;
}

}  // namespace hindsight::study
