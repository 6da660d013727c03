/// Renders the rows of an SQL query.
#pragma once

#include <string>
#include <vector>

#include "hindsight/log/sql_query.h"

namespace hindsight::report {

using SqlRow = std::vector<log::SqlValue>;

/// An aligned table; numbers to the right, NULL as such.
[[nodiscard]] std::string sql_table(const std::vector<std::string>& columns, const std::vector<SqlRow>& rows,
                                    int width);
/// A line of CSV (RFC 4180); NULL is an empty cell.
[[nodiscard]] std::string sql_csv_header(const std::vector<std::string>& columns);
[[nodiscard]] std::string sql_csv_row(const SqlRow& row);
/// Names as keys of an object: the second column of one name gets "_2", and so on.
[[nodiscard]] std::vector<std::string> sql_json_keys(const std::vector<std::string>& columns);
/// An object on one line, without a line end.
[[nodiscard]] std::string sql_json_row(const std::vector<std::string>& keys, const SqlRow& row);

}  // namespace hindsight::report
