/// Draws with characters: values become cells of a grid, counts the lengths of bars.
#include "hindsight/report/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "hindsight/core/error.h"
#include "hindsight/core/terminal.h"
#include "hindsight/core/text.h"
#include "report/fields.h"

namespace hindsight::report {
namespace {

constexpr std::size_t kNarrowestPlot = 40;  // [chosen] as tables
constexpr std::size_t kPlotLines = 16;      // [chosen] half of a small terminal
constexpr std::size_t kBins = 12;           // [chosen] tells one peak from two, and fits below a scatter plot
constexpr double kLinearSpan = 30;          // [chosen] a wider range would put most points into one cell
constexpr std::size_t kLabelCells = 9;      // "-1.23e-06"
constexpr std::array<std::string_view, 4> kUnicodePoints{"·", "•", "◆", "+"};
constexpr std::array<std::string_view, 4> kAsciiPoints{".", "o", "#", "+"};
constexpr std::array<std::string_view, 8> kUnicodeSteps{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 8> kAsciiSteps{"_", ".", ",", "-", "=", "+", "*", "#"};
/// Lines at heights within a cell, from its bottom to its top.
constexpr std::array<std::string_view, 5> kUnicodeHeights{"⎽", "⎼", "─", "⎻", "⎺"};
constexpr std::array<std::string_view, 3> kAsciiHeights{"_", "-", "'"};
constexpr std::size_t kRowName = 16;    // "evolutionary@10x"
constexpr std::size_t kRowValues = 21;  // " 1.23e+03 to 1.23e+03"

std::size_t plot_width(int columns) { return std::max(static_cast<std::size_t>(std::max(columns, 0)), kNarrowestPlot); }

/// Maps values to positions from 0 to 1, by value or by ratio.
class Scale {
 public:
  explicit Scale(const std::vector<double>& values, PlotSpacing spacing = PlotSpacing::by_range) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    low_ = *low;
    high_ = *high;
    HINDSIGHT_EXPECT(spacing != PlotSpacing::logarithmic || low_ > 0);
    logarithmic_ = spacing == PlotSpacing::logarithmic || (low_ > 0 && high_ > kLinearSpan * low_);
  }
  [[nodiscard]] bool logarithmic() const { return logarithmic_; }
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }
  [[nodiscard]] double position(double value) const {
    if (high_ == low_) return 0;
    return logarithmic_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  }
  [[nodiscard]] double value(double position) const {
    return logarithmic_ ? low_ * std::pow(high_ / low_, position) : low_ + (high_ - low_) * position;
  }
  /// Which of `cells` equal parts holds the value.
  [[nodiscard]] std::size_t cell(double value, std::size_t cells) const {
    const double at = std::clamp(position(value), 0.0, 1.0) * static_cast<double>(cells);
    return std::min(static_cast<std::size_t>(at), cells - 1);
  }

 private:
  double low_ = 0, high_ = 0;
  bool logarithmic_ = false;
};

std::string number_label(double value) { return fmt::format("{:>{}.3g}", value, kLabelCells); }

std::string repeated(std::string_view glyph, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += glyph;
  return text;
}

std::string axis_name(const std::string& name, const Scale& scale) {
  return name + (scale.logarithmic() ? " (logarithmic)" : "");
}

std::vector<double> coordinates(const std::vector<PlotSeries>& series, bool x) {
  std::vector<double> values;
  for (const PlotSeries& one : series) {
    for (const auto& point : one.points) values.push_back(x ? point.first : point.second);
  }
  return values;
}

/// A label that stands in the picture, and those that would touch it.
struct PlacedLabel {
  std::size_t line = 0, begin = 0, end = 0;  ///< cells begin to end - 1
  std::string text;
  std::vector<std::string> behind = {};
};

/// The cells of a scatter plot, line 0 on top.
class Canvas {
 public:
  Canvas(Scale x, Scale y, std::size_t width, PlotGlyphs glyphs)
      : x_(x), y_(y), glyphs_(glyphs), cells_(kPlotLines, std::vector<std::string>(width, " ")) {}

