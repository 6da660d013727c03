/// Counts brackets and commas outside texts.
#include "hindsight/core/json_bounds.h"

#include <fmt/format.h>

#include "hindsight/core/text.h"

namespace hindsight {

std::string json_excess(std::string_view text, const JsonBounds& bounds) {
  if (text.size() > bounds.bytes) {
    return fmt::format("larger than {}", binary_bytes(static_cast<double>(bounds.bytes)));
  }
  std::size_t depth = 0, values = 1;
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
      if (++depth > bounds.depth) return fmt::format("nested deeper than {}", bounds.depth);
    } else if (c == '}' || c == ']') {
      depth -= depth > 0 ? 1 : 0;
    }
  }
  if (values > bounds.values) return fmt::format("of more than {} values", with_commas(bounds.values));
  return "";
}

std::string_view bounded_json(std::string_view text, const JsonBounds& bounds) {
  return json_excess(text, bounds).empty() ? text : std::string_view();
}

}  // namespace hindsight
