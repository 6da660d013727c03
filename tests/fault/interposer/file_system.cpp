/// A disk that says to be of another kind: HINDSIGHT_FAULT_FILE_SYSTEM is the number that statfs(2) gives, e.g. 0x6969.
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

extern "C" int statfs(const char* path, struct statfs* facts) noexcept {
  const int code = static_cast<int>(::syscall(SYS_statfs, path, facts));
  const char* kind = ::getenv("HINDSIGHT_FAULT_FILE_SYSTEM");
  if (code == 0 && kind != nullptr) facts->f_type = ::strtol(kind, nullptr, 0);
  return code;
}
