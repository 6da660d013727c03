/// Signal handlers that only set a flag. The measuring program has them, too: no library but the standard one.
#include "hindsight/core/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>

#include "core/process_groups.h"

namespace hindsight {

std::array<std::atomic<int>, kMostGroups> groups_that_end_with_us{};

namespace {

std::atomic<bool> requested_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free, "the handler may touch lock-free atomics only");

/// When it was asked, in ns of the monotonic clock.
std::atomic<std::int64_t> requested_at_ns{0};
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "the handler may touch lock-free atomics only");

constexpr std::int64_t kNsPerS = 1'000'000'000;

/// Async-signal-safe, which std::chrono does not say of itself.
std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * kNsPerS + now.tv_nsec;
}

/// The signal that asked first.
std::atomic<int> first_signal{SIGINT};

void on_signal(int signal) {
  if (!requested_flag.load(std::memory_order_relaxed)) requested_at_ns.store(now_ns());
  if (requested_flag.exchange(true)) {
    for (const std::atomic<int>& group : groups_that_end_with_us) {
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

bool interrupt_overdue() {
  constexpr std::int64_t kGraceNs = kNsPerS;  // [chosen] half of the two seconds in which Ctrl-C ends a command
  return interrupt_requested() && now_ns() - requested_at_ns.load() > kGraceNs;
}

void set_interrupt_requested(bool requested) {
  requested_at_ns.store(now_ns());
  requested_flag.store(requested);
}

}  // namespace hindsight
