/// Is a person told what a silent command is at, in a line that goes away, and does Ctrl-C end loops?
#include "hindsight/core/patience.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <thread>

#include "core_fixture.h"
#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"

namespace hindsight {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::chrono::milliseconds kSoon{10};

/// What `action` writes to a terminal.
template <class Action>
std::string said_on_terminal(const char* kind, const Action& action) {
  int master = -1;
  const pid_t child = forkpty(&master, nullptr, nullptr, nullptr);
  if (child == 0) {
    setenv("TERM", kind, 1);
    setenv("COLUMNS", "100", 1);
    action();
    _exit(0);
  }
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = read(master, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(master);
  waitpid(child, nullptr, 0);
  return text;
}

void wait_for_lines() { std::this_thread::sleep_for(std::chrono::milliseconds(500)); }

TEST(PatienceOnTerminal, SaysWhatIsReadAndHowFar) {
  const std::string text = said_on_terminal("xterm", [] {
    const Patience patience("hindsight log import", kSoon);
    now_reading("folder/table.csv");
    const Steps steps("reading rows", 3000);
    steps.at(1200);
    wait_for_lines();
  });
  EXPECT_THAT(text, HasSubstr("\rhindsight log import: reading rows, 1,200 of 3,000, table.csv, "));
  EXPECT_TRUE(text.ends_with("\r\x1b[K")) << "the line stays: " << text;
}

TEST(PatienceOnTerminal, IsSilentWhileSomethingElseStandsThere) {
  const std::string text = said_on_terminal("xterm", [] {
    const Patience patience("verb", kSoon);
    before_output(false);  // a progress line, or a pager
    wait_for_lines();
  });
  EXPECT_EQ(text, "");
}

TEST(PatienceOnTerminal, IsSilentOnAScreenThatCannotRedraw) {
  const std::string text = said_on_terminal("dumb", [] {
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

}  // namespace
}  // namespace hindsight
