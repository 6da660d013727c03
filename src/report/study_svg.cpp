/// Single figures as SVG, drawn here: no renderer, no fonts of its own, the same bytes every time.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hindsight/core/error.h"
#include "hindsight/core/terminal.h"
#include "hindsight/core/text.h"
#include "report/fields.h"
#include "report/study_figures.h"

namespace hindsight::report {
namespace {

// [chosen] A figure of a column and a half; margins hold the labels
constexpr double kWidth = 720, kHeight = 480, kLeft = 84, kRight = 20, kTop = 84, kBottom = 62;
constexpr double kMark = 4;  // [chosen] half a mark
constexpr double kTitleSize = 15, kTextSize = 12;
// [chosen] of the size of a text: its letters' mean width in the wider fonts of browsers, bold and plain
constexpr double kBoldLetter = 0.64, kLetter = 0.58;
constexpr std::size_t kLegendRows = 2;  // [chosen] what fits above the plot

/// Okabe and Ito's colours, which colour-blind readers tell apart. [chosen] in the order of SeriesRole
constexpr std::array<const char*, 9> kColours{"#0072B2", "#999999", "#009E73", "#D55E00", "#CC79A7",
                                              "#0072B2", "#E69F00", "#555555", "#0072B2"};
constexpr std::array<const char*, 8> kStack{"#0072B2", "#E69F00", "#009E73", "#CC79A7",
                                            "#56B4E9", "#D55E00", "#F0E442", "#999999"};

/// From values to a length.
struct DrawnScale {
  double low = 0, high = 1;
  bool logarithmic = false;
  double from = 0, to = 1;  ///< in the drawing
  [[nodiscard]] double at(double value) const {
    const auto position = [&](double one) { return logarithmic ? std::log10(one) : one; };
    const double span = position(high) - position(low);
    const double share = span > 0 ? (position(value) - position(low)) / span : 0.5;
    return from + (to - from) * std::clamp(share, 0.0, 1.0);
  }
  [[nodiscard]] bool has(double value) const { return std::isfinite(value) && (!logarithmic || value > 0); }
};

DrawnScale scale_of(const ReportPanel& panel, const ReportColumn& column, std::size_t index, double from, double to) {
  DrawnScale scale{.logarithmic = column.logarithmic, .from = from, .to = to};
  const bool is_shared = scale.has(column.low) && scale.has(column.high);
  double low = is_shared ? column.low : INFINITY, high = is_shared ? column.high : -INFINITY;
  const auto take = [&](bool infeasible, double least, double most) {
    for (const ReportSeries& series : panel.series) {
      if ((series.role == SeriesRole::infeasible) != infeasible) continue;
      for (const std::vector<double>& point : series.values) {
        if (index >= point.size() || !scale.has(point[index]) || point[index] < least || point[index] > most) continue;
        low = std::min(low, point[index]);
        high = std::max(high, point[index]);
      }
    }
  };
  take(false, -INFINITY, INFINITY);
  const bool is_bounded = low <= high && low > 0;
  take(true, is_bounded ? low / kInfeasibleRoom : -INFINITY, is_bounded ? high * kInfeasibleRoom : INFINITY);
  if (low > high) low = column.logarithmic ? 1 : 0, high = column.logarithmic ? 10 : 1;  // [chosen] of an empty axis
  const double room = 0.05;                                                              // [chosen] free at both ends
  if (column.logarithmic) {
    const double factor = low == high ? 2 : std::pow(high / low, room);
    scale.low = low / factor, scale.high = high * factor;
  } else {
    const double gap = low == high ? std::max(std::abs(low), 1.0) : (high - low);
    scale.low = low - gap * room, scale.high = high + gap * room;
  }
  return scale;
}

/// Round values within a scale, four to nine.
std::vector<double> ticks_of(const DrawnScale& scale, bool whole = false) {
  std::vector<double> ticks;
  if (scale.logarithmic) {
    for (const std::vector<double>& steps : {std::vector<double>{1}, std::vector<double>{1, 2, 5}}) {  // [chosen] 1-2-5
      ticks.clear();
      for (double power = std::floor(std::log10(scale.low)); power <= std::ceil(std::log10(scale.high)); ++power) {
        for (const double step : steps) {
          const double tick = step * std::pow(10.0, power);
          if (tick >= scale.low && tick <= scale.high) ticks.push_back(tick);
        }
      }
      if (ticks.size() >= 3) break;  // [chosen] fewer say little
    }
    if (ticks.size() >= 2) return ticks;
    ticks.clear();
  }
  const double rough = (scale.high - scale.low) / 5, power = std::pow(10.0, std::floor(std::log10(rough)));  // [chosen]
  double step = power * (rough / power < 2 ? 2 : rough / power < 5 ? 5 : 10);                                // [chosen]
  if (whole) step = std::max(step, 1.0);
  for (double tick = std::ceil(scale.low / step) * step; tick <= scale.high; tick += step)
    ticks.push_back(std::abs(tick) < step / 1e6 ? 0 : tick);  // [chosen] rounding
  return ticks;
}

std::string text_at(double x, double y, const char* anchor, const std::string& text, const char* more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more,
                     escaped(text));
}

/// A number on an axis: shares as percentages.
std::string tick_text(const ReportColumn& column, double value) {
  if (column.name.ends_with("_frac")) return fmt::format("{:.3g} %", 100 * value);
  std::string text = si(value, "");  // "1.00 k"
  const std::size_t end = std::min(text.find(' '), text.size());
  if (text.substr(0, end).find('.') == std::string::npos) return text;
  std::size_t last = text.find_last_not_of('0', end - 1);
  if (text[last] == '.') --last;
  return text.erase(last + 1, end - last - 1);
}

std::string axes(const DrawnScale& x, const DrawnScale& y, const ReportColumn& across, const ReportColumn& up) {
  std::string out;
  for (const double tick : ticks_of(x, across.whole)) {
    out += fmt::format("<path class=\"grid\" d=\"M{0:.1f} {1}V{2}\"/>\n", x.at(tick), kTop, kHeight - kBottom);
    out += text_at(x.at(tick), kHeight - kBottom + 18, "middle", tick_text(across, tick));
  }
  for (const double tick : ticks_of(y, up.whole)) {
    out += fmt::format("<path class=\"grid\" d=\"M{1} {0:.1f}H{2}\"/>\n", y.at(tick), kLeft, kWidth - kRight);
    out += text_at(kLeft - 8, y.at(tick) + 4, "end", tick_text(up, tick));
  }
  out += text_at((kLeft + kWidth - kRight) / 2, kHeight - 18, "middle", across.label, " class=\"axis\"");
  const std::string turned =
      fmt::format(" class=\"axis\" transform=\"rotate(-90 18 {:.1f})\"", (kTop + kHeight - kBottom) / 2);
  return out + text_at(18, (kTop + kHeight - kBottom) / 2, "middle", up.label, turned.c_str());
}

/// A mark of the role's shape: circle, cross, square, triangle, diamond.
std::string mark(SeriesRole role, double x, double y) {
  const char* colour = kColours[static_cast<std::size_t>(role)];
  const double r = kMark;
  switch (role) {
    case SeriesRole::infeasible:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l{} {}m0 -{}l-{} {}\" stroke=\"{}\" fill=\"none\"/>\n", x - r / 2,
                         y - r / 2, r, r, r, r, r, colour);
    case SeriesRole::front:
      return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", x - r, y - r,
                         2 * r, 2 * r, colour);
    case SeriesRole::proposed:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l{} {}h-{}z\" fill=\"{}\" stroke=\"#fff\"/>\n", x, y - 2 * r, 2 * r,
                         3 * r, 4 * r, colour);
    case SeriesRole::optimum:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l{} {}l-{} {}l-{} -{}z\" fill=\"{}\" stroke=\"#fff\"/>\n", x,
                         y - 2 * r, 2 * r, 2 * r, 2 * r, 2 * r, 2 * r, 2 * r, colour);
    default:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\" fill-opacity=\"0.6\"/>\n", x, y,
                         r - 1, colour);
  }
}

