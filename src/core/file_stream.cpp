/// Files piece by piece through the POSIX interface, where every failure can be seen and named.
#include "hindsight/core/file_stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include "core/file_descriptor.h"
#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/patience.h"

namespace hindsight {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPieceBytes = std::size_t{1} << 16U;  // [chosen] what a pipe holds

/// Waits until a pipe has something to say, or Ctrl-C arrived: a read that waits would not notice it.
void wait_for_pipe(int descriptor, const fs::path& file) {
  constexpr int kLookMs = 200;  // [chosen] Ctrl-C between the look at it and the wait is seen after that
  while (true) {
    pollfd waiting{.fd = descriptor, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, kLookMs);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return;  // read() says what is wrong
    if (interrupt_requested()) {
      throw Error(ErrorKind::interrupted,
                  fmt::format("{}: interrupted while waiting for more of it", shown_file(file)));
    }
  }
}

/// A temporary file beside its target, unlinked again unless it was renamed.
class TemporaryFile {
 public:
  TemporaryFile(const fs::path& target, mode_t mode) : descriptor_(create(target, mode)) {}
  ~TemporaryFile() {
    if (!renamed_) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] int number() const { return descriptor_.number(); }
  void rename_to(const fs::path& target) {
    int code = sync_file(descriptor_.number());
    const int close_code = descriptor_.close();
    if (code == 0) code = close_code;
    if (code != 0) fail_file(target, "write", code);
    if (::rename(path_.c_str(), target.c_str()) != 0) fail_file(target, "replace the file", errno);
    renamed_ = true;
  }

 private:
  int create(const fs::path& target, mode_t mode) {
    static std::atomic<unsigned> counter{0};
    constexpr int kMostAttempts = 100;  // [chosen] a name clash needs another host with the same process id
    for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
      path_ = target.parent_path() / fmt::format(".hindsight-{}-{}.tmp", ::getpid(), counter++);
      const int number = open_retrying(path_, O_WRONLY | O_CREAT | O_EXCL, mode);
      if (number >= 0) return number;
      if (errno != EEXIST) break;
    }
    fail_file(target, "write", errno);
  }

  fs::path path_;
  bool renamed_ = false;
  FileDescriptor descriptor_;  // last: its initialiser sets path_
};

/// Gives a new file the group and the mode of the one that it replaces, which a umask narrowed. In another group the
/// mode would let in whom the old one did not; there, and where a file system cannot, it stays as it was made.
void keep_access(int number, const struct stat& replaced) {
  struct stat own {};
  if (::fstat(number, &own) != 0) return;
  constexpr auto kSameUser = static_cast<uid_t>(-1);
  if (own.st_gid != replaced.st_gid && ::fchown(number, kSameUser, replaced.st_gid) != 0) return;
  static_cast<void>(::fchmod(number, replaced.st_mode & 0777U));
}

/// A file without a name, open for reading and writing: it goes with its descriptor.
int nameless_file() {
  const char* folder = std::getenv("TMPDIR");
  const fs::path base = folder == nullptr || *folder == '\0' ? fs::path("/tmp") : fs::path(folder);
  std::string name = (base / ".hindsight-XXXXXX").string();
  const int number = ::mkostemp(name.data(), O_CLOEXEC);
  if (number < 0) fail_file(base, "write a temporary file", errno);
  ::unlink(name.c_str());
  return number;
}

}  // namespace

struct FileReader::State {
  explicit State(const fs::path& name) : file(name), descriptor(open_retrying(name, O_RDONLY)) {}
  fs::path file;
  FileDescriptor descriptor;
  bool regular = false, may_be_endless = false;
  std::uint64_t bytes = 0;
  off_t begin = 0;  ///< where reading of a regular file began: standard input may be in the middle of one
};

FileReader::FileReader(const fs::path& file) : state_(std::make_unique<State>(file)) {
  if (!state_->descriptor.is_open()) {
    if (errno == ENOENT) {
      throw Error(ErrorKind::usage, fmt::format("{}: no such file. Is the path right?", shown_file(file)));
    }
    fail_file(file, "read", errno);
  }
  now_reading(file);
  const int number = state_->descriptor.number();
  struct stat facts {};
  if (::fstat(number, &facts) != 0) fail_file(file, "read", errno);
  if (S_ISDIR(facts.st_mode)) {
    throw Error(ErrorKind::usage, fmt::format("{}: is a folder. Give a file in it?", shown_file(file)));
  }
  state_->regular = S_ISREG(facts.st_mode);
  if (state_->regular) state_->begin = ::lseek(number, 0, SEEK_CUR);
  state_->bytes = static_cast<std::uint64_t>(facts.st_size);
  // /dev/null and the like end at once; /dev/zero never does.
  state_->may_be_endless = S_ISBLK(facts.st_mode) || (S_ISCHR(facts.st_mode) && ::isatty(number) == 0);
}

