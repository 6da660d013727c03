/// YAML text -> a plain tree of elements with their places; the only code that sees yaml-cpp.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace hindsight {

/// A place in the text, counted from 1.
struct TextPlace {
  int line = 1;
  int column = 1;
};

/// One value of a document.
struct ConfigElement {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  bool quoted = false;  ///< a scalar in quotes or a text block: never a number
  TextPlace place{};
  std::string label{};                                   ///< "'clock_mhz'", "item 2 of 'levels'", "the document"
  std::string text{};                                    ///< of a scalar
  std::vector<ConfigElement> children{};                 ///< of a list or map, in file order
  std::vector<std::string> keys{};                       ///< of a map, beside `children`
  std::vector<TextPlace> key_places{};                   ///< of a map, beside `keys`
  std::unordered_map<std::string, std::size_t> index{};  ///< key -> position in `children`
};

/// Throws Error{usage}: `name:line:column: problem`.
[[noreturn]] void config_fail(const std::string& name, TextPlace place, const std::string& problem);

/// Parses one document; `name` stands for the file in messages. Errors: Error{usage} for anything that the
/// project refuses (see config.h).
[[nodiscard]] ConfigElement parse_config(const std::string& text, const std::string& name);

}  // namespace hindsight
