/// What a commit to a log outlives.
#pragma once

#include <string>

namespace hindsight::log {

enum class Durability {
  normal,  ///< a kill of the process; a power failure may take the last commits, and tears none
  full,    ///< a power failure, too: each commit waits for the disk
};
[[nodiscard]] const std::string& to_string(Durability durability);
/// Error{usage} with the nearest name.
[[nodiscard]] Durability parse_durability(const std::string& name);

/// Of all logs that this process opens for writing from now on; `normal` until it is set. A run that begins then has it
/// in its options, unless it is `normal`.
void set_durability(Durability durability);
[[nodiscard]] Durability durability();

}  // namespace hindsight::log
