/// What each reader promises of whatever it is given, and the files that it reads.
#include "fuzz/reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <new>
#include <system_error>

#include "hindsight/core/scratch_folder.h"

namespace hindsight::fuzz {
namespace {

/// What is wrong with the message of an error; empty: nothing. It may quote line ends and control characters of what
/// was read: where it is printed, one function makes a visible line of each (apps/hindsight/output.cpp).
std::string fault_of_message(std::string_view message) {
  if (message.empty()) return "an error without a message";
  if (message.size() > kMostMessageBytes) return "a message of " + std::to_string(message.size()) + " bytes";
  return "";
}

const ScratchFolder& folder() {
  static const ScratchFolder folder("what is being fuzzed");
  return folder;
}

/// A file that is written again and again. It stays open: to make one anew takes longer than most readers do.
class OpenFile {
 public:
  explicit OpenFile(std::filesystem::path path)
      : path_(std::move(path)), file_(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { ::close(file_); }

  /// Its bytes are these; nothing that SQLite left lies beside it.
  void write(std::string_view bytes) {
    if (is_database()) {
      for (const char* beside : {"-wal", "-shm", "-journal"}) ::unlink((path_.native() + beside).c_str());
    }
    const auto size = static_cast<::off_t>(bytes.size());
    const bool written = ::pwrite(file_, bytes.data(), bytes.size(), 0) == size && ::ftruncate(file_, size) == 0;
    if (!written) throw std::system_error(errno, std::generic_category(), path_.string());
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  [[nodiscard]] bool is_database() const { return path_.extension() == ".sqlite" || path_.extension() == ".db"; }

  std::filesystem::path path_;
  int file_;
};

}  // namespace

void require(bool holds, const std::string& promise) {
  if (!holds) throw Broken(promise);
}

std::optional<std::string> finding_of(const Reader& reader, std::string_view bytes) {
  try {
    reader.read(bytes);
    return std::nullopt;
  } catch (const Error& error) {
    const std::string fault = fault_of_message(error.what());
    if (fault.empty()) return std::nullopt;
    return fault + ": " + error.what();
  } catch (const std::bad_alloc&) {
    return "more memory than there is";
  } catch (const std::exception& error) {
    return std::string("not an Error: ") + error.what();
  }
}

std::optional<Error> refusal_of(const std::function<void()>& question) {
  try {
    question();
    return std::nullopt;
  } catch (const Error& error) {
    const std::string fault = fault_of_message(error.what());
    require(fault.empty(), fault + ": " + error.what());
    return error;
  }
}

std::filesystem::path as_file(std::string_view bytes, const std::string& ending) {
  static std::map<std::string, OpenFile> files;
  const auto [file, fresh] = files.try_emplace(ending, folder() / ("input" + ending));
  file->second.write(bytes);
  return file->second.path();
}

std::filesystem::path free_path(const std::string& name) {
  const std::filesystem::path file = folder() / name;
  for (const char* ending : {"", "-wal", "-shm", "-journal"}) std::filesystem::remove(file.string() + ending);
  return file;
}

}  // namespace hindsight::fuzz
