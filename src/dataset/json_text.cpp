/// JSON as Python writes it, with the place of what is wrong.
#include "dataset/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/json_bounds.h"
#include "hindsight/core/text.h"

namespace hindsight::dataset {
namespace {

/// Of one document, or one line. [chosen] far deeper than any export. Its size and values are what memory allows that
/// a small machine has.
constexpr JsonBounds kBounds{.depth = 256}, kSortedBounds{.depth = 256, .comparisons = kNoComparisons};

template <class Value>
constexpr const JsonBounds& bounds_of() {
  return std::is_same_v<Value, OrderedJson> ? kBounds : kSortedBounds;
}

bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '+';
}

/// Python's constants, which JSON does not have, as texts; all else as it is, byte by byte.
std::string without_constants(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kConstants = {
      {{"-Infinity", "\"-inf\""}, {"Infinity", "\"inf\""}, {"NaN", "\"nan\""}}};
  std::string result;
  result.reserve(text.size());
  bool quoted = false;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (quoted || c == '"') {
      if (quoted && c == '\\' && i + 1 < text.size()) result += text[i++];
      quoted = quoted != (text[i] == '"' && (i == 0 || c != '\\'));
      result += text[i++];
      continue;
    }
    const auto constant = std::find_if(kConstants.begin(), kConstants.end(), [&](const auto& one) {
      return text.substr(i).starts_with(one.first) &&
             (i + one.first.size() == text.size() || !is_bare(text[i + one.first.size()]));
    });
    if (constant == kConstants.end() || (i > 0 && is_bare(text[i - 1]))) {
      result += text[i++];
    } else {
      result += constant->second;
      i += constant->first.size();
    }
  }
  return result;
}

template <class Value>
Value parsed(std::string_view text) {
  const bool has_constants =
      text.find("NaN") != std::string_view::npos || text.find("Infinity") != std::string_view::npos;
  return has_constants ? Value::parse(without_constants(text)) : Value::parse(text);
}

std::string unquoted_json(std::string_view text) { return Json::parse(text).get<std::string>(); }

/// Of the line of a byte, counted from 1, and its column.
Error error_at(std::size_t byte, const std::string& problem, std::string_view text, const JsonOrigin& origin) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t start = before.rfind('\n');
  const std::size_t column = before.size() - (start == std::string_view::npos ? 0 : start + 1);
  return Error(ErrorKind::usage,
               fmt::format("{}:{}:{}: {} (expected: {})", printable(origin.file.string(), 400),
                           origin.first_line + line, std::max<std::size_t>(column, 1), problem, origin.expected));
}

template <class Value>
Value parse_as(std::string_view text, const JsonOrigin& origin) {
  const auto error = [&](std::size_t byte, const std::string& problem) {
    return error_at(byte, problem, text, origin);
  };
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    throw error(zero + 1, "a NUL byte. Is this JSON, in UTF-8?");
  }
  if (const std::string excess = json_excess(text, bounds_of<Value>()); !excess.empty()) {
    throw error(1, fmt::format("JSON {}, the most that is read at once. Give it as CSV or in parts?", excess));
  }
  try {
    Value value = parsed<Value>(text);
    require_names_once(text, origin);
    return value;
  } catch (const typename Value::parse_error& wrong) {
    // The byte that was read last is its first; behind the end there is none.
    const std::string_view rest = text.substr(std::min(std::max<std::size_t>(wrong.byte, 1) - 1, text.size()));
    const bool ends = rest.find_first_not_of(" \t\r\n") == std::string_view::npos;
    // An import that goes by the content calls no such text JSON: somebody named the format.
    const char* problem = wrong.byte <= 1 && origin.first_line == 1
                              ? "no JSON from here on. Name another --format, or none?"
                              : "no JSON from here on";
    throw error(wrong.byte, ends ? "the JSON ends too early. Was the file cut off?" : problem);
  } catch (const typename Value::out_of_range&) {
    throw error(1, "a number beyond 1.8e308. Write one that a double holds, or null");
  } catch (const typename Value::exception& wrong) {
    throw error(1, printable(wrong.what(), 200));
  }
}

}  // namespace

void require_names_once(std::string_view text, const JsonOrigin& origin) {
  const std::optional<RepeatedJsonName> repeated = repeated_json_name(text, unquoted_json);
  if (!repeated) return;
  throw error_at(
      repeated->byte + 1,
      fmt::format("the key '{}' is given twice in one object. Rename or remove one", printable(repeated->name, 40)),
      text, origin);
}

Json parse_json(std::string_view text, const std::filesystem::path& file, std::string_view expected,
                std::size_t first_line) {
  return parse_as<Json>(text, {.file = file, .expected = expected, .first_line = first_line});
}

OrderedJson parse_ordered_json(std::string_view text, const std::filesystem::path& file, std::string_view expected,
                               std::size_t first_line) {
  return parse_as<OrderedJson>(text, {.file = file, .expected = expected, .first_line = first_line});
}

std::optional<Json> try_json(std::string_view text) {
  if (!json_excess(text, kSortedBounds).empty()) return std::nullopt;
  try {
    return parsed<Json>(text);
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace hindsight::dataset
