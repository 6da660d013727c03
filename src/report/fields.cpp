#include "report/fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "hindsight/core/terminal.h"
#include "hindsight/core/text.h"

namespace hindsight::report {

std::string label(std::string_view field) {
  const auto unit = field.rfind('_');
  std::string text(field.substr(0, unit));
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string_view dram_name(accel::DramType type) {
  switch (type) {
    case accel::DramType::lpddr4:
      return "lpddr4";
    case accel::DramType::ddr4:
      return "ddr4";
    case accel::DramType::gddr6:
      return "gddr6";
    case accel::DramType::hbm2:
      return "hbm2";
  }
  return "";
}

std::string percent(double fraction) { return fmt::format("{:.1f} %", 100.0 * fraction); }

std::string wrapped(std::string_view prefix, std::string_view text, int columns, int indent) {
  std::string out;
  std::string line(prefix);
  bool line_has_word = false;
  for (const std::string& word : split(text, ' ')) {
    const std::size_t width = display_width(line) + (line_has_word ? 1 : 0) + display_width(word);
    if (columns > 0 && line_has_word && width > static_cast<std::size_t>(columns)) {
      out += line + "\n";
      line = std::string(static_cast<std::size_t>(indent), ' ');
      line_has_word = false;
    }
    if (line_has_word) line += " ";
    line += word;
    line_has_word = true;
  }
  return out + line + "\n";
}

}  // namespace hindsight::report
