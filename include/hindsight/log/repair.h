/// What is left of a damaged log, as a new one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/core/provenance.h"

namespace hindsight::log {

/// What became of a table's rows. Every row that was found is in one of the first four counts.
struct RepairedTable {
  std::string name;
  std::uint64_t recovered = 0;
  std::uint64_t damaged = 0;          ///< their bytes are no row of this table
  std::uint64_t refused = 0;          ///< readable, but what an import or `verify` would refuse
  std::uint64_t without_parent = 0;   ///< they refer to a row that is lost
  std::uint64_t lost_pages = 0;       ///< named by the file and unreadable
  std::optional<std::uint64_t> lost;  ///< rows on lost pages, by gaps in row numbers; nothing: cannot be told
  [[nodiscard]] bool whole() const {
    return damaged == 0 && refused == 0 && without_parent == 0 && lost_pages == 0 && lost.value_or(1) == 0;
  }
};

struct RepairResult {
  std::vector<RepairedTable> tables;
  std::uint64_t pages = 0;
  std::uint64_t unknown_pages = 0;  ///< they look like rows of no table that is known
  std::vector<std::string> notes;   ///< what else was done or lost, one sentence each
  [[nodiscard]] bool whole() const;
};

/// What the error of a repair says whose outcome `log verify` would not accept: a bug of the repair, and nothing is
/// written.
inline constexpr std::string_view kUnsoundRepair = "what was recovered is not sound";

/// Recovers into the new log `output` every row of `damaged` that is readable, is what an import and Log::verify()
/// accept, and whose parents are there; the rest is counted. `damaged` is only read, with what stands in its -wal or
/// -journal file, as they are at one moment, whoever writes to them meanwhile. Definitions keep their hashes and rows
/// their numbers; a run whose row is lost gets one that says so. An evaluation whose reasons or further metrics may be
/// incomplete is not kept, and then no checkpoint of a sweep, search or campaign is, so that running it again evaluates
/// what is missing. The output is sound or not there. Errors: Error{usage} when `output` is there or `damaged` is not;
/// Error{incompatible} for what is no log, a log of a newer schema, or one of which no row is left; Error{failure} when
/// the disk fails, or the pages change faster than they can be copied; Error{interrupted} after Ctrl-C.
RepairResult repair_log(const std::filesystem::path& damaged, const std::filesystem::path& output,
                        const Provenance& provenance);

}  // namespace hindsight::log
