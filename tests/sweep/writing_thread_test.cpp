/// Are tasks done in order, by one thread, to the last?
#include "sweep/writing_thread.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

namespace hindsight::sweep {
namespace {

TEST(WritingThread, DoesEveryTaskInOrderByOneThread) {
  std::vector<int> done;
  std::vector<std::future<std::thread::id>> threads;
  {
    WritingThread<std::thread::id> writing;
    for (int i = 0; i < 50; ++i) {
      threads.push_back(writing.run([&done, i] {
        done.push_back(i);
        return std::this_thread::get_id();
      }));
    }
  }
  const std::thread::id first = threads.front().get();
  EXPECT_NE(first, std::this_thread::get_id());
  for (std::size_t i = 1; i < threads.size(); ++i) EXPECT_EQ(threads[i].get(), first);
  ASSERT_EQ(done.size(), 50U) << "what was left was done before its end";
  for (int i = 0; i < 50; ++i) EXPECT_EQ(done[static_cast<std::size_t>(i)], i);
}

TEST(WritingThread, GoesOnBehindATaskThatThrows) {
  WritingThread<int> writing;
  std::future<int> failed = writing.run([]() -> int { throw std::runtime_error("full"); });
  EXPECT_EQ(writing.run([] { return 2; }).get(), 2);
  EXPECT_THROW(failed.get(), std::runtime_error);
}

TEST(WritingThread, WaitsForTasksThatComeLater) {
  WritingThread<int> writing;
  EXPECT_EQ(writing.run([] { return 1; }).get(), 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(writing.run([] { return 2; }).get(), 2);
}

}  // namespace
}  // namespace hindsight::sweep
