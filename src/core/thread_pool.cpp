/// Loops over independent items on threads, and how many threads this process may use.
#include "hindsight/core/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight {
namespace {

/// CPUs in the affinity mask of this process; 0 when the kernel does not say.
unsigned affinity_cpus() {
  constexpr std::size_t kMostCpus = 1U << 16U;  // [chosen] far above the largest machine that Linux runs on
  for (std::size_t cpus = 1024; cpus <= kMostCpus; cpus *= 2) {
    std::vector<cpu_set_t> set(CPU_ALLOC_SIZE(cpus) / sizeof(cpu_set_t) + 1);
    const std::size_t size_bytes = set.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, size_bytes, set.data()) == 0) {
      return static_cast<unsigned>(CPU_COUNT_S(size_bytes, set.data()));
    }
  }
  return 0;
}

std::string first_line(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::optional<double> quotient(const std::optional<double>& quota, const std::optional<double>& period) {
  if (!quota || !period || *quota <= 0.0 || *period <= 0.0) {
    return std::nullopt;
  }
  return *quota / *period;
}

/// cgroup v2: "max 100000" or "150000 100000" (quota and period in us).
std::optional<double> quota_v2(const std::filesystem::path& folder) {
  std::istringstream words(first_line(folder / "cpu.max"));
  std::string quota;
  std::string period;
  words >> quota >> period;
  return quotient(parse_double(quota), parse_double(period));
}

/// cgroup v1: two files; a quota of -1 means none.
std::optional<double> quota_v1(const std::filesystem::path& folder) {
  return quotient(parse_double(first_line(folder / "cpu.cfs_quota_us")),
                  parse_double(first_line(folder / "cpu.cfs_period_us")));
}

using QuotaReader = std::optional<double> (*)(const std::filesystem::path&);

/// The smallest quota between the group `inside` and the root of its hierarchy at `mount`.
std::optional<double> smallest_quota(const std::filesystem::path& mount, const std::string& inside, QuotaReader read) {
  std::optional<double> smallest;
  std::filesystem::path relative = std::filesystem::path(inside).relative_path().lexically_normal();
  if (!relative.empty() && *relative.begin() == "..") {
    relative.clear();  // a group outside this namespace: only the root can be read
  }
  while (true) {
    if (const auto quota = read(mount / relative); quota && (!smallest || *quota < *smallest)) {
      smallest = quota;
    }
    if (relative.empty()) {
      return smallest;
    }
    relative = relative.parent_path();
  }
}

}  // namespace

std::optional<double> cgroup_cpu_quota(const std::filesystem::path& process_file, const std::filesystem::path& mount) {
  // Lines are `hierarchy:controllers:path`; hierarchy 0 without controllers is version 2.
  std::optional<double> smallest;
  const auto take = [&](const std::optional<double>& quota) {
    if (quota && (!smallest || *quota < *smallest)) {
      smallest = quota;
    }
  };
  std::ifstream in(process_file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      take(smallest_quota(mount, path, quota_v2));
      continue;
    }
    const std::vector<std::string> names = split(controllers, ',');
    if (std::find(names.begin(), names.end(), "cpu") != names.end()) {
      take(smallest_quota(mount / controllers, path, quota_v1));
      if (names.size() > 1) {
        take(smallest_quota(mount / "cpu", path, quota_v1));
      }
    }
  }
  return smallest;
}

unsigned resolve_threads(unsigned requested) {
  if (requested > 0) {
    return requested;
  }
  unsigned cpus = affinity_cpus();
  if (cpus == 0) {
    cpus = std::max(1U, std::thread::hardware_concurrency());
  }
  if (const auto quota = cgroup_cpu_quota(); quota && *quota < cpus) {
    cpus = static_cast<unsigned>(std::ceil(*quota));
  }
  return std::max(1U, cpus);
}

void parallel_for(std::size_t count, std::size_t chunk, unsigned threads,
                  const std::function<void(std::size_t begin, std::size_t end, unsigned worker)>& body) {
  HINDSIGHT_EXPECT(chunk > 0);
  const std::size_t chunks = count / chunk + (count % chunk != 0 ? 1 : 0);
  const auto workers = static_cast<unsigned>(std::min<std::size_t>(resolve_threads(threads), chunks));

  std::atomic<std::size_t> next_chunk{0};
  std::atomic<bool> stop{false};
  std::exception_ptr first_exception;
  std::mutex exception_mutex;

  const auto work = [&](unsigned worker) {
    try {
      while (!stop.load(std::memory_order_relaxed)) {
        const std::size_t i = next_chunk.fetch_add(1, std::memory_order_relaxed);
        if (i >= chunks) {
          return;
        }
        const std::size_t begin = i * chunk;
        body(begin, i + 1 == chunks ? count : begin + chunk, worker);
      }
    } catch (...) {
      const std::lock_guard lock(exception_mutex);
      if (!first_exception) {
        first_exception = std::current_exception();
      }
      stop.store(true, std::memory_order_relaxed);
    }
  };

  std::vector<std::thread> others;
  others.reserve(workers);
  for (unsigned worker = 1; worker < workers; ++worker) {
    try {
      others.emplace_back(work, worker);
    } catch (const std::system_error&) {
      break;  // the system has no thread left: the ones that exist do the work
    }
  }
  work(0);
  for (std::thread& thread : others) {
    thread.join();
  }
  if (first_exception) {
    std::rethrow_exception(first_exception);
  }
}

}  // namespace hindsight
