/// Text helpers. Everything here is independent of the locale.
#include "hindsight/core/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <system_error>

#include "hindsight/core/ascii.h"
#include "hindsight/core/terminal.h"
#include "utf8.h"

namespace hindsight {
namespace {

constexpr std::size_t kMostListedNames = 12;   // [chosen] what still reads as one line
constexpr std::size_t kMostListedWidth = 200;  // [chosen] half of the longest error line
constexpr std::size_t kLongestName = 200;      // [chosen] bytes; nobody mistypes more, and the distance costs n^2
constexpr std::size_t kLeastBeginning = 3;     ///< [chosen] letters of a name that stand for all of it
constexpr std::size_t kMostNameWidth = 60;     // [chosen] characters of a name that are shown

/// Damerau-Levenshtein distance: insertions, deletions, substitutions and transpositions of neighbours, where
/// further edits between transposed letters are allowed (Lowrance and Wagner 1975).
std::size_t edit_distance(const std::string& a, const std::string& b) {
  const std::size_t rows = a.size() + 2;
  const std::size_t cols = b.size() + 2;
  const std::size_t unreachable = a.size() + b.size();
  std::vector<std::size_t> table(rows * cols, unreachable);
  const auto cell = [&](std::size_t i, std::size_t j) -> std::size_t& { return table[i * cols + j]; };
  for (std::size_t i = 0; i <= a.size(); ++i) {
    cell(i + 1, 1) = i;
  }
  for (std::size_t j = 0; j <= b.size(); ++j) {
    cell(1, j + 1) = j;
  }
  std::array<std::size_t, 256> last_row{};  // last row of `a` that held this byte
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t last_match = 0;  // last column of `b` that matched a[i - 1]
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t row = last_row[static_cast<unsigned char>(b[j - 1])];
      const std::size_t col = last_match;
      const bool same = a[i - 1] == b[j - 1];
      if (same) {
        last_match = j;
      }
      const std::size_t transposed = cell(row, col) + (i - row - 1) + 1 + (j - col - 1);
      cell(i + 1, j + 1) = std::min({cell(i, j) + (same ? 0 : 1), cell(i + 1, j) + 1, cell(i, j + 1) + 1, transposed});
    }
    last_row[static_cast<unsigned char>(a[i - 1])] = i;
  }
  return cell(rows - 1, cols - 1);
}

/// One leading '+' is allowed, which from_chars does not take.
std::string_view without_plus(std::string_view text) {
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+';
  return plus ? text.substr(1) : text;
}

/// "1.50" -> "1.5", "2.0" -> "2".
std::string without_trailing_zeros(std::string number) {
  if (number.find('.') != std::string::npos) {
    number.erase(number.find_last_not_of('0') + 1);
    if (number.back() == '.') {
      number.pop_back();
    }
  }
  return number;
}

/// What stands for a character that cannot be shown.
std::string escaped(const CodePoint& c) {
  const auto value = static_cast<std::uint32_t>(c.value);
  return value < 0x100     ? fmt::format("\\x{:02x}", value)
         : value < 0x10000 ? fmt::format("\\u{:04x}", value)
                           : fmt::format("\\U{:08x}", value);
}

/// Printable characters of ASCII that a text begins with, looked for until there are more than `most`.
std::size_t plain_length(std::string_view text, std::size_t most) {
  std::size_t length = 0;
  while (length < text.size() && length <= most && is_plain(text[length])) ++length;
  return length;
}

bool is_shown(const CodePoint& c) { return c.valid && !is_control(c.value) && !is_deceptive(c.value); }

