/// What begins a formula, and the apostrophe before it.
#include "hindsight/core/spreadsheet.h"

#include <algorithm>

#include "hindsight/core/text.h"

namespace hindsight {
namespace {

/// [chosen] RFC 4180 knows no formulas; = + - @ TAB and CR begin one in spreadsheets of today (ASVS 1.2.10).
constexpr std::string_view kFormulaStarts = "=+-@\t\r";

bool is_formula_behind_apostrophes(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of('\''), text.size()));
  return !text.empty() && kFormulaStarts.find(text.front()) != std::string_view::npos && !parse_double(text);
}

}  // namespace

std::string guarded_from_formulas(std::string_view text) {
  return is_formula_behind_apostrophes(text) ? "'" + std::string(text) : std::string(text);
}

bool has_formula_guard(std::string_view text) { return text.starts_with('\'') && is_formula_behind_apostrophes(text); }

}  // namespace hindsight
