/// Is a person told what a silent command is at, in a line that goes away, and does Ctrl-C end loops?
#include "hindsight/core/patience.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "child_terminal.h"
#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"

namespace hindsight {
namespace {

using test::said_on_terminal;
using testing::HasSubstr;

constexpr std::chrono::milliseconds kSoon{10};
constexpr unsigned short kColumns = 100;

void wait_for_lines() { std::this_thread::sleep_for(std::chrono::milliseconds(500)); }

TEST(PatienceOnTerminal, SaysWhatIsReadAndHowFar) {
  const std::string text = said_on_terminal("xterm", kColumns, [] {
    const Patience patience("hindsight log import", kSoon);
    now_reading("folder/table.csv");
    const Steps steps("reading rows", 3000);
    steps.at(1200);
    wait_for_lines();
  });
  EXPECT_THAT(text, HasSubstr("\rhindsight log import: reading rows, 1,200 of 3,000, table.csv, "));
  EXPECT_TRUE(text.ends_with("\r\x1b[K")) << "the line stays: " << text;
}

TEST(PatienceOnTerminal, SaysNoFileThatIsReadNoMoreAndNoCountOfWhatIsNotCounted) {
  const std::string text = said_on_terminal("xterm", kColumns, [] {
    const Patience patience("hindsight propose", kSoon);
    now_reading("folder/space.yaml");
    now_reading({});
    const Steps steps("searching designs");
    wait_for_lines();
  });
  EXPECT_THAT(text, HasSubstr("\rhindsight propose: searching designs, 0."));
  EXPECT_THAT(text, testing::Not(HasSubstr("space.yaml")));
}

TEST(PatienceOnTerminal, IsSilentWhileSomethingElseStandsThere) {
  const std::string text = said_on_terminal("xterm", kColumns, [] {
    const Patience patience("verb", kSoon);
    before_output(false);  // a progress line, or a pager
    wait_for_lines();
  });
  EXPECT_EQ(text, "");
}

TEST(PatienceOnTerminal, IsSilentOnAScreenThatCannotRedraw) {
  const std::string text = said_on_terminal("dumb", kColumns, [] {
    const Patience patience("verb", kSoon);
    wait_for_lines();
  });
  EXPECT_EQ(text, "");
}

TEST(PatienceInAPipe, IsSilent) {
  testing::internal::CaptureStderr();
  {
    const Patience patience("verb", kSoon);
    wait_for_lines();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(StepsOfALoop, EndByCtrlC) {
  const Steps steps("reading rows");
  steps.at(1);
  set_interrupt_requested(true);
  try {
    steps.at(2);
    ADD_FAILURE() << "goes on";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::interrupted);
    EXPECT_STREQ(error.what(), "interrupted while reading rows");
  }
  set_interrupt_requested(false);
}

/// What works in one step that takes long ends, too, but not before loops had the time to end by themselves.
TEST(StepsOfALoop, AreOverdueASecondAfterCtrlC) {
  EXPECT_FALSE(interrupt_overdue());
  set_interrupt_requested(true);
  EXPECT_FALSE(interrupt_overdue());
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  EXPECT_TRUE(interrupt_overdue());
  set_interrupt_requested(false);
  EXPECT_FALSE(interrupt_overdue());
}

}  // namespace
}  // namespace hindsight
