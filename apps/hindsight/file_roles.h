/// Which files a command reads and which it writes: no output may replace an input or another output.
#pragma once

#include <string>
#include <vector>

namespace hindsight::app {

/// A file and the option that named it, for messages: {"--out", "study.safetensors"}.
struct NamedFile {
  std::string option;
  std::string file;
};

class FileRoles {
 public:
  /// Those of a list a,b,c that are files rather than names; "-" is standard input.
  FileRoles& reads(const std::string& option, const std::string& list);
  FileRoles& reads(const std::string& option, const std::vector<std::string>& lists);
  /// A log with the files that SQLite keeps beside it. A log that is also appended to counts as read.
  FileRoles& reads_log(const std::string& option, const std::string& file);
  /// Empty and "-" are no files.
  FileRoles& writes(const std::string& option, const std::string& file);
  /// A model file with its card.
  FileRoles& writes_model(const std::string& option, const std::string& file);
  /// Error{usage} that names both options. Links and other spellings of a path count; devices and pipes may be shared.
  void require_separate() const;

 private:
  std::vector<NamedFile> inputs_, outputs_;
};

}  // namespace hindsight::app