/// Of a name with more to it than there is, "h200-sxm" of h200, the longest candidate that it begins with.
const std::string* longest_beginning(const std::string& wanted, std::span<const std::string> candidates) {
  const std::string* longest = nullptr;
  for (const std::string& candidate : candidates) {
    const std::size_t size = candidate.size();
    if (size == 0 || wanted.size() <= size + 1 ||
        std::string_view("-_@").find(wanted[size]) == std::string_view::npos) {
      continue;
    }
    if (!wanted.starts_with(lower_case(candidate))) continue;
    if (longest == nullptr || size > longest->size()) longest = &candidate;
  }
  return longest;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string_view head_of_reason(std::string_view text) { return trimmed(text.substr(0, text.find(':'))); }

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates) {
  const std::size_t limit = std::max<std::size_t>(2, name.size() / 2);
  const std::string wanted = lower_case(name);
  // A name without its unit, "area" of area_mm2: nearer than any spelling.
  for (const std::string& candidate : candidates) {
    if (!wanted.empty() && lower_case(candidate).starts_with(wanted + "_")) return candidate;
  }
  // A name that was not written to its end.
  const auto begins = [&](const std::string& candidate) { return lower_case(candidate).starts_with(wanted); };
  const auto begun = wanted.size() < kLeastBeginning ? 0 : std::count_if(candidates.begin(), candidates.end(), begins);
  if (begun == 1) return *std::find_if(candidates.begin(), candidates.end(), begins);
  const std::string* best = nullptr;
  std::size_t best_distance = limit + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t longer = std::max(name.size(), candidate.size());
    const std::size_t shorter = std::min(name.size(), candidate.size());
    if (longer > kLongestName || longer - shorter >= best_distance || (begun > 1 && !begins(candidate))) {
      continue;
    }
    const std::size_t distance = edit_distance(wanted, lower_case(candidate));
    if (distance < best_distance && distance < longer) {
      best_distance = distance;
      best = &candidate;
    }
  }
  if (best_distance > 1) {  // more than a slip
    if (const std::string* known = longest_beginning(wanted, candidates)) return *known;
  }
  return best == nullptr ? std::nullopt : std::optional<std::string>(*best);
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  if (const auto nearest = nearest_name(name, candidates)) {
    return fmt::format(" Did you mean '{}'?", printable(*nearest, kLongestName));
  }
  return known_names(candidates);
}

std::string known_names(std::span<const std::string> candidates) {
  if (candidates.empty()) {
    return "";
  }
  std::string listed;
  std::size_t count = 0;
  while (count < std::min(candidates.size(), kMostListedNames)) {
    const std::string next = (count == 0 ? "" : ", ") + printable(candidates[count], kMostNameWidth);
    if (count > 0 && listed.size() + next.size() > kMostListedWidth) break;
    listed += next;
    ++count;
  }
  return fmt::format(" Known: {}{}", listed, count < candidates.size() ? ", ..." : ".");
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  while (true) {
    const std::size_t end = text.find(separator);
    pieces.emplace_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) {
      return pieces;
    }
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string> split_names(std::string_view list, std::size_t most_commas,
                                     const std::function<bool(const std::string&)>& is_name) {
  std::vector<std::string> names;
  while (true) {
    std::size_t end = list.find(',');
    std::size_t further = end;
    for (std::size_t commas = 1; commas <= most_commas && further != std::string_view::npos; ++commas) {
      further = list.find(',', further + 1);
      if (is_name(std::string(trimmed(list.substr(0, further))))) end = further;
    }
    names.emplace_back(trimmed(list.substr(0, end)));
    if (end == std::string_view::npos) return names;
    list.remove_prefix(end + 1);
  }
}

std::size_t most_commas_in(std::span<const std::string> names) {
  std::ptrdiff_t most = 0;
  for (const std::string& name : names) most = std::max(most, std::ranges::count(name, ','));
  return static_cast<std::size_t>(most);
}

std::string join(std::span<const std::string> pieces, std::string_view separator) {
  std::string result;
  for (const std::string& piece : pieces) {
    if (&piece != pieces.data()) {
      result += separator;
    }
    result += piece;
  }
  return result;
}

std::optional<double> parse_double(std::string_view text) {
  text = without_plus(text);
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::int64_t> parse_int(std::string_view text) {
  text = without_plus(text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::string shortest(double value) {
  constexpr double kFullBelow = 1e15;  // [chosen] whole numbers are exact there and still readable
  std::array<char, 32> buffer{};
  const bool whole = std::abs(value) < kFullBelow && value == std::trunc(value);
  const auto result = whole
                          ? std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed)
                          : std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), result.ptr};
}

std::string readable(double value) {
  constexpr double kFixedFrom = 1e-4;  // [chosen] as {:g} has it
  const bool plain = std::abs(value) >= kFixedFrom && std::abs(value) < 1;
  return plain ? fmt::format("{}", value) : shortest(value);
}

std::string rounded_up(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return readable(value);
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - (digits - 1));
  const double units = std::ceil(value / unit - 1e-9);  // [chosen] above the rounding of the quotient
  const auto written = [&](double count) {
    return readable(parse_double(fmt::format("{:.{}g}", count * unit, digits)).value_or(count * unit));
  };
  const std::string text = written(units);
  return parse_double(text).value_or(value) >= value ? text : written(units + 1);
}

