/// Process groups that end with this process, where the handler of signals finds them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

namespace hindsight {

/// [chosen] More than one machine has use for.
inline constexpr std::size_t kMostGroups = 4096;
/// 0: a free place.
extern std::array<std::atomic<int>, kMostGroups> groups_that_end_with_us;
static_assert(std::atomic<int>::is_always_lock_free, "the handler may touch lock-free atomics only");

}  // namespace hindsight
