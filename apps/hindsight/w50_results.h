/// The table of `bench w50 --results`, read back where a command goes on.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "hindsight/sweep/sweep.h"

namespace hindsight::app {

/// The rows of a table by their cells, which are those of `shard` among `cells` of all shards. `head`: what such a
/// table begins with, to the row of names. None of an empty file. Error{incompatible}: the file is of another command,
/// version, table or shard, or has a row of no cell.
[[nodiscard]] std::map<std::uint64_t, std::string> read_w50_results(const std::string& file, const std::string& head,
                                                                    const sweep::Shard& shard, std::uint64_t cells);

}  // namespace hindsight::app
