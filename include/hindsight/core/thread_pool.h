/// A small thread pool for loops over independent items.
#pragma once

#include <cstddef>
#include <functional>

namespace hindsight {

/// Number of threads to use for `requested` (0 = as many as this process may run on: affinity and
/// cgroup quota are respected).
[[nodiscard]] unsigned resolve_threads(unsigned requested);

/// Runs `body(begin, end, worker)` over [0, count) in chunks of `chunk` items on `threads` threads.
/// Chunks are handed out in order; the first exception stops the loop and is rethrown here.
/// `worker` is in [0, threads) so that bodies can use per-thread scratch space.
void parallel_for(std::size_t count, std::size_t chunk, unsigned threads,
                  const std::function<void(std::size_t begin, std::size_t end, unsigned worker)>& body);

}  // namespace hindsight
