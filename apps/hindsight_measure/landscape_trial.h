/// The landscape's steps on the device, held against the host and timed, on layers and chips that need no file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "hindsight/accel/optimum/site_batch.h"

namespace hindsight::measure {

/// What a trial found.
struct LandscapeTrial {
  // Small: the same groups on host and device.
  std::uint64_t compared = 0;   ///< answers: one application on one chip at one bandwidth
  std::uint64_t different = 0;  ///< in any bit, of these and of those that warmed the device up
  double host_s = 0;            ///< one thread
  double device_s = 0;
  std::uint64_t small_mappings = 0;
  // Large: finer levels, on the device alone.
  std::uint64_t points = 0;  ///< chips at one bandwidth
  std::uint64_t answers = 0, mappings = 0;
  double large_s = 0;
};
using Stop = std::function<bool()>;
struct LandscapeTrialOptions {
  double budget_s = 60;     ///< about what the large part may take; [chosen] some batches of the slowest device
  std::size_t groups = 40;  ///< of the small part; [chosen] some seconds of one host thread
  Stop stop = [] { return false; };  ///< asked before every group; true ends the trial
};
/// In batches of `engine.batch_bytes()`; nothing when it was stopped. Errors of the engine.
[[nodiscard]] std::optional<LandscapeTrial> try_landscape(accel::optimum::SiteEngine& engine,
                                                          const LandscapeTrialOptions& options);
/// Whether a file's text has a whole line of this device by this commit on which nothing differed.
[[nodiscard]] bool has_landscape(const std::string& content, const std::string& gpu_uuid, const std::string& commit);
/// One JSON object on one line, without the newline; `provenance`: further members, each "key":value with a leading
/// comma.
[[nodiscard]] std::string to_json_line(const LandscapeTrial& trial, const std::string& provenance);

}  // namespace hindsight::measure
