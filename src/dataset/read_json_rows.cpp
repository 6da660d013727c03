/// JSON lines and lists of objects as tables.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "dataset/import_readers.h"
#include "dataset/trial_table.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::dataset {
namespace {

constexpr const char* kJsonRow = "one JSON object per row";

/// Name of a column. [chosen] far above any; a name in a name is written once for every value below it.
constexpr std::size_t kLongestName = 1000;

/// `place`: of the object, in messages.
void flatten(const OrderedJson& object, const std::string& prefix, const std::string& place, DesignCells& cells) {
  for (const auto& [key, value] : object.items()) {
    const std::string name = prefix.empty() ? key : prefix + "." + key;
    if (name.size() > kLongestName) {
      throw Error(ErrorKind::usage, fmt::format("{}: the key '{}' has more than {} bytes, with the keys around it. "
                                                "Shorten it?",
                                                place, printable(name, 40), kLongestName));
    }
    if (value.is_object()) {
      flatten(value, name, place, cells);
    } else {
      cells.emplace_back(name, cell_of(value));
    }
  }
}

/// {"a.b": 1, "a": {"b": 2}}: two values of one column.
void require_own_names(const DesignCells& cells, const std::string& place) {
  std::unordered_set<std::string_view> names;
  for (const auto& [name, cell] : cells) {
    if (names.insert(name).second) continue;
    throw Error(ErrorKind::usage,
                fmt::format("{}: the key '{}' is given twice, counting the keys around it. Rename or remove one", place,
                            printable(name, 40)));
  }
}

void add_object(const OrderedJson& object, std::size_t line, const std::filesystem::path& file, TrialTable& rows) {
  if (!object.is_object()) {
    throw Error(ErrorKind::usage,
                fmt::format("{}:{}: {} is no JSON object (expected: {})", printable(file.string(), 400), line,
                            printable(object.dump(-1, ' ', false, OrderedJson::error_handler_t::replace)), kJsonRow));
  }
  DesignCells cells;
  flatten(object, "", fmt::format("{}:{}", printable(file.string(), 400), line), cells);
  const auto unnamed = std::find_if(cells.begin(), cells.end(), [](const auto& cell) { return cell.first.empty(); });
  if (unnamed != cells.end()) {
    throw Error(ErrorKind::usage,
                fmt::format("{}:{}: a key is empty. Name every value", printable(file.string(), 400), line));
  }
  require_own_names(cells, fmt::format("{}:{}", printable(file.string(), 400), line));
  rows.add(line, cells);
}

}  // namespace

CsvTable read_json_rows(std::string_view text, const std::filesystem::path& file, std::uint64_t most_cells) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const bool list = trimmed(text).starts_with('[');
  TrialTable rows(file, list ? "item" : "", most_cells);
  if (list) {
    const OrderedJson all = parse_ordered_json(text, file, "a list of JSON objects");
    for (std::size_t i = 0; i < all.size(); ++i) add_object(all[i], i + 1, file, rows);
    return rows.take("list of JSON objects", "", "").table;
  }
  std::size_t line = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view one = trimmed(text.substr(begin, end - begin));
    begin = end + 1;
    if (!one.empty()) add_object(parse_ordered_json(one, file, kJsonRow, line), line, file, rows);
  }
  return rows.take("JSON lines file", "", "").table;
}

}  // namespace hindsight::dataset
