/// The answer to a name that is not in a table.
#include "hindsight/core/enum_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "hindsight/core/text.h"

namespace hindsight {

std::string unknown_name(std::string_view what, std::string_view text, std::span<const std::string> known) {
  return fmt::format("unknown {} '{}'.{}", what, printable(text), did_you_mean(text, known));
}

void fail_unknown_name(std::string_view what, std::string_view text, std::span<const std::string> known) {
  throw Error(ErrorKind::usage, unknown_name(what, text, known));
}

std::size_t index_of_name(std::string_view what, std::string_view text, std::span<const std::string> known) {
  const auto found = std::find(known.begin(), known.end(), text);
  if (found == known.end()) fail_unknown_name(what, text, known);
  return static_cast<std::size_t>(found - known.begin());
}

}  // namespace hindsight
