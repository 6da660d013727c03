/// Reader for the project's YAML files: typed, bounded, and strict about unknown keys.
///
/// Every failure throws Error{usage} whose message starts with `file:line:column:`, names the key,
/// the offending value, the accepted range, and for an unknown key or name the nearest valid one.
/// Refused outright: files above 16 MiB, nesting deeper than 64, more than a million values, lists
/// of more than 65,535 items, a key given twice, anchors, aliases and tags, tabs and control characters, characters
/// that make text look like other text (marks of direction and of zero width), more than one document.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hindsight {

/// A closed interval that a number must lie in.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};
inline constexpr Bounds kPositive{.low = std::numeric_limits<double>::min()};
inline constexpr Bounds kNonNegative{.low = 0.0};

/// One node of a YAML document that knows its file and line. Cheap to copy.
class ConfigNode {
 public:
  /// Reads and parses a file. Errors: Error{usage} when unreadable or malformed.
  static ConfigNode load(const std::filesystem::path& file);
  /// Parses text; `name` stands for the file in messages.
  static ConfigNode parse(const std::string& text, const std::string& name);

  [[nodiscard]] bool is_map() const;
  [[nodiscard]] bool is_list() const;
  [[nodiscard]] bool is_scalar() const;
  /// A scalar in quotes, or a text block.
  [[nodiscard]] bool is_quoted() const;

  /// Refuses keys that are not in `allowed` (nearest of those that the map lacks in the message), duplicates of a key,
  /// and a node that is not a map. Call it before `at`: a misspelt key is then named as one, and not as missing.
  void require_only_keys(std::span<const std::string> allowed) const;
  void require_only_keys(std::initializer_list<std::string> allowed) const;

  [[nodiscard]] bool has(const std::string& key) const;
  /// The child; a missing key is an error that names it.
  [[nodiscard]] ConfigNode at(const std::string& key) const;
  /// The child, or nothing when the key is missing or null.
  [[nodiscard]] std::optional<ConfigNode> find(const std::string& key) const;
  /// Keys of a map in file order.
  [[nodiscard]] std::vector<std::string> keys() const;
  /// Items of a list in file order; an error when the node is not a list.
  [[nodiscard]] std::vector<ConfigNode> items() const;

  /// The text of a scalar, quoted or not.
  [[nodiscard]] std::string as_string() const;
  /// A text of one line that is not blank.
  [[nodiscard]] std::string as_name() const;
  /// A day of the calendar as 2026-01-31, with or without quotes.
  [[nodiscard]] std::string as_day() const;
  /// A finite number, not quoted.
  [[nodiscard]] double as_double(Bounds bounds = {}) const;
  /// A whole number, not quoted; `1e6` counts as one.
  [[nodiscard]] std::int64_t as_int(std::int64_t low = std::numeric_limits<std::int64_t>::min(),
                                    std::int64_t high = std::numeric_limits<std::int64_t>::max()) const;
  /// `true` or `false`, nothing else.
  [[nodiscard]] bool as_bool() const;

  [[nodiscard]] std::string get_string(const std::string& key, const std::string& fallback) const;
  [[nodiscard]] double get_double(const std::string& key, double fallback, Bounds bounds = {}) const;
  [[nodiscard]] std::int64_t get_int(const std::string& key, std::int64_t fallback,
                                     std::int64_t low = std::numeric_limits<std::int64_t>::min(),
                                     std::int64_t high = std::numeric_limits<std::int64_t>::max()) const;

  /// "file:line:column" of this node.
  [[nodiscard]] std::string where() const;
  /// The parts of it, from 1.
  [[nodiscard]] const std::string& file() const;
  [[nodiscard]] int line() const;
  [[nodiscard]] int column() const;
  /// Throws Error{usage} with `where()` in front.
  [[noreturn]] void fail(const std::string& problem) const;

 private:
  struct Impl;
  explicit ConfigNode(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

/// A text as a quoted YAML scalar that ConfigNode reads back; control characters and others that it refuses become '?'.
[[nodiscard]] std::string yaml_quoted(std::string_view text);

}  // namespace hindsight
