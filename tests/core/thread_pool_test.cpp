/// Does every item run exactly once, on as many threads as the process may use?
#include "hindsight/core/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "core_fixture.h"

namespace hindsight {
namespace {

using test::TemporaryFolder;

TEST(ParallelFor, EveryItemExactlyOnce) {
  std::mt19937_64 words(test::test_seed());
  for (int round = 0; round < 200; ++round) {
    const std::size_t count = words() % 300;
    const std::size_t chunk = 1 + words() % 40;
    const auto threads = static_cast<unsigned>(1 + words() % 6);
    std::vector<std::atomic<int>> visits(count);
    std::atomic<bool> legal{true};
    parallel_for(count, chunk, threads, [&](std::size_t begin, std::size_t end, unsigned worker) {
      if (begin >= end || end > count || begin % chunk != 0 || end - begin > chunk || worker >= threads) {
        legal = false;
      }
      for (std::size_t i = begin; i < end; ++i) {
        ++visits[i];
      }
    });
    ASSERT_TRUE(legal);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(visits[i], 1) << "item " << i << " of " << count << ", chunk " << chunk << ", threads " << threads;
    }
  }
}

TEST(ParallelFor, OneThreadRunsInlineAndInOrder) {
  std::vector<std::size_t> begins;
  const auto here = std::this_thread::get_id();
  parallel_for(10, 4, 1, [&](std::size_t begin, std::size_t end, unsigned worker) {
    EXPECT_EQ(std::this_thread::get_id(), here);
    EXPECT_EQ(worker, 0U);
    EXPECT_EQ(end, std::min<std::size_t>(begin + 4, 10));
    begins.push_back(begin);
  });
  EXPECT_EQ(begins, (std::vector<std::size_t>{0, 4, 8}));
}

TEST(ParallelFor, ThreadsReallyRunAtTheSameTime) {
  constexpr unsigned kThreads = 4;
  std::atomic<unsigned> arrived{0};
  std::atomic<bool> all_met{true};
  std::vector<std::atomic<int>> per_worker(kThreads);
  parallel_for(kThreads, 1, kThreads, [&](std::size_t, std::size_t, unsigned worker) {
    ++per_worker[worker];
    ++arrived;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (arrived < kThreads) {
      if (std::chrono::steady_clock::now() > deadline) {
        all_met = false;
        return;
      }
      std::this_thread::yield();
    }
  });
  EXPECT_TRUE(all_met);
  for (const auto& runs : per_worker) {
    EXPECT_EQ(runs, 1);
  }
}

TEST(ParallelFor, FirstExceptionStopsTheLoopAndComesBack) {
  for (const unsigned threads : {1U, 4U}) {
    std::atomic<std::size_t> ran{0};
    constexpr std::size_t kCount = 4'000;
    try {
      parallel_for(kCount, 1, threads, [&](std::size_t begin, std::size_t, unsigned) {
        ++ran;
        if (begin == 3) {
          throw Error(ErrorKind::no_feasible, "chunk 3");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      });
      FAIL() << "the exception was lost";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "chunk 3");
      EXPECT_EQ(error.kind(), ErrorKind::no_feasible);
    }
    EXPECT_LT(ran, kCount);
    if (threads == 1) {
      EXPECT_EQ(ran, 4U);
    }
  }
}

TEST(ParallelFor, NothingToDoAndHugeCounts) {
  parallel_for(0, 1, 4, [](std::size_t, std::size_t, unsigned) { FAIL() << "called without items"; });
  // begin + chunk must not wrap around.
  std::atomic<std::size_t> last_end{0};
  constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max();
  parallel_for(kHuge, kHuge - 1, 2,
               [&](std::size_t, std::size_t end, unsigned) { last_end = std::max(last_end.load(), end); });
  EXPECT_EQ(last_end, kHuge);
  EXPECT_THROW(parallel_for(1, 0, 1, [](std::size_t, std::size_t, unsigned) {}), ContractViolation);
}

TEST(ResolveThreads, RequestIsTakenAndZeroFollowsTheAffinity) {
  EXPECT_EQ(resolve_threads(7), 7U);
  cpu_set_t before;
  CPU_ZERO(&before);
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  EXPECT_GE(resolve_threads(0), 1U);
  EXPECT_LE(resolve_threads(0), static_cast<unsigned>(CPU_COUNT(&before)));
  int first = 0;
  while (!CPU_ISSET(first, &before)) {
    ++first;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(resolve_threads(0), 1U);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

TEST(CgroupQuota, VersionTwoTakesTheSmallestUpToTheRoot) {
  const TemporaryFolder folder;
  const auto process = folder.write("cgroup", "0::/user.slice/job\n");
  const auto mount = folder.path() / "fs";
  EXPECT_EQ(cgroup_cpu_quota(process, mount), std::nullopt);
  folder.write("fs/user.slice/job/cpu.max", "400000 100000\n");
  EXPECT_EQ(cgroup_cpu_quota(process, mount), 4.0);
  folder.write("fs/user.slice/cpu.max", "150000 100000\n");
  EXPECT_EQ(cgroup_cpu_quota(process, mount), 1.5);
  folder.write("fs/cpu.max", "max 100000\n");
  EXPECT_EQ(cgroup_cpu_quota(process, mount), 1.5);
}

TEST(CgroupQuota, ContainerSeesItsGroupAsTheRoot) {
  const TemporaryFolder folder;
  // Inside a cgroup namespace the path can point outside; the limit lies at the mount point.
  const auto process = folder.write("cgroup", "0::/../../pod\n");
  folder.write("fs/cpu.max", "200000 100000\n");
  EXPECT_EQ(cgroup_cpu_quota(process, folder.path() / "fs"), 2.0);
}

TEST(CgroupQuota, VersionOne) {
  const TemporaryFolder folder;
  const auto process = folder.write("cgroup", "5:memory:/job\n4:cpu,cpuacct:/job\n1:name=systemd:/job\n");
  folder.write("fs/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  folder.write("fs/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_cpu_quota(process, folder.path() / "fs"), std::nullopt);
  folder.write("fs/cpu,cpuacct/job/cpu.cfs_quota_us", "300000\n");
  EXPECT_EQ(cgroup_cpu_quota(process, folder.path() / "fs"), 3.0);
}

TEST(CgroupQuota, NonsenseIsNoQuota) {
  const TemporaryFolder folder;
  for (const char* line : {"", "rubbish\n", "0:/\n", "0::/a\n"}) {
    const auto process = folder.write("cgroup", line);
    folder.write("fs/a/cpu.max", "x y z\n");
    EXPECT_EQ(cgroup_cpu_quota(process, folder.path() / "fs"), std::nullopt) << line;
  }
  EXPECT_EQ(cgroup_cpu_quota(folder.path() / "missing", folder.path()), std::nullopt);
}

}  // namespace
}  // namespace hindsight
