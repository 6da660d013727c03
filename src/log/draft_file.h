/// A database under a name of its own until it is whole. Private to the log layer.
#pragma once

#include <filesystem>

namespace hindsight::log {

/// The file goes away with what SQLite puts beside it, unless it was published.
class DraftFile {
 public:
  /// The draft lies beside `output`; its path is absolute, so that SQLite takes no part of it for a URI.
  explicit DraftFile(const std::filesystem::path& output);
  /// Also makes it, empty, for nobody else to read than may read `like`, which it becomes a copy of.
  DraftFile(const std::filesystem::path& output, const std::filesystem::path& like);
  ~DraftFile();
  DraftFile(const DraftFile&) = delete;
  DraftFile& operator=(const DraftFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Brings to the disk what was written to it so far. Errors: Error{failure} when the disk fails.
  void sync() const;
  /// Syncs it, gives it the name of the output, in place of an empty file of that name, and syncs the folder, so that
  /// the name outlives a power failure. Closed before. Errors:
  /// Error{failure} when another file of that name is there, or the disk fails.
  void publish() const;

 private:
  std::filesystem::path output_, path_;
};

/// Takes from others what they may not do with `like`.
void restrict_as(const std::filesystem::path& file, const std::filesystem::path& like);

}  // namespace hindsight::log