bool is_line(SeriesRole role) {
  return role == SeriesRole::line || role == SeriesRole::second_line || role == SeriesRole::reference;
}

/// How many letters of a text of `size` fit into a width.
std::size_t letters_in(double width, double size, double letter = kLetter) {
  return static_cast<std::size_t>(width / (size * letter));
}

/// One or two lines, each as wide as the figure at most; what is longer ends in "…".
std::string title_svg(const std::string& title) {
  const std::size_t most = letters_in(kWidth - kLeft - kRight, kTitleSize, kBoldLetter);
  const std::string whole = printable(title, 2 * most);
  const std::vector<std::string> lines = split(wrapped("", whole, static_cast<int>(most), 0), '\n');
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(lines.size(), 2); ++i) {
    const bool is_cut = i == 1 && lines.size() > 2 && !lines[2].empty();
    out +=
        text_at(kLeft, 22 + 19 * static_cast<double>(i), "start", printable(is_cut ? lines[i] + "…" : lines[i], most),
                fmt::format(" font-size=\"{}\" font-weight=\"bold\"", kTitleSize).c_str());
  }
  return out;
}

/// The names of the series, in rows that end where the figure does.
std::string legend(const ReportPanel& panel, bool stacked) {
  constexpr double kSign = 22, kGap = 24, kRowHeight = 17, kFirstRow = 60;  // [chosen] of a name: before, behind, below
  std::size_t named = 0;
  for (const ReportSeries& series : panel.series) named += series.values.empty() ? 0 : 1;
  const double room = kWidth - kRight - kLeft;
  const double columns = std::ceil(static_cast<double>(named) / static_cast<double>(kLegendRows));
  const std::size_t most = letters_in(room / std::max(columns, 1.0) - kSign - kGap, kTextSize);
  std::string out;
  double x = kLeft, y = kFirstRow;
  for (std::size_t s = 0; s < panel.series.size(); ++s) {
    const ReportSeries& series = panel.series[s];
    if (series.values.empty()) continue;
    const std::string name = printable(series.name, most);
    const double width = kSign + kTextSize * kLetter * static_cast<double>(display_width(name));
    if (x > kLeft && x + width > kLeft + room) {
      x = kLeft;
      y += kRowHeight;
    }
    const char* colour = stacked ? kStack[s % kStack.size()] : kColours[static_cast<std::size_t>(series.role)];
    out += stacked || is_line(series.role)
               ? fmt::format("<path d=\"M{:.1f} {}h16\" stroke=\"{}\" stroke-width=\"{}\"{}/>\n", x, y - 4, colour,
                             stacked ? 10 : 2, series.role == SeriesRole::reference ? " stroke-dasharray=\"5 4\"" : "")
               : mark(series.role, x + 8, y - 4);
    out += text_at(x + kSign, y, "start", name);
    x += width + kGap;
  }
  return out;
}

