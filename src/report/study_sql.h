/// Values of SQL rows as the reports of studies take them.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hindsight/log/sql_query.h"

namespace hindsight::report {

[[nodiscard]] inline std::int64_t sql_int(const log::SqlValue& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  return number == nullptr ? 0 : *number;
}
/// NaN for NULL.
[[nodiscard]] inline double sql_number(const log::SqlValue& value) {
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  return std::numeric_limits<double>::quiet_NaN();
}
[[nodiscard]] inline std::string sql_text(const log::SqlValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? std::string() : *text;
}
/// `name` as an SQL string.
[[nodiscard]] inline std::string sql_quoted(const std::string& name) {
  std::string quoted = "'";
  for (const char c : name) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}
/// The logarithm of an SQL number; NULL where it has none, also on a server, for which that is an error.
[[nodiscard]] inline std::string sql_logarithm(const std::string& number) {
  return "CASE WHEN " + number + " > 0 THEN ln(" + number + ") END";
}
/// Of the measurements `e` of a design on a workload by an evaluator: most are feasible, as a dataset has it.
inline constexpr std::string_view kSqlMostlyFeasible = "2 * sum(e.feasible) > count(*)";
/// The mean of an SQL number over those of them that are feasible.
[[nodiscard]] inline std::string sql_feasible_mean(const std::string& number) {
  return "avg(CASE WHEN e.feasible = 1 THEN " + number + " END)";
}
/// A metric of evaluation `e`, wherever it is stored; defined in study_scan.cpp.
[[nodiscard]] std::string sql_metric(const std::string& name);

}  // namespace hindsight::report
