/// Bounds on JSON of foreign origin, looked at before a parser builds anything of it, and what a parser would not say.
///
/// A parser takes up to a hundred bytes of memory for a value of two characters, and writing a value that is nested
/// deeply takes a stack of that depth. It takes a NUL byte for the end of the text, whatever stands behind it, and
/// keeps one of two values of a name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hindsight {

struct JsonBounds {
  std::size_t bytes = std::size_t{64} << 20U;  ///< [chosen] ten times the layers of the largest network that is read
  std::size_t depth = 64;                      ///< [chosen] what is written here has at most ten levels
  std::size_t values = 1'000'000;              ///< [chosen] 65,535 layers of 15 values; about 130 MB in memory
  /// Comparisons of names, where a parser that keeps their order compares each with those before it in its object:
  /// half the square of an object's names, summed. [chosen] one object of 44,000 names; about 4 s
  std::uint64_t comparisons = 1'000'000'000;
};
/// Of a parser that sorts names.
inline constexpr std::uint64_t kNoComparisons = ~std::uint64_t{0};

/// "nested deeper than 64" and its like, "cut off by a NUL byte"; empty for a text within the bounds, JSON or not.
[[nodiscard]] std::string json_excess(std::string_view text, const JsonBounds& bounds = {});

/// The text where it is within the bounds, else nothing, of which every parser says that it is no JSON.
[[nodiscard]] std::string_view bounded_json(std::string_view text, const JsonBounds& bounds = {});

/// A name that its object has already.
struct RepeatedJsonName {
  std::size_t byte = 0;  ///< where it begins, with its quote
  std::string name;
};

/// The first such name of an object that ends, in a text that is JSON; nothing where there is none. `unquoted` makes
/// the text of one in quotes that has escapes.
[[nodiscard]] std::optional<RepeatedJsonName> repeated_json_name(
    std::string_view text, const std::function<std::string(std::string_view)>& unquoted);

}  // namespace hindsight
