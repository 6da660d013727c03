/// Files through the POSIX interface, where every failure can be seen and named.
#include "hindsight/core/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/installation.h"
#include "hindsight/core/text.h"

namespace hindsight {
namespace {

namespace fs = std::filesystem;

std::string shown(const fs::path& file) { return printable(file.string(), 400); }

/// What a person can do about a system error; empty when nothing general helps.
std::string_view remedy(int code) {
  switch (code) {
    case ENOENT:
    case ENOTDIR:
      return " Does its folder exist?";
    case EACCES:
    case EPERM:
    case EROFS:
      return " Check the permissions or choose another folder.";
    case ENOSPC:
    case EDQUOT:
      return " Free some space or write to another disk.";
    case EFBIG:
      return " Is a limit on file sizes set (ulimit -f)?";
    case EMFILE:
    case ENFILE:
      return " Raise the limit on open files (ulimit -n).";
    default:
      return "";
  }
}

[[noreturn]] void fail(const fs::path& file, std::string_view action, int code) {
  throw Error(ErrorKind::failure, fmt::format("{}: cannot {}: {}.{}", shown(file), action,
                                              std::generic_category().message(code), remedy(code)));
}

/// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  /// The errno of close, 0 when it went well. Network file systems report a full disk only here.
  int close() {
    const int number = number_;
    number_ = -1;
    return number >= 0 && ::close(number) != 0 && errno != EINTR ? errno : 0;
  }

 private:
  int number_;
};

int open_retrying(const fs::path& file, int flags, mode_t mode = 0) {
  int number = -1;
  do {
    number = ::open(file.c_str(), flags | O_CLOEXEC, mode);
  } while (number < 0 && errno == EINTR);
  return number;
}

/// Writes everything; the errno of the failure, or 0.
int write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) {
        continue;
      }
      return errno;
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// Syncs to the device; the errno of the failure, or 0. Pipes and some file systems cannot sync.
int sync(int descriptor) {
  while (::fsync(descriptor) != 0) {
    if (errno != EINTR) {
      return errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : errno;
    }
  }
  return 0;
}

/// A temporary file beside its target, unlinked again unless it was renamed.
class TemporaryFile {
 public:
  TemporaryFile(const fs::path& target, mode_t mode) : descriptor_(create(target, mode)) {}
  ~TemporaryFile() {
    if (!renamed_) {
      ::unlink(path_.c_str());
    }
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(const fs::path& target, const std::string& content) {
    int code = write_all(descriptor_.number(), content);
    if (code == 0) {
      code = sync(descriptor_.number());
    }
    const int close_code = descriptor_.close();
    if (code == 0) {
      code = close_code;
    }
    if (code != 0) {
      fail(target, "write", code);
    }
  }

  void rename_to(const fs::path& target) {
    if (::rename(path_.c_str(), target.c_str()) != 0) {
      fail(target, "replace the file", errno);
    }
    renamed_ = true;
  }

 private:
  int create(const fs::path& target, mode_t mode) {
    static std::atomic<unsigned> counter{0};
    constexpr int kMostAttempts = 100;  // [chosen] a name clash needs another host with the same process id
    for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
      path_ = target.parent_path() / fmt::format(".hindsight-{}-{}.tmp", ::getpid(), counter++);
      const int number = open_retrying(path_, O_WRONLY | O_CREAT | O_EXCL, mode);
      if (number >= 0) {
        return number;
      }
      if (errno != EEXIST) {
        break;
      }
    }
    fail(target, "write", errno);
  }

  fs::path path_;
  bool renamed_ = false;
  Descriptor descriptor_;  // last: its initialiser sets path_
};

void write_directly(const fs::path& file, const std::string& content) {
  Descriptor descriptor(open_retrying(file, O_WRONLY));
  const int code = descriptor.is_open() ? write_all(descriptor.number(), content) : errno;
  if (code != 0) {
    fail(file, "write", code);
  }
}

/// $HINDSIGHT_DATA_DIR, when set. A wrong one is an error: ignoring it would use other data than asked for.
std::optional<fs::path> data_dir_from_environment() {
  const char* value = std::getenv("HINDSIGHT_DATA_DIR");
  if (value == nullptr || *value == '\0') {
    return std::nullopt;
  }
  std::error_code error;
  if (!fs::is_directory(value, error)) {
    throw Error(ErrorKind::usage,
                fmt::format("HINDSIGHT_DATA_DIR is '{}', which is not a folder. Correct it or unset it.",
                            printable(value, 400)));
  }
  return fs::path(value);
}

std::vector<std::string> as_texts(const std::vector<fs::path>& paths) {
  std::vector<std::string> texts;
  for (const fs::path& path : paths) {
    texts.push_back(shown(path));
  }
  return texts;
}

}  // namespace

