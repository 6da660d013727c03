/// A clock that somebody turns: every look at the time of day sees HINDSIGHT_FAULT_CLOCK_STEP_S seconds after the last,
/// backwards when negative. Clocks that only measure are as they are.
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace {

long step_s() {
  static const long step = [] {
    const char* text = ::getenv("HINDSIGHT_FAULT_CLOCK_STEP_S");
    return text == nullptr ? 0L : ::strtol(text, nullptr, 10);
  }();
  return step;
}

/// Seconds by which this look is off.
long turned_s() {
  static std::atomic<long> looks{0};
  return step_s() == 0 ? 0 : step_s() * looks.fetch_add(1);
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const int code = static_cast<int>(::syscall(SYS_clock_gettime, clock, now));
  if (code == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += turned_s();
  return code;
}

time_t time(time_t* where) noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (where != nullptr) *where = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(timeval* __restrict now, void* __restrict zone) noexcept {
  static_cast<void>(zone);
  timespec precise{};
  const int code = ::clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return code;
}

}  // extern "C"
