/// How plots are drawn on standard output.
#pragma once

#include "hindsight/report/plot.h"

namespace hindsight::app {

/// Width for plots: the terminal's, or 80 for pipes and files (COLUMNS says otherwise).
[[nodiscard]] int plot_columns();
/// Whether the locale is UTF-8 (LC_ALL, else LC_CTYPE, else LANG).
[[nodiscard]] bool utf8_locale();
/// Characters that the locale can show.
[[nodiscard]] report::PlotGlyphs plot_glyphs();
/// Error{usage} for --plot with --json.
void require_drawable(bool plot, bool json);

}  // namespace hindsight::app
