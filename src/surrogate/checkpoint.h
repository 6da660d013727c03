/// What an interrupted training leaves to be continued: its complete members, and where the others stand.
///
/// The file is a safetensors file of a kind of its own (tensor_file.h): the arrays of every member under
/// `member.M.`, its figures in the JSON text.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "surrogate/member.h"

namespace hindsight::surrogate {

/// SHA-256 of everything that decides the members: recipe, data, version of the training code.
[[nodiscard]] std::string training_identity(const Recipe& recipe, const std::string& data_hash);

void save_checkpoint(const std::filesystem::path& file, const std::string& identity,
                     const std::vector<MemberOutcome>& members);
/// One outcome per member of the recipe, empty where there is no file. Error{incompatible} when the file is damaged or
/// belongs to another training.
[[nodiscard]] std::vector<MemberOutcome> load_checkpoint(const std::filesystem::path& file, const std::string& identity,
                                                         const MemberInputs& inputs);

}  // namespace hindsight::surrogate
