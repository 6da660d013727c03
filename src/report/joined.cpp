/// Joins what shards wrote.
#include "hindsight/report/joined.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/json_bounds.h"
#include "hindsight/core/json_whole.h"
#include "hindsight/core/parts.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "report/json.h"

namespace hindsight::report {
namespace {

constexpr std::string_view kShardLine = "# Shard ";
constexpr std::string_view kCellColumn = "cell,";

[[noreturn]] void refuse_part(const std::string& file, const std::string& problem) {
  throw Error(ErrorKind::incompatible, fmt::format("{}: {}", printable(file, 200), problem));
}

/// Which shards there are, by index; files of one shard have to be equal.
template <class Of>
std::vector<Of> in_order(std::map<std::uint64_t, Of>& shards, std::uint64_t count) {
  std::set<std::uint64_t> have;
  for (const auto& [index, shard] : shards) have.insert(index);
  const std::vector<std::uint64_t> missing = missing_parts(have, count);
  if (!missing.empty()) {
    throw Error(ErrorKind::usage, fmt::format("of {} {} missing: {}. Run {}, then join again", counted(count, "shard"),
                                              missing.size() == 1 ? "one is" : fmt::format("{} are", missing.size()),
                                              ranges_text(missing), missing.size() == 1 ? "it" : "them"));
  }
  std::vector<Of> ordered;
  for (auto& [index, shard] : shards) ordered.push_back(std::move(shard));
  return ordered;
}

[[noreturn]] void refuse_twice(const std::string& one, const std::string& other, std::uint64_t index,
                               std::uint64_t count) {
  throw Error(ErrorKind::usage,
              fmt::format("{} and {}: both are shard {} of {}, and they differ. Which is right? Leave "
                          "the other one out",
                          printable(one, 200), printable(other, 200), index, count));
}

[[noreturn]] void refuse_count(const std::string& one, std::uint64_t count, const std::string& other,
                               std::uint64_t other_count) {
  refuse_part(other, fmt::format("is one of {}, {} is one of {}. Join shards of one command",
                                 counted(other_count, "shard"), printable(one, 200), count));
}

// --- tables

struct TablePart {
  std::string file, text;
  sweep::Shard shard;
  std::uint64_t cells = 0;             ///< of all shards
  std::vector<std::string_view> head;  ///< comments and the row of names, without the line of the shard
  std::vector<std::string_view> rows;
};

/// Lines with their ends. A cell in quotes may hold one.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' && text[begin] != '#') quoted = !quoted;
    if (text[i] != '\n' || quoted) continue;
    lines.push_back(text.substr(begin, i + 1 - begin));
    begin = i + 1;
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

/// "# Shard 1/8 of 63 cells"; nothing for other lines.
std::optional<std::pair<sweep::Shard, std::uint64_t>> shard_line(std::string_view line) {
  if (!line.starts_with(kShardLine)) return std::nullopt;
  const std::vector<std::string> words = split(trimmed(line.substr(kShardLine.size())), ' ');
  const std::vector<std::string> numbers = split(words.front(), '/');
  const std::int64_t index = parse_int(numbers.front()).value_or(-1), count = parse_int(numbers.back()).value_or(0);
  const std::int64_t cells = words.size() > 2 ? parse_int(words[2]).value_or(-1) : -1;
  if (numbers.size() != 2 || index < 0 || index >= count || cells < 0) return std::nullopt;
  return std::pair(sweep::Shard{.index = static_cast<std::uint64_t>(index), .count = static_cast<std::uint64_t>(count)},
                   static_cast<std::uint64_t>(cells));
}

void read_table(const Part& part, TablePart& table) {
  table.file = part.file;
  table.text = part.text;
  bool found = false, named = false;
  for (const std::string_view line : lines_of(table.text)) {
    if (named) {
      table.rows.push_back(line);
      continue;
    }
    if (const auto shard = shard_line(line); shard && !found) {
      std::tie(table.shard, table.cells) = *shard;
      found = true;
      continue;
    }
    table.head.push_back(line);
    named = !line.starts_with('#');
  }
  if (!found) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: no comment says which shard it is (# Shard 1/8 ...), so it is no part "
                            "of a table. Leave it out?",
                            printable(part.file, 200)));
  }
  if (!table.rows.empty() && !table.rows.back().ends_with('\n'))
    refuse_part(part.file, "is cut short. Run its shard again");
}

