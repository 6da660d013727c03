/// Which files a command reads and which it writes: no output may replace an input, another output or a log, or lie in
/// a folder that is not there or takes no file.
#pragma once

#include <string>
#include <vector>

namespace hindsight::app {

/// A file and the option that named it, for messages: {"--out", "study.safetensors"}.
struct NamedFile {
  std::string option;
  std::string file;
};

/// How a file is written.
enum class FileKind {
  whole,  ///< replaced as a whole
  log,    ///< appended to
};
struct PlannedFile : NamedFile {
  FileKind kind;
};

class FileRoles {
 public:
  /// Those of a list a,b,c that are files rather than names; "-" is standard input.
  FileRoles& reads(const std::string& option, const std::string& list);
  FileRoles& reads(const std::string& option, const std::vector<std::string>& lists);
  /// A log with the files that SQLite keeps beside it; it must be there.
  FileRoles& reads_log(const std::string& option, const std::string& file);
  /// The same for a log that is appended to and planned().
  FileRoles& appends_log(const std::string& option, const std::string& file);
  /// Empty and "-" are no files.
  FileRoles& writes(const std::string& option, const std::string& file);
  /// A log that is appended to; created where it is missing.
  FileRoles& writes_log(const std::string& option, const std::string& file);
  /// A model file with its card.
  FileRoles& writes_model(const std::string& option, const std::string& file);
  /// Error{usage} for an output in a missing folder or, where it is written whole, in one that takes no file; for files
  /// that clash, naming both options; and for a whole file in the place of a log, or of any SQLite database. Links and
  /// other spellings of a path count; devices and pipes may be shared. Long work has not begun. Says on standard error
  /// where a log is written on a network file system.
  void require_usable() const;
  /// What is written, in the order in which it was named.
  [[nodiscard]] const std::vector<PlannedFile>& planned() const { return planned_; }

 private:
  void require_folders() const;

  std::vector<NamedFile> inputs_;
  std::vector<PlannedFile> outputs_, planned_;
};

}  // namespace hindsight::app
