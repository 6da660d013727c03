/// The width and the characters that standard output has for plots.
#include "plot_output.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "hindsight/core/error.h"
#include "hindsight/core/terminal.h"

namespace hindsight::app {

int plot_columns() { return terminal_columns(Stream::out); }

bool utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string locale = value;
    std::transform(locale.begin(), locale.end(), locale.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

report::PlotGlyphs plot_glyphs() { return utf8_locale() ? report::PlotGlyphs::unicode : report::PlotGlyphs::ascii; }

void require_drawable(bool plot, bool json) {
  if (plot && json) throw Error(ErrorKind::usage, "--plot: JSON has no pictures. Leave out --json?");
}

}  // namespace hindsight::app
