/// Writer and reader of flat JSON objects, one per line. Standard library only.
#include "hindsight/measure/json_lines.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/measure/plan.h"

namespace hindsight::measure {
namespace {

void append_string(std::string& out, std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 15U];
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_number(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  out.append(buffer.data(), end);
}

/// Appends ,"name":value for each field.
struct FieldWriter {
  std::string& out;
  void operator()(const char* name, const std::string& value) {
    key(name);
    append_string(out, value);
  }
  void operator()(const char* name, std::int64_t value) {
    key(name);
    out += std::to_string(value);
  }
  void operator()(const char* name, double value) {
    key(name);
    append_number(out, value);
  }

 private:
  void key(const char* name) { (out += ",\"") += std::string(name) + "\":"; }
};

constexpr std::string_view kLineStart = "{\"record\":\"";

std::string line_start(const char* record) { return std::string(kLineStart) + record + '"'; }

/// Between two members of an object; inside a text its quotes would have backslashes.
constexpr std::string_view kRowsLeft = ",\"rows_left\":";

bool has_rows_left(std::string_view line) { return line.find(kRowsLeft) != std::string_view::npos; }

/// A text of the file as a message shows it: its beginning, without control characters.
std::string shown(const std::string& text) {
  constexpr std::size_t kMostShown = 40;  // [chosen] twice the longest name of a record
  std::string result = text.substr(0, kMostShown);
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text.size() > kMostShown ? result + "..." : result;
}

/// A JSON scalar; monostate is null. Numbers keep their text, so that 64-bit integers lose nothing.
struct Number {
  std::string text;
};
using Scalar = std::variant<std::monostate, bool, Number, std::string>;
using Object = std::unordered_map<std::string, Scalar>;

/// Recursive descent over one line; nested values are refused.
class LineParser {
 public:
  explicit LineParser(std::string_view text) : rest_(text) {}

  /// The object, or nothing with `problem` set.
  std::optional<Object> parse() {
    Object object;
    if (!take('{')) return fail("'{' expected");
    if (take('}')) return finish(std::move(object));
    do {
      auto name = string();
      if (!name) return fail("a name in quotes expected");
      if (!take(':')) return fail("':' expected");
      auto value = scalar();
      if (!value) return fail("a text, number, true, false or null expected");
      const auto [entry, fresh] = object.try_emplace(std::move(*name), std::move(*value));
      if (!fresh) return fail("the key '" + shown(entry->first) + "' is given twice");
    } while (take(','));
    if (!take('}')) return fail("',' or '}' expected");
    return finish(std::move(object));
  }
  std::string problem;

 private:
  std::optional<Object> finish(Object object) {
    skip_blanks();
    if (!rest_.empty()) return fail("text after the object");
    return object;
  }
  std::optional<Object> fail(std::string what) {
    problem = std::move(what);
    return std::nullopt;
  }
  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t' || rest_.front() == '\r')) {
      rest_.remove_prefix(1);
    }
  }
  bool take(char c) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take_word(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::optional<std::string> string() {
    if (!take('"')) return std::nullopt;
    std::string text;
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return text;
      if (static_cast<unsigned char>(c) < 0x20) return std::nullopt;
      if (c != '\\') {
        text += c;
      } else if (!escape(text)) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }
  bool escape(std::string& text) {
    if (rest_.empty()) return false;
    const char c = rest_.front();
    rest_.remove_prefix(1);
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (const std::size_t at = kLetters.find(c); at != std::string_view::npos) {
      text += kMeanings[at];
      return true;
    }
    // Four hexadecimal digits; the writer escapes control characters only, so one byte is all there can be.
    unsigned code = 0;
    if (c != 'u' || rest_.size() < 4) return false;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + 4, code, 16);
    if (error != std::errc() || end != rest_.data() + 4 || code > 0x7f) return false;
    rest_.remove_prefix(4);
    text += static_cast<char>(code);
    return true;
  }

