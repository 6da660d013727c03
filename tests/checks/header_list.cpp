/// Compares the headers of a tree with those that the build compiled.
#include "checks/header_list.h"

#include <set>
#include <string>

#include "checks/source_text.h"

namespace hindsight::checks {

Findings check_header_list(const std::filesystem::path& root, const std::filesystem::path& compiled_list) {
  const std::string text = read_text(compiled_list);
  std::set<std::string> compiled;
  for (const std::string_view line : lines_of(text)) compiled.emplace(line);
  Findings findings;
  for (const std::filesystem::path& file : files_under(root, "include")) {
    if (file.extension() != ".h") {
      findings.push_back(
          {file.string(), 0, "is no .h file (public headers are named *.h; others are not compiled alone)"});
    } else if (!compiled.contains(file.lexically_relative("include").string())) {
      findings.push_back({file.string(), 0, "was not compiled alone by this build. Build the target headers_check"});
    }
  }
  return findings;
}

}  // namespace hindsight::checks
