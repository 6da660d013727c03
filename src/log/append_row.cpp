/// Rules for rows: names, numbers, and that reasons and metrics agree with feasibility.
#include "log/append_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"

namespace hindsight::log {
namespace {

/// [chosen] far above anything a person or a simulator writes, far below SQLite's limit of 10^9 bytes.
constexpr std::size_t kMaxTextBytes = 65536;

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

/// Why `text` cannot be a name in the log, or nothing.
Reason bad_name(std::string_view what, std::string_view text) {
  if (text.empty()) return fmt::format("{} is empty", what);
  if (text.size() > kMaxTextBytes) return fmt::format("{} is longer than {} bytes", what, kMaxTextBytes);
  // What must be escaped to be shown would lie to who reads the name.
  if (!is_plain(text) && printable(text, kMaxTextBytes) != text) {
    return fmt::format("{} contains a control character or broken UTF-8: {}", what, printable(text));
  }
  return std::nullopt;
}

/// Place of a standard metric; `expected` is looked at first, because most rows name them in order.
std::optional<std::size_t> standard_index(std::string_view name, std::size_t expected) {
  const std::vector<std::string>& names = standard_metrics();
  if (expected < names.size() && names[expected] == name) return expected;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

/// Sorts the metrics of a row by where they are stored.
Reason parse_metrics(const EvaluationRow& row, ParsedRow& parsed) {
  parsed.standard.fill(std::numeric_limits<double>::quiet_NaN());
  parsed.others.clear();
  std::size_t expected = 0;
  for (const auto& [name, value] : row.metrics) {
    if (!std::isfinite(value)) return fmt::format("metric {} is {}", printable(name), value);
    if (!row.feasible && (name == "latency_s" || name == "energy_j")) {
      return fmt::format("an infeasible row has {} (an infeasible design has no cost)", name);
    }
    if (const auto index = standard_index(name, expected)) {
      expected = *index + 1;
      if (!std::isnan(parsed.standard[*index])) return fmt::format("metric {} is given twice", name);
      parsed.standard[*index] = value;
    } else {
      if (auto reason = bad_name("the name of a metric", name)) return reason;
      parsed.others.emplace_back(name, value);
    }
  }
  std::sort(parsed.others.begin(), parsed.others.end());
  const auto twice = std::adjacent_find(parsed.others.begin(), parsed.others.end(),
                                        [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != parsed.others.end()) return fmt::format("metric {} is given twice", twice->first);
  return std::nullopt;
}

Reason bad_violations(const EvaluationRow& row) {
  for (const ViolationRow& violation : row.violations) {
    if (auto reason = bad_name("the code of a violation", violation.code)) return reason;
    if (std::isinf(violation.value) || std::isinf(violation.limit) ||
        (violation.nearest_passing && !std::isfinite(*violation.nearest_passing))) {
      return fmt::format("violation {}: value, limit or nearest_passing is not finite", violation.code);
    }
    if (violation.quantity.size() > kMaxTextBytes || violation.layer.size() > kMaxTextBytes ||
        violation.message.size() > kMaxTextBytes) {
      return fmt::format("violation {}: a text is longer than {} bytes", violation.code, kMaxTextBytes);
    }
  }
  return std::nullopt;
}

/// Whether reasons and metrics agree with feasibility.
Reason bad_feasibility(const EvaluationRow& row) {
  if (row.feasible && row.metrics.empty()) return "a feasible row has no metric";
  if (row.feasible && !row.violations.empty()) {
    return fmt::format("a feasible row has a violation ({})", printable(row.violations.front().code));
  }
  if (!row.feasible && row.violations.empty()) return "an infeasible row has no violation (the reason is missing)";
  return std::nullopt;
}

}  // namespace

Reason parse(const EvaluationRow& row, ParsedRow& parsed) {
  if (row.repeat < 0) return fmt::format("repeat is {} (repeats are numbered from 0)", row.repeat);
  if (auto reason = parse_metrics(row, parsed)) return reason;
  if (auto reason = bad_feasibility(row)) return reason;
  return bad_violations(row);
}

Reason bad_design(const EvaluationRow& row) {
  if (auto reason = bad_name("the text id", row.design_text_id)) return reason;
  if (std::ranges::any_of(row.design_text_id, [](char c) { return c == '"' || c == '\\'; })) {
    return "the text id contains a quote or a backslash";
  }
  if (const std::uint64_t hash = content_hash(row.design_text_id); hash != row.design_hash) {
    return fmt::format("the design hash {} is not that of the text id ({})", hex64(row.design_hash), hex64(hash));
  }
  return std::nullopt;
}

CheckedRows::CheckedRows(const std::vector<EvaluationRow>& rows) : rows_(&rows), checks_(rows.size()) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Check& check = checks_[i];
    check.refused = parse(rows[i], check.parsed);
    check.same_design =
        i > 0 && rows[i].design_hash == rows[i - 1].design_hash && rows[i].design_text_id == rows[i - 1].design_text_id;
    check.design_refused = check.same_design ? checks_[i - 1].design_refused : bad_design(rows[i]);
  }
}
CheckedRows::CheckedRows(CheckedRows&&) noexcept = default;
CheckedRows& CheckedRows::operator=(CheckedRows&&) noexcept = default;
CheckedRows::~CheckedRows() = default;

std::variant<std::vector<std::string>, std::string> parse_parameter_names(std::string_view text_id) {
  std::vector<std::string> names;
  while (true) {
    const std::size_t comma = text_id.find(',');
    const std::string_view piece = text_id.substr(0, comma);
    const std::size_t equals = piece.find('=');
    if (equals == std::string_view::npos || equals == 0 || piece.find('=', equals + 1) != std::string_view::npos) {
      return fmt::format("text id: '{}' is not of the form name=value", printable(piece));
    }
    names.emplace_back(piece.substr(0, equals));
    if (comma == std::string_view::npos) break;
    text_id.remove_prefix(comma + 1);
  }
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
    return fmt::format("text id: parameter '{}' is named twice", *twice);
  }
  return names;
}

bool has_parameters(std::string_view text_id, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    if (text_id.size() <= name.size() || !text_id.starts_with(name) || text_id[name.size()] != '=') return false;
    const std::size_t comma = text_id.find(',', name.size());
    if (text_id.substr(0, comma).find('=', name.size() + 1) != std::string_view::npos) return false;
    const bool last = i + 1 == names.size();
    if (last != (comma == std::string_view::npos)) return false;
    text_id.remove_prefix(last ? text_id.size() : comma + 1);
  }
  return true;
}

}  // namespace hindsight::log
