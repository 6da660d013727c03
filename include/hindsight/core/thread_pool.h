/// A small thread pool for loops over independent items.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>

namespace hindsight {

/// Number of threads to use for `requested` (0 = as many as this process may run on: affinity and
/// cgroup quota are respected).
[[nodiscard]] unsigned resolve_threads(unsigned requested);

/// CPUs granted by the cgroup quota of this process (v2 `cpu.max`, v1 `cpu.cfs_quota_us`), the smallest
/// along the path to the root; nothing without a quota. The arguments are for tests.
[[nodiscard]] std::optional<double> cgroup_cpu_quota(const std::filesystem::path& process_file = "/proc/self/cgroup",
                                                     const std::filesystem::path& mount = "/sys/fs/cgroup");

/// Runs `body(begin, end, worker)` over [0, count) in chunks of `chunk` items on `threads` threads.
/// Chunks are handed out in order; the first exception stops the loop and is rethrown here.
/// `worker` is in [0, threads) so that bodies can use per-thread scratch space.
void parallel_for(std::size_t count, std::size_t chunk, unsigned threads,
                  const std::function<void(std::size_t begin, std::size_t end, unsigned worker)>& body);

}  // namespace hindsight
