/// Finished members of a training run, kept so that an interrupted run continues with the next member.
///
/// The file is a model file: per finished member its selected and its final network, the facts in the provenance.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "surrogate/member.h"

namespace hindsight::surrogate {

/// SHA-256 of everything that decides the members: recipe, data, version of the training code.
[[nodiscard]] std::string training_identity(const Recipe& recipe, const std::string& data_hash);

void save_checkpoint(const std::filesystem::path& file, const Model::Parts& frame, const std::string& identity,
                     const std::vector<std::optional<TrainedMember>>& members);
/// `count` members, the finished ones filled in; none when there is no file. Error{incompatible} when the file belongs
/// to another training.
[[nodiscard]] std::vector<std::optional<TrainedMember>> load_checkpoint(const std::filesystem::path& file,
                                                                        const std::string& identity, std::size_t count);

}  // namespace hindsight::surrogate
