/// Looks for a program as what starts it does.
#include "evaluator/program_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"

namespace hindsight::evaluator {
namespace {

bool is_program(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0;
}

bool is_on_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "" : path, ':')) {
    if (is_program(std::filesystem::path(folder.empty() ? "." : folder) / name)) return true;
  }
  return false;
}

}  // namespace

std::string remedy_of_program(const std::string& program) {
  constexpr std::size_t kShown = 60;  // [chosen] a path that is cut would not work
  const std::string word = program.size() <= kShown ? shell_quoted(printable(program)) : "FILE";
  std::error_code ignored;
  const bool is_file = std::filesystem::is_regular_file(program, ignored);
  if (program.find('/') == std::string::npos) {
    if (is_on_path(program)) return "";
    if (!is_file) return fmt::format(" Is {} installed, and on the PATH?", printable(program, kShown));
    return is_program(program) ? fmt::format(" The file is in this folder: write ./{}", word)
                               : fmt::format(" The file is in this folder: chmod +x {0}, and write ./{0}", word);
  }
  if (!std::filesystem::exists(program, ignored)) return " There is no such file. Is the path right?";
  if (is_program(program)) return "";
  return is_file ? " Make it a program: chmod +x " + word : " That is no program";
}

}  // namespace hindsight::evaluator
