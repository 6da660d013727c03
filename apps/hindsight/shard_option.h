/// --shard of verbs that several processes share: which part this one does, and where it goes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hindsight/sweep/launcher.h"
#include "verbs.h"

namespace hindsight::app {

struct ShardOption {
  std::string text = "0/1";
  sweep::LaunchedShard place = {};  ///< what `text` means to this process; see resolve_shard()
  [[nodiscard]] const sweep::Shard& shard() const { return place.shard; }
  [[nodiscard]] bool is_part() const { return place.shard.count > 1; }
};

/// `of`: what it is a shard of, "the designs".
CLI::Option* add_shard(CLI::App& verb, ShardOption& option, const std::string& of);

/// A file that each shard writes for itself.
struct ShardFile {
  std::string option;  ///< "--out"
  std::string* file = nullptr;
  /// Whether several processes may write to it at once, as to a log.
  bool shared = false;
};

/// Finds the place of this process among others, says on standard error where a launcher told it, and puts its number
/// where `files` have "{shard}". Returns the provenance with what --shard auto meant, so that the command gives the
/// same shard anywhere. Error{usage}: see sweep::shard_of(); files of a launcher's shards that have one name.
[[nodiscard]] Provenance resolve_shard(ShardOption& option, const Session& session, bool quiet,
                                       const std::vector<ShardFile>& files);

}  // namespace hindsight::app