std::string with_commas(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t i = digits.size(); i > 3; i -= 3) {
    digits.insert(i - 3, 1, ',');
  }
  return digits;
}

std::string si(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 13> kPrefixes = {"a", "f", "p", "n", "µ", "m", "",
                                                          "k", "M", "G", "T", "P", "E"};
  constexpr int kUnprefixed = 6;  // index of ""
  const auto with_unit = [&](const std::string& number, std::string_view prefix) {
    return prefix.empty() && unit.empty() ? number : fmt::format("{} {}{}", number, prefix, unit);
  };
  if (value == 0.0 || !std::isfinite(value)) {
    return with_unit(value == 0.0 ? "0" : fmt::format("{}", value), "");
  }
  // Rounding comes first: 999.9 has the exponent of 1000.
  const std::string rounded = fmt::format("{:.2e}", value);
  const auto exponent = static_cast<int>(parse_int(rounded.substr(rounded.find('e') + 1)).value_or(0));
  const int group = (exponent >= 0 ? exponent : exponent - 2) / 3;
  const int prefix = kUnprefixed + group;
  if (prefix < 0 || prefix >= static_cast<int>(kPrefixes.size())) {
    return with_unit(rounded, "");
  }
  const double mantissa = parse_double(rounded).value_or(0.0) / std::pow(10.0, 3 * group);
  return with_unit(fmt::format("{:.{}f}", mantissa, 2 - (exponent - 3 * group)),
                   kPrefixes[static_cast<std::size_t>(prefix)]);
}

std::string binary_bytes(double bytes) {
  constexpr std::array<std::string_view, 7> kPrefixes = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  std::size_t prefix = 0;
  double scaled = bytes;
  // 1023.5 prints as "1024", so it belongs to the next prefix.
  while (std::abs(scaled) >= 1023.5 && prefix + 1 < kPrefixes.size()) {
    scaled /= 1024.0;
    ++prefix;
  }
  const int decimals = std::abs(scaled) < 9.995 ? 2 : std::abs(scaled) < 99.95 ? 1 : 0;
  return fmt::format("{} {}B", without_trailing_zeros(fmt::format("{:.{}f}", scaled, decimals)), kPrefixes[prefix]);
}

std::string duration_text(double duration_s) {
  if (!std::isfinite(duration_s) || duration_s < 0.0) {
    return "?";
  }
  if (duration_s < 9.95) {
    return fmt::format("{:.1f} s", duration_s);
  }
  const auto rounded_to = [&](double unit_s) {
    constexpr double kMost = 1e15;  // keeps the conversion to an integer defined
    return static_cast<std::uint64_t>(std::round(std::min(duration_s / unit_s, kMost)));
  };
  const auto two_units = [](std::uint64_t small, std::uint64_t per_large, std::string_view large_name,
                            std::string_view small_name) {
    const std::uint64_t rest = small % per_large;
    return rest == 0 ? fmt::format("{} {}", small / per_large, large_name)
                     : fmt::format("{} {} {} {}", small / per_large, large_name, rest, small_name);
  };
  const std::uint64_t whole_s = rounded_to(1.0);
  if (whole_s < 60) return fmt::format("{} s", whole_s);
  if (whole_s < 3600) {
    return two_units(whole_s, 60, "min", "s");
  }
  if (const std::uint64_t minutes = rounded_to(60.0); minutes < std::uint64_t{24} * 60) {
    return two_units(minutes, 60, "h", "min");
  }
  return two_units(rounded_to(3600.0), 24, "d", "h");
}

std::string printable(std::string_view text, std::size_t max_width) {
  std::string result;
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size() && width <= max_width;) {
    // Most texts are plain: a run of such characters at once, and one more than fits, so that too long a text is seen.
    if (const std::size_t run = plain_length(text.substr(i), max_width - width); run > 0) {
      result += text.substr(i, run);
      width += run;
      i += run;
      continue;
    }
    const CodePoint c = decode_utf8(text, i);
    const std::string shown = is_shown(c) ? std::string(text.substr(i, c.length)) : escaped(c);
    result += shown;
    width += is_shown(c) ? 1 : shown.size();
    i += c.length;
  }
  return width <= max_width ? result : shortened(result, max_width);
}

bool is_printable(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint c = decode_utf8(text, i);
    if (!is_shown(c)) return false;
    i += c.length;
  }
  return true;
}

}  // namespace hindsight