  void mark(const std::pair<double, double>& point, std::string_view glyph) {
    cells_[line_of(point.second)][x_.cell(point.first, width())] = glyph;
  }
  /// Straight from one point to the next, a glyph per column.
  void line(const std::vector<std::pair<double, double>>& corners) {
    for (std::size_t i = 1; i < corners.size(); ++i) segment(corners[i - 1], corners[i]);
  }
  /// Each where its point is, or a little to the left at the right edge; not where it would touch one before.
  void label(const std::pair<double, double>& point, const std::string& text) {
    PlacedLabel placed{.line = line_of(point.second), .text = text};
    const std::size_t cells = std::min(display_width(text), width());
    placed.begin = std::min(x_.cell(point.first, width()), width() - cells);
    placed.end = placed.begin + cells;
    for (PlacedLabel& other : labels_) {
      if (other.line != placed.line || other.end < placed.begin || placed.end < other.begin) continue;
      other.behind.push_back(text);
      return;
    }
    cells_[placed.line][placed.begin] = text;
    for (std::size_t i = placed.begin + 1; i < placed.end; ++i) cells_[placed.line][i].clear();
    labels_.push_back(std::move(placed));
  }
  [[nodiscard]] std::string framed(const std::string& x_name) const;
  [[nodiscard]] std::string line_glyph() const { return std::string(glyphs_ == PlotGlyphs::unicode ? "─" : "-"); }
  /// "at 1 also 2, 3; at 5 also 6"; empty where all labels stand.
  [[nodiscard]] std::string hidden_labels() const {
    std::vector<std::string> parts;
    for (const PlacedLabel& one : labels_) {
      if (!one.behind.empty()) parts.push_back(fmt::format("at {} also {}", one.text, join(one.behind, ", ")));
    }
    return join(parts, "; ");
  }

 private:
  [[nodiscard]] std::size_t width() const { return cells_.front().size(); }
  [[nodiscard]] std::size_t line_of(double y) const { return kPlotLines - 1 - y_.cell(y, kPlotLines); }
  void segment(const std::pair<double, double>& from, const std::pair<double, double>& to) {
    const double x_from = x_.position(from.first), x_to = x_.position(to.first);
    const double y_from = y_.position(from.second), y_to = y_.position(to.second);
    for (std::size_t column = x_.cell(from.first, width()); column <= x_.cell(to.first, width()); ++column) {
      const double middle = (static_cast<double>(column) + 0.5) / static_cast<double>(width());
      const double along = x_to > x_from ? std::clamp((middle - x_from) / (x_to - x_from), 0.0, 1.0) : 0;
      const double height = std::clamp(y_from + (y_to - y_from) * along, 0.0, 1.0) * static_cast<double>(kPlotLines);
      const std::size_t line = std::min(static_cast<std::size_t>(height), kPlotLines - 1);
      cells_[kPlotLines - 1 - line][column] = glyph_at(height - static_cast<double>(line));
    }
  }
  /// `height`: within the cell, 0 to 1.
  [[nodiscard]] std::string_view glyph_at(double height) const {
    const auto of = [height](const auto& glyphs) {
      return glyphs[std::min(static_cast<std::size_t>(height * static_cast<double>(glyphs.size())), glyphs.size() - 1)];
    };
    return glyphs_ == PlotGlyphs::unicode ? of(kUnicodeHeights) : of(kAsciiHeights);
  }

