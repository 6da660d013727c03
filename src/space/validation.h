/// What makes a list of parameters a legal design space; shared by the constructor and the file reader.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hindsight/space/design_space.h"

namespace hindsight::space {

/// The part of a parameter that is wrong, so that the file reader can point at its line.
enum class ParameterPart { name, unit, levels };

/// The first thing wrong with a list of parameters.
struct ParameterProblem {
  std::size_t parameter = 0;
  ParameterPart part = ParameterPart::name;
  std::size_t level = 0;  ///< for `levels`: the offending one
  std::string text;       ///< the problem and its remedy
};

/// The first problem in the order of the parameters, or nothing.
[[nodiscard]] std::optional<ParameterProblem> find_problem(std::span<const Parameter> parameters);

/// What is wrong with the name of a parameter or a derived quantity, or an empty text.
[[nodiscard]] std::string find_identifier_problem(std::string_view name);

/// What is wrong with the name of a space, or an empty text. Spaces, capitals and UTF-8 are fine.
[[nodiscard]] std::string find_name_problem(std::string_view name);

/// `text` in single quotes, made fit for a message whatever a file held.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace hindsight::space
