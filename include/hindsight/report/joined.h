/// One file of the files that shards of a command wrote: what one process prints.
///
/// A table (CSV) of a shard says so in a comment, "# Shard 1/8 of 63 cells"; where its first column is `cell`, a cell
/// may have several rows, else row k of shard i of N is row k * N + i of the whole. An optimum (JSON) of a shard has a
/// key `shard`. Results of the offline study are lines of JSON and need no order. Errors of all: Error{incompatible}
/// for a file that is damaged, or of another command, model or space than the first, naming the first difference;
/// Error{usage} for shards that are missing, files of one shard that differ, a file that is no part, and no shard
/// number of a common count.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/sweep/sweep.h"

namespace hindsight::report {

/// A file that was read.
struct Part {
  std::string file;
  std::string text;
};

enum class PartKind {
  table,    ///< CSV
  optimum,  ///< JSON of `optimum --shard`
  results,  ///< lines of JSON of `bench offline`
};
/// By how it begins. Error{usage} for what is no such file.
[[nodiscard]] PartKind kind_of(const Part& part);

/// `table` as the table of a shard, of `cells` in all shards together; as it is where there is one shard only.
[[nodiscard]] std::string table_of_shard(const std::string& table, const sweep::Shard& shard, std::uint64_t cells);

/// Byte for byte what one process writes.
[[nodiscard]] std::string join_tables(const std::vector<Part>& parts);

/// The best of all shards, and their certificates summed: designs and values are those of one process; what was bounded
/// and what evaluated differs, since shards know less of each other's best. Error{no_feasible}: no shard has a design.
[[nodiscard]] std::string join_optima(const std::vector<Part>& parts);

/// Every cell once, in the order of the files. Error{incompatible}: two files have a cell with other results, or cells
/// of other settings.
[[nodiscard]] std::string join_results(const std::vector<Part>& parts);

}  // namespace hindsight::report
