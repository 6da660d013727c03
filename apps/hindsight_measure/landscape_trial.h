/// The landscape's steps on the device, held against the host and timed, on layers and chips that need no file.
#pragma once

#include <cstdint>
#include <string>

namespace hindsight::measure {

/// What a trial found.
struct LandscapeTrial {
  // Small: the same batches on host and device.
  std::uint64_t compared = 0;   ///< answers: one application on one chip at one bandwidth
  std::uint64_t different = 0;  ///< of them: in any bit
  double host_s = 0;            ///< one thread
  double device_s = 0;
  std::uint64_t small_mappings = 0;
  // Large: finer levels, on the device alone.
  std::uint64_t points = 0;  ///< chips at one bandwidth
  std::uint64_t answers = 0, mappings = 0;
  double large_s = 0;
};
/// `budget_s`: about what the large part may take. Errors as cuda_site_engine().
[[nodiscard]] LandscapeTrial try_landscape(int device, double budget_s);
/// One JSON object on one line, without the newline; `provenance`: further members, each "key":value with a leading
/// comma.
[[nodiscard]] std::string to_json_line(const LandscapeTrial& trial, const std::string& provenance);

}  // namespace hindsight::measure
