/// Does the first Ctrl-C ask and the second one end?
#include "hindsight/core/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hindsight/core/error.h"

namespace hindsight {
namespace {

/// Wait status of a child that runs `action` with default signal dispositions.
template <class Action>
int status_of_child(const Action& action) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    action();
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(Interrupt, FirstSignalSetsTheFlag) {
  for (const int number : {SIGINT, SIGTERM}) {
    const int status = status_of_child([number] {
      install_interrupt_handlers();
      install_interrupt_handlers();
      if (interrupt_requested()) {
        _exit(1);
      }
      raise(number);
      _exit(interrupt_requested() ? 0 : 2);
    });
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
}

TEST(Interrupt, SecondSignalEndsWith130) {
  const int status = status_of_child([] {
    install_interrupt_handlers();
    raise(SIGINT);
    raise(SIGTERM);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
}

TEST(Interrupt, TheExitCodeNamesTheSignalThatAskedFirst) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const int status = status_of_child([number] {
      signal(SIGHUP, SIG_DFL);
      install_interrupt_handlers();
      raise(number);
      _exit(exit_code(ErrorKind::interrupted));
    });
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 128 + number);
  }
}

TEST(Interrupt, IgnoredSignalsStayIgnored) {
  const int status = status_of_child([] {
    signal(SIGINT, SIG_IGN);  // as nohup and background jobs do
    install_interrupt_handlers();
    raise(SIGINT);
    raise(SIGINT);
    _exit(interrupt_requested() ? 1 : 0);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Interrupt, FlagCanBeSetAndCleared) {
  set_interrupt_requested(true);
  EXPECT_TRUE(interrupt_requested());
  set_interrupt_requested(false);
  EXPECT_FALSE(interrupt_requested());
}

}  // namespace
}  // namespace hindsight
