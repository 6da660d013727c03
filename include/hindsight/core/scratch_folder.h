/// A folder for files that only exist while something is done.
#pragma once

#include <filesystem>
#include <string_view>

namespace hindsight {

/// A fresh, empty folder in the temporary folder ($TMPDIR, else /tmp), for this user alone (mode 0700). At the end of
/// its life it goes with all that is in it, however the scope is left.
class ScratchFolder {
 public:
  /// `purpose`: what lies there, for messages: "a copy of the log". Error{failure}, naming folder, reason and remedy.
  explicit ScratchFolder(std::string_view purpose);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// The file or folder of that name in it, made or not.
  [[nodiscard]] std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace hindsight
