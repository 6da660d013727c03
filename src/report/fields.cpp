/// Names, units and lists of numbers as the tables show them.
#include "report/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "hindsight/core/terminal.h"
#include "hindsight/core/text.h"
#include "hindsight/log/log.h"

namespace hindsight::report {

std::string metric_text(std::string_view metric, double value) {
  const auto ends_with = [metric](std::string_view suffix) {
    return metric.size() > suffix.size() && metric.substr(metric.size() - suffix.size()) == suffix;
  };
  if (ends_with("_s") && !ends_with("_per_s")) return si(value, "s");
  if (ends_with("_j")) return si(value, "J");
  if (ends_with("_w")) return si(value, "W");
  if (ends_with("_bytes")) return binary_bytes(value);
  if (ends_with("_mm2")) return fmt::format("{:.4g} mm2", value);
  if (ends_with("_frac")) return percent(value);
  return fmt::format("{:.6g}", value);
}

std::string direction_note(const std::string& metric, Direction direction) {
  if (direction == Direction::maximise) return " (more is better)";
  // Units of time, energy, power, size and area: less of these is what everybody expects.
  constexpr std::array<std::string_view, 14> kCosts = {"_s",  "_ms", "_us", "_ns",    "_cycles", "_j",   "_mj",
                                                       "_pj", "_w",  "_mw", "_bytes", "_kib",    "_mib", "_mm2"};
  const bool is_rate = metric.ends_with("_per_s");
  const auto is_cost = [&](std::string_view unit) { return metric.ends_with(unit); };
  const std::vector<std::string>& standard = log::standard_metrics();
  const bool is_standard = std::find(standard.begin(), standard.end(), metric) != standard.end();
  return is_standard || (!is_rate && std::any_of(kCosts.begin(), kCosts.end(), is_cost)) ? "" : " (less is better)";
}

namespace {

std::string shares_text(std::vector<std::pair<std::string, double>> shares) {
  std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> pieces;
  for (const auto& [code, share] : shares) pieces.push_back(fmt::format("{} {}", code, percent(share)));
  return pieces.empty() ? "-" : join(pieces, ", ");
}

}  // namespace

std::string reasons_text(const std::vector<WorkloadReasons>& workloads, int columns) {
  std::vector<std::pair<std::string, double>> common;
  if (workloads.size() > 1) {
    for (const auto& reason : workloads.front().shares) {
      const bool everywhere = std::all_of(workloads.begin(), workloads.end(), [&](const WorkloadReasons& other) {
        return std::find(other.shares.begin(), other.shares.end(), reason) != other.shares.end();
      });
      if (everywhere) common.push_back(reason);
    }
  }
  std::string out;
  if (!common.empty()) out += wrapped("all workloads: ", shares_text(common), columns, 2);
  for (const WorkloadReasons& workload : workloads) {
    std::vector<std::pair<std::string, double>> own;
    for (const auto& reason : workload.shares) {
      if (std::find(common.begin(), common.end(), reason) == common.end()) own.push_back(reason);
    }
    if (!own.empty() || common.empty()) out += wrapped(workload.workload + ": ", shares_text(own), columns, 2);
  }
  return out;
}

std::string label(std::string_view field) {
  const auto unit = field.rfind('_');
  std::string text(field.substr(0, unit));
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string published_text(const std::optional<accel::ComparedArea>& area) {
  if (!area) return "";
  const std::string mm2 = fmt::format("{}{:.4g}", area->published.at_most ? "at most " : "", area->published.mm2);
  if (area->published.scope == accel::AreaScope::die) return fmt::format(" (published: {})", mm2);
  return fmt::format(" ({} {:.4g}, published {})", accel::to_string(area->published.scope), area->modelled_mm2, mm2);
}

std::string technology_text(const accel::Technology& technology) {
  return with_reason(technology.name, technology.file ? printable(*technology.file, 200) : "");
}

std::string with_reason(std::string_view name, std::string_view why) {
  return why.empty() ? std::string(name) : fmt::format("{} ({})", name, why);
}

std::string percent(double fraction) { return fmt::format("{:.1f} %", 100.0 * fraction); }

namespace {

/// `prefix`, then the pieces with `separator` between those on one line.
std::string fill_lines(std::string_view prefix, const std::vector<std::string>& pieces, std::string_view separator,
                       int columns, int indent) {
  std::string out;
  std::string line(prefix);
  std::size_t width = display_width(line);
  bool at_start = true;
  for (const std::string& piece : pieces) {
    const std::size_t own = display_width(piece);
    width += (at_start ? 0 : separator.size()) + own;
    if (columns > 0 && !at_start && width > static_cast<std::size_t>(columns)) {
      out += line + "\n";
      line = std::string(static_cast<std::size_t>(indent), ' ');
      width = static_cast<std::size_t>(indent) + own;
      at_start = true;
    }
    if (!at_start) line += separator;
    line += piece;
    at_start = false;
  }
  return out + line + "\n";
}

}  // namespace

std::string wrapped(std::string_view prefix, std::string_view text, int columns, int indent) {
  return fill_lines(prefix, split(text, ' '), " ", columns, indent);
}

std::string wrapped_design(std::string_view prefix, std::string_view text_id, int columns, int indent) {
  std::vector<std::string> pieces = split(text_id, ',');
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i) pieces[i] += ",";
  return fill_lines(prefix, pieces, "", columns, indent);
}

}  // namespace hindsight::report
