/// A shipped YAML file with one edit, in a temporary folder: what does the loader say about it?
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <string>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "repository.h"
#include "temporary_folder.h"

namespace hindsight::test {

/// Lives as long as the test; removed at the end.
class EditedYaml {
 public:
  /// Copies `shipped` (relative to the source tree) with the first `from` replaced by `to`.
  EditedYaml(const std::string& shipped, const std::string& from, const std::string& to) {
    std::string text = read_file(hindsight::test::repository() / shipped);
    const std::size_t at = text.find(from);
    if (at == std::string::npos) throw std::runtime_error("no '" + from + "' in " + shipped);
    write(text.replace(at, from.size(), to));
  }
  explicit EditedYaml(const std::string& text) { write(text); }
  [[nodiscard]] std::string path() const { return (folder_ / "edited.yaml").string(); }

 private:
  void write(const std::string& text) { folder_.write("edited.yaml", text); }

  TemporaryFolder folder_;
};

/// Expects Error{usage} of one line from `action`, with every one of `words` in its message.
inline void expect_usage_error(const std::function<void()>& action, std::initializer_list<std::string> words) {
  try {
    action();
    FAIL() << "no error";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    for (const std::string& word : words) {
      EXPECT_NE(message.find(word), std::string::npos) << "'" << word << "' not in: " << message;
    }
  }
}

}  // namespace hindsight::test
