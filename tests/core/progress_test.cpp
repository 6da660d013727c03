/// Does the progress line tell rate and ETA, fit its width, and stay clean in a pipe?
#include "hindsight/core/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "child_terminal.h"
#include "hindsight/core/terminal.h"

namespace hindsight {
namespace {

using test::said_on_terminal;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(ProgressLine, PromisesNothingBeforeThereIsARate) {
  Progress progress("train", 100, "steps", true);
  EXPECT_THAT(progress.line(1, 0.001, 0, ""), AllOf(HasSubstr("1.0 %"), Not(HasSubstr("ETA")), Not(HasSubstr("/s"))));
  EXPECT_THAT(progress.line(1, 1.0, 0, ""), HasSubstr("1.00 steps/s  ETA 1 min 39 s"));
  EXPECT_THAT(progress.line(100, 0.001, 0, ""), HasSubstr("in "));
}

TEST(ProgressLine, TellsShareRateAndEta) {
  const Progress progress("sweep", 1'000'000, "designs", true);
  // 492,000 in 40 s = 12.3 k/s; the other 508,000 take 41.3 s.
  EXPECT_EQ(progress.line(492'000, 40.0, 0, "infeasible 81.2 %"),
            "sweep  49.2 %  492,000 / 1,000,000 designs  12.3 k designs/s  ETA 41 s  infeasible 81.2 %");
  EXPECT_THAT(progress.line(492'000, 40.0, 120, ""), StartsWith("sweep  [#########...........]  49.2 %"));
}

TEST(ProgressLine, TakesTheEtaOfItemsThatDifferInSize) {
  Progress progress("backtest", 10, "trainings", true);
  EXPECT_THAT(progress.line(3, 30.0, 0, ""), HasSubstr("ETA 1 min 10 s"));
  progress.set_remaining(std::nullopt);
  EXPECT_THAT(progress.line(3, 30.0, 0, ""), Not(HasSubstr("ETA")));
  progress.set_remaining(25.0);
  EXPECT_THAT(progress.line(3, 30.0, 0, ""), HasSubstr("ETA 25 s"));
  EXPECT_THAT(progress.line(10, 40.0, 0, ""), HasSubstr("in 40 s"));
}

TEST(ProgressLine, EtaUsesMinutes) {
  const Progress progress("sweep", 180, "designs", true);
  // 100 in 100 s: one per second; 80 remain: 80 s.
  EXPECT_THAT(progress.line(100, 100.0, 0, ""), HasSubstr("1.00 designs/s  ETA 1 min 20 s"));
  // 1 in 10 s: below one per second.
  EXPECT_THAT(progress.line(1, 10.0, 0, ""), HasSubstr("6.00 designs/min"));
  // 1 in 7200 s.
  EXPECT_THAT(progress.line(1, 7200.0, 0, ""), HasSubstr("500 m designs/h"));
}

TEST(ProgressLine, ResumedItemsDoNotCountForTheRate) {
  Progress progress("sweep", 1000, "designs", true);
  progress.set_already_done(900);
  // 50 new ones in 10 s: 5 per second; 50 remain: 10 s.
  EXPECT_THAT(progress.line(950, 10.0, 0, ""), AllOf(HasSubstr("95.0 %"), HasSubstr("5.00 designs/s  ETA 10 s")));
  EXPECT_THAT(progress.line(900, 10.0, 0, ""), Not(HasSubstr("ETA")));
}

TEST(ProgressLine, HundredPercentOnlyWhenComplete) {
  const Progress progress("sweep", 100'000, "designs", true);
  EXPECT_THAT(progress.line(99'999, 1.0, 0, ""), HasSubstr("99.9 %"));
  EXPECT_THAT(progress.line(100'000, 90.0, 0, ""),
              AllOf(HasSubstr("100.0 %"), HasSubstr("in 1 min 30 s"), Not(HasSubstr("ETA"))));
}

TEST(ProgressLine, UnknownTotalShowsTheCount) {
  const Progress progress("import", 0, "rows", true);
  EXPECT_EQ(progress.line(5000, 2.0, 0, ""), "import  5,000 rows  2.50 k rows/s");
  EXPECT_THAT(progress.line(5000, 2.0, 20, "a long remark about nothing"), StartsWith("import  5,000 rows"));
}

TEST(ProgressLine, NotesGoOneByOneTheFirstLast) {
  const Progress progress("train", 5000, "steps", true);
  const std::vector<std::string> notes{"tau 0.71 (best 0.73)", "loss 0.31", "fit 0.10", "rank 0.40", "neg 1.0",
                                       "infeas 1.2",           "feas 0.25"};
  const auto at = [&](int columns) { return progress.line(1655, 3.0, columns, notes); };
  EXPECT_THAT(at(0),
              testing::EndsWith("tau 0.71 (best 0.73) loss 0.31 fit 0.10 rank 0.40 neg 1.0 infeas 1.2 feas 0.25"));
  EXPECT_EQ(at(79), "train  [###.......]  33.1 %  ETA 6.1 s  tau 0.71 (best 0.73) loss 0.31 fit 0.10");
  EXPECT_THAT(at(99), AllOf(HasSubstr("[###.......]"), HasSubstr("fit 0.10 rank 0.40 neg 1.0")));
  EXPECT_EQ(at(46), "train  33.1 %  ETA 6.1 s  tau 0.71 (best 0.73)");
  EXPECT_EQ(at(40), "train  33.1 %  ETA 6.1 s");
}

TEST(ProgressLine, NeverWiderThanAskedAndKeepsTheShare) {
  const Progress progress("sweep", 1'000'000, "designs", true);
  for (int columns = 1; columns <= 150; ++columns) {
    const std::string line = progress.line(492'000, 40.0, columns, "infeasible 81.2 % µ");
    ASSERT_LE(display_width(line), static_cast<std::size_t>(columns)) << line;
    ASSERT_EQ(line.find_first_of("\r\n\x1b"), std::string::npos);
    if (columns >= 13) {
      ASSERT_THAT(line, HasSubstr("49.2 %"));
    }
  }
}

TEST(ProgressLine, ControlCharactersInTextsAreShownNotSent) {
  const Progress progress("sw\neep", 10, "designs", true);
  EXPECT_EQ(progress.line(5, 1.0, 0, "\x1b[2J").find_first_of("\n\x1b"), std::string::npos);
}

TEST(ProgressInPipe, OnePlainLineAtTheEnd) {
  testing::internal::CaptureStderr();
  {
    Progress progress("sweep", 3, "designs", false);
    for (std::uint64_t i = 1; i <= 3; ++i) {
      progress.update(i);
    }
    progress.finish("done");
    progress.finish("twice");
  }
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, ContainsRegex("^sweep  100.0 %  3 / 3 designs  .*done\n$"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_EQ(text.find_first_of("\r\x1b"), std::string::npos);
}

TEST(ProgressInPipe, AnErrorBeforeTheFirstLineIsToldAlone) {
  testing::internal::CaptureStderr();
  try {
    Progress progress("sweep", 10, "designs", false);
    progress.update(0);
    throw std::runtime_error("no such metric");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(ProgressInPipe, QuietPrintsNothing) {
  testing::internal::CaptureStderr();
  {
    Progress progress("sweep", 3, "designs", true);
    progress.update(3);
    progress.finish();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(ProgressInPipe, StoppedEarlyHasNoEta) {
  testing::internal::CaptureStderr();
  {
    Progress progress("sweep", 100, "designs", false);
    progress.update(7);
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("7.0 %"), HasSubstr("after "), Not(HasSubstr("ETA"))));
}

TEST(ProgressInPipe, LateUpdatesOfOtherThreadsDoNotGoBack) {
  testing::internal::CaptureStderr();
  {
    Progress progress("sweep", 4000, "designs", false);
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&progress, t] {
        for (std::uint64_t i = 1; i <= 1000; ++i) {
          progress.update(t * 1000 + i);
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    progress.update(17);
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("4,000 / 4,000"));
}

TEST(ProgressOnTerminal, RedrawsOneLineThatNeverWraps) {
  const std::string text = said_on_terminal("xterm", 60, [] {
    Progress progress("sweep", 1000, "designs", false);
    for (std::uint64_t i = 1; i <= 1000; ++i) {
      progress.update(i, "a remark that is much too long for such a narrow terminal");
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
    progress.finish();
  });
  EXPECT_THAT(text, StartsWith("\rsweep"));  // at once, not only after an interval
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  std::size_t draws = 0;
  for (std::size_t at = text.find("\rsweep"); at != std::string::npos; at = text.find("\rsweep", at + 1)) {
    const std::size_t end = text.find("\x1b[K", at);
    ASSERT_NE(end, std::string::npos);
    EXPECT_LT(display_width(text.substr(at + 1, end - at - 1)), 60U);
    ++draws;
  }
  // At least 0.3 s at ten draws a second: more than the first and the last, far fewer than 1000.
  EXPECT_GE(draws, 3U);
  EXPECT_LE(draws, 100U);
}

}  // namespace
}  // namespace hindsight
