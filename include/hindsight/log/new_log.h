/// A log that a command begins.
#pragma once

#include <filesystem>

namespace hindsight::log {

/// A log that is not there yet goes away again when it is not kept, unless somebody else has written to it.
class NewLog {
 public:
  explicit NewLog(const std::filesystem::path& file);
  ~NewLog();
  NewLog(const NewLog&) = delete;
  NewLog& operator=(const NewLog&) = delete;
  void keep() const { kept_ = true; }

 private:
  std::filesystem::path file_;
  bool was_there_;
  mutable bool kept_ = false;
};

}  // namespace hindsight::log
