/// Faults on demand: which call fails, the how-manieth, once or from then on.
///
/// Read from the environment of the program that this library is preloaded into:
///   HINDSIGHT_FAULT_CALL    names of `kCalls`, with commas between; none: nothing fails
///   HINDSIGHT_FAULT_AT      the how-manieth of them fails, from 1; 0: they are counted
///   HINDSIGHT_FAULT_TIMES   once | forever
///   HINDSIGHT_FAULT_ERRNO   ENOSPC | EIO | EROFS | ENOMEM | EMFILE
///   HINDSIGHT_FAULT_STOPS   set: the call does not fail; before it the program stops until SIGCONT comes
///   HINDSIGHT_FAULT_UNDER   calls about files below this folder only
///   HINDSIGHT_FAULT_COUNTS  a file of two 64-bit numbers: calls counted, calls that failed
///   HINDSIGHT_FAULT_RECORD  a file that gets every change of files below the folder (record.cpp)
///   HINDSIGHT_FAULT_CLOCK_STEP_S  every look at the clock sees this much later than the last one (clock.cpp)
///   HINDSIGHT_FAULT_FILE_SYSTEM   the kind that a disk says to be of (file_system.cpp)
/// Only programs whose name begins with `hindsight` are concerned: not the shell and the simulators that they start.
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <utility>

namespace hindsight::fault {
namespace {

constexpr std::size_t kRoom = 4096;

constexpr std::array<std::pair<const char*, Call>, 10> kCalls = {{{"open", call_open},
                                                                  {"read", call_read},
                                                                  {"write", call_write},
                                                                  {"fsync", call_sync},
                                                                  {"rename", call_rename},
                                                                  {"mmap", call_map},
                                                                  {"truncate", call_truncate},
                                                                  {"malloc", call_malloc},
                                                                  {"unlink", call_unlink},
                                                                  {"close", call_close}}};
constexpr std::array<std::pair<const char*, int>, 5> kErrors = {
    {{"ENOSPC", ENOSPC}, {"EIO", EIO}, {"EROFS", EROFS}, {"ENOMEM", ENOMEM}, {"EMFILE", EMFILE}}};

struct Counts {
  std::atomic<std::uint64_t> calls{0}, failed{0};
};

struct Plan {
  unsigned calls = 0;
  std::uint64_t at = 0;
  bool forever = false;
  bool stops = false;
  int error = EIO;
  const char* under = nullptr;
  std::size_t under_length = 0;
  bool record = false;
  Counts* counts = nullptr;
};

Counts counts_of_process;
Plan plan;
std::atomic<bool> armed{false};

unsigned calls_named(const char* list) {
  unsigned found = 0;
  while (list != nullptr && *list != '\0') {
    const std::size_t length = ::strcspn(list, ",");
    for (const auto& [name, call] : kCalls) {
      if (::strlen(name) == length && ::strncmp(name, list, length) == 0) found |= call;
    }
    list += length;
    if (*list == ',') ++list;
  }
  return found;
}

/// Lies in a file, so that the one who looks on sees it whatever becomes of this process.
Counts* shared_counts(const char* file) {
  if (file == nullptr) return &counts_of_process;
  const int descriptor = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC, 0));
  if (descriptor < 0) return &counts_of_process;
  const long mapped = ::syscall(SYS_mmap, nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0L);
  ::syscall(SYS_close, descriptor);
  return mapped == -1 ? &counts_of_process : reinterpret_cast<Counts*>(mapped);
}

bool concerns_this_program() {
  char room[kRoom];
  const ssize_t length = ::readlink("/proc/self/exe", room, kRoom - 1);
  if (length <= 0) return false;
  room[length] = '\0';
  const char* slash = ::strrchr(room, '/');
  return ::strncmp(slash == nullptr ? room : slash + 1, "hindsight", 9) == 0;
}

const char* below(const char* path) {
  if (plan.under == nullptr) return path;
  if (::strncmp(path, plan.under, plan.under_length) != 0) return nullptr;
  if (path[plan.under_length] == '\0') return ".";
  return path[plan.under_length] == '/' ? path + plan.under_length + 1 : nullptr;
}

bool path_of(int descriptor, char* room) {
  char link[64];
  ::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = ::readlink(link, room, kRoom - 1);
  if (length <= 0) return false;
  room[length] = '\0';
  return true;
}

bool wanted(Call call) { return armed.load(std::memory_order_relaxed) && (plan.calls & call) != 0; }

}  // namespace

void arm() {
  if (!concerns_this_program()) return;
  plan.calls = calls_named(::getenv("HINDSIGHT_FAULT_CALL"));
  const char* at = ::getenv("HINDSIGHT_FAULT_AT");
  plan.at = at == nullptr ? 0 : ::strtoull(at, nullptr, 10);
  const char* times = ::getenv("HINDSIGHT_FAULT_TIMES");
  plan.forever = times != nullptr && ::strcmp(times, "forever") == 0;
  const char* error = ::getenv("HINDSIGHT_FAULT_ERRNO");
  for (const auto& [name, code] : kErrors) {
    if (error != nullptr && ::strcmp(error, name) == 0) plan.error = code;
  }
  plan.stops = ::getenv("HINDSIGHT_FAULT_STOPS") != nullptr;
  plan.under = ::getenv("HINDSIGHT_FAULT_UNDER");
  plan.under_length = plan.under == nullptr ? 0 : ::strlen(plan.under);
  plan.record = ::getenv("HINDSIGHT_FAULT_RECORD") != nullptr && plan.under != nullptr;
  plan.counts = shared_counts(::getenv("HINDSIGHT_FAULT_COUNTS"));
  armed.store(true);
}

bool fails(Call call) {
  if (!wanted(call)) return false;
  const std::uint64_t number = plan.counts->calls.fetch_add(1) + 1;
  if (plan.at == 0 || (plan.forever ? number < plan.at : number != plan.at)) return false;
  plan.counts->failed.fetch_add(1);
  if (plan.stops) {
    ::raise(SIGSTOP);
    return false;
  }
  errno = plan.error;
  return true;
}

bool fails_at(Call call, const char* path) {
  char room[kRoom];
  return wanted(call) && name_below(path, room) != nullptr && fails(call);
}

bool fails_at(Call call, int descriptor) {
  char room[kRoom];
  return wanted(call) && name_below(descriptor, room) != nullptr && fails(call);
}

bool fails_at(Call call, int folder, const char* path) {
  char room[kRoom];
  return wanted(call) && name_below(folder, path, room) != nullptr && fails(call);
}

bool opening_fails(int folder, const char* path, int flags) {
  if (plan.error == EROFS && (flags & (O_WRONLY | O_RDWR | O_CREAT)) == 0) return false;
  if (plan.error == ENOSPC && (flags & O_CREAT) == 0) return false;
  return fails_at(call_open, folder, path);
}

bool recording() { return armed.load(std::memory_order_relaxed) && plan.record; }

const char* name_below(int descriptor, char* room) { return path_of(descriptor, room) ? below(room) : nullptr; }

const char* name_below(const char* path, char* room) { return name_below(AT_FDCWD, path, room); }

const char* name_below(int folder, const char* path, char* room) {
  if (path == nullptr) return nullptr;
  if (path[0] == '/') return below(path);
  const bool known = folder == AT_FDCWD ? ::getcwd(room, kRoom) != nullptr : path_of(folder, room);
  if (!known) return nullptr;
  const std::size_t length = ::strlen(room);
  if (length + ::strlen(path) + 2 > kRoom) return nullptr;
  room[length] = '/';
  ::strcpy(room + length + 1, path);
  return below(room);
}

}  // namespace hindsight::fault
