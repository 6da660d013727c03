/// Shards by launcher: which of N processes this one is, as Slurm, MPI, Kubernetes and GNU parallel say it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "hindsight/sweep/sweep.h"

namespace hindsight::sweep {

/// Value of an environment variable; nothing: not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
/// That of this process.
[[nodiscard]] std::optional<std::string> process_environment(const std::string& name);

struct LaunchedShard {
  Shard shard;
  std::string source;  ///< "SLURM_ARRAY_TASK_ID=3"; empty: the user named the shard
};

/// "2/8"; "auto": as the launcher says; "auto/8": the same of 8, for launchers that do not say how many there are.
/// Read, the first that is set: the Slurm array (SLURM_ARRAY_TASK_ID, _MIN, _MAX, _COUNT), an MPI rank
/// (OMPI_COMM_WORLD_RANK and _SIZE, PMI_RANK and _SIZE, else SLURM_PROCID and SLURM_NTASKS where there is more than one
/// task), JOB_COMPLETION_INDEX of an indexed Kubernetes job, PARALLEL_SEQ of GNU parallel (from 1).
/// Error{usage}: no launcher, no number of shards, an index out of range, an array with gaps, or launchers within each
/// other, which name two places at once.
[[nodiscard]] LaunchedShard shard_of(std::string_view text, const Environment& environment);

/// `file` with "{shard}" replaced by the shard's index, in as many digits as the last one has.
[[nodiscard]] std::string file_of_shard(const std::string& file, const Shard& shard);

/// Whether the shard has the part of this number, from 0: every count-th.
[[nodiscard]] constexpr bool has_part(const Shard& shard, std::uint64_t number) {
  return number % shard.count == shard.index;
}
/// Error{usage} for a shard that would have nothing to do: fewer `parts` ("cells") than shards.
void require_parts(const Shard& shard, std::uint64_t parts, const std::string& noun);

}  // namespace hindsight::sweep
