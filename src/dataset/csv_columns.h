/// What the columns of a table are: roles checked against the header, and the names they get. Private to the dataset
/// layer.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/dataset/csv_import.h"

namespace hindsight::dataset {

/// A column and its snake_case name, unique among its kind.
struct NamedColumn {
  std::size_t column = 0;
  std::string name;
};

/// Roles with column numbers.
struct ColumnRoles {
  NamedColumn objective;
  std::optional<std::size_t> infeasible;
  std::optional<std::string> infeasible_value;  ///< the value that means infeasible; nothing = a yes/no flag
  std::optional<std::size_t> reason;
  std::vector<NamedColumn> context;
  std::vector<NamedColumn> constraints;
  std::vector<NamedColumn> design;
};
/// Without an objective `objective` has no name. A value of the objective may say what is infeasible. Errors:
/// Error{usage} for an unknown column (nearest name), a column with two roles, two metrics of one name, or no column
/// left for the design.
[[nodiscard]] ColumnRoles resolve_roles(const CsvTable& table, const CsvRoles& roles);

/// A cell that was meant as a number and is none a parameter can have: nan, inf, hexadecimal.
[[nodiscard]] bool is_odd_number(const std::string& cell);

/// True when every cell of the column that is neither empty nor an odd number is a number, and there is one.
[[nodiscard]] bool is_numeric(const CsvTable& table, std::size_t column);

/// A cell as level of a categorical parameter: ',', '=', quotes, backslashes, control characters and broken UTF-8
/// become '_', at most 64 bytes.
[[nodiscard]] std::string label_of(std::string_view cell);

/// Whether a parameter of this name may belong to the column: the column's name, or the same with "_value".
[[nodiscard]] bool names_column(const std::string& parameter, const NamedColumn& column);

}  // namespace hindsight::dataset
