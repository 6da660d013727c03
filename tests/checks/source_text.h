/// Reading source files for the checks: lines, #include directives, comments.
///
/// Uses nothing of the library it judges, so that a broken layer cannot hide a finding.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hindsight::checks {

/// The whole file. Throws std::runtime_error naming it when it cannot be read.
[[nodiscard]] std::string read_text(const std::filesystem::path& file);

[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

/// One `#include` directive.
struct Include {
  std::string target;   ///< the text between the delimiters
  bool angled = false;  ///< <target> rather than "target"
  std::size_t line = 0;
};
[[nodiscard]] std::vector<Include> includes_of(std::string_view source);

/// C++ source with everything but comments blanked out; line breaks stay, so that line numbers hold.
[[nodiscard]] std::string comments_of(std::string_view source);

/// C++ source with comments, literals and preprocessor directives blanked out, position by position.
[[nodiscard]] std::string code_of(std::string_view source);

/// Whether the file's name is that of a C++ or CUDA source.
[[nodiscard]] bool is_source(const std::filesystem::path& file);

/// Files that are, or would be, under version control: `git ls-files` where that works, else every file that is
/// neither hidden version control data nor in a build folder. Relative to `root`, sorted.
[[nodiscard]] std::vector<std::filesystem::path> repository_files(const std::filesystem::path& root);

/// Regular files under `folder` (none when it does not exist), relative to `root`, sorted.
[[nodiscard]] std::vector<std::filesystem::path> files_under(const std::filesystem::path& root,
                                                             const std::filesystem::path& folder);

}  // namespace hindsight::checks
