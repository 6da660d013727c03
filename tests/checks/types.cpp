/// Looks for types, and for what stands in unnamed namespaces of one layer, that share a name.
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

constexpr std::string_view kUnnamed = "(unnamed)";

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

/// Position of the first of `wanted` outside of `<...>`; npos: none.
std::size_t find_outside(std::string_view text, char wanted) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == wanted && depth == 0) return i;
    if (text[i] == '<') ++depth;
    if (text[i] == '>' && depth > 0) --depth;
  }
  return std::string_view::npos;
}

/// Types of parameters, without names and defaults: what makes two functions of one name two.
std::string parameter_types(std::string_view parameters) {
  std::string types;
  while (!parameters.empty()) {
    const std::size_t comma = std::min(find_outside(parameters, ','), parameters.size());
    std::string_view one = parameters.substr(0, comma);
    one = one.substr(0, one.find('='));
    while (!one.empty() && std::isspace(static_cast<unsigned char>(one.back())) != 0) one.remove_suffix(1);
    while (!one.empty() && std::isspace(static_cast<unsigned char>(one.front())) != 0) one.remove_prefix(1);
    const std::size_t name = one.find_last_of(" &*>");
    for (const char c : one.substr(0, name == std::string_view::npos ? one.size() : name + 1)) {
      if (std::isspace(static_cast<unsigned char>(c)) == 0) types += c;
    }
    types += ',';
    parameters.remove_prefix(std::min(comma + 1, parameters.size()));
  }
  return types;
}

/// The function or variable that is defined by a head before its `{`, or by a statement before its `;`; empty: none.
std::string object_of(std::string_view head, bool body) {
  const std::vector<std::string> words = words_of(head);
  if (words.empty() || words.front() == "using" || words.front() == "namespace") return {};
  const std::size_t call = find_outside(head, '('), value = head.find('=');
  if (call == 0) return {};
  if (call < value) {
    const std::vector<std::string> before = words_of(head.substr(0, call));
    const std::size_t end = head.rfind(')');
    if (!body || before.size() < 2 || end == std::string_view::npos || end < call || head[call - 1] == ' ') return {};
    return before.back() + "(" + parameter_types(head.substr(call + 1, end - call - 1)) + ")";
  }
  if (value == std::string_view::npos && (!body || words.front() != "constexpr")) return {};
  const std::vector<std::string> before = words_of(head.substr(0, std::min(value, head.find('['))));
  return before.size() < 2 ? std::string() : before.back();
}

/// Definitions at the level of namespaces of one source: types, and in unnamed namespaces everything.
class Definitions {
 public:
  explicit Definitions(std::string_view code) {
    for (std::size_t at = 0; at < code.size(); ++at) {
      if (code[at] == '\n') ++line_;
      if (code[at] == ';') {
        if (is_unnamed()) add(object_of(head(code, at), false));
        start_ = at + 1;
      }
      if (code[at] == '}') {
        if (!open_.empty()) open_.pop_back();
        start_ = at + 1;
      }
      if (code[at] == '{') enter(head(code, at), at);
    }
  }
  [[nodiscard]] const std::vector<Definition>& all() const { return found_; }

 private:
  [[nodiscard]] std::string_view head(std::string_view code, std::size_t at) const {
    return code.substr(start_, at - start_);
  }
  [[nodiscard]] bool inside_namespaces() const { return std::ranges::find(open_, kOther) == open_.end(); }
  [[nodiscard]] bool is_unnamed() const {
    return inside_namespaces() && std::ranges::find(open_, std::string()) != open_.end();
  }
  void enter(std::string_view head, std::size_t at) {
    const std::vector<std::string> words = words_of(head);
    start_ = at + 1;
    const auto names = std::ranges::find(words, "namespace");
    if (names != words.end() && inside_namespaces()) {
      open_.push_back(names + 1 == words.end() ? std::string() : *(names + 1));
      return;
    }
    if (inside_namespaces()) add(type_of(words, head));
    if (is_unnamed()) add(object_of(head, true));
    open_.emplace_back(kOther);
  }
  void add(const std::string& what) {
    if (what.empty()) return;
    std::string name;
    for (const std::string& one : open_) name += (one.empty() ? std::string(kUnnamed) : one) + "::";
    found_.push_back({name + what, line_});
  }

  static constexpr std::string_view kOther = "{";  // a body: nothing in it counts
  std::vector<Definition> found_;
  std::vector<std::string> open_;
  std::size_t start_ = 0, line_ = 1;
};

}  // namespace

Findings check_types(const fs::path& root) {
  Findings findings;
  std::map<std::string, std::string> where;
  for (const fs::path& file : repository_files(root)) {
    const std::string top = file.begin()->string();
    if (!is_source(file) || (top != "src" && top != "include" && top != "apps" && top != "bench")) continue;
    const std::string layer = top + "/" + std::next(file.begin())->string() + "/";
    const Definitions definitions(code_of(read_text(root / file)));
    for (const Definition& one : definitions.all()) {
      const bool unnamed = one.name.find(kUnnamed) != std::string::npos;
      // Sources of bench are programs of their own.
      if (unnamed && (top == "bench" || file.extension() != ".cpp")) continue;
      const auto [first, is_new] = where.emplace((unnamed ? layer : "") + one.name, file.string());
      if (is_new || first->second == file.string()) continue;
      findings.push_back({file.string(), one.line,
                          "defines " + one.name + ", as " + first->second + " does: " +
                              (unnamed ? "some builds compile the two as one. Give one another name"
                                       : "the linker takes one of them for both. Give one another name, or an unnamed "
                                         "namespace")});
    }
  }
  return findings;
}

}  // namespace hindsight::checks
