/// The calls about files: fail when asked to, and note what they change.
///
/// They go to the kernel themselves, so that nothing here depends on how the C library names its own. A change and its
/// note are made under one lock: the trace has the order of the disk.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "record.h"
#include "state.h"

namespace hindsight::fault {
namespace {

pthread_mutex_t in_order = PTHREAD_MUTEX_INITIALIZER;

class InOrder {
 public:
  InOrder() {
    if (taken_) ::pthread_mutex_lock(&in_order);
  }
  ~InOrder() {
    if (taken_) ::pthread_mutex_unlock(&in_order);
  }
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;

 private:
  bool taken_ = recording();
};

void note(RecordHead head, const char* name, const void* data, std::size_t bytes) {
  static const int trace = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, ::getenv("HINDSIGHT_FAULT_RECORD"),
                                                      O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  const int kept = errno;
  head.name_bytes = static_cast<std::uint32_t>(::strlen(name));
  head.data_bytes = bytes;
  iovec parts[3] = {{&head, sizeof head}, {const_cast<char*>(name), head.name_bytes}, {const_cast<void*>(data), bytes}};
  ::syscall(SYS_writev, trace, parts, 3);
  errno = kept;
}

std::uint64_t inode_of(int descriptor) {
  struct stat facts {};
  return ::fstat(descriptor, &facts) == 0 ? facts.st_ino : 0;
}

void note_change(Change change, int descriptor, std::uint64_t offset, const void* data, std::size_t bytes) {
  char room[4096];
  const char* name = name_below(descriptor, room);
  if (name == nullptr) return;
  note({.change = change, .inode = inode_of(descriptor), .offset = offset}, name, data, bytes);
}

void note_names(Change change, const char* from, const char* to) {
  char from_room[4096];
  char to_room[4096];
  const char* name = name_below(from, from_room);
  const char* other = to == nullptr ? "" : name_below(to, to_room);
  if (name == nullptr || other == nullptr) return;
  note({.change = change}, name, other, ::strlen(other));
}

int opened(int folder, const char* path, int flags, mode_t mode) {
  if (opening_fails(path, flags)) return -1;
  const InOrder lock;
  const bool watched = recording() && (flags & (O_CREAT | O_TRUNC)) != 0;
  struct stat before {};
  const bool existed = watched && ::fstatat(folder, path, &before, 0) == 0;
  const int descriptor = static_cast<int>(::syscall(SYS_openat, folder, path, flags, mode));
  if (watched && descriptor >= 0) {
    if (!existed) note_change(Change::create, descriptor, 0, nullptr, 0);
    if (existed && (flags & O_TRUNC) != 0) note_change(Change::truncate, descriptor, 0, nullptr, 0);
  }
  return descriptor;
}

mode_t mode_of(int flags, va_list& list) { return (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0; }

ssize_t written_at(int descriptor, const void* data, std::size_t bytes, off64_t offset) {
  if (fails_at(call_write, descriptor)) return -1;
  const InOrder lock;
  const ssize_t done = ::syscall(SYS_pwrite64, descriptor, data, bytes, offset);
  if (recording() && done > 0) {
    note_change(Change::write, descriptor, static_cast<std::uint64_t>(offset), data, static_cast<std::size_t>(done));
  }
  return done;
}

int synced(int descriptor, long call) {
  if (fails_at(call_sync, descriptor)) return -1;
  const InOrder lock;
  const int code = static_cast<int>(::syscall(call, descriptor));
  if (recording() && code == 0) {
    struct stat facts {};
    const bool folder = ::fstat(descriptor, &facts) == 0 && S_ISDIR(facts.st_mode);
    note_change(folder ? Change::sync_folder : Change::sync, descriptor, 0, nullptr, 0);
  }
  return code;
}

int truncated(int descriptor, off64_t size) {
  if (fails_at(call_truncate, descriptor)) return -1;
  const InOrder lock;
  const int code = static_cast<int>(::syscall(SYS_ftruncate, descriptor, size));
  if (recording() && code == 0) {
    note_change(Change::truncate, descriptor, static_cast<std::uint64_t>(size), nullptr, 0);
  }
  return code;
}

int named(Change change, const char* from, const char* to, long code) {
  if (recording() && code == 0) note_names(change, from, to);
  return static_cast<int>(code);
}

void* mapped(void* where, std::size_t bytes, int protection, int flags, int descriptor, off64_t offset) {
  if (descriptor >= 0 && fails_at(call_map, descriptor)) return MAP_FAILED;
  return reinterpret_cast<void*>(::syscall(SYS_mmap, where, bytes, protection, flags, descriptor, offset));
}

FILE* stream_of(const char* path, const char* mode) {
  if (opening_fails(path, ::strchr(mode, 'r') != nullptr ? O_RDONLY : O_WRONLY | O_CREAT)) return nullptr;
  using Function = FILE* (*)(const char*, const char*);
  static const auto next = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "fopen64"));
  return next(path, mode);
}

}  // namespace
}  // namespace hindsight::fault

