/// Text in tables that a spreadsheet may open: a cell that begins with = + - @ or a tab would be obeyed as a formula.
///
/// The guard is what spreadsheets themselves use for "this is text": an apostrophe in front. Numbers have none. A text
/// that looks guarded already gets one more, so that reading takes away what writing added, and nothing else.
#pragma once

#include <string>
#include <string_view>

namespace hindsight {

/// `text`, with an apostrophe in front where it, or what follows its apostrophes, would be a formula.
[[nodiscard]] std::string guarded_from_formulas(std::string_view text);

/// True where the first character is a guard.
[[nodiscard]] bool has_formula_guard(std::string_view text);

}  // namespace hindsight