void require_same_table(const TablePart& first, const TablePart& other) {
  if (first.shard.count != other.shard.count)
    refuse_count(first.file, first.shard.count, other.file, other.shard.count);
  for (std::size_t i = 0; i < std::max(first.head.size(), other.head.size()); ++i) {
    const auto line = [&](const TablePart& table) {
      return i < table.head.size() ? printable(trimmed(table.head[i]), 120) : std::string("nothing");
    };
    if (i < first.head.size() && i < other.head.size() && first.head[i] == other.head[i]) continue;
    refuse_part(other.file,
                fmt::format("is no shard of the same table as {}: '{}' there, '{}' here. Join shards of one "
                            "command",
                            printable(first.file, 200), line(first), line(other)));
  }
  if (first.cells != other.cells) {
    refuse_part(other.file, fmt::format("is of {}, {} of {}. Join shards of one command", counted(other.cells, "cell"),
                                        printable(first.file, 200), first.cells));
  }
}

/// Row numbers of a table without a column of cells are their cells.
std::uint64_t cell_of(const TablePart& table, std::size_t row, bool numbered) {
  if (!numbered) return row * table.shard.count + table.shard.index;
  const std::string_view line = table.rows[row];
  const auto cell = parse_int(line.substr(0, line.find(',')));
  if (!cell || *cell < 0 || static_cast<std::uint64_t>(*cell) >= table.cells ||
      static_cast<std::uint64_t>(*cell) % table.shard.count != table.shard.index) {
    refuse_part(table.file, fmt::format("row {} is of no cell of this shard. Run it again", row + 1));
  }
  return static_cast<std::uint64_t>(*cell);
}

// --- optima

struct OptimumPart {
  std::string file;
  Json json;
  std::uint64_t index = 0, count = 1;
};

Json parsed(const Part& part) {
  try {
    return Json::parse(bounded_json(part.text));
  } catch (const nlohmann::json::exception&) {
    refuse_part(part.file, "is no JSON. Is it cut short? Run its shard again");
  }
}

/// What shards of one optimum do not share.
constexpr std::array<const char*, 5> kOwnKeys{"shard", "seconds", "designs", "certificate", "interrupted"};

OptimumPart read_optimum(const Part& part) {
  OptimumPart read{.file = part.file, .json = parsed(part)};
  try {
    const Json& shard = read.json.at("shard");
    read.index = whole_number(shard.at("index"));
    read.count = whole_number(shard.at("count"));
    if (read.index >= read.count) refuse_part(part.file, "is damaged: its shard is none");
    if (read.json.at("interrupted").get<bool>()) {
      throw Error(ErrorKind::usage, fmt::format("{}: was interrupted, so its best is not proved. Run its shard again",
                                                printable(part.file, 200)));
    }
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::usage, fmt::format("{}: does not say which shard it is, so it is no part of an optimum. "
                                              "Leave it out?",
                                              printable(part.file, 200)));
  }
  return read;
}

void require_same_optimum(const OptimumPart& first, const OptimumPart& other) {
  if (first.count != other.count) refuse_count(first.file, first.count, other.file, other.count);
  const auto common = [](const Json& json) {
    Json same = json;
    for (const char* key : kOwnKeys) same.erase(key);
    for (const auto& [key, value] : json.at("shard").at("of").items()) same[key] = value;
    return same;
  };
  const Json mine = common(first.json), theirs = common(other.json);
  for (const auto& [key, value] : mine.items()) {
    const Json there = theirs.value(key, Json());
    if (there == value) continue;
    refuse_part(
        other.file,
        fmt::format("is a shard of another optimum than {}: {} is {}, there {}. Join shards of one command",
                    printable(first.file, 200), printable(key), printable(there.dump()), printable(value.dump())));
  }
}

/// What the shards of an optimum come to.
struct Together {
  std::vector<Json> designs;
  double seconds = 0;
  Json certificate = Json::object();  ///< sums
  std::optional<double> least_left_out;