  std::optional<Scalar> scalar() {
    skip_blanks();
    if (rest_.empty()) return std::nullopt;
    if (rest_.front() == '"') {
      auto text = string();
      return text ? std::optional<Scalar>(std::move(*text)) : std::nullopt;
    }
    if (take_word("null")) return Scalar(std::monostate());
    if (take_word("true")) return Scalar(true);
    if (take_word("false")) return Scalar(false);
    double value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
    Number number{std::string(rest_.data(), end)};
    rest_.remove_prefix(number.text.size());
    return Scalar(std::move(number));
  }

  std::string_view rest_;
};

/// Fills fields from an object. A field that is missing keeps its default; null makes a number unknown.
struct FieldReader {
  const Object& object;
  const std::string& where;

  void operator()(const char* name, std::string& field) const {
    if (const Scalar* value = find(name)) {
      const auto* text = std::get_if<std::string>(value);
      if (text == nullptr) wrong(name, "a text");
      field = *text;
    }
  }
  void operator()(const char* name, std::int64_t& field) const {
    if (const Scalar* value = find(name)) {
      const auto* number = std::get_if<Number>(value);
      if (number == nullptr || !whole(number->text, field)) wrong(name, "a whole number");
    }
  }
  void operator()(const char* name, double& field) const {
    const Scalar* value = find(name);
    if (value == nullptr) return;
    if (std::holds_alternative<std::monostate>(*value)) {
      field = kUnknown;
      return;
    }
    const auto* number = std::get_if<Number>(value);
    if (number == nullptr) wrong(name, "a number or null");
    std::from_chars(number->text.data(), number->text.data() + number->text.size(), field);
  }

 private:
  const Scalar* find(const char* name) const {
    const auto found = object.find(name);
    return found == object.end() ? nullptr : &found->second;
  }
  static bool whole(const std::string& text, std::int64_t& field) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), field);
    return error == std::errc() && end == text.data() + text.size();
  }
  [[noreturn]] void wrong(const char* name, const char* expected) const {
    throw Error(ErrorKind::usage, where + ": '" + name + "' is not " + expected + ".");
  }
};

constexpr const char* kCorrectLine = " Was the file edited? Correct it, or measure again.";

/// Refuses a field that no measurement can have; unknown ones (NaN, throttle_reasons -1) pass. Times and energies of a
/// GEMM depend on its status: require_measured().
struct RequirePossible {
  const std::string& where;

  void operator()(const char* /*name*/, const std::string& /*text*/) const {}
  void operator()(const char* name, std::int64_t count) const {
    const std::string_view field = name;
    if (count < (field == "throttle_reasons" ? -1 : 0) && field != "seed") refuse(name);
  }
  void operator()(const char* name, double value) const {
    const std::string_view field = name;
    const bool any = field == "argument" || field == "value" || field == "temperature_c" || field == "latency_s" ||
                     field == "latency_min_s" || field == "energy_j";
    if (value < 0 && !any) refuse(name);
  }

 private:
  [[noreturn]] void refuse(const char* name) const {
    throw Error(ErrorKind::usage, where + ": '" + name + "' is below 0." + kCorrectLine);
  }
};

/// Refuses a name that is none of `known`, "bf16, fp8"; a row without one passes.
void require_name(const char* field, const std::string& name, const std::vector<std::string_view>& known,
                  const std::string& where) {
  std::string listed;
  for (const std::string_view one : known) {
    if (name == one) return;
    listed += (listed.empty() ? "" : ", ") + std::string(one);
  }
  if (name.empty()) return;
  throw Error(ErrorKind::usage,
              where + ": '" + field + "' is '" + shown(name) + "' (known: " + listed + ")." + kCorrectLine);
}

void require_names(const GemmRow& row, const std::string& where) {
  std::vector<std::string_view> dtypes, layouts;
  for (const gpu::DType dtype : gpu::kAllDTypes) dtypes.push_back(dtype_name(dtype));
  for (const gpu::Layout layout : gpu::kAllLayouts) layouts.push_back(layout_name(layout));
  require_name("dtype", row.dtype, dtypes, where);
  require_name("layout", row.layout, layouts, where);
  require_name("mode", row.mode, {"burst", "sustained"}, where);
}

