/// Optuna's journal file: one JSON object per operation. Private to the dataset layer.
#pragma once

#include <filesystem>
#include <string_view>

#include "hindsight/log/optuna_study.h"

namespace hindsight::dataset {

struct OptunaJournal {
  log::OptunaStudies studies;
  bool cut_off = false;  ///< the last line was half written, and left out
};
/// Replays the operations as Optuna does (optuna/storages/journal/_storage.py): numbers of studies and trials count up,
/// what is said of a finished trial later does not count. Error{usage} with the line for what is no operation.
[[nodiscard]] OptunaJournal read_optuna_operations(std::string_view text, const std::filesystem::path& file);

}  // namespace hindsight::dataset
