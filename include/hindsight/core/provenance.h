/// Where an artifact comes from: version, commit, options, seeds, host, date.
#pragma once

#include <string>
#include <vector>

namespace hindsight {

/// Version and build facts of this binary.
struct BuildInfo {
  std::string version;                ///< "0.1.0"
  std::string commit;                 ///< git commit, "-dirty" appended; "unknown" outside a checkout
  std::string compiler;               ///< "GNU 12.2.0"
  std::string build_type;             ///< "Release"
  std::vector<std::string> features;  ///< optional parts that are built in
};
[[nodiscard]] const BuildInfo& build_info();

/// Facts of one run, stored with everything it writes.
struct Provenance {
  std::string command_line;  ///< shell-quoted argv
  std::string version;
  std::string commit;
  std::string host;
  std::string user;
  std::string started_at;  ///< UTC, ISO 8601, "2026-01-31T12:00:00Z"
  std::string cwd;
};
[[nodiscard]] Provenance make_provenance(int argc, const char* const* argv);
/// Names this process among all of its machine: its number, and when it began, as another may get the number.
[[nodiscard]] std::string this_process();
/// Whether the process that called itself so runs on this machine. False where the machine does not say (no /proc).
[[nodiscard]] bool is_process_running(const std::string& process);
/// Now, UTC, ISO 8601 with seconds.
[[nodiscard]] std::string utc_now();

}  // namespace hindsight
