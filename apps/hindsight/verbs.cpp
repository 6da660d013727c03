/// What several verbs ask of their options.
#include "verbs.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>

#include "hindsight/core/text.h"

namespace hindsight::app {
namespace {

/// The whole number that was meant by another way to write it: 1e3, 1000.0, 1,000.
std::optional<double> meant_whole(std::string text) {
  std::erase_if(text, [](char c) { return c == ',' || c == '_' || c == '\''; });
  const std::optional<double> value = parse_double(text);
  return value && std::floor(*value) == *value ? value : std::nullopt;
}

/// What is wrong with a value, if anything.
std::string whole_number_problem(const std::string& text, std::int64_t low, std::int64_t high) {
  std::int64_t value = 0;
  const bool is_whole = CLI::detail::lexical_cast(text, value);
  if (is_whole && low <= value && value <= high) return "";
  const std::optional<double> meant = is_whole ? std::nullopt : meant_whole(text);
  if (meant && static_cast<double>(low) <= *meant && *meant <= static_cast<double>(high)) {
    return fmt::format("'{}' is not written as a whole number. Write {:.0f}", printable(text, 60), *meant);
  }
  const bool is_number = is_whole || parse_double(text);
  return fmt::format("{} is {}. Give a whole number from {} to {}",
                     is_number ? printable(text, 60) : fmt::format("'{}'", printable(text, 60)),
                     is_whole || meant ? "out of range"
                     : is_number       ? "no whole number"
                                       : "no number",
                     low, high);
}

}  // namespace

CLI::Validator between(std::int64_t low, std::int64_t high) {
  return {[low, high](const std::string& text) { return whole_number_problem(text, low, high); }, ""};
}

}  // namespace hindsight::app