/// Two or four digits at a place, as a number; -1 for anything else.
int digits_at(std::string_view text, std::size_t at, std::size_t count) {
  int value = 0;
  const char* const begin = text.data() + at;
  const auto [end, error] = std::from_chars(begin, begin + count, value);
  const bool all_digits = *begin != '-' && error == std::errc() && end == begin + count;
  return all_digits ? value : -1;
}

/// Whether a text is a second as the programs write it, 2026-01-31T12:00:00Z.
bool is_utc_second(std::string_view text) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00Z";
  if (text.size() != kShape.size()) return false;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] != '0' && text[i] != kShape[i]) return false;
  }
  const int year = digits_at(text, 0, 4), month = digits_at(text, 5, 2), day = digits_at(text, 8, 2);
  const int hour = digits_at(text, 11, 2), minute = digits_at(text, 14, 2), second = digits_at(text, 17, 2);
  if (year < 0 || month < 0 || day < 0 || hour < 0 || minute < 0 || second < 0) return false;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  return date.ok() && hour < 24 && minute < 60 && second <= 60;  // 60: a leap second
}

/// Refuses what is no date; a record without one passes.
void require_date(const char* field, const std::string& date, const std::string& where) {
  if (date.empty() || is_utc_second(date)) return;
  throw Error(ErrorKind::usage, where + ": '" + field + "' is '" + shown(date) +
                                    "', no date in UTC like 2026-01-31T12:00:00Z." + kCorrectLine);
}

void require_sizes(const GemmRow& row, const std::string& where) {
  constexpr std::int64_t kLargestSize = 2147483647;  // [chosen] what predictions and fits take
  for (const auto& [name, size] : {std::pair("m", row.m), {"n", row.n}, {"k", row.k}, {"batch", row.batch}}) {
    if (size < 1) throw Error(ErrorKind::usage, where + ": '" + name + "' is missing or below 1 (a GEMM has sizes).");
    if (size > kLargestSize) {
      throw Error(ErrorKind::usage,
                  where + ": '" + name + "' is above 2147483647 (no GEMM that is measured is)." + kCorrectLine);
    }
  }
}

/// Refuses a measured GEMM whose time or power is none; an unknown one (NaN) passes.
void require_measured(const GemmRow& row, const std::string& where) {
  if (row.status != "ok") return;
  for (const auto& [name, value] : {std::pair("latency_s", row.latency_s),
                                    {"latency_min_s", row.latency_min_s},
                                    {"energy_j", row.energy_j},
                                    {"power_w", row.board.power_w}}) {
    if (value <= 0) {
      throw Error(ErrorKind::usage, where + ": '" + name +
                                        "' is not above 0, and the status is ok (a kernel takes time and power). "
                                        "Remove the line, or measure it again.");
    }
  }
  if (row.latency_min_s > row.latency_s) {
    throw Error(ErrorKind::usage, where +
                                      ": 'latency_min_s' is above 'latency_s', the median of the same samples. "
                                      "Remove the line, or measure it again.");
  }
}

void read_line(const Object& object, const std::string& where, std::vector<SessionRecords>& sessions) {
  const auto found = object.find("record");
  const auto* kind = found == object.end() ? nullptr : std::get_if<std::string>(&found->second);
  if (kind == nullptr) throw Error(ErrorKind::usage, where + ": the key 'record' is missing (no measurement file?).");
  const FieldReader read{object, where};
  const RequirePossible possible{where};
  if (*kind == "session") {
    Session& session = sessions.emplace_back().session;
    for_each_session_field(session, read);
    for_each_session_field(session, possible);
    require_date("started_at", session.started_at, where);
    return;
  }
  if (*kind != "gemm" && *kind != "quantity") {
    throw Error(ErrorKind::usage, where + ": unknown record '" + shown(*kind) + "'. Known: session, gemm, quantity.");
  }
  if (sessions.empty()) {
    throw Error(ErrorKind::usage, where + ": a measurement before the first session (its device is not known).");
  }
  if (*kind == "gemm") {
    GemmRow& row = sessions.back().gemms.emplace_back();
    for_each_gemm_field(row, read);
    require_sizes(row, where);
    require_measured(row, where);
    for_each_gemm_field(row, possible);
    require_names(row, where);
    require_date("measured_at", row.measured_at, where);
  } else {
    Quantity& quantity = sessions.back().quantities.emplace_back();
    for_each_quantity_field(quantity, read);
    for_each_quantity_field(quantity, possible);
    require_date("measured_at", quantity.measured_at, where);
  }
}

}  // namespace

