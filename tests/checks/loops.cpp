/// Looks for loops over a member of a temporary.
#include "checks/loops.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "checks/source_text.h"

namespace hindsight::checks {
namespace {

namespace fs = std::filesystem;

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':'; }

/// Position behind the bracket that closes the one at `open`; the end of the text when none does.
std::size_t behind(std::string_view code, std::size_t open) {
  const char opening = code[open];
  const char closing = opening == '(' ? ')' : opening == '{' ? '}' : '>';
  std::size_t depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    if (code[i] == opening) ++depth;
    if (code[i] == closing && --depth == 0) return i + 1;
  }
  return code.size();
}

std::size_t skip_spaces(std::string_view code, std::size_t at) {
  while (at < code.size() && std::isspace(static_cast<unsigned char>(code[at])) != 0) ++at;
  return at;
}

/// The range of `for (declaration : range)`; empty for the loop of three parts.
std::string_view range_of(std::string_view inside) {
  int depth = 0;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const char c = inside[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth > 0 || c != ':') continue;
    if (i + 1 < inside.size() && inside[i + 1] == ':') {
      ++i;
      continue;
    }
    return inside.substr(i + 1);
  }
  return {};
}

/// Whether it begins as `f(...)`, `f<...>(...)` or `T{...}` and goes on with a call of a member, with `[` or `->`. A
/// data member, `f().rows`, keeps the object alive.
bool is_member_of_temporary(std::string_view range) {
  std::size_t at = skip_spaces(range, 0);
  const std::size_t name = at;
  while (at < range.size() && is_name_character(range[at])) ++at;
  if (at == name || at == range.size()) return false;
  if (range[at] == '<') at = behind(range, at);
  if (at == range.size() || (range[at] != '(' && range[at] != '{')) return false;
  at = skip_spaces(range, behind(range, at));
  const std::string_view rest = range.substr(at);
  return rest.starts_with("[") || rest.starts_with("->") ||
         (rest.starts_with(".") && rest.find_first_of("([>") != std::string_view::npos);
}

void check_text(const std::string& file, std::string_view code, Findings& findings) {
  constexpr std::string_view kFor = "for";
  for (std::size_t at = code.find(kFor); at != std::string_view::npos; at = code.find(kFor, at + 1)) {
    const std::size_t open = skip_spaces(code, at + kFor.size());
    if ((at > 0 && is_name_character(code[at - 1])) || open >= code.size() || code[open] != '(') continue;
    const std::string_view inside = code.substr(open + 1, behind(code, open) - open - 2);
    if (!is_member_of_temporary(range_of(inside))) continue;
    const auto line = std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    findings.push_back({file, static_cast<std::size_t>(line) + 1,
                        "loops over a member of a temporary, which is gone by then. Name the object before the loop"});
  }
}

}  // namespace

Findings check_loops(const fs::path& root) {
  Findings findings;
  for (const fs::path& file : repository_files(root)) {
    if (is_source(file)) check_text(file.string(), code_of(read_text(root / file)), findings);
  }
  return findings;
}

}  // namespace hindsight::checks