/// Points and joined lines. A point without one of the two stands at that axis's far edge.
std::string points_svg(const ReportFigure& figure, const ReportPanel& panel) {
  const DrawnScale x = scale_of(panel, figure.columns[figure.x], figure.x, kLeft, kWidth - kRight);
  const DrawnScale y = scale_of(panel, figure.columns[figure.y], figure.y, kHeight - kBottom, kTop);
  std::string out = axes(x, y, figure.columns[figure.x], figure.columns[figure.y]);
  for (const ReportSeries& series : panel.series) {
    std::string path;
    for (const std::vector<double>& point : series.values) {
      const bool has_x = x.has(point[figure.x]), has_y = y.has(point[figure.y]);
      if (!has_x && !has_y) continue;
      const double at_x = has_x ? x.at(point[figure.x]) : kWidth - kRight, at_y = has_y ? y.at(point[figure.y]) : kTop;
      if (is_line(series.role)) {
        path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", at_x, at_y);
      } else {
        out += mark(series.role, at_x, at_y);
      }
    }
    if (path.empty()) continue;
    out += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n", path,
                       kColours[static_cast<std::size_t>(series.role)],
                       series.role == SeriesRole::reference ? " stroke-dasharray=\"5 4\"" : "");
  }
  return out + legend(panel, false);
}

std::string bars_svg(const ReportFigure& figure, const ReportPanel& panel) {
  constexpr double kLabels = 150;  // [chosen] room for a layer's name
  double longest = 0;
  for (std::size_t i = 0; i < panel.categories.size(); ++i) {
    double sum = 0;
    for (const ReportSeries& series : panel.series) sum += series.values[i][0];
    longest = std::max(longest, sum);
  }
  const DrawnScale x{.low = 0, .high = longest > 0 ? longest : 1, .from = kLeft + kLabels, .to = kWidth - kRight};
  std::string out;
  for (const double tick : ticks_of(x)) {
    out += fmt::format("<path class=\"grid\" d=\"M{:.1f} {}V{}\"/>\n", x.at(tick), kTop, kHeight - kBottom);
    out += text_at(x.at(tick), kHeight - kBottom + 18, "middle", tick_text(figure.columns[0], tick));
  }
  const double step =
      (kHeight - kBottom - kTop) / static_cast<double>(std::max<std::size_t>(panel.categories.size(), 1));
  for (std::size_t i = 0; i < panel.categories.size(); ++i) {
    const double y = kTop + step * static_cast<double>(i);
    out += text_at(kLeft + kLabels - 8, y + step / 2 + 4, "end", printable(panel.categories[i], 32));
    double before = 0;
    for (std::size_t s = 0; s < panel.series.size(); ++s) {
      const double value = panel.series[s].values[i][0];
      out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
                         x.at(before), y + step / 10, x.at(before + value) - x.at(before), step * 4 / 5,
                         kStack[s % kStack.size()]);
      before += value;
    }
  }
  return out +
         text_at((kLeft + kLabels + kWidth - kRight) / 2, kHeight - 18, "middle", figure.columns[0].label,
                 " class=\"axis\"") +
         legend(panel, true);
}

