/// A command that is killed at random moments and started again until it is done, over and over.
#pragma once

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "fault/scenario.h"
#include "fault/tally.h"

namespace hindsight::fault {

/// Kills `count` times. After each kill: the log is sound, what a reader saw in it before is there, another file is old
/// or new. Whenever a start comes to its end, and at the end of all: the outcome is that of an undisturbed command.
/// With `signals`, one of them each time: what ends in good order has the exit code 128 + signal, or had done its work,
/// and leaves nothing behind.
[[nodiscard]] Tally kill_again_and_again(const Scenario& scenario, std::int64_t count, std::uint64_t seed,
                                         const std::filesystem::path& folder,
                                         const std::vector<int>& signals = {SIGKILL});

}  // namespace hindsight::fault
