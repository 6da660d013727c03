/// Logs from one store to another: files to a team's server and back.
#pragma once

#include <cstdint>
#include <filesystem>

#include "hindsight/core/provenance.h"
#include "hindsight/log/merge.h"

namespace hindsight::log {

/// What a copy brought. evaluations read = inserted + already_present + contradicting.
struct CopyResult {
  bool created = false;                                                ///< the target was not there, or empty
  std::uint64_t inserted = 0, already_present = 0, contradicting = 0;  ///< evaluations
  std::uint64_t runs = 0, designs = 0, models = 0, proposals = 0, gpu_sessions = 0;  ///< new to the target
  [[nodiscard]] std::uint64_t read() const { return inserted + already_present + contradicting; }
};

/// Brings everything of the log `from` to the log `to`: each is a file or an address of a server (log/address.h). As
/// merge_logs() does: by content, adding nothing when it is done again, all or nothing, and the content (log/content.h)
/// of a copy is that of its source. On a server it is one transaction beside those of others.
/// `rehearse`: does the same and takes it back. Errors: as merge_logs().
CopyResult copy_log(const std::filesystem::path& from, const std::filesystem::path& to, Contradictions contradictions,
                    bool rehearse = false);

}  // namespace hindsight::log
