/// A task of the benchmark as a folder for a method in any language.
#pragma once

#include <cstdint>
#include <filesystem>

#include "hindsight/check/play.h"
#include "hindsight/core/provenance.h"
#include "hindsight/sweep/sweep.h"

namespace hindsight::check {

struct PlayExport {
  std::uint64_t seed = 1;  ///< of the log; 1 is that of the study
  unsigned threads = 0;
  bool quiet = false;
  Provenance provenance = {};  ///< of the run; it is not in the folder, whose bytes do not depend on it
};
/// Rows of a written log.
struct PlayExported {
  std::uint64_t designs = 0;
  std::uint64_t rows = 0;      ///< designs x training applications, without those that the task leaves out
  std::uint64_t feasible = 0;  ///< of the rows
};

/// Writes README.md, task.json, log.sqlite, log.csv, violations.csv, space.yaml and layers.csv to the new folder `out`:
/// into a temporary folder beside it, which is renamed at the end. Columns and keys: docs/play.md. Errors: Error{usage}
/// when `out` exists and is not an empty folder; Error{interrupted} after Ctrl-C; Error{failure}. None of them leaves
/// anything behind.
PlayExported export_play(const PlayTask& task, const std::filesystem::path& out, const PlayExport& options);

/// Error{usage} when `out` exists and is not an empty folder.
void require_new_folder(const std::filesystem::path& out);

/// The sweep, or the search, whose log export_play() writes, into the file `log`.
[[nodiscard]] sweep::SweepOptions play_sweep(const PlayTask& task, const PlayExport& options,
                                             const std::filesystem::path& log);

}  // namespace hindsight::check
