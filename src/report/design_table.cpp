/// Lays designs out side by side.
#include "hindsight/report/design_table.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "hindsight/core/table.h"
#include "hindsight/core/terminal.h"
#include "hindsight/core/text.h"
#include "hindsight/space/short_id.h"
#include "report/fields.h"

namespace hindsight::report {
namespace {

constexpr std::size_t kGap = 2;  // between the columns of a table

/// One parameter of all designs.
struct ParameterRow {
  std::string name;
  std::vector<std::string> values;
};

/// Empty where the designs have different parameters: they are of several spaces.
std::vector<ParameterRow> rows_of(const std::vector<std::string>& text_ids) {
  std::vector<ParameterRow> rows;
  for (const std::string& text_id : text_ids) {
    const std::vector<std::string> pieces = split(text_id, ',');
    if (rows.empty()) rows.resize(pieces.size());
    if (pieces.size() != rows.size()) return {};
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      const std::size_t equals = std::min(pieces[p].find('='), pieces[p].size());
      const std::string name = pieces[p].substr(0, equals);
      if (!rows[p].values.empty() && rows[p].name != name) return {};
      rows[p].name = name;
      rows[p].values.push_back(pieces[p].substr(std::min(equals + 1, pieces[p].size())));
    }
  }
  return rows;
}

bool all_alike(const ParameterRow& row) {
  return std::all_of(row.values.begin(), row.values.end(),
                     [&](const std::string& one) { return one == row.values[0]; });
}

/// The ends of the tables: each holds as many designs as fit beside the names, at least one and at most `most`.
std::vector<std::size_t> ends_of(const std::vector<ParameterRow>& rows, const std::vector<std::string>& heads,
                                 std::size_t most, std::size_t columns) {
  std::size_t names = 0;
  for (const ParameterRow& row : rows) names = std::max(names, display_width(row.name));
  std::vector<std::size_t> ends;
  std::size_t used = names, from = 0;
  for (std::size_t d = 0; d < heads.size(); ++d) {
    std::size_t width = kGap + display_width(heads[d]);
    for (const ParameterRow& row : rows) width = std::max(width, kGap + display_width(row.values[d]));
    if (d > from && (used + width > columns || d - from == most)) {
      ends.push_back(d);
      from = d;
      used = names;
    }
    used += width;
  }
  ends.push_back(heads.size());
  return ends;
}

/// The same, no table much shorter than another.
std::vector<std::size_t> even_ends_of(const std::vector<ParameterRow>& rows, const std::vector<std::string>& heads,
                                      std::size_t columns) {
  const std::size_t tables = ends_of(rows, heads, heads.size(), columns).size();
  return ends_of(rows, heads, (heads.size() + tables - 1) / tables, columns);
}

}  // namespace

std::string design_line(std::string_view prefix, std::string_view text_id, int columns) {
  const std::string head = std::string(prefix) + space::short_id(text_id) + "  ";
  return wrapped_design(head, text_id, columns, static_cast<int>(head.size()));
}

std::string design_or_chip(std::string_view prefix, std::string_view name, int columns) {
  if (name.find('=') != std::string_view::npos) return design_line(prefix, name, columns);
  return wrapped(prefix, name, columns, static_cast<int>(prefix.size()));
}

std::string design_table(const std::vector<std::string>& text_ids, DesignHeads heads, DesignStyle style, int columns) {
  std::vector<std::string> designs, numbers, names;
  for (std::size_t i = 0; i < text_ids.size(); ++i) {
    if (std::find(designs.begin(), designs.end(), text_ids[i]) != designs.end()) continue;
    designs.push_back(text_ids[i]);
    numbers.push_back(heads == DesignHeads::numbers ? std::to_string(i + 1) + " " : "");
    names.push_back(numbers.back() + space::short_id(text_ids[i]));
  }
  std::vector<ParameterRow> rows = rows_of(designs);
  std::string out;
  if (style == DesignStyle::whole || columns <= 0 || designs.size() < 2 || rows.empty()) {
    for (std::size_t d = 0; d < designs.size(); ++d) out += design_line(numbers[d], designs[d], columns);
    return out;
  }
  std::string alike;
  for (const ParameterRow& row : rows) {
    if (all_alike(row)) alike += (alike.empty() ? "" : ",") + row.name + "=" + row.values[0];
  }
  std::erase_if(rows, all_alike);
  if (!alike.empty()) out += wrapped_design("all: ", alike, columns, 5);
  std::size_t from = 0;
  for (const std::size_t to : even_ends_of(rows, names, static_cast<std::size_t>(columns))) {
    Table table;
    table.add_column("design", Align::left);
    for (std::size_t d = from; d < to; ++d) table.add_column(names[d], Align::right);
    for (const ParameterRow& row : rows) {
      std::vector<std::string> cells{row.name};
      cells.insert(cells.end(), row.values.begin() + static_cast<std::ptrdiff_t>(from),
                   row.values.begin() + static_cast<std::ptrdiff_t>(to));
      table.add_row(std::move(cells));
    }
    if (from > 0) out += "\n";
    out += table.render(columns);
    from = to;
  }
  return out;
}

}  // namespace hindsight::report