std::string to_json_line(const Session& session) {
  std::string line = line_start("session");
  for_each_session_field(session, FieldWriter{line});
  return line + '}';
}

std::string to_json_line(const GemmRow& row) {
  std::string line = line_start("gemm");
  for_each_gemm_field(row, FieldWriter{line});
  return line + '}';
}

std::string to_json_line(const Quantity& quantity) {
  std::string line = line_start("quantity");
  for_each_quantity_field(quantity, FieldWriter{line});
  return line + '}';
}

std::string task_lines(const std::vector<GemmRow>& gemms, const std::vector<Quantity>& quantities) {
  std::vector<std::string> lines;
  for (const GemmRow& row : gemms) lines.push_back(to_json_line(row));
  for (const Quantity& quantity : quantities) lines.push_back(to_json_line(quantity));
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t left = lines.size() - 1 - i;
    if (left > 0) lines[i].insert(lines[i].size() - 1, std::string(kRowsLeft) + std::to_string(left));
    text += lines[i] + '\n';
  }
  return text;
}

std::size_t whole_tasks(std::string_view text, const std::string& name) {
  const std::size_t last = text.rfind('\n');
  std::size_t whole = last == std::string_view::npos ? 0 : last + 1;
  const std::string_view rest = text.substr(whole);
  if (!rest.starts_with(kLineStart.substr(0, rest.size()))) {
    throw Error(ErrorKind::usage, name +
                                      ": its last line has no end, and is no beginning of a measurement. Name another "
                                      "file, or remove that line.");
  }
  while (whole > 0) {
    const std::string_view lines = text.substr(0, whole - 1);
    const std::size_t before = lines.rfind('\n');
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    if (!has_rows_left(lines.substr(begin))) break;
    whole = begin;
  }
  return whole;
}

std::vector<SessionRecords> parse_json_lines(std::string_view text, const std::string& name, LastLine last_line) {
  std::vector<SessionRecords> sessions;
  std::size_t whole_gemms = 0, whole_quantities = 0;  // of the last session: rows of whole tasks
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t newline = text.find('\n');
    const bool cut = newline == std::string_view::npos;
    const std::string_view line = text.substr(0, newline);
    text.remove_prefix(cut ? text.size() : newline + 1);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string where = name + ":" + std::to_string(number);
    constexpr std::size_t kLongestLine = 1U << 20U;  // [chosen] a thousand times what is written
    if (line.size() > kLongestLine)
      throw Error(ErrorKind::usage, where + ": a line of more than 1 MiB. Is it a sheet?");
    LineParser parser(line);
    const std::optional<Object> object = parser.parse();
    if (object) {
      const std::size_t sessions_before = sessions.size();
      read_line(*object, where, sessions);
      if (sessions.size() > sessions_before || !has_rows_left(line)) {
        whole_gemms = sessions.back().gemms.size();
        whole_quantities = sessions.back().quantities.size();
      }
    } else if (!(cut && last_line == LastLine::may_be_cut)) {
      throw Error(ErrorKind::usage, where + ": not a JSON line of measurements: " + parser.problem + ".");
    }
  }
  if (last_line == LastLine::may_be_cut && !sessions.empty()) {
    sessions.back().gemms.resize(whole_gemms);
    sessions.back().quantities.resize(whole_quantities);
  }
  return sessions;
}

}  // namespace hindsight::measure
