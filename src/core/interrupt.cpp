/// Signal handlers that only set a flag.
#include "hindsight/core/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>

#include "core/interrupt_exit.h"
#include "hindsight/core/error.h"

namespace hindsight {
namespace {

std::atomic<bool> requested_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free, "the handler may touch lock-free atomics only");

/// The signal that asked first.
std::atomic<int> first_signal{SIGINT};

/// Process groups that end with this process; 0: a free place. [chosen] More than one machine has use for.
constexpr std::size_t kMostGroups = 4096;
std::array<std::atomic<int>, kMostGroups> groups{};
static_assert(std::atomic<int>::is_always_lock_free, "the handler may touch lock-free atomics only");

void on_signal(int signal) {
  if (requested_flag.exchange(true)) {
    for (const std::atomic<int>& group : groups) {
      if (const int number = group.load(std::memory_order_relaxed)) kill(-number, SIGKILL);
    }
    _exit(interrupt_exit_code());
  }
  first_signal.store(signal, std::memory_order_relaxed);
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
  install(SIGHUP);  // the terminal was closed
}

int interrupt_exit_code() {
  constexpr int kEndedBySignal = 128;  // [chosen] what a shell reports of a program that a signal ended
  return kEndedBySignal + first_signal.load(std::memory_order_relaxed);
}

bool interrupt_requested() { return requested_flag.load(std::memory_order_relaxed); }

void set_interrupt_requested(bool requested) { requested_flag.store(requested); }

void end_with_us(int group) {
  HINDSIGHT_EXPECT(group > 1);
  for (std::atomic<int>& place : groups) {
    int free = 0;
    if (place.compare_exchange_strong(free, group)) return;
  }
}

void no_longer_with_us(int group) {
  for (std::atomic<int>& place : groups) {
    int taken = group;
    if (place.compare_exchange_strong(taken, 0)) return;
  }
}

}  // namespace hindsight
