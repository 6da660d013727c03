/// Two trainings that write one model file at once.
#pragma once

#include <cstdint>
#include <filesystem>

#include "fault/tally.h"

namespace hindsight::fault {

/// `count` times two trainings, of different seeds, begin at moments apart; one of four pairs loses one by SIGKILL.
/// Each writes the file whole or says why not: what lies there is the model of one of them.
[[nodiscard]] Tally train_at_once(std::int64_t count, std::uint64_t seed, const std::filesystem::path& folder);

}  // namespace hindsight::fault
