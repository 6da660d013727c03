/// What a child writes to a terminal of its own.
#pragma once

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

namespace hindsight::test {

/// What `action` writes, in a child with a terminal of the kind TERM that is so many columns wide. The child must end
/// well.
template <class Action>
std::string said_on_terminal(const char* kind, unsigned short columns, const Action& action) {
  int master = -1;
  winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  const pid_t child = forkpty(&master, nullptr, nullptr, &size);
  if (child == 0) {
    unsetenv("COLUMNS");
    setenv("TERM", kind, 1);
    action();
    _exit(0);
  }
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = read(master, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(master);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return text;
}

}  // namespace hindsight::test
