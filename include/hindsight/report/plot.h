/// Pictures of characters for terminals: scatter plots, histograms, sparklines.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hindsight/report/log_summary.h"

namespace hindsight::report {

enum class PlotGlyphs {
  unicode,
  ascii,  ///< where the locale is not UTF-8
};

/// How values become positions on an axis.
enum class PlotSpacing {
  by_range,     ///< logarithmic where the values are above 0 and span more than a factor of 30, else linear
  logarithmic,  ///< the values are above 0
};
struct PlotAxis {
  std::string name;
  PlotSpacing spacing = PlotSpacing::by_range;
};

enum class PlotKind {
  points,
  line,  ///< the points are corners, from left to right, joined straight on the axes as they are drawn
};

/// Points of one kind. Those of later series hide those of earlier ones; labels hide everything.
struct PlotSeries {
  std::string name;                               ///< in the legend; empty: not there
  std::vector<std::pair<double, double>> points;  ///< finite
  /// One per point, drawn where the point is; empty: nothing there. None at all: every point is the series' mark. A
  /// label that would touch one before it is named beside that one below the plot.
  std::vector<std::string> labels = {};
  PlotKind kind = PlotKind::points;
};

/// A frame of at most `columns` cells (at least 40) and 16 lines of points, then a legend where there are several
/// series or labels. A logarithmic axis says so. At most four series of marks.
[[nodiscard]] std::string scatter_text(const std::vector<PlotSeries>& series, const PlotAxis& x, const PlotAxis& y,
                                       int columns, PlotGlyphs glyphs);

/// A line per bin (12, of equal width, or of equal ratio as in a scatter plot): its lower end, a bar, the count.
[[nodiscard]] std::string histogram_text(const std::vector<double>& values, const std::string& name, int columns,
                                         PlotGlyphs glyphs);

/// One line of at most `columns` cells: the values in their order, each cell the last of its share.
[[nodiscard]] std::string sparkline(const std::vector<double>& values, int columns, PlotGlyphs glyphs);

/// One line of several.
struct PlotRow {
  std::string name;
  std::vector<double> values;  ///< infinite: none yet
};
/// A sparkline per row, all on one scale, with its name, its first finite value and its last; values that are infinite
/// are crosses.
[[nodiscard]] std::string sparklines_text(const std::vector<PlotRow>& rows, int columns, PlotGlyphs glyphs);

/// The feasible rows of one application, of query.filter.workload or the one with most of them: area against the
/// metric, the metric's histogram, the best so far in the order of evaluation. A text that says so where there is
/// nothing to draw.
[[nodiscard]] std::string log_plots_text(const log::Log& log, const LogQuery& query, int columns, PlotGlyphs glyphs);

}  // namespace hindsight::report
