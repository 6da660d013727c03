/// What makes a run the same in two logs: its provenance. Private to the log layer.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "hindsight/core/text.h"

namespace hindsight::log {

/// Columns of `runs`, as SQL of both stores has them.
inline constexpr std::array<const char*, 9> kRunIdentity = {
    "kind", "command_line", "version", "commit_hash", "host", "\"user\"", "cwd", "started_at", "options_json"};

inline std::string run_identity() {
  return join(std::vector<std::string>(kRunIdentity.begin(), kRunIdentity.end()), ", ");
}

}  // namespace hindsight::log
