/// Cells of a table as levels of a design space. Private to the dataset layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dataset/csv_columns.h"
#include "hindsight/dataset/csv_import.h"

namespace hindsight::dataset {

/// Cells of one column to levels of its parameter, each distinct cell looked up once. The parameter must outlive it.
class LevelLookup {
 public:
  LevelLookup(const space::Parameter& parameter, std::size_t column) : parameter_(&parameter), column_(column) {}
  [[nodiscard]] std::size_t column() const { return column_; }
  /// The level of `cell`, or nothing.
  [[nodiscard]] std::optional<std::uint16_t> level(const std::string& cell);
  /// Why a cell has no level.
  [[nodiscard]] std::string refusal(const std::string& cell) const;

 private:
  [[nodiscard]] std::optional<std::uint16_t> find(const std::string& cell);

  const space::Parameter* parameter_;
  std::size_t column_;
  std::unordered_map<std::string, std::optional<std::uint16_t>> known_;
  std::unordered_map<std::string_view, std::uint16_t> levels_;  ///< of labels, made when the first is looked for
};

/// 1/0, true/false, yes/no; nothing for anything else.
[[nodiscard]] std::optional<bool> parse_flag(const std::string& cell);
/// Whether a cell says that there is no value: empty, "nan", "n/a", "-".
[[nodiscard]] bool is_no_value(const std::string& cell);
/// Whether a text that is no number was meant as one: "12 ms", "3,5", one with a minus sign or a blank of typesetting.
[[nodiscard]] bool starts_like_number(std::string_view given);
/// Whether a text is a number with a decimal comma, and perhaps points between thousands: "3,5", "1.234,5".
[[nodiscard]] bool has_decimal_comma(std::string_view text);
/// Whether a text is a whole number that a double does not hold to its last digit: two of them may be one value.
[[nodiscard]] bool is_rounded(std::string_view text);
/// "NAME is 'CELL', which is not a number", with the cause where that is a decimal comma or a character of typesetting.
[[nodiscard]] std::string not_a_number(const std::string& name, const std::string& cell);

/// Whether a column's name in snake_case is that of an outcome: ok, status, exit_code, why.
[[nodiscard]] bool is_outcome_name(std::string_view name);

/// The value that these rows of a column have and no other row; nothing where they have several or none, where it is
/// empty, where all rows are marked, or where the column is a count or a measurement, and not how a run ended.
[[nodiscard]] std::optional<std::string> telling_value(const CsvTable& table, std::size_t column,
                                                       const std::vector<bool>& marked);

/// One lookup per parameter of the space. Errors: Error{usage} when a parameter has no column, or a design column no
/// parameter.
[[nodiscard]] std::vector<LevelLookup> match_columns(const CsvTable& table, const ColumnRoles& roles,
                                                     const space::DesignSpace& space);

}  // namespace hindsight::dataset
