/// Drafts of databases: named at the end, or gone.
#include "log/draft_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "hindsight/core/error.h"
#include "log/connection.h"

namespace hindsight::log {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& output, int reason) {
  throw Error(ErrorKind::failure, fmt::format("{}: cannot be created: {}. Check its folder and run this again.",
                                              shown(output), std::strerror(reason)));
}

void sync_folder_of(const fs::path& file) {
  const int descriptor = ::open(fs::absolute(file).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;              // it may be written without being readable
  static_cast<void>(::fsync(descriptor));  // some file systems cannot
  ::close(descriptor);
}

}  // namespace

DraftFile::DraftFile(const fs::path& output)
    : output_(output), path_(fmt::format("{}.{}.new", fs::absolute(output).string(), getpid())) {
  std::error_code ignored;
  fs::remove(path_, ignored);
}

DraftFile::DraftFile(const fs::path& output, const fs::path& like) : DraftFile(output) {
  struct stat facts {};
  if (::stat(like.c_str(), &facts) != 0) return;  // whoever reads it says so
  const int descriptor = ::open(path_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, facts.st_mode & 0666U);
  if (descriptor < 0) fail(output_, errno);
  ::close(descriptor);
}

DraftFile::~DraftFile() {
  std::error_code ignored;
  for (const char* ending : {"", "-wal", "-shm", "-journal"}) fs::remove(path_.string() + ending, ignored);
}

void DraftFile::sync() const {
  const int descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && ::fsync(descriptor) == 0;
  const int reason = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!synced) fail(output_, reason);
}

void DraftFile::publish() const {
  sync();
  if (std::error_code none; fs::is_regular_file(fs::symlink_status(output_, none)) && fs::is_empty(output_, none)) {
    if (::rename(path_.c_str(), output_.c_str()) != 0) fail(output_, errno);
  } else if (::link(path_.c_str(), output_.c_str()) != 0) {
    // A file system without hard links.
    if (errno == EEXIST || ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, output_.c_str(), RENAME_NOREPLACE) != 0) {
      fail(output_, errno);
    }
  }
  sync_folder_of(output_);
}

void restrict_as(const fs::path& file, const fs::path& like) {
  struct stat own {};
  struct stat other {};
  if (::stat(file.c_str(), &own) != 0 || ::stat(like.c_str(), &other) != 0) return;
  if (::chmod(file.c_str(), own.st_mode & other.st_mode & 0777U) != 0) fail(file, errno);
}

}  // namespace hindsight::log
