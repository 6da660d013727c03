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
#include <sys/sendfile.h>
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

/// A name, and the folder that it is relative to.
struct Place {
  int folder = AT_FDCWD;
  const char* path = nullptr;
};

void note_names(Change change, const Place& from, const Place& to) {
  char from_room[4096];
  char to_room[4096];
  const char* name = name_below(from.folder, from.path, from_room);
  const char* other = to.path == nullptr ? "" : name_below(to.folder, to.path, to_room);
  if (name == nullptr || other == nullptr) return;
  note({.change = change}, name, other, ::strlen(other));
}

/// An opening that may make or empty a file, looked at before and noted after.
class Opening {
 public:
  Opening(const Place& place, int flags) : truncates_((flags & O_TRUNC) != 0) {
    struct stat before {};
    watched_ = recording() && (flags & (O_CREAT | O_TRUNC)) != 0;
    existed_ = watched_ && ::fstatat(place.folder, place.path, &before, 0) == 0;
  }
  void note_done(int descriptor) const {
    if (!watched_ || descriptor < 0) return;
    if (!existed_) note_change(Change::create, descriptor, 0, nullptr, 0);
    if (existed_ && truncates_) note_change(Change::truncate, descriptor, 0, nullptr, 0);
  }

 private:
  bool truncates_, watched_ = false, existed_ = false;
};

int opened(int folder, const char* path, int flags, mode_t mode) {
  if (opening_fails(folder, path, flags)) return -1;
  const InOrder lock;
  const Opening opening({.folder = folder, .path = path}, flags);
  const int descriptor = static_cast<int>(::syscall(SYS_openat, folder, path, flags, mode));
  opening.note_done(descriptor);
  return descriptor;
}

mode_t mode_of(int flags, va_list& list) { return (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0; }

ssize_t written(int descriptor, const void* data, std::size_t bytes) {
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

ssize_t written(int descriptor, const iovec* parts, int count) {
  if (!recording()) return ::syscall(SYS_writev, descriptor, parts, count);
  ssize_t all = 0;
  for (int i = 0; i < count; ++i) {
    const ssize_t done = written(descriptor, parts[i].iov_base, parts[i].iov_len);
    if (done < 0) return all > 0 ? all : done;
    all += done;
    if (static_cast<std::size_t>(done) < parts[i].iov_len) break;
  }
  return all;
}

/// Copying inside the kernel: a read and a write. While changes are recorded it is refused as by a file system that
/// cannot: libstdc++ then reads and writes, and the trace has the data.
bool copying_fails(int from, int to) {
  if (fails_at(call_read, from) || fails_at(call_write, to)) return true;
  if (recording()) errno = EINVAL;
  return recording();
}

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

int named(Change change, const Place& from, const Place& to, long code) {
  if (recording() && code == 0) note_names(change, from, to);
  return static_cast<int>(code);
}

void* mapped(void* where, std::size_t bytes, int protection, int flags, int descriptor, off64_t offset) {
  if (descriptor >= 0 && fails_at(call_map, descriptor)) return MAP_FAILED;
  return reinterpret_cast<void*>(::syscall(SYS_mmap, where, bytes, protection, flags, descriptor, offset));
}

int flags_of(const char* mode) {
  const bool both = ::strchr(mode, '+') != nullptr;
  if (mode[0] == 'r') return both ? O_RDWR : O_RDONLY;
  return (both ? O_RDWR : O_WRONLY) | O_CREAT | (mode[0] == 'w' ? O_TRUNC : O_APPEND);
}

FILE* stream_of(const char* path, const char* mode) {
  const int flags = flags_of(mode);
  if (opening_fails(AT_FDCWD, path, flags)) return nullptr;
  using Function = FILE* (*)(const char*, const char*);
  static const auto next = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "fopen64"));
  const InOrder lock;
  const Opening opening({.path = path}, flags);
  FILE* stream = next(path, mode);
  if (stream != nullptr) opening.note_done(::fileno(stream));
  return stream;
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

// How libstdc++ walks through folders.
int openat(int folder, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return opened(folder, path, flags, mode);
}

int openat64(int folder, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return opened(folder, path, flags, mode);
}

// What a fortified program calls instead.
int __open_2(const char* path, int flags) { return opened(AT_FDCWD, path, flags, 0); }
int __open64_2(const char* path, int flags) { return opened(AT_FDCWD, path, flags, 0); }
int __openat_2(int folder, const char* path, int flags) { return opened(folder, path, flags, 0); }
int __openat64_2(int folder, const char* path, int flags) { return opened(folder, path, flags, 0); }

int mkostemp(char* pattern, int flags) {
  if (opening_fails(AT_FDCWD, pattern, O_RDWR | O_CREAT)) return -1;
  using Function = int (*)(char*, int);
  static const auto next = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "mkostemp"));
  return next(pattern, flags);
}

