/// Names of enumerations: one table per enumeration serves both directions, and a name that is not in it gets the same
/// answer everywhere: "unknown layout 'xx'. Did you mean 'nn'?".
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/core/config.h"
#include "hindsight/core/error.h"

namespace hindsight {

template <class Enum>
struct EnumName {
  Enum value;
  std::string_view name;
};

/// The names of an enumeration, in the order in which messages list them.
template <class Enum, std::size_t N>
using EnumNames = std::array<EnumName<Enum>, N>;

/// "unknown WHAT 'TEXT'. Did you mean 'x'?", or with the known names where none is near.
[[nodiscard]] std::string unknown_name(std::string_view what, std::string_view text,
                                       std::span<const std::string> known);
/// The same as an Error{usage}.
[[noreturn]] void fail_unknown_name(std::string_view what, std::string_view text, std::span<const std::string> known);

/// The position of `text` in `known`. Errors: as `fail_unknown_name`.
[[nodiscard]] std::size_t index_of_name(std::string_view what, std::string_view text,
                                        std::span<const std::string> known);

template <class Enum, std::size_t N>
[[nodiscard]] std::vector<std::string> names_in(const EnumNames<Enum, N>& table) {
  std::vector<std::string> names;
  for (const EnumName<Enum>& entry : table) names.emplace_back(entry.name);
  return names;
}

/// The name of `value`, which stands in the table.
template <class Enum, std::size_t N>
[[nodiscard]] constexpr std::string_view name_in(const EnumNames<Enum, N>& table, Enum value) {
  for (const EnumName<Enum>& entry : table) {
    if (entry.value == value) return entry.name;
  }
  contract_failed("expects", "the enumeration's value has a name", __FILE__, __LINE__);
}

template <class Enum, std::size_t N>
[[nodiscard]] constexpr std::optional<Enum> find_enum(std::string_view text, const EnumNames<Enum, N>& table) {
  for (const EnumName<Enum>& entry : table) {
    if (entry.name == text) return entry.value;
  }
  return std::nullopt;
}

/// The value of the name `text`; `what` says what it names. Errors: as `fail_unknown_name`.
template <class Enum, std::size_t N>
[[nodiscard]] Enum parse_enum(std::string_view what, std::string_view text, const EnumNames<Enum, N>& table) {
  if (const auto value = find_enum(text, table)) return *value;
  fail_unknown_name(what, text, names_in(table));
}

/// Likewise from a YAML file, whose place begins the message.
template <class Enum, std::size_t N>
[[nodiscard]] Enum parse_enum(std::string_view what, const ConfigNode& node, const EnumNames<Enum, N>& table) {
  const std::string text = node.as_string();
  if (const auto value = find_enum(text, table)) return *value;
  node.fail(unknown_name(what, text, names_in(table)));
}

}  // namespace hindsight
