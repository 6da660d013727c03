/// Looks for types that share a name.
#include "checks/types.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "checks/source_text.h"

namespace hindsight::checks {
namespace {

namespace fs = std::filesystem;

struct Definition {
  std::string name;  ///< with its namespace
  std::size_t line = 0;
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  for (const char c : text) {
    const bool part = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':';
    if (part && !in_word) words.emplace_back();
    if (part) words.back() += c;
    in_word = part;
  }
  return words;
}

/// The name of the type that begins with these words before its `{`; empty: none, or a specialisation.
std::string type_of(const std::vector<std::string>& words, std::string_view head) {
  if (head.find('(') != std::string_view::npos || head.find('=') != std::string_view::npos) return {};
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "template") return {};
    if (words[i] != "struct" && words[i] != "class" && words[i] != "enum") continue;
    std::size_t at = i + 1;
    if (at < words.size() && (words[at] == "class" || words[at] == "struct")) ++at;
    return at < words.size() ? words[at] : std::string();
  }
  return {};
}

/// Types at the level of namespaces of one source.
std::vector<Definition> types_in(std::string_view code) {
  constexpr std::string_view kOther = "{";  // a body: nothing in it counts
  std::vector<Definition> found;
  std::vector<std::string> open;
  std::size_t start = 0, line = 1;
  const auto inside_namespaces = [&] { return std::ranges::find(open, kOther) == open.end(); };
  for (std::size_t at = 0; at < code.size(); ++at) {
    if (code[at] == '\n') ++line;
    if (code[at] == ';') start = at + 1;
    if (code[at] == '}') {
      if (!open.empty()) open.pop_back();
      start = at + 1;
    }
    if (code[at] != '{') continue;
    const std::string_view head = code.substr(start, at - start);
    const std::vector<std::string> words = words_of(head);
    start = at + 1;
    const auto names = std::ranges::find(words, "namespace");
    if (names != words.end() && inside_namespaces()) {
      open.push_back(names + 1 == words.end() ? std::string() : *(names + 1));
      continue;
    }
    const bool unnamed = std::ranges::find(open, std::string()) != open.end();
    const std::string type = inside_namespaces() && !unnamed ? type_of(words, head) : "";
    if (!type.empty()) {
      std::string name;
      for (const std::string& one : open) name += one + "::";
      found.push_back({name + type, line});
    }
    open.emplace_back(kOther);
  }
  return found;
}

}  // namespace

Findings check_types(const fs::path& root) {
  Findings findings;
  std::map<std::string, std::string> where;
  for (const fs::path& file : repository_files(root)) {
    const std::string top = file.begin()->string();
    if (!is_source(file) || (top != "src" && top != "include" && top != "apps" && top != "bench")) continue;
    for (const Definition& one : types_in(code_of(read_text(root / file)))) {
      const auto [first, is_new] = where.emplace(one.name, file.string());
      if (is_new || first->second == file.string()) continue;
      findings.push_back({file.string(), one.line,
                          "defines " + one.name + ", as " + first->second +
                              " does: the linker takes one of them for both. Give one another name, or an unnamed "
                              "namespace"});
    }
  }
  return findings;
}

}  // namespace hindsight::checks
