/// A command that is killed at random moments and started again until it is done, over and over.
#pragma once

#include <cstdint>
#include <filesystem>

#include "fault/scenario.h"
#include "fault/tally.h"

namespace hindsight::fault {

/// Kills `count` times. After each kill: the log is sound, what a reader saw in it before is there, another file is old
/// or new. Whenever a start comes to its end, and at the end of all: the outcome is that of an undisturbed command.
[[nodiscard]] Tally kill_again_and_again(const Scenario& scenario, std::int64_t count, std::uint64_t seed,
                                         const std::filesystem::path& folder);

}  // namespace hindsight::fault
