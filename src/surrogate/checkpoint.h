/// What an interrupted training leaves to be continued: its complete members, and where the others stand.
///
/// The file is a safetensors file of a kind of its own (tensor_file.h): the arrays of every member under
/// `member.M.`, its figures in the JSON text.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "surrogate/json_entries.h"
#include "surrogate/member.h"
#include "surrogate/tensor_file.h"

namespace hindsight::surrogate {

/// SHA-256 of everything that decides the members: recipe, data, version of the training code.
[[nodiscard]] std::string training_identity(const Recipe& recipe, const std::string& data_hash);

void save_checkpoint(const std::filesystem::path& file, const std::string& identity,
                     const std::vector<MemberOutcome>& members);
/// One outcome per member of the recipe, empty where there is no file. Error{incompatible} when the file is damaged or
/// belongs to another training.
[[nodiscard]] std::vector<MemberOutcome> load_checkpoint(const std::filesystem::path& file, const std::string& identity,
                                                         const MemberInputs& inputs);

/// Members as entries of a JSON text, their arrays added to `file`.
[[nodiscard]] Json write_members(const std::vector<MemberOutcome>& members, TensorFile& file);
/// The same members, one per entry. Error{incompatible} for arrays that do not fit the training.
[[nodiscard]] std::vector<MemberOutcome> read_members(const Json& entries,
                                                      std::vector<std::pair<std::string, Tensor>> tensors,
                                                      const MemberInputs& inputs);

}  // namespace hindsight::surrogate