  Scale x_, y_;
  PlotGlyphs glyphs_;
  std::vector<std::vector<std::string>> cells_;
  std::vector<PlacedLabel> labels_;
};

/// The frame around the lines, and what stands at its axes.
std::string Canvas::framed(const std::string& x_name) const {
  const bool unicode = glyphs_ == PlotGlyphs::unicode;
  std::string out;
  for (std::size_t line = 0; line < cells_.size(); ++line) {
    const bool top = line == 0, bottom = line + 1 == cells_.size();
    out += top ? number_label(y_.high()) : bottom ? number_label(y_.low()) : std::string(kLabelCells, ' ');
    out += unicode ? " │" : " |";
    std::string points;
    for (const std::string& cell : cells_[line]) points += cell;
    out += points.substr(0, points.find_last_not_of(' ') + 1) + "\n";
  }
  out += std::string(kLabelCells, ' ') + (unicode ? " └" : " +") + repeated(unicode ? "─" : "-", width()) + "\n";
  const std::string left = fmt::format("{:.3g}", x_.low()), right = fmt::format("{:.3g}", x_.high());
  const std::string name = axis_name(x_name, x_);
  const std::size_t used = left.size() + right.size() + name.size();
  const std::size_t gap = used + 2 < width() ? width() - used : 2;
  return out + std::string(kLabelCells + 2, ' ') + left + std::string(gap / 2, ' ') + name +
         std::string(gap - gap / 2, ' ') + right + "\n";
}

std::string_view nothing_yet(PlotGlyphs glyphs) { return glyphs == PlotGlyphs::unicode ? "×" : "x"; }

std::string steps_of(const std::vector<double>& values, const Scale& scale, std::size_t cells, PlotGlyphs glyphs) {
  const auto& steps = glyphs == PlotGlyphs::unicode ? kUnicodeSteps : kAsciiSteps;
  std::string line;
  for (std::size_t i = 0; i < cells; ++i) {
    const double value = values[(i + 1) * values.size() / cells - 1];
    line += std::isfinite(value) ? steps[scale.cell(value, steps.size())] : nothing_yet(glyphs);
  }
  return line;
}

/// Draws all series, labels last; the legend's entries.
std::vector<std::string> draw(Canvas& canvas, const std::vector<PlotSeries>& series, PlotGlyphs glyphs) {
  const auto& marks = glyphs == PlotGlyphs::unicode ? kUnicodePoints : kAsciiPoints;
  std::vector<std::string> legend;
  std::size_t mark = 0;
  for (const PlotSeries& one : series) {
    HINDSIGHT_EXPECT(one.labels.empty() || one.labels.size() == one.points.size());
    std::string sign;
    if (one.kind == PlotKind::line) {
      canvas.line(one.points);
      sign = canvas.line_glyph() + " ";
    } else if (one.labels.empty()) {
      HINDSIGHT_EXPECT(mark < marks.size());
      for (const auto& point : one.points) canvas.mark(point, marks[mark]);
      sign = std::string(marks[mark++]) + " ";
    }
    if (!one.name.empty()) legend.push_back(sign + one.name);
  }
  for (const PlotSeries& one : series) {
    for (std::size_t i = 0; i < one.labels.size(); ++i) {
      if (!one.labels[i].empty()) canvas.label(one.points[i], one.labels[i]);
    }
  }
  return legend;
}

}  // namespace

std::string scatter_text(const std::vector<PlotSeries>& series, const PlotAxis& x, const PlotAxis& y, int columns,
                         PlotGlyphs glyphs) {
  const std::vector<double> xs = coordinates(series, true), ys = coordinates(series, false);
  if (xs.empty()) return "nothing to plot\n";
  const Scale x_scale(xs, x.spacing), y_scale(ys, y.spacing);
  Canvas canvas(x_scale, y_scale, plot_width(columns) - kLabelCells - 2, glyphs);
  const std::vector<std::string> legend = draw(canvas, series, glyphs);
  const bool labelled = std::any_of(series.begin(), series.end(), [](const auto& one) { return !one.labels.empty(); });
  const std::string indent(kLabelCells + 2, ' ');
  const int width = static_cast<int>(plot_width(columns));
  std::string out = axis_name(y.name, y_scale) + "\n" + canvas.framed(x.name);
  if ((series.size() > 1 || labelled) && !legend.empty()) {
    out += wrapped(indent, join(legend, "   "), width, static_cast<int>(indent.size()));
  }
  const std::string hidden = canvas.hidden_labels();
  return hidden.empty() ? out : out + wrapped(indent, hidden, width, static_cast<int>(indent.size()));
}

std::string histogram_text(const std::vector<double>& values, const std::string& name, int columns, PlotGlyphs glyphs) {
  if (values.empty()) return "nothing to plot\n";
  const Scale scale(values);
  std::array<std::uint64_t, kBins> counts{};
  for (const double value : values) ++counts[scale.cell(value, kBins)];
  const std::uint64_t most = *std::max_element(counts.begin(), counts.end());
  const std::size_t digits = with_commas(most).size();
  const std::size_t longest = plot_width(columns) - kLabelCells - 3 - digits;
  std::string out = axis_name(name, scale) + "\n";
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    const double share = static_cast<double>(counts[bin]) / static_cast<double>(most);
    // What is not 0 has a bar, so that a rare good design is seen.
    const auto length = static_cast<std::size_t>(std::ceil(share * static_cast<double>(longest)));
    out += fmt::format("{}{} {}\n", number_label(scale.value(static_cast<double>(bin) / kBins)),
                       glyphs == PlotGlyphs::unicode ? " │" + repeated("█", length) : " |" + repeated("#", length),
                       with_commas(counts[bin]));
  }
  return out;
}

