/// How plots are drawn on standard output.
#pragma once

namespace hindsight::app {

/// Width for plots: the terminal's, or 80 for pipes and files (COLUMNS says otherwise).
[[nodiscard]] int plot_columns();
/// Whether the locale is UTF-8 (LC_ALL, else LC_CTYPE, else LANG).
[[nodiscard]] bool utf8_locale();

}  // namespace hindsight::app
