/// Several processes at one log at once, some of them killed.
#pragma once

#include <cstdint>
#include <filesystem>

#include "fault/tally.h"

namespace hindsight::fault {

/// The shards of a sweep write to one log together while readers look, over and over, until `kills` writers were
/// killed; each of these begins again until it is done. After each kill the log has what anybody saw in it; readers
/// see sound logs that only grow; at the end of each round the content is that of one undisturbed sweep: no design is
/// lost, none is there twice.
[[nodiscard]] Tally write_at_once(std::int64_t kills, std::uint64_t seed, const std::filesystem::path& folder);

}  // namespace hindsight::fault