std::string sparkline(const std::vector<double>& values, int columns, PlotGlyphs glyphs) {
  if (values.empty()) return "";
  return steps_of(values, Scale(values), std::min(plot_width(columns), values.size()), glyphs);
}

std::string sparklines_text(const std::vector<PlotRow>& rows, int columns, PlotGlyphs glyphs) {
  std::vector<double> known;
  std::size_t names = 0;
  bool any_missing = false;
  for (const PlotRow& row : rows) {
    names = std::max(names, std::min(display_width(row.name), kRowName));
    for (const double value : row.values) {
      any_missing = any_missing || !std::isfinite(value);
      if (std::isfinite(value)) known.push_back(value);
    }
  }
  if (known.empty()) return "nothing to plot\n";
  const Scale scale(known);
  const std::size_t room = plot_width(columns) - names - 1 - kRowValues;
  std::string out;
  for (const PlotRow& row : rows) {
    const std::string name = shortened(row.name, names);
    out += name + std::string(names - display_width(name) + 1, ' ');
    const std::size_t cells = std::min(room, row.values.size());
    if (cells > 0) out += steps_of(row.values, scale, cells, glyphs);
    const auto first = std::find_if(row.values.begin(), row.values.end(), [](double v) { return std::isfinite(v); });
    out += first == row.values.end() ? std::string(" none\n")
                                     : fmt::format(" {:.3g} to {:.3g}\n", *first, row.values.back());
  }
  if (any_missing) out += fmt::format("{} none yet\n", nothing_yet(glyphs));
  return out;
}

namespace {

/// The application that is drawn; empty: none has a feasible row.
std::string drawn_workload(const log::Log& log, const LogQuery& query) {
  std::string name;
  std::uint64_t most = 0;
  for (const log::WorkloadStats& stats : log::workload_stats(log, query.filter)) {
    if (stats.feasible <= most) continue;
    most = stats.feasible;
    name = stats.workload;
  }
  return name;
}

}  // namespace

std::string log_plots_text(const log::Log& log, const LogQuery& query, int columns, PlotGlyphs glyphs) {
  const std::string workload = drawn_workload(log, query);
  if (workload.empty()) return "\nnothing to plot: no feasible row\n";
  const std::string metric = metric_of(query, workload);
  const bool less = direction_of(query, metric) == Direction::minimise;
  log::EvaluationFilter filter = query.filter;
  filter.workload = workload;
  filter.feasible = true;
  PlotSeries rows{.name = workload, .points = {}};
  std::vector<double> values, best;
  std::uint64_t lacking = 0;
  log::for_each_evaluation(log, filter, log::Detail::all, [&](const log::EvaluationRecord& row) {
    double value = std::nan(""), area = std::nan("");
    for (const auto& [name, number] : log::metrics_of(row)) {
      if (name == metric) value = number;
      if (name == "area_mm2") area = number;
    }
    lacking += std::isfinite(value) ? 0 : 1;
    if (!std::isfinite(value)) return true;
    values.push_back(value);
    best.push_back(best.empty() ? value : less ? std::min(best.back(), value) : std::max(best.back(), value));
    if (std::isfinite(area)) rows.points.emplace_back(area, value);
    return true;
  });
  if (values.empty()) return fmt::format("\nnothing to plot: no feasible row of {} has {}\n", workload, metric);
  std::string out = fmt::format("\n{}: {} feasible rows", printable(workload), with_commas(values.size()));
  if (lacking > 0) out += fmt::format(", {} more lack {}", with_commas(lacking), metric);
  if (!rows.points.empty() && rows.points.size() < values.size()) {
    out += fmt::format(", {} lack area_mm2", with_commas(values.size() - rows.points.size()));
  }
  out += "\n";
  if (!rows.points.empty()) out += scatter_text({rows}, {.name = "area_mm2"}, {.name = metric}, columns, glyphs) + "\n";
  out += histogram_text(values, metric, columns, glyphs);
  return out + fmt::format("\nbest {} so far, {:.3g} to {:.3g}, in the order of evaluation\n{}\n", metric, best.front(),
                           best.back(), sparkline(best, columns, glyphs));
}

}  // namespace hindsight::report