FileReader::~FileReader() = default;
FileReader::FileReader(FileReader&&) noexcept = default;
FileReader& FileReader::operator=(FileReader&&) noexcept = default;

std::size_t FileReader::read(std::span<char> buffer) {
  while (true) {
    if (!state_->regular) wait_for_pipe(state_->descriptor.number(), state_->file);
    const ssize_t got = ::read(state_->descriptor.number(), buffer.data(), buffer.size());
    if (got < 0) {
      if (errno == EINTR) continue;
      fail_file(state_->file, "read", errno);
    }
    if (got > 0 && state_->may_be_endless) {
      throw Error(ErrorKind::usage,
                  fmt::format("{}: is a device (it may never end). Give a file?", shown_file(state_->file)));
    }
    return static_cast<std::size_t>(got);
  }
}

bool FileReader::is_regular() const { return state_->regular; }

std::uint64_t FileReader::bytes() const { return state_->bytes; }

void FileReader::rewind() {
  HINDSIGHT_EXPECT(state_->regular);
  if (::lseek(state_->descriptor.number(), state_->begin, SEEK_SET) < 0) fail_file(state_->file, "read", errno);
}

void FileReader::keep() {
  FileDescriptor kept(nameless_file());
  std::string piece(kPieceBytes, '\0');
  while (const std::size_t got = read(piece)) {
    if (const int code = write_all(kept.number(), std::string_view(piece).substr(0, got)); code != 0) {
      fail_file(state_->file, "keep a copy in the temporary folder", code);
    }
  }
  state_->descriptor.swap(kept);
  state_->regular = true;
  state_->begin = 0;
  rewind();
}

struct AtomicFile::State {
  fs::path target;
  std::unique_ptr<TemporaryFile> temporary;  ///< null where a device or pipe is written directly
  FileDescriptor direct{-1};
};

AtomicFile::AtomicFile(const fs::path& file) : state_(std::make_unique<State>()) {
  if (file.empty()) {
    throw Error(ErrorKind::failure, "cannot write to a file with an empty name. Give a path?");
  }
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(file, error);  // follows symbolic links
  state_->target = error ? file : resolved;
  mode_t mode = 0666;  // narrowed by the umask
  struct stat facts {};
  const bool exists = ::stat(state_->target.c_str(), &facts) == 0;
  if (exists && S_ISDIR(facts.st_mode)) {
    throw Error(ErrorKind::failure, fmt::format("{}: is a folder. Give a file in it?", shown_file(file)));
  }
  if (exists && !S_ISREG(facts.st_mode)) {
    FileDescriptor direct(open_retrying(state_->target, O_WRONLY));
    state_->direct.swap(direct);
    if (!state_->direct.is_open()) fail_file(state_->target, "write", errno);
    return;
  }
  if (exists) mode = facts.st_mode & 0777U;
  state_->temporary = std::make_unique<TemporaryFile>(state_->target, mode);
  if (exists) keep_access(state_->temporary->number(), facts);
}

AtomicFile::~AtomicFile() = default;

bool AtomicFile::is_direct() const { return state_->temporary == nullptr; }

void AtomicFile::write(std::string_view text) {
  const int code = write_all(is_direct() ? state_->direct.number() : state_->temporary->number(), text);
  if (code != 0) fail_file(state_->target, "write", code);
}

void AtomicFile::commit() {
  if (is_direct()) return;
  const fs::path& target = state_->target;
  state_->temporary->rename_to(target);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const FileDescriptor folder_descriptor(open_retrying(folder, O_RDONLY | O_DIRECTORY));
  // A folder that may be written but not read cannot be synced; the content itself is safe.
  if (!folder_descriptor.is_open()) return;
  if (const int code = sync_file(folder_descriptor.number()); code != 0) fail_file(target, "sync the folder", code);
}

}  // namespace hindsight
