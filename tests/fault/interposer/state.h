/// What the preloaded library is asked to do, read once from the environment, and which calls that concerns.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hindsight::fault {

enum Call : unsigned {
  call_open = 1,
  call_read = 2,
  call_write = 4,
  call_sync = 8,
  call_rename = 16,
  call_map = 32,
  call_truncate = 64,
  call_malloc = 128,
  call_unlink = 256,
  call_close = 512,
};

/// Before `main` nothing fails: a program cannot answer for its loader.
void arm();

/// True where this call is the one that fails: errno is set. Counts it, and stops before it where that is asked for.
bool fails(Call call);
/// The same for a call about a file; calls about files elsewhere than below HINDSIGHT_FAULT_UNDER are not counted.
bool fails_at(Call call, const char* path);
bool fails_at(Call call, int descriptor);
bool fails_at(Call call, int folder, const char* path);
/// Opening: a full disk refuses what makes a file, one without writing what writes.
bool opening_fails(int folder, const char* path, int flags);

[[nodiscard]] bool recording();
/// The name of an open file below the folder, relative to it, else null. `room` has 4,096 bytes.
const char* name_below(int descriptor, char* room);
/// The same for a path, which may be relative to the working folder, or to an open one.
const char* name_below(const char* path, char* room);
const char* name_below(int folder, const char* path, char* room);

}  // namespace hindsight::fault