std::string read_file(const fs::path& file, std::uint64_t max_bytes) {
  const Descriptor descriptor(open_retrying(file, O_RDONLY));
  if (!descriptor.is_open()) {
    if (errno == ENOENT) {
      throw Error(ErrorKind::usage, fmt::format("{}: no such file. Is the path right?", shown(file)));
    }
    fail(file, "read", errno);
  }
  struct stat facts {};
  if (::fstat(descriptor.number(), &facts) != 0) {
    fail(file, "read", errno);
  }
  if (S_ISDIR(facts.st_mode)) {
    throw Error(ErrorKind::usage, fmt::format("{}: is a folder. Give a file in it?", shown(file)));
  }
  // /dev/null and the like end at once; /dev/zero never does.
  const bool may_be_endless = S_ISBLK(facts.st_mode) || (S_ISCHR(facts.st_mode) && ::isatty(descriptor.number()) == 0);
  std::string content;
  std::array<char, 1U << 16U> buffer{};
  if (S_ISREG(facts.st_mode) && facts.st_size > 0) {
    content.reserve(std::min<std::uint64_t>(static_cast<std::uint64_t>(facts.st_size), max_bytes));
  }
  while (true) {
    const ssize_t got = ::read(descriptor.number(), buffer.data(), buffer.size());
    if (got < 0) {
      if (errno == EINTR) {
        continue;
      }
      fail(file, "read", errno);
    }
    if (got == 0) {
      return content;
    }
    if (may_be_endless) {
      throw Error(ErrorKind::usage, fmt::format("{}: is a device (it may never end). Give a file?", shown(file)));
    }
    content.append(buffer.data(), static_cast<std::size_t>(got));
    if (content.size() > max_bytes) {
      throw Error(ErrorKind::failure,
                  fmt::format("{}: is larger than {}, the most that is read here. Is it the right file?", shown(file),
                              binary_bytes(static_cast<double>(max_bytes))));
    }
  }
}

std::string_view binary_kind(std::string_view content) {
  using namespace std::string_view_literals;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kMagic{
      {{"SQLite format 3\0"sv, "a SQLite database"},
       {"\x1f\x8b"sv, "a gzip file"},
       {"PK\x03\x04"sv, "a zip archive"},
       {"\x89HDF\r\n"sv, "an HDF5 file"},
       {"PAR1"sv, "a Parquet file"},
       {"\x7f"
        "ELF"sv,
        "a program"},
       {"%PDF-"sv, "a PDF file"}}};
  for (const auto& [magic, kind] : kMagic) {
    if (content.starts_with(magic)) return kind;
  }
  constexpr std::size_t kSafetensorsLength = 8;  // of the header, then its JSON
  if (content.size() > kSafetensorsLength && content.substr(kSafetensorsLength).starts_with(R"({"__metadata__")")) {
    return "a safetensors file";
  }
  return {};
}

void write_file_atomically(const fs::path& file, const std::string& content) {
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(file, error);  // follows symbolic links
  const fs::path target = error ? file : resolved;
  if (file.empty()) {
    throw Error(ErrorKind::failure, "cannot write to a file with an empty name. Give a path?");
  }
  mode_t mode = 0666;  // narrowed by the umask
  struct stat facts {};
  const bool exists = ::stat(target.c_str(), &facts) == 0;
  if (exists && S_ISDIR(facts.st_mode)) {
    throw Error(ErrorKind::failure, fmt::format("{}: is a folder. Give a file in it?", shown(file)));
  }
  if (exists && !S_ISREG(facts.st_mode)) {
    write_directly(target, content);
    return;
  }
  if (exists) {
    mode = facts.st_mode & 0777U;
  }
  TemporaryFile temporary(target, mode);
  temporary.write(target, content);
  temporary.rename_to(target);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const Descriptor folder_descriptor(open_retrying(folder, O_RDONLY | O_DIRECTORY));
  // A folder that may be written but not read cannot be synced; the content itself is safe.
  if (folder_descriptor.is_open()) {
    if (const int code = sync(folder_descriptor.number()); code != 0) {
      fail(target, "sync the folder", code);
    }
  }
}

std::vector<fs::path> data_roots() {
  std::vector<fs::path> roots;
  if (const auto folder = data_dir_from_environment()) roots.push_back(*folder);
  if (const auto here = installation(); here && (roots.empty() || roots.front() != here->data)) {
    roots.push_back(here->data);
  }
  return roots;
}

fs::path find_data_file(const std::string& name, const std::string& folder, const std::string& what) {
  std::error_code error;
  const fs::file_status status = fs::status(name, error);
  if (fs::exists(status) && !fs::is_directory(status)) {
    return name;
  }
  const bool is_path = name.find('/') != std::string::npos || name.ends_with(".yaml") || name.ends_with(".yml");
  for (const fs::path& root : data_roots()) {
    const fs::path file = root / folder / (name + ".yaml");
    if (!is_path && !name.empty() && fs::is_regular_file(file, error)) {
      return file;
    }
  }
  const std::vector<std::string> known = list_data_files(folder);
  const std::string stem = fs::path(name).stem().string();
  const bool shipped = std::find(known.begin(), known.end(), stem) != known.end();
  const std::string nearest = shipped ? fmt::format(" Did you mean the {} '{}'?", what, stem) : "";
  if (fs::is_directory(status)) {
    throw Error(ErrorKind::usage, fmt::format("{}: is a folder. Give a file in it?{}", shown(name), nearest));
  }
  if (is_path) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: no such file.{}", shown(name), shipped ? nearest : did_you_mean(stem, known)));
  }
  if (known.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("unknown {} '{}': no folder {} with data was found (searched: {}). Set HINDSIGHT_DATA_DIR?",
                            what, printable(name), folder, join(as_texts(data_roots()), ", ")));
  }
  fail_unknown_name(what, name, known);
}

std::vector<std::string> list_data_files(const std::string& folder) {
  std::set<std::string> names;
  for (const fs::path& root : data_roots()) {
    std::error_code error;
    fs::directory_iterator entry(root / folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      std::error_code type_error;
      if (entry->path().extension() == ".yaml" && entry->is_regular_file(type_error)) {
        names.insert(entry->path().stem().string());
      }
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace hindsight
