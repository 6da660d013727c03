/// Forked children for the log tests. A child never opens what its parent has open.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

namespace hindsight::log::test {

/// Runs `body` in a child and returns its process id. The child ends with 0, or with 1 after an exception.
template <class Body>
pid_t fork_child(Body&& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    int status = 0;
    try {
      body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
      status = 1;
    }
    _exit(status);
  }
  return child;
}

/// Exit status of a child, or -signal when it was killed.
inline int wait_for(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) {
    return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace hindsight::log::test
