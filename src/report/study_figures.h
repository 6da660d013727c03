/// How figures look, the same in SVG and on the page.
#pragma once

#include <string>
#include <string_view>

#include "hindsight/report/study_report.h"
#include "report/json.h"

namespace hindsight::report {

/// `text` fit for an HTML or SVG document: & < > " ' become entities, and what no document may hold is replaced.
[[nodiscard]] std::string escaped(std::string_view text);

/// The figure as docs/report.md describes it, without its table.
[[nodiscard]] Json figure_json(const ReportFigure& figure);
/// Everything; `tables`: of figures and sections, and text ids of designs in full. The page holds its tables as HTML
/// and its designs as numbers of values instead.
[[nodiscard]] Json study_json(const StudyReport& report, bool tables);

/// Bytes of a number in JSON: six digits are more than a plot shows. null where it is not finite.
[[nodiscard]] Json plotted(double value);

}  // namespace hindsight::report
