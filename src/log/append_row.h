/// What a row must be before it may enter the log, read once. Private to the log layer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hindsight/log/log.h"

namespace hindsight::log {

/// Why a row is refused; nothing when it is not.
using Reason = std::optional<std::string>;

/// How many standard_metrics() there are.
constexpr std::size_t kStandardMetricCount = 11;

/// A row without faults of its own: its metrics by where they are stored.
struct ParsedRow {
  std::array<double, kStandardMetricCount> standard = {};  ///< in the order of standard_metrics(); NaN = not given
  std::vector<std::pair<std::string_view, double>> others = {};  ///< by name; the names are those of the row
};
/// Reads a row into `parsed`, whose memory is used again. Errors are data: the text says why the row is refused.
[[nodiscard]] Reason parse(const EvaluationRow& row, ParsedRow& parsed);

/// Why the design of the row cannot be one, looked at alone.
[[nodiscard]] Reason bad_design(const EvaluationRow& row);

/// A row looked at alone.
struct CheckedRows::Check {
  bool same_design = false;  ///< as the row before it
  Reason refused;            ///< for the row's own faults
  ParsedRow parsed = {};
  Reason design_refused = {};  ///< bad_design() of its design
};
/// Names of 'a=1,b=2', or why the text is not of that form.
[[nodiscard]] std::variant<std::vector<std::string>, std::string> parse_parameter_names(std::string_view text_id);
/// True when the text id assigns exactly these parameters in this order.
[[nodiscard]] bool has_parameters(std::string_view text_id, const std::vector<std::string>& names);

}  // namespace hindsight::log
