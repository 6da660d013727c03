/// Finds the functions of a source by its braces, and counts their lines.
#include "checks/functions.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "checks/source_text.h"

namespace hindsight::checks {
namespace {

namespace fs = std::filesystem;

/// [chosen] A screen.
constexpr std::size_t kMostLines = 60;
constexpr std::string_view kBlanks = " \t\r\n";

/// From the first non-blank of `text` on.
std::string_view trimmed_left(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kBlanks), text.size()));
}

/// `head` without labels (`public:`) and `template <...>`.
std::string_view declaration_of(std::string_view head) {
  head = trimmed_left(head);
  for (const std::string_view label : {"public:", "protected:", "private:"}) {
    if (head.starts_with(label)) return declaration_of(head.substr(label.size()));
  }
  if (!head.starts_with("template")) return head;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < head.size(); ++i) {
    if (head[i] == '<') ++depth;
    if (head[i] == '>' && depth > 0 && --depth == 0) return declaration_of(head.substr(i + 1));
  }
  return head;
}

enum class Kind { scope, function, other };

/// What the braces after `head` hold; a scope is what functions stand in.
Kind kind_of(std::string_view head) {
  const std::string_view declaration = declaration_of(head);
  const std::string_view word = declaration.substr(0, declaration.find_first_of(" \t\r\n({:"));
  constexpr std::array<std::string_view, 4> kScopes{"namespace", "class", "struct", "union"};
  if (std::find(kScopes.begin(), kScopes.end(), word) != kScopes.end()) return Kind::scope;
  if (declaration.find('(') == std::string_view::npos) return word == "extern" ? Kind::scope : Kind::other;
  const std::size_t last = declaration.find_last_not_of(kBlanks);
  return word == "enum" || declaration[last] == '=' ? Kind::other : Kind::function;
}

std::size_t line_of(std::string_view text, std::size_t position) {
  return 1 +
         static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(position), '\n'));
}

struct Block {
  std::size_t head = 0, open = 0;  ///< positions: after the declaration before, of the brace
  Kind kind = Kind::other;
  bool in_scope = false;  ///< in scopes only
};

/// Whether the text after a closed brace belongs to the same head: `A() : a_{1}, b_{2} {`, `f(S s = {}) {`.
bool head_goes_on(std::string_view rest) {
  rest = trimmed_left(rest);
  return rest.starts_with(',') || rest.starts_with('{') || rest.starts_with(')');
}

Findings long_functions(const std::string& file, const std::string& source) {
  const std::string code = code_of(source), comments = comments_of(source);
  const std::string_view view(code);
  Findings findings;
  std::vector<Block> blocks;
  std::size_t head = 0;
  for (std::size_t i = view.find_first_of("{};"); i != std::string_view::npos; i = view.find_first_of("{};", i + 1)) {
    if (view[i] == '{') {
      const bool in_scope = blocks.empty() || (blocks.back().in_scope && blocks.back().kind == Kind::scope);
      blocks.push_back({head, i, kind_of(view.substr(head, i - head)), in_scope});
    }
    if (view[i] != '}') {
      head = i + 1;
      continue;
    }
    if (blocks.empty()) return {{file, line_of(view, i), "closes a brace that is not open. One per #if branch?"}};
    const Block block = blocks.back();
    blocks.pop_back();
    head = head_goes_on(view.substr(i + 1)) ? block.head : i + 1;
    if (block.kind != Kind::function || !block.in_scope) continue;
    const std::string_view declaration = declaration_of(view.substr(block.head));
    const std::size_t first = line_of(view, view.size() - declaration.size()), lines = line_of(view, i) - first + 1;
    const std::string_view above = std::string_view(comments).substr(block.head, block.open - block.head);
    if (lines <= kMostLines || above.find("Long:") != std::string_view::npos) continue;
    findings.push_back({file, first,
                        "a function of " + std::to_string(lines) +
                            " lines (more than 60 are hard to follow). Split it into named steps, or say why not in a "
                            "comment above it, with `Long:`"});
  }
  if (!blocks.empty()) return {{file, line_of(view, blocks.back().open), "opens a brace that is never closed"}};
  return findings;
}

}  // namespace

Findings check_functions(const fs::path& root) {
  Findings findings;
  for (const fs::path& file : repository_files(root)) {
    if (!is_source(file)) continue;
    const Findings found = long_functions(file.string(), read_text(root / file));
    findings.insert(findings.end(), found.begin(), found.end());
  }
  return findings;
}

}  // namespace hindsight::checks
