/// Counts brackets, commas and colons outside texts, and compares names.
#include "hindsight/core/json_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <tuple>
#include <vector>

#include "hindsight/core/text.h"

namespace hindsight {
namespace {

struct JsonName {
  std::string_view name;
  std::size_t byte = 0;
};

/// That which is given again first. Sorts the names.
std::optional<RepeatedJsonName> repeated_of(std::vector<JsonName>& names) {
  std::ranges::sort(names, {}, [](const JsonName& one) { return std::tie(one.name, one.byte); });
  const JsonName* first = nullptr;
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (names[i].name != names[i - 1].name) continue;
    if (first == nullptr || names[i].byte < first->byte) first = &names[i];
  }
  if (first == nullptr) return std::nullopt;
  return RepeatedJsonName{.byte = first->byte, .name = std::string(first->name)};
}

}  // namespace

std::string json_excess(std::string_view text, const JsonBounds& bounds) {
  if (text.size() > bounds.bytes) {
    return fmt::format("larger than {}", binary_bytes(static_cast<double>(bounds.bytes)));
  }
  if (text.find('\0') != std::string_view::npos) return "cut off by a NUL byte";
  std::size_t values = 1;
  std::vector<std::size_t> names;  // of every object or list that is open
  std::uint64_t comparisons = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      ++values;
    } else if (c == '{' || c == '[') {
      ++values;
      names.push_back(0);
      if (names.size() > bounds.depth) return fmt::format("nested deeper than {}", bounds.depth);
    } else if (c == '}' || c == ']') {
      if (!names.empty()) names.pop_back();
    } else if (c == ':' && !names.empty()) {
      comparisons += names.back()++;
    }
  }
  if (values > bounds.values) return fmt::format("of more than {} values", with_commas(bounds.values));
  if (comparisons > bounds.comparisons) {
    return fmt::format(
        "of objects with too many names (more than {} in one, or many in each of several)",
        with_commas(static_cast<std::uint64_t>(std::sqrt(2.0 * static_cast<double>(bounds.comparisons)))));
  }
  return "";
}

std::string_view bounded_json(std::string_view text, const JsonBounds& bounds) {
  return json_excess(text, bounds).empty() ? text : std::string_view();
}

std::optional<RepeatedJsonName> repeated_json_name(std::string_view text,
                                                   const std::function<std::string(std::string_view)>& unquoted) {
  std::vector<std::vector<JsonName>> open;  // names of every object or list that is open
  std::deque<std::string> decoded;          // of names with escapes, where they do not move
  std::size_t begin = 0, end = 0;           // of what was last in quotes, with these
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      begin = i++;
      while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
      end = std::min(i + 1, text.size());
    } else if (c == '{' || c == '[') {
      open.emplace_back();
    } else if ((c == '}' || c == ']') && !open.empty()) {
      if (auto repeated = repeated_of(open.back())) return repeated;
      open.pop_back();
    } else if (c == ':' && !open.empty() && end >= begin + 2) {
      const std::string_view quoted = text.substr(begin, end - begin);
      const bool escaped = quoted.find('\\') != std::string_view::npos;
      if (escaped) decoded.push_back(unquoted(quoted));
      open.back().push_back({escaped ? std::string_view(decoded.back()) : quoted.substr(1, quoted.size() - 2), begin});
    }
  }
  return std::nullopt;
}

}  // namespace hindsight
