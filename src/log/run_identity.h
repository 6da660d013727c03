/// What makes a run the same in two logs, its provenance, and what may have changed since. Private to the log layer.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "hindsight/core/text.h"

namespace hindsight::log {

/// Columns of `runs`, as SQL of both stores has them.
inline constexpr std::array<const char*, 9> kRunIdentity = {
    "kind", "command_line", "version", "commit_hash", "host", "\"user\"", "cwd", "started_at", "options_json"};

/// What a run has when it ends, by which an unfinished one is completed.
inline constexpr const char* kRunOutcome = "status, ended_at, evaluations_inserted, evaluations_present, rows_rejected";

inline std::string run_identity() {
  return join(std::vector<std::string>(kRunIdentity.begin(), kRunIdentity.end()), ", ");
}

}  // namespace hindsight::log
