/// Looks for a sentence in the first lines of every source.
#include "checks/openings.h"

#include <string>
#include <string_view>

#include "checks/source_text.h"

namespace hindsight::checks {
namespace {

namespace fs = std::filesystem;

/// The comment that the text begins with, up to its first empty line.
std::string first_paragraph(std::string_view text) {
  std::string paragraph;
  for (const std::string_view line : lines_of(text)) {
    if (!line.starts_with("/// ")) break;
    paragraph += line.substr(3);
  }
  return paragraph;
}

bool has_sentence(std::string_view text) {
  for (std::size_t end = text.find_first_of(".?"); end != std::string_view::npos;
       end = text.find_first_of(".?", end + 1)) {
    if (end + 1 == text.size() || text[end + 1] == ' ') return true;
  }
  return false;
}

}  // namespace

Findings check_openings(const fs::path& root) {
  Findings findings;
  for (const fs::path& file : repository_files(root)) {
    if (!is_source(file) || has_sentence(first_paragraph(read_text(root / file)))) continue;
    findings.push_back(
        {file.string(), 1, "does not say its job (readers start there). Open it with `/// ` and a sentence"});
  }
  return findings;
}

}  // namespace hindsight::checks
