/// Draws with characters: values become cells of a grid, counts the lengths of bars.
#include "hindsight/report/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

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

std::size_t plot_width(int columns) { return std::max(static_cast<std::size_t>(std::max(columns, 0)), kNarrowestPlot); }

/// Maps values to positions from 0 to 1, by value or by ratio.
class Scale {
 public:
  explicit Scale(const std::vector<double>& values) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    low_ = *low;
    high_ = *high;
    logarithmic_ = low_ > 0 && high_ > kLinearSpan * low_;
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

/// The frame around the lines of a scatter plot, and what stands at its axes.
std::string framed(const std::vector<std::vector<std::string_view>>& grid, const Scale& x, const Scale& y,
                   const std::string& x_name, PlotGlyphs glyphs) {
  const bool unicode = glyphs == PlotGlyphs::unicode;
  const std::size_t width = grid.front().size();
  std::string out;
  for (std::size_t line = 0; line < grid.size(); ++line) {
    const bool top = line == 0, bottom = line + 1 == grid.size();
    out += top ? number_label(y.high()) : bottom ? number_label(y.low()) : std::string(kLabelCells, ' ');
    out += unicode ? " │" : " |";
    std::string points;
    for (const std::string_view cell : grid[line]) points += cell;
    out += points.substr(0, points.find_last_not_of(' ') + 1) + "\n";
  }
  out += std::string(kLabelCells, ' ') + (unicode ? " └" : " +") + repeated(unicode ? "─" : "-", width) + "\n";
  const std::string left = fmt::format("{:.3g}", x.low()), right = fmt::format("{:.3g}", x.high());
  const std::string name = axis_name(x_name, x);
  const std::size_t used = left.size() + right.size() + name.size();
  const std::size_t gap = used + 2 < width ? width - used : 2;
  return out + std::string(kLabelCells + 2, ' ') + left + std::string(gap / 2, ' ') + name +
         std::string(gap - gap / 2, ' ') + right + "\n";
}

}  // namespace

std::string scatter_text(const std::vector<PlotSeries>& series, const std::string& x_name, const std::string& y_name,
                         int columns, PlotGlyphs glyphs) {
  HINDSIGHT_EXPECT(series.size() <= kUnicodePoints.size());
  const std::vector<double> xs = coordinates(series, true), ys = coordinates(series, false);
  if (xs.empty()) return "nothing to plot\n";
  const Scale x(xs), y(ys);
  const std::size_t width = plot_width(columns) - kLabelCells - 2;
  const auto& marks = glyphs == PlotGlyphs::unicode ? kUnicodePoints : kAsciiPoints;
  std::vector<std::vector<std::string_view>> grid(kPlotLines, std::vector<std::string_view>(width, " "));
  std::string legend;
  for (std::size_t s = 0; s < series.size(); ++s) {
    for (const auto& [px, py] : series[s].points) {
      grid[kPlotLines - 1 - y.cell(py, kPlotLines)][x.cell(px, width)] = marks[s];
    }
    legend += fmt::format("{}{} {}", s == 0 ? "" : "   ", marks[s], series[s].name);
  }
  std::string out = axis_name(y_name, y) + "\n" + framed(grid, x, y, x_name, glyphs);
  if (series.size() > 1) out += std::string(kLabelCells + 2, ' ') + legend + "\n";
  return out;
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
  const Scale scale(values);
  const std::size_t cells = std::min(plot_width(columns), values.size());
  const auto& steps = glyphs == PlotGlyphs::unicode ? kUnicodeSteps : kAsciiSteps;
  std::string line;
  for (std::size_t i = 0; i < cells; ++i) {
    line += steps[scale.cell(values[(i + 1) * values.size() / cells - 1], steps.size())];
  }
  return line;
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
  log::for_each_evaluation(log, filter, log::Detail::all, [&](const log::EvaluationRecord& row) {
    double value = std::nan(""), area = std::nan("");
    for (const auto& [name, number] : log::metrics_of(row)) {
      if (name == metric) value = number;
      if (name == "area_mm2") area = number;
    }
    if (!std::isfinite(value)) return true;
    values.push_back(value);
    best.push_back(best.empty() ? value : less ? std::min(best.back(), value) : std::max(best.back(), value));
    if (std::isfinite(area)) rows.points.emplace_back(area, value);
    return true;
  });
  if (values.empty()) return fmt::format("\nnothing to plot: no feasible row of {} has {}\n", workload, metric);
  std::string out = fmt::format("\n{}: {} feasible rows\n", printable(workload), with_commas(values.size()));
  if (!rows.points.empty()) out += scatter_text({rows}, "area_mm2", metric, columns, glyphs) + "\n";
  out += histogram_text(values, metric, columns, glyphs);
  return out + fmt::format("\nbest {} so far, {:.3g} to {:.3g}, in the order of evaluation\n{}\n", metric, best.front(),
                           best.back(), sparkline(best, columns, glyphs));
}

}  // namespace hindsight::report