std::string parallel_svg(const ReportFigure& figure, const ReportPanel& panel) {
  constexpr double kRightOfAxes = 110;  // [chosen] room for the last axis's turned name
  std::string out;
  std::vector<DrawnScale> scales;
  const double step =
      (kWidth - kLeft - kRightOfAxes) / static_cast<double>(std::max<std::size_t>(figure.columns.size() - 1, 1));
  for (std::size_t c = 0; c < figure.columns.size(); ++c) {
    scales.push_back(scale_of(panel, figure.columns[c], c, kHeight - kBottom, kTop + 70));
    const double x = kLeft + step * static_cast<double>(c);
    out += fmt::format("<path class=\"grid\" d=\"M{0:.1f} {1}V{2}\"/>\n", x, kTop + 70, kHeight - kBottom);
    const std::string turned = fmt::format(" transform=\"rotate(-35 {0:.1f} {1})\"", x, kTop + 62);
    out += text_at(x, kTop + 62, "start", printable(figure.columns[c].label, 18), turned.c_str());
  }
  for (const ReportSeries& series : panel.series) {
    for (const std::vector<double>& point : series.values) {
      std::string path;
      for (std::size_t c = 0; c < point.size(); ++c) {
        if (!scales[c].has(point[c])) continue;
        path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", kLeft + step * static_cast<double>(c),
                            scales[c].at(point[c]));
      }
      out += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-opacity=\"0.35\"/>\n", path,
                         kColours[static_cast<std::size_t>(series.role)]);
    }
  }
  return out + legend(panel, false);
}

const ReportFigure& figure_of(const StudyReport& report, const std::string& name) {
  std::vector<std::string> known;
  for (const ReportSection& section : report.sections) {
    for (const ReportFigure& figure : section.figures) {
      if (figure.name == name) return figure;
      known.push_back(figure.name);
    }
  }
  throw Error(ErrorKind::usage, fmt::format("{}: the report has no figure '{}'.{}", report.log, printable(name),
                                            did_you_mean(name, known)));
}

}  // namespace

std::string report_svg(const StudyReport& report, const std::string& name, const std::string& panel_name) {
  const ReportFigure& figure = figure_of(report, name);
  std::vector<std::string> known;
  const ReportPanel* panel = nullptr;
  for (const ReportPanel& one : figure.panels) {
    if (panel == nullptr && (panel_name.empty() || one.name == panel_name)) panel = &one;
    known.push_back(one.name);
  }
  if (panel == nullptr) {
    throw Error(ErrorKind::usage, fmt::format("{}: the figure '{}' has no panel '{}'.{}", report.log, name,
                                              printable(panel_name), did_you_mean(panel_name, known)));
  }
  std::string body;
  if (figure.kind == FigureKind::points) body = points_svg(figure, *panel);
  if (figure.kind == FigureKind::bars) body = bars_svg(figure, *panel);
  if (figure.kind == FigureKind::parallel) body = parallel_svg(figure, *panel);
  const std::string title = known.size() > 1 ? fmt::format("{}: {}", figure.title, panel->name) : figure.title;
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" "
      "width=\"{0}\" height=\"{1}\" "
      "role=\"img\" font-family=\"Helvetica, Arial, sans-serif\" "
      "font-size=\"12\">\n<title>{2}</title>\n<desc>{3}</desc>\n"
      "<style>.grid{{stroke:#ddd}}.axis{{font-size:13px}}</style>\n<rect width=\"{0}\" height=\"{1}\" "
      "fill=\"#fff\"/>\n{4}{5}</svg>\n",
      kWidth, kHeight, escaped(title), escaped(figure.note), title_svg(title), body);
}

}  // namespace hindsight::report
