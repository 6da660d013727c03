/// A shipped YAML file with one edit, in a temporary folder: what does the loader say about it?
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"

namespace hindsight::accel {

/// Lives as long as the test; removed at the end.
class EditedYaml {
 public:
  /// Copies `shipped` (relative to the source tree) with the first `from` replaced by `to`.
  EditedYaml(const std::string& shipped, const std::string& from, const std::string& to) {
    std::string text = read_file(std::filesystem::path{HINDSIGHT_SOURCE_DIR} / shipped);
    const std::size_t at = text.find(from);
    if (at == std::string::npos) throw std::runtime_error("no '" + from + "' in " + shipped);
    text.replace(at, from.size(), to);
    std::string pattern = (std::filesystem::temp_directory_path() / "hindsight-accel-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = pattern;
    std::ofstream(path(), std::ios::binary) << text;
  }
  ~EditedYaml() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  EditedYaml(const EditedYaml&) = delete;
  EditedYaml& operator=(const EditedYaml&) = delete;

  [[nodiscard]] std::string path() const { return (folder_ / "edited.yaml").string(); }

 private:
  std::filesystem::path folder_;
};

/// Expects Error{usage} from `action` whose message contains every one of `words`.
inline void expect_usage_error(const std::function<void()>& action, std::initializer_list<std::string> words) {
  try {
    action();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    for (const std::string& word : words) {
      EXPECT_NE(std::string{error.what()}.find(word), std::string::npos) << "'" << word << "' not in: " << error.what();
    }
  }
}

}  // namespace hindsight::accel