  void add(const Json& shard) {
    for (const Json& design : shard.at("designs")) designs.push_back(design);
    seconds += shard.at("seconds").get<double>();
    for (const auto& [key, value] : shard.at("certificate").items()) {
      if (key != "least_left_out") {
        certificate[key] = certificate.value(key, std::uint64_t{0}) + whole_number(value);
      } else if (!value.is_null()) {
        least_left_out = std::min(least_left_out.value_or(value.get<double>()), value.get<double>());
      }
    }
  }
  /// The first `top` by value, then area, then position in the space, as the search has them.
  void keep_best(std::size_t top) {
    const auto order = [](const Json& design) {
      std::vector<std::uint64_t> levels;
      for (const Json& level : design.at("levels")) levels.push_back(whole_number(level));
      return std::tuple(design.at("value").get<double>(), design.at("area_mm2").get<double>(), std::move(levels));
    };
    std::sort(designs.begin(), designs.end(), [&](const Json& a, const Json& b) { return order(a) < order(b); });
    if (designs.size() > top) designs.resize(top);
    for (Json& design : designs) design.erase("levels");
  }
};

/// Cells of one study that have the same settings_hash: those of one method; empty where nothing is learnt.
std::string settings_group(const Json& cell) {
  return cell.at("settings_hash").get<std::string>().empty() ? "" : cell.at("method").get<std::string>();
}

}  // namespace

PartKind kind_of(const Part& part) {
  const std::string_view text = trimmed(part.text);
  if (text.starts_with('#') || text.starts_with(kCellColumn)) return PartKind::table;
  if (text.starts_with('{')) {
    const std::size_t end = part.text.find('\n');
    const bool line = Json::accept(part.text.substr(0, end)) && text.find("\"task\"") < end;
    return line ? PartKind::results : PartKind::optimum;
  }
  const std::string_view binary = binary_kind(part.text);
  throw Error(
      ErrorKind::usage,
      fmt::format("{}: {}{}. Joined are landscapes, optima (JSON) and tables of shards", printable(part.file, 200),
                  binary.empty() ? "is no file of a shard" : fmt::format("is {}", binary),
                  binary == "a SQLite database" ? "; logs go together with `hindsight log merge`" : ""));
}

std::string table_of_shard(const std::string& table, const sweep::Shard& shard, std::uint64_t cells) {
  if (shard.count == 1) return table;
  std::size_t names = 0;
  while (names < table.size() && table[names] == '#') names = table.find('\n', names) + 1;
  std::string text = table;
  return text.insert(names, fmt::format("{}{}/{} of {} cells. All together: hindsight join FILE... --out WHOLE\n",
                                        kShardLine, shard.index, shard.count, cells));
}

std::string join_tables(const std::vector<Part>& parts) {
  HINDSIGHT_EXPECT(!parts.empty());
  std::vector<TablePart> read(parts.size());
  std::map<std::uint64_t, TablePart*> shards;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    read_table(parts[i], read[i]);
    require_same_table(read.front(), read[i]);
    TablePart*& known = shards[read[i].shard.index];
    if (known != nullptr && known->text != read[i].text)
      refuse_twice(known->file, read[i].file, read[i].shard.index, read[i].shard.count);
    if (known == nullptr) known = &read[i];
  }
  const std::vector<TablePart*> tables = in_order(shards, read.front().shard.count);
  const std::uint64_t cells = read.front().cells;
  const bool numbered = !read.front().head.empty() && read.front().head.back().starts_with(kCellColumn);
  std::map<std::uint64_t, std::string> rows;  // by cell
  for (const TablePart* table : tables) {
    for (std::size_t row = 0; row < table->rows.size(); ++row) rows[cell_of(*table, row, numbered)] += table->rows[row];
    for (std::uint64_t cell = table->shard.index; cell < cells; cell += table->shard.count) {
      if (rows.contains(cell)) continue;
      refuse_part(table->file, fmt::format("shard {}/{} has no row of cell {} yet. Run it again, it continues",
                                           table->shard.index, table->shard.count, cell));
    }
  }
  if (rows.size() != cells) refuse_part(read.front().file, "its shards have more rows than cells");
  std::string joined;
  for (const std::string_view line : read.front().head) joined += line;
  for (const auto& [cell, text] : rows) joined += text;
  return joined;
}

