/// Makes one kind of call below its working folder, as the program's libraries make it: `hindsight-fault-probe CALL`.
/// Exit code 0 when that succeeds, 1 when it fails, 2 for a name that it does not know. Its own name begins as those of
/// the programs that calls are made to fail in.
#include <fcntl.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <system_error>

namespace {

namespace fs = std::filesystem;

constexpr const char* kThere = "there.bin";  ///< the test made it
constexpr std::size_t kLarge = 1 << 20;      ///< more than a stream's buffer

class Opened {
 public:
  Opened() : number_(::open(kThere, O_RDWR | O_CLOEXEC)) {}
  ~Opened() {
    if (number_ >= 0) ::close(number_);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

bool writes_by_stream(std::size_t bytes) {
  std::ofstream out("written.bin", std::ios::binary);
  out << std::string(bytes, 'x');
  out.close();
  return !out.fail();
}

bool reads_by_stream() {
  std::ifstream in(kThere, std::ios::binary);
  in.get();
  return in.good();
}

bool copies_by_range() {
  const Opened from;
  const int to = ::open("copied.bin", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  const bool done = to >= 0 && ::copy_file_range(from.number(), nullptr, to, nullptr, 16, 0) >= 0;
  if (to >= 0) ::close(to);
  return done;
}

bool opens_at() {
  const int folder = ::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int file = ::openat(folder, kThere, O_RDONLY | O_CLOEXEC);
  const bool done = file >= 0;
  if (done) ::close(file);
  ::close(folder);
  return done;
}

bool removes_all() {
  std::error_code error;
  fs::create_directories("tree/branch", error);
  std::ofstream("tree/branch/leaf") << 'x';
  fs::remove_all("tree", error);
  return !error && !fs::exists("tree");
}

bool closes() {
  const int file = ::open(kThere, O_RDONLY | O_CLOEXEC);
  return file >= 0 && ::close(file) == 0;
}

const std::map<std::string, std::function<bool()>>& calls() {
  static const std::map<std::string, std::function<bool()>> all = {
      {"write", [] { return ::write(Opened().number(), "x", 1) == 1; }},
      {"pwrite64", [] { return ::pwrite64(Opened().number(), "x", 1, 5) == 1; }},
      {"small stream", [] { return writes_by_stream(1); }},
      {"large stream", [] { return writes_by_stream(kLarge); }},
      {"copy_file",
       [] {
         std::error_code error;
         return fs::copy_file(kThere, "copied.bin", fs::copy_options::overwrite_existing, error);
       }},
      {"copy_file_range", copies_by_range},
      {"open", [] { return Opened().number() >= 0; }},
      {"openat", opens_at},
      {"stream of a file", [] { return std::ifstream(kThere).is_open(); }},
      {"pread64",
       [] {
         char one = 0;
         return ::pread64(Opened().number(), &one, 1, 3) == 1;
       }},
      {"stream read", reads_by_stream},
      {"fsync", [] { return ::fsync(Opened().number()) == 0; }},
      {"fdatasync", [] { return ::fdatasync(Opened().number()) == 0; }},
      {"ftruncate64", [] { return ::ftruncate64(Opened().number(), 9) == 0; }},
      {"resize_file",
       [] {
         std::error_code error;
         fs::resize_file(kThere, 9, error);
         return !error;
       }},
      {"rename",
       [] {
         std::error_code error;
         fs::rename(kThere, "renamed.bin", error);
         return !error;
       }},
      {"create_hard_link",
       [] {
         std::error_code error;
         fs::create_hard_link(kThere, "linked.bin", error);
         return !error;
       }},
      {"unlink", [] { return ::unlink(kThere) == 0; }},
      {"remove",
       [] {
         std::error_code error;
         return fs::remove(kThere, error);
       }},
      {"remove_all", removes_all},
      {"close", closes},
  };
  return all;
}

}  // namespace

int main(int count, char** words) {
  const auto call = count == 2 ? calls().find(words[1]) : calls().end();
  if (call == calls().end()) {
    ::fputs("usage: hindsight-fault-probe CALL\n", stderr);
    return 2;
  }
  return call->second() ? 0 : 1;
}
