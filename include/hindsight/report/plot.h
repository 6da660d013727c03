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

/// Points of one kind. Those of later series hide those of earlier ones.
struct PlotSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< finite
};

/// A frame of at most `columns` cells (at least 40) and 16 lines of points, a legend where there are several series.
/// An axis whose values are above 0 and span more than a factor of 30 is logarithmic, and says so. At most four series.
[[nodiscard]] std::string scatter_text(const std::vector<PlotSeries>& series, const std::string& x_name,
                                       const std::string& y_name, int columns, PlotGlyphs glyphs);

/// A line per bin (12, of equal width, or of equal ratio as in a scatter plot): its lower end, a bar, the count.
[[nodiscard]] std::string histogram_text(const std::vector<double>& values, const std::string& name, int columns,
                                         PlotGlyphs glyphs);

/// One line of at most `columns` cells: the values in their order, each cell the last of its share.
[[nodiscard]] std::string sparkline(const std::vector<double>& values, int columns, PlotGlyphs glyphs);

/// The feasible rows of one application, of query.filter.workload or the one with most of them: area against the
/// metric, the metric's histogram, the best so far in the order of evaluation. A text that says so where there is
/// nothing to draw.
[[nodiscard]] std::string log_plots_text(const log::Log& log, const LogQuery& query, int columns, PlotGlyphs glyphs);

}  // namespace hindsight::report