FILE* fopen(const char* path, const char* mode) { return stream_of(path, mode); }
FILE* fopen64(const char* path, const char* mode) { return stream_of(path, mode); }

ssize_t write(int descriptor, const void* data, std::size_t bytes) {
  return fails_at(call_write, descriptor) ? -1 : written(descriptor, data, bytes);
}

// How libstdc++ writes what is larger than a stream's buffer.
ssize_t writev(int descriptor, const iovec* parts, int count) {
  return fails_at(call_write, descriptor) ? -1 : written(descriptor, parts, count);
}

// std::filesystem::copy_file, by the version of libstdc++.
ssize_t sendfile(int to, int from, off_t* offset, std::size_t bytes) noexcept {
  return copying_fails(from, to) ? -1 : ::syscall(SYS_sendfile, to, from, offset, bytes);
}
ssize_t sendfile64(int to, int from, off64_t* offset, std::size_t bytes) noexcept {
  return copying_fails(from, to) ? -1 : ::syscall(SYS_sendfile, to, from, offset, bytes);
}
ssize_t copy_file_range(int from, off64_t* from_offset, int to, off64_t* to_offset, std::size_t bytes, unsigned flags) {
  if (copying_fails(from, to)) return -1;
  return ::syscall(SYS_copy_file_range, from, from_offset, to, to_offset, bytes, flags);
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

// By its name: std::filesystem::resize_file.
int truncate(const char* path, off_t size) noexcept {
  if (fails_at(call_truncate, path)) return -1;
  const InOrder lock;
  const int code = static_cast<int>(::syscall(SYS_truncate, path, size));
  struct stat facts {};
  char room[4096];
  const char* name = recording() && code == 0 && ::stat(path, &facts) == 0 ? name_below(path, room) : nullptr;
  if (name != nullptr) {
    note({.change = Change::truncate, .inode = facts.st_ino, .offset = static_cast<std::uint64_t>(size)}, name, nullptr,
         0);
  }
  return code;
}

int rename(const char* from, const char* to) noexcept {
  if (fails_at(call_rename, to)) return -1;
  const InOrder lock;
  return named(Change::rename, {.path = from}, {.path = to}, ::syscall(SYS_rename, from, to));
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  if (fails_at(call_rename, to_folder, to)) return -1;
  const InOrder lock;
  return named(Change::rename, {from_folder, from}, {to_folder, to},
               ::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}

int link(const char* from, const char* to) noexcept {
  if (fails_at(call_rename, to)) return -1;
  const InOrder lock;
  return named(Change::link, {.path = from}, {.path = to}, ::syscall(SYS_link, from, to));
}

int unlink(const char* path) noexcept {
  if (fails_at(call_unlink, path)) return -1;
  const InOrder lock;
  return named(Change::unlink, {.path = path}, {}, ::syscall(SYS_unlink, path));
}

int unlinkat(int folder, const char* path, int flags) noexcept {  // std::filesystem::remove_all
  if (fails_at(call_unlink, folder, path)) return -1;
  const InOrder lock;
  const long code = ::syscall(SYS_unlinkat, folder, path, flags);
  return (flags & AT_REMOVEDIR) != 0 ? static_cast<int>(code) : named(Change::unlink, {folder, path}, {}, code);
}

int remove(const char* path) noexcept {  // std::filesystem::remove, for files
  if (fails_at(call_unlink, path)) return -1;
  const InOrder lock;
  const long code = ::syscall(SYS_unlink, path);
  if (code != 0 && errno == EISDIR) return ::rmdir(path);
  return named(Change::unlink, {.path = path}, {}, code);
}

/// The descriptor is gone all the same, as the kernel does it.
int close(int descriptor) {
  const bool failing = fails_at(call_close, descriptor);
  const int reason = errno;
  const int code = static_cast<int>(::syscall(SYS_close, descriptor));
  if (!failing) return code;
  errno = reason;
  return -1;
}

void* mmap(void* where, std::size_t bytes, int protection, int flags, int descriptor, off_t offset) noexcept {
  return mapped(where, bytes, protection, flags, descriptor, offset);
}
void* mmap64(void* where, std::size_t bytes, int protection, int flags, int descriptor, off64_t offset) noexcept {
  return mapped(where, bytes, protection, flags, descriptor, offset);
}

}  // extern "C"
