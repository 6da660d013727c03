/// Whether somebody opens files that nobody has to open.
#pragma once

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <stdexcept>
#include <vector>

namespace hindsight::test {

/// Tells which of some files were opened, by whatever process, since it was made.
class FileWatch {
 public:
  explicit FileWatch(const std::vector<std::filesystem::path>& files) : events_(::inotify_init1(IN_NONBLOCK)) {
    if (events_ < 0) throw std::runtime_error("no inotify");
    for (const std::filesystem::path& file : files) {
      if (::inotify_add_watch(events_, file.c_str(), IN_OPEN) < 0) {
        ::close(events_);
        throw std::runtime_error("cannot watch " + file.string());
      }
    }
  }
  ~FileWatch() { ::close(events_); }
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  [[nodiscard]] bool any_opened() const {
    alignas(inotify_event) std::array<char, 4096> events{};
    return ::read(events_, events.data(), events.size()) > 0;
  }

 private:
  int events_;
};

}  // namespace hindsight::test
