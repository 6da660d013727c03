/// JSON as Python writes it, with the place of what is wrong.
#include "dataset/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

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

/// A key that its object has already, and the byte it begins at.
struct RepeatedKey {
  std::size_t byte;
  std::string key;
};

/// The first one of a text that is JSON: the parser keeps the last value of a key and says nothing.
std::optional<RepeatedKey> repeated_key(std::string_view text) {
  std::vector<std::set<std::string, std::less<>>> keys;  // of every object or list that is open
  std::size_t begin = 0, end = 0;                        // of what was last in quotes, with these
  // Behind a zero, where the parser ends, there may be anything.
  for (std::size_t i = 0; i < text.size() && text[i] != '\0'; ++i) {
    const char c = text[i];
    if (c == '"') {
      begin = i++;
      while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
      end = std::min(i + 1, text.size());
    } else if (c == '{' || c == '[') {
      keys.emplace_back();
    } else if ((c == '}' || c == ']') && !keys.empty()) {
      keys.pop_back();
    } else if (c == ':' && !keys.empty() && end >= begin + 2) {
      const std::string_view quoted = text.substr(begin, end - begin);
      std::string key = quoted.find('\\') == std::string_view::npos ? std::string(quoted.substr(1, quoted.size() - 2))
                                                                    : Json::parse(quoted).get<std::string>();
      if (keys.back().contains(key)) return RepeatedKey{begin, std::move(key)};
      keys.back().insert(std::move(key));
    }
  }
  return std::nullopt;
}

template <class Value>
Value parse_as(std::string_view text, const std::filesystem::path& file, std::string_view expected,
               std::size_t first_line) {
  const auto error_at = [&](std::size_t byte, const std::string& problem) {
    const std::string_view before = text.substr(0, std::min(byte, text.size()));
    const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    const std::size_t start = before.rfind('\n');
    const std::size_t column = before.size() - (start == std::string_view::npos ? 0 : start + 1);
    return Error(ErrorKind::usage, fmt::format("{}:{}:{}: {} (expected: {})", printable(file.string(), 400),
                                               first_line + line, std::max<std::size_t>(column, 1), problem, expected));
  };
  if (const std::string excess = json_excess(text, bounds_of<Value>()); !excess.empty()) {
    throw error_at(1, fmt::format("JSON {}, the most that is read at once. Give it as CSV or in parts?", excess));
  }
  try {
    Value value = parsed<Value>(text);
    const auto repeated = std::is_same_v<Value, OrderedJson> ? repeated_key(text) : std::nullopt;
    if (!repeated) return value;
    throw error_at(repeated->byte + 1, fmt::format("the key '{}' is given twice in one object. Rename or remove one",
                                                   printable(repeated->key, 40)));
  } catch (const typename Value::parse_error& error) {
    // The byte that was read last is its first; behind the end there is none.
    const std::string_view rest = text.substr(std::min(std::max<std::size_t>(error.byte, 1) - 1, text.size()));
    const bool ends = rest.find_first_not_of(" \t\r\n") == std::string_view::npos;
    // An import that goes by the content calls no such text JSON: somebody named the format.
    const char* problem = error.byte <= 1 && first_line == 1 ? "no JSON from here on. Name another --format, or none?"
                                                             : "no JSON from here on";
    throw error_at(error.byte, ends ? "the JSON ends too early. Was the file cut off?" : problem);
  } catch (const typename Value::exception& error) {
    throw error_at(1, printable(error.what(), 200));
  }
}

}  // namespace

Json parse_json(std::string_view text, const std::filesystem::path& file, std::string_view expected,
                std::size_t first_line) {
  return parse_as<Json>(text, file, expected, first_line);
}

OrderedJson parse_ordered_json(std::string_view text, const std::filesystem::path& file, std::string_view expected,
                               std::size_t first_line) {
  return parse_as<OrderedJson>(text, file, expected, first_line);
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
