/// Appends by single calls, syncs, and takes back what did not get to its end. Standard library and POSIX only.
#include "results_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <system_error>

#include "hindsight/core/error.h"

namespace hindsight::measure {
namespace {

[[noreturn]] void fail(const std::string& file, const std::string& problem) {
  throw Error(ErrorKind::failure, file + ": " + problem);
}

/// Of a call that failed with this errno, and what helps.
std::string reason(int code) {
  const std::string text = std::generic_category().message(code);
  switch (code) {
    case ENOSPC:
    case EDQUOT:
      return text + ". Free some space and run this again";
    case EFBIG:
      return text + ". Lift the limit on file sizes (ulimit -f) and run this again";
    case EACCES:
    case EPERM:
    case EROFS:
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
      return text + ". Check its folder and its permissions, or name another file";
    default:
      return text + ". Check the disk and run this again";
  }
}

/// The errno, or 0.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// The errno, or 0; some file systems cannot sync.
int sync(int descriptor) {
  while (::fsync(descriptor) != 0) {
    if (errno == EINTR) continue;
    return errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : errno;
  }
  return 0;
}

/// So that a power failure does not take the name of a new file; where a folder cannot be synced, that is how it is.
void sync_folder_of(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  static_cast<void>(sync(descriptor));
  ::close(descriptor);
}

int open_to_append(const std::string& file) {
  const bool is_new = ::access(file.c_str(), F_OK) != 0;
  constexpr mode_t kMode = 0666;  // [chosen] less what the umask takes away
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, kMode);
  if (descriptor < 0) fail(file, "cannot be written: " + reason(errno) + ".");
  if (is_new) sync_folder_of(file);
  return descriptor;
}

}  // namespace

std::string read_if_there(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::error_code ignored;
  constexpr const char* kProblem =
      "cannot be read, so what is done in it is not known. Is it a file that you may read?";
  if (!in && std::filesystem::exists(file, ignored)) fail(file, kProblem);
  try {
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  } catch (const std::ios_base::failure&) {  // a disk that fails, a folder
    fail(file, kProblem);
  }
}

ResultsFile::Descriptor::~Descriptor() { ::close(number_); }

ResultsFile::ResultsFile(const std::string& file, std::size_t read_bytes, std::size_t whole_bytes)
    : file_(file), descriptor_(open_to_append(file)), bytes_(whole_bytes) {
  // Held for as long as the file is open. File systems without locks have no such answer.
  if (::flock(descriptor_.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    fail(file_, "another process measures into it. Name another file, or run this again when it has ended.");
  }
  struct stat facts {};
  is_regular_ = ::fstat(descriptor_.number(), &facts) == 0 && S_ISREG(facts.st_mode);
  if (!is_regular_) return;
  if (static_cast<std::size_t>(facts.st_size) != read_bytes) {
    fail(file_, "it changed while its tasks were looked up (does another process measure into it?). Run this again.");
  }
  if (whole_bytes < read_bytes && ::ftruncate(descriptor_.number(), static_cast<off_t>(whole_bytes)) != 0) {
    fail(file_, "what a cut off writer left cannot be taken away: " + reason(errno) + ".");
  }
}

void ResultsFile::append(std::string_view lines) {
  int problem = write_all(descriptor_.number(), lines);
  if (problem == 0 && is_regular_) problem = sync(descriptor_.number());
  if (problem == 0) {
    bytes_ += lines.size();
    return;
  }
  // Where the disk does not even do this, the next start leaves out what is there (whole_tasks()).
  [[maybe_unused]] const bool taken_back =
      is_regular_ && ::ftruncate(descriptor_.number(), static_cast<off_t>(bytes_)) == 0;
  fail(file_, "cannot be written: " + reason(problem) + ": it goes on behind the last task that the file has.");
}

}  // namespace hindsight::measure
