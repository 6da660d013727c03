/// Counts brackets, commas and colons outside texts.
#include "hindsight/core/json_bounds.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "hindsight/core/text.h"

namespace hindsight {

std::string json_excess(std::string_view text, const JsonBounds& bounds) {
  if (text.size() > bounds.bytes) {
    return fmt::format("larger than {}", binary_bytes(static_cast<double>(bounds.bytes)));
  }
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

}  // namespace hindsight
