/// Rows of an SQL query as table, CSV and JSON.
#include "hindsight/report/sql_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "report/json.h"

namespace hindsight::report {
namespace {

bool is_number(const log::SqlValue& value) {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}

/// As it is stored; `null` where there is none.
std::string cell_text(const log::SqlValue& value, const std::string& null) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return shortest(*real);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return null;
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::vector<std::string> quoted;
  quoted.reserve(cells.size());
  for (const std::string& cell : cells) quoted.push_back(csv_cell(cell));
  return join(quoted, ",") + "\n";
}

}  // namespace

std::string sql_table(const std::vector<std::string>& columns, const std::vector<SqlRow>& rows, int width) {
  Table table;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool words = std::any_of(rows.begin(), rows.end(),
                                   [&](const SqlRow& row) { return std::holds_alternative<std::string>(row[i]); });
    const bool numbers = std::any_of(rows.begin(), rows.end(), [&](const SqlRow& row) { return is_number(row[i]); });
    table.add_column(printable(columns[i]), numbers && !words ? Align::right : Align::left, static_cast<int>(i));
  }
  for (const SqlRow& row : rows) {
    std::vector<std::string> cells;
    for (const log::SqlValue& value : row) cells.push_back(printable(cell_text(value, "NULL"), kWholeText));
    table.add_row(std::move(cells));
  }
  return table.render(width);
}

std::string sql_csv_header(const std::vector<std::string>& columns) { return csv_line(columns); }

std::string sql_csv_row(const SqlRow& row) {
  std::vector<std::string> cells;
  for (const log::SqlValue& value : row) cells.push_back(cell_text(value, ""));
  return csv_line(cells);
}

std::vector<std::string> sql_json_keys(const std::vector<std::string>& columns) {
  std::vector<std::string> keys;
  for (const std::string& column : columns) {
    std::string key = column;
    for (int number = 2; std::find(keys.begin(), keys.end(), key) != keys.end(); ++number) {
      key = fmt::format("{}_{}", column, number);
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

std::string sql_json_row(const std::vector<std::string>& keys, const SqlRow& row) {
  Json object = Json::object();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (const auto* whole = std::get_if<std::int64_t>(&row[i])) {
      object[keys[i]] = *whole;
    } else if (const auto* real = std::get_if<double>(&row[i])) {
      object[keys[i]] = finite_or_null(*real);
    } else if (const auto* text = std::get_if<std::string>(&row[i])) {
      object[keys[i]] = *text;
    } else {
      object[keys[i]] = nullptr;
    }
  }
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace hindsight::report
