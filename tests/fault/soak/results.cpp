/// Lines are appended one by one: one that a kill tore is done again.
#include "fault/soak/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <sstream>
#include <vector>

namespace hindsight::fault {

namespace fs = std::filesystem;

Results::Results(const fs::path& file) : file_(file) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) take(line);
}

void Results::add(const Job& job, const Tally& tally, bool done) {
  const std::time_t now = std::time(nullptr);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%MZ", std::gmtime(&now));
  const std::string line =
      fmt::format("{};{};{};{};{};{};{};{};{};{:.1f};{};{}", job.fault_class, job.what, tally.count, tally.lost,
                  tally.corrupt, tally.crashes, tally.hangs, tally.silent, tally.other, tally.seconds, done, date);
  std::ofstream(file_, std::ios::app) << line << '\n';
  take(line);
  std::ofstream notes(file_.parent_path() / "notes.txt", std::ios::app);
  for (const std::string& note : tally.notes) notes << date << ' ' << job.what << ": " << note << '\n';
}

std::int64_t Results::count(const Job& job) const {
  const auto found = rows_.find({job.fault_class, job.what});
  return found == rows_.end() ? 0 : found->second.tally.count;
}

bool Results::done(const Job& job) const {
  const auto found = rows_.find({job.fault_class, job.what});
  return found != rows_.end() && found->second.done;
}

bool Results::print() const {
  fmt::print("{:>5}  {:<42} {:>7} {:>5} {:>8} {:>8} {:>6} {:>7} {:>6} {:>8}  {}\n", "class", "what", "count", "lost",
             "corrupt", "crashes", "hangs", "silent", "other", "seconds", "date");
  bool clean = true;
  for (const auto& [row, sum] : by_call()) {
    const Tally& tally = sum.tally;
    fmt::print("{:>5}  {:<42} {:>7} {:>5} {:>8} {:>8} {:>6} {:>7} {:>6} {:>8.1f}  {}{}\n", row.first, row.second,
               tally.count, tally.lost, tally.corrupt, tally.crashes, tally.hangs, tally.silent, tally.other,
               tally.seconds, sum.date, sum.done ? "" : "  some of them");
    clean = clean && tally.clean();
  }
  return clean;
}

void Results::add_to(Sum& sum, const Tally& tally, bool done, const std::string& date) {
  sum.tally.count += tally.count;
  sum.tally.lost += tally.lost;
  sum.tally.corrupt += tally.corrupt;
  sum.tally.crashes += tally.crashes;
  sum.tally.hangs += tally.hangs;
  sum.tally.silent += tally.silent;
  sum.tally.other += tally.other;
  sum.tally.seconds += tally.seconds;
  sum.done = done;
  sum.date = std::max(sum.date, date);
}

/// One row for a verb's call, whatever its errno and how often it fails.
std::map<Results::Row, Results::Sum> Results::by_call() const {
  std::map<Row, Sum> table;
  for (const auto& [row, sum] : rows_) {
    const bool is_call = row.first == 3 || row.first == 4;
    const std::size_t verb = row.second.find(": ") + 2;
    const std::string what = is_call ? row.second.substr(0, row.second.find(' ', verb)) : row.second;
    const auto [place, fresh] = table.try_emplace({row.first, what});
    add_to(place->second, sum.tally, sum.done && (fresh || place->second.done), sum.date);
  }
  return table;
}

void Results::take(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ';');) cells.push_back(cell);
  constexpr std::size_t kCells = 12, kDay = 10;
  if (cells.size() != kCells) return;  // torn by a kill: that piece is done again
  const auto number = [&](std::size_t column) { return std::stoll(cells[column]); };
  Sum& sum = rows_[{std::stoi(cells[0]), cells[1]}];
  const Tally tally{.count = number(2),
                    .lost = number(3),
                    .corrupt = number(4),
                    .crashes = number(5),
                    .hangs = number(6),
                    .silent = number(7),
                    .other = number(8),
                    .seconds = std::stod(cells[9])};
  add_to(sum, tally, sum.done || cells[10] == "true", cells[11].substr(0, kDay));
}

}  // namespace hindsight::fault