std::string join_optima(const std::vector<Part>& parts) {
  HINDSIGHT_EXPECT(!parts.empty());
  std::map<std::uint64_t, OptimumPart> shards;
  std::optional<OptimumPart> first;
  for (const Part& part : parts) {
    OptimumPart read = read_optimum(part);
    if (!first) first = read;
    try {
      require_same_optimum(*first, read);
      const auto [known, is_new] = shards.try_emplace(read.index, read);
      if (!is_new && known->second.json.at("designs") != read.json.at("designs"))
        refuse_twice(known->second.file, part.file, read.index, read.count);
    } catch (const nlohmann::json::exception&) {
      refuse_part(part.file, "is damaged: it does not say what its shard is of, or lacks designs");
    }
  }
  Together together;
  for (const OptimumPart& shard : in_order(shards, first->count)) {
    try {
      together.add(shard.json);
    } catch (const nlohmann::json::exception&) {
      refuse_part(shard.file, "is damaged: it lacks designs or its certificate. Run its shard again");
    }
  }
  if (together.designs.empty()) {
    throw Error(ErrorKind::no_feasible,
                fmt::format("no design of any of {} meets the limits. `hindsight optimum` without --shard names the "
                            "nearest limit that can be met",
                            counted(first->count, "shard")));
  }
  try {
    together.keep_best(whole_number(first->json.at("shard").at("of").at("top")));
  } catch (const nlohmann::json::exception&) {
    refuse_part(first->file, "it or another shard is damaged: a design lacks its value, area or levels");
  }
  Json whole = first->json;
  whole.erase("shard");
  whole["seconds"] = together.seconds;
  whole["designs"] = together.designs;
  together.certificate["least_left_out"] = value_or_null(together.least_left_out);
  whole["certificate"] = together.certificate;
  return to_text(whole);
}

std::string join_results(const std::vector<Part>& parts) {
  struct Cell {
    std::string file;
    Json json;
  };
  std::map<std::tuple<std::string, std::string, std::uint64_t>, Cell> cells;
  std::optional<Cell> first;
  std::map<std::string, Cell> learned;  // by what has one hash of its settings
  std::string joined;
  const auto require_same = [](const Cell& cell, const Cell& other, const std::string& key) {
    if (cell.json.at(key) == other.json.at(key)) return;
    refuse_part(cell.file, fmt::format("is of another study than {}: {} is {}, there {}. Join shards of one command",
                                       printable(other.file, 200), key, printable(cell.json.at(key).dump()),
                                       printable(other.json.at(key).dump())));
  };
  for (const Part& part : parts) {
    std::size_t number = 0;
    for (const std::string_view line : lines_of(part.text)) {
      ++number;
      if (trimmed(line).empty()) continue;
      try {
        const Cell cell{.file = part.file, .json = Json::parse(bounded_json(std::string(line)))};
        if (!first) first = cell;
        for (const char* key : {"samples", "hindsight_version"}) require_same(cell, *first, key);
        if (const std::string group = settings_group(cell.json); !group.empty()) {
          require_same(cell, learned.try_emplace(group, cell).first->second, "settings_hash");
        }
        const auto key = std::tuple(cell.json.at("task").get<std::string>(), cell.json.at("method").get<std::string>(),
                                    whole_number(cell.json.at("seed")));
        const auto [known, is_new] = cells.try_emplace(key, cell);
        if (is_new) {
          joined += std::string(trimmed(line)) + "\n";
        } else if (known->second.json.at("latency_s") != cell.json.at("latency_s") ||
                   known->second.json.at("design") != cell.json.at("design")) {
          refuse_part(part.file,
                      fmt::format("line {}: {} of {}, seed {}, came out otherwise in {}. Which is right? Leave "
                                  "the other one out",
                                  number, printable(std::get<1>(key)), printable(std::get<0>(key)), std::get<2>(key),
                                  printable(known->second.file, 200)));
        }
      } catch (const nlohmann::json::exception&) {
        refuse_part(part.file, fmt::format("line {}: is no result of `bench offline`. Is it cut short? Run its shard "
                                           "again",
                                           number));
      }
    }
  }
  return joined;
}

}  // namespace hindsight::report
