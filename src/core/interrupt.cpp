/// Signal handlers that only set a flag.
#include "hindsight/core/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace hindsight {
namespace {

std::atomic<bool> requested_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free, "the handler may touch lock-free atomics only");

/// Exit code of a process that Ctrl-C ended (128 + SIGINT).
constexpr int kInterruptedExitCode = 130;

void on_signal(int /*signal*/) {
  if (requested_flag.exchange(true)) {
    _exit(kInterruptedExitCode);
  }
}

void install(int signal) {
  struct sigaction current {};
  // A parent that ignores the signal (nohup, a background job) wants this process to ignore it as well.
  if (sigaction(signal, nullptr, &current) == 0 && current.sa_handler == SIG_IGN) {
    return;
  }
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

void install_interrupt_handlers() {
  install(SIGINT);
  install(SIGTERM);
}

bool interrupt_requested() { return requested_flag.load(std::memory_order_relaxed); }

void set_interrupt_requested(bool requested) { requested_flag.store(requested); }

}  // namespace hindsight
