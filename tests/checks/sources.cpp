/// Looks for tags without a source and for traces of one machine.
#include "checks/sources.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <vector>

#include "checks/source_text.h"

namespace hindsight::checks {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kCitingTags = {"spec", "paper", "data"};
constexpr std::array<std::string_view, 2> kFreeTags = {"measured", "chosen"};
/// Words that people write where a tag belongs; a bare `[mm2]` is a unit, `[estimated]` is a source that is missing.
constexpr std::array<std::string_view, 16> kMistakenTags = {
    "specs",   "papers",     "measure", "measurement", "choice",    "choose", "source",   "ref",
    "assumed", "assumption", "guess",   "estimate",    "estimated", "fitted", "computed", "memory"};

/// Split literals: this file must pass its own check.
constexpr std::array<std::string_view, 3> kMachineFolders = {
    "/wo"
    "rk/",
    "/ro"
    "ot/",
    "/fa"
    "rm/"};
constexpr std::string_view kTemporaryFolder =
    "/t"
    "mp/";
constexpr std::array<std::string_view, 8> kRegistryHosts = {
    "deb.deb"
    "ian.org",
    "security.deb"
    "ian.org",
    "archive.ub"
    "untu.com",
    "registry.np"
    "mjs",
    "py"
    "pi.org",
    "files.python"
    "hosted.org",
    "static.cra"
    "tes.io",
    "conda.ana"
    "conda.org"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

/// A bracket that opens with a word: "[paper: prime, Table 2]" has word "paper", colon, and rest "prime, Table 2".
struct Tag {
  std::string_view word;
  bool colon = false;
  std::string_view rest;
};

std::string cited_keys_problem(const Tag& tag, const std::set<std::string>& keys) {
  const std::string shown = "[" + std::string(tag.word) + "]";
  if (!tag.colon) return shown + " cites nothing. Write [" + std::string(tag.word) + ": KEY], KEY from REFERENCES.md";
  std::string_view rest = tag.rest;
  while (true) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    const std::string_view citation = trim(rest.substr(0, end));
    const std::string key(citation.substr(0, std::min(citation.find_first_of(" ,"), citation.size())));
    if (key.empty()) return shown + " cites nothing on its line. Write [" + std::string(tag.word) + ": KEY]";
    if (!keys.contains(key)) return shown + " cites '" + key + "', which REFERENCES.md does not have. Add it there";
    if (end == rest.size()) return "";
    rest.remove_prefix(end + 1);
  }
}

std::string tag_problem(const Tag& tag, const std::set<std::string>& keys) {
  if (contains(kCitingTags, tag.word)) return cited_keys_problem(tag, keys);
  if (contains(kFreeTags, tag.word)) return "";
  const bool mistaken = contains(kMistakenTags, tag.word) && (tag.colon || tag.rest.empty());
  if (!tag.colon && !mistaken) return "";  // a unit, an index, a list: not a tag
  return "unknown tag '[" + std::string(tag.word) + "]'. Tags: spec, paper, data (with a key), measured, chosen";
}

void check_tags(const std::string& file, std::string_view text, const std::set<std::string>& keys, Findings& findings) {
  std::size_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    for (std::size_t open = line.find('['); open != std::string_view::npos; open = line.find('[', open + 1)) {
      if (open > 0 && (is_name_character(line[open - 1]) || line[open - 1] == '[')) continue;  // index, [[attribute]]
      const std::string_view inside = line.substr(open + 1, line.find(']', open) - open - 1);
      const auto* end_of_word = std::find_if_not(inside.begin(), inside.end(), is_letter);
      const auto length = static_cast<std::size_t>(end_of_word - inside.begin());
      if (length == 0) continue;
      std::string_view rest = inside.substr(length);
      const bool colon = rest == ":" || rest.starts_with(": ");
      if (!colon && !rest.empty() && rest.front() != ' ') continue;  // [a,b], [i+1], [x::y]
      if (colon) rest.remove_prefix(1);
      const std::string problem =
          tag_problem({.word = inside.substr(0, length), .colon = colon, .rest = trim(rest)}, keys);
      if (!problem.empty()) findings.push_back({file, number, problem});
    }
  }
}

void check_places(const std::string& file, std::string_view text, Findings& findings) {
  const auto report = [&](std::size_t at, const std::string& problem) {
    const auto line =
        static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    findings.push_back({file, line + 1, problem});
  };
  const auto for_each = [&](std::string_view needle, const auto& body) {
    for (std::size_t at = text.find(needle); at != std::string_view::npos; at = text.find(needle, at + 1)) body(at);
  };
  for (const std::string_view folder : kMachineFolders) {
    for_each(folder, [&](std::size_t at) {
      if (at > 0 && is_name_character(text[at - 1])) return;  // src/work/, https://host/root/
      report(at, "names the folder " + std::string(folder) + " of one machine. Use a relative path");
    });
  }
  for_each(kTemporaryFolder, [&](std::size_t at) {
    const std::size_t next = at + kTemporaryFolder.size();
    if (next < text.size() && is_letter(text[next])) {
      report(at, "names a fixed temporary file. Use mktemp or std::filesystem::temp_directory_path");
    }
  });
  for (const std::string_view host : kRegistryHosts) {
    for_each(host, [&](std::size_t at) {
      report(at, "names the package registry " + std::string(host) + " (a user's machine has its own)");
    });
  }
}

/// Folders whose numbers need a source; prose about the tags themselves (Markdown) is not judged.
bool carries_tags(const fs::path& file) {
  const std::string top = file.begin()->string();
  return (top == "include" || top == "src" || top == "data" || top == "configs") && file.extension() != ".md";
}

}  // namespace

std::set<std::string> reference_keys(const fs::path& root, Findings& findings) {
  const std::string file = "REFERENCES.md";
  std::set<std::string> keys;
  if (!fs::exists(root / file)) {
    findings.push_back({file, 0, "is missing (tags cite its keys)"});
    return keys;
  }
  const std::string text = read_text(root / file);
  std::size_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    if (!line.starts_with("- **")) continue;
    const std::size_t close = line.find("**:", 4);
    if (close == std::string_view::npos || close == 4 || trim(line.substr(close + 3)).empty()) {
      findings.push_back(
          {file, number, "is no entry of the form '- **KEY**: authors, title, venue, year. identifier.'"});
      continue;
    }
    std::string key(line.substr(4, close - 4));
    if (!keys.insert(key).second) findings.push_back({file, number, "has the key '" + key + "' a second time"});
  }
  return keys;
}

Findings check_sources(const fs::path& root) {
  Findings findings;
  const std::set<std::string> keys = reference_keys(root, findings);
  for (const fs::path& file : repository_files(root)) {
    const std::string text = read_text(root / file);
    if (text.find('\0') != std::string::npos) continue;  // not a text file
    check_places(file.string(), text, findings);
    if (!carries_tags(file)) continue;
    if (is_source(file)) {
      check_tags(file.string(), comments_of(text), keys, findings);
    } else {
      check_tags(file.string(), text, keys, findings);
    }
  }
  return findings;
}

}  // namespace hindsight::checks