using namespace hindsight::fault;

extern "C" {

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return opened(AT_FDCWD, path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return opened(AT_FDCWD, path, flags, mode);
}

// What a fortified program calls instead.
int __open_2(const char* path, int flags) { return opened(AT_FDCWD, path, flags, 0); }
int __open64_2(const char* path, int flags) { return opened(AT_FDCWD, path, flags, 0); }

int mkostemp(char* pattern, int flags) {
  if (opening_fails(pattern, O_RDWR | O_CREAT)) return -1;
  using Function = int (*)(char*, int);
  static const auto next = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "mkostemp"));
  return next(pattern, flags);
}

FILE* fopen(const char* path, const char* mode) { return stream_of(path, mode); }
FILE* fopen64(const char* path, const char* mode) { return stream_of(path, mode); }

ssize_t write(int descriptor, const void* data, std::size_t bytes) {
  if (fails_at(call_write, descriptor)) return -1;
  const InOrder lock;
  off64_t offset = 0;
  if (recording()) {
    offset = ::lseek64(descriptor, 0, SEEK_CUR);
    struct stat facts {};
    if ((::fcntl(descriptor, F_GETFL) & O_APPEND) != 0 && ::fstat(descriptor, &facts) == 0) offset = facts.st_size;
  }
  const ssize_t done = ::syscall(SYS_write, descriptor, data, bytes);
  if (recording() && done > 0 && offset >= 0) {
    note_change(Change::write, descriptor, static_cast<std::uint64_t>(offset), data, static_cast<std::size_t>(done));
  }
  return done;
}

ssize_t pwrite(int descriptor, const void* data, std::size_t bytes, off_t offset) {
  return written_at(descriptor, data, bytes, offset);
}
ssize_t pwrite64(int descriptor, const void* data, std::size_t bytes, off64_t offset) {
  return written_at(descriptor, data, bytes, offset);
}

ssize_t read(int descriptor, void* data, std::size_t bytes) {
  return fails_at(call_read, descriptor) ? -1 : ::syscall(SYS_read, descriptor, data, bytes);
}
ssize_t pread(int descriptor, void* data, std::size_t bytes, off_t offset) {
  return fails_at(call_read, descriptor) ? -1 : ::syscall(SYS_pread64, descriptor, data, bytes, offset);
}
ssize_t pread64(int descriptor, void* data, std::size_t bytes, off64_t offset) {
  return fails_at(call_read, descriptor) ? -1 : ::syscall(SYS_pread64, descriptor, data, bytes, offset);
}

ssize_t __read_chk(int descriptor, void* data, std::size_t bytes, std::size_t room) {
  if (bytes > room) ::abort();
  return read(descriptor, data, bytes);
}
ssize_t __pread_chk(int descriptor, void* data, std::size_t bytes, off_t offset, std::size_t room) {
  if (bytes > room) ::abort();
  return pread(descriptor, data, bytes, offset);
}
ssize_t __pread64_chk(int descriptor, void* data, std::size_t bytes, off64_t offset, std::size_t room) {
  if (bytes > room) ::abort();
  return pread64(descriptor, data, bytes, offset);
}

int fsync(int descriptor) { return synced(descriptor, SYS_fsync); }
int fdatasync(int descriptor) { return synced(descriptor, SYS_fdatasync); }

int ftruncate(int descriptor, off_t size) noexcept { return truncated(descriptor, size); }
int ftruncate64(int descriptor, off64_t size) noexcept { return truncated(descriptor, size); }

int rename(const char* from, const char* to) noexcept {
  if (fails_at(call_rename, to)) return -1;
  const InOrder lock;
  return named(Change::rename, from, to, ::syscall(SYS_rename, from, to));
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  if (fails_at(call_rename, to)) return -1;
  const InOrder lock;
  return named(Change::rename, from, to, ::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}

int link(const char* from, const char* to) noexcept {
  if (fails_at(call_rename, to)) return -1;
  const InOrder lock;
  return named(Change::link, from, to, ::syscall(SYS_link, from, to));
}

int unlink(const char* path) noexcept {
  const InOrder lock;
  return named(Change::unlink, path, nullptr, ::syscall(SYS_unlink, path));
}

int remove(const char* path) noexcept {  // std::filesystem::remove, for files
  const InOrder lock;
  const long code = ::syscall(SYS_unlink, path);
  if (code != 0 && errno == EISDIR) return ::rmdir(path);
  return named(Change::unlink, path, nullptr, code);
}

void* mmap(void* where, std::size_t bytes, int protection, int flags, int descriptor, off_t offset) noexcept {
  return mapped(where, bytes, protection, flags, descriptor, offset);
}
void* mmap64(void* where, std::size_t bytes, int protection, int flags, int descriptor, off64_t offset) noexcept {
  return mapped(where, bytes, protection, flags, descriptor, offset);
}

}  // extern "C"
