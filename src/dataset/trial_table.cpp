/// Trials as rows of a table.
#include "dataset/trial_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "dataset/import_text.h"
#include "hindsight/core/error.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/dataset.h"

namespace hindsight::dataset {
namespace {

constexpr std::size_t kMostColumns = 10'000;  // [chosen] as of a CSV table
/// Cells of a table, empty ones too: as many as these, or so many times those with a value. [chosen] A study of 20
/// kinds of trials with parameters of their own fits; about 200 MB.
constexpr std::uint64_t kAlwaysCells = 4'000'000, kMostTimes = 20;

}  // namespace

TrialTable::TrialTable(const std::filesystem::path& file, const std::string& row_word, std::uint64_t most_cells)
    : most_cells_(most_cells) {
  source_.table.file = file;
  source_.table.row_word = row_word;
}

std::size_t TrialTable::column_of(const std::string& name, std::size_t expected) {
  std::vector<std::string>& header = source_.table.header;
  if (expected < header.size() && header[expected] == name) return expected;
  const auto [entry, fresh] = columns_.try_emplace(name, header.size());
  if (!fresh) return entry->second;
  if (header.size() == kMostColumns) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: more than {} columns (a name in a row is one). Is it the right file?",
                            printable(source_.table.file.string(), 400), with_commas(kMostColumns)));
  }
  header.push_back(name);
  return entry->second;
}

void TrialTable::add(std::size_t number, const DesignCells& cells, StatedOutcome outcome) {
  add(number, cells);
  source_.outcomes.push_back(std::move(outcome));
}

void TrialTable::add(std::size_t number, const DesignCells& cells) {
  CsvTable& table = source_.table;
  const std::size_t row = table.rows.size();
  table.rows.add_row();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t column = column_of(cells[i].first, i);
    if (column >= table.rows.columns()) table.rows.widen(column + 1);
    table.rows.set(row, column, cells[i].second);
    given_ += cells[i].second.empty() ? 0 : 1;
  }
  table.line.push_back(number);
  table.place.add_row(static_cast<std::uint32_t>(number));
  require_filled();
  if (table.rows.size() + given_ > most_cells_) refuse_cells(table.file, most_cells_);
}

void TrialTable::require_filled() const {
  const CsvTable& table = source_.table;
  const std::uint64_t cells = std::uint64_t{table.rows.size()} * table.header.size();
  if (cells <= std::max(kAlwaysCells, kMostTimes * given_)) return;
  throw Error(
      ErrorKind::usage,
      fmt::format("{}: {} rows of {} columns, of which few have a value (a table has all). Import rows with the "
                  "same names together?",
                  printable(table.file.string(), 400), with_commas(table.rows.size()),
                  with_commas(table.header.size())));
}

void TrialTable::leave_out(const std::string& why, std::size_t count) {
  const auto found =
      std::find_if(source_.left_out.begin(), source_.left_out.end(), [&](const auto& one) { return one.first == why; });
  if (found == source_.left_out.end()) {
    source_.left_out.emplace_back(why, count);
  } else {
    found->second += count;
  }
}

ImportSource TrialTable::take(const std::string& format, const std::string& maker, const std::string& objective) {
  CsvTable& table = source_.table;
  if (table.rows.empty()) {
    std::vector<std::string> left_out;
    for (const auto& [why, count] : source_.left_out) left_out.push_back(fmt::format("{} {}", with_commas(count), why));
    throw Error(ErrorKind::usage, fmt::format("{}: this {} has no row to import{}{}. Import it when some are finished?",
                                              printable(table.file.string(), 400), format, left_out.empty() ? "" : ": ",
                                              join(left_out, ", ")));
  }
  if (table.header.empty()) {
    throw Error(ErrorKind::usage, fmt::format("{}: no row of this {} has a parameter. Is it the right file?",
                                              printable(table.file.string(), 400), format));
  }
  source_.format = format;
  source_.maker = maker;
  source_.objective = objective;
  return std::move(source_);
}

log::ViolationRow plain_violation(const std::string& text) {
  const std::string head = snake_case(head_of_reason(text));
  const std::string code = head.empty() ? snake_case(text) : head;
  return {.code = code.empty() ? "infeasible" : code,
          .quantity = "",
          .value = kUnknown,
          .limit = kUnknown,
          .nearest_passing = {},
          .layer = "",
          .message = code == text ? "" : printable(text, 1000)};
}

std::vector<log::ViolationRow> plain_violations(const std::string& text) {
  std::vector<log::ViolationRow> violations;
  for (const std::string& part : split(text, ';')) {
    const std::string_view reason = trimmed(part);
    if (reason.empty()) continue;
    log::ViolationRow violation = plain_violation(std::string(reason));
    const bool is_known =
        std::ranges::any_of(violations, [&](const log::ViolationRow& one) { return one.code == violation.code; });
    if (!is_known) violations.push_back(std::move(violation));
  }
  if (violations.empty()) violations.push_back(plain_violation(text));
  return violations;
}

log::ViolationRow missed_limit(const std::string& quantity, double value, double limit) {
  const std::string name = snake_case(quantity);
  return {.code = name.empty() ? "constraint" : name,
          .quantity = name,
          .value = value,
          .limit = limit,
          .nearest_passing = {},
          .layer = "",
          .message = ""};
}

void note_maximised(const std::string& program, const std::string& metric, ImportSource& source) {
  source.maximised.insert(metric);
  source.remarks.push_back(fmt::format("{} maximises {} here: so do train and ask", program, metric));
}

std::string chosen_metric(const std::filesystem::path& file, const std::string& named,
                          const std::vector<std::string>& metrics) {
  const std::string shown = printable(file.string(), 400);
  if (!named.empty()) {
    if (metrics.empty()) return snake_case(named);  // every row is infeasible
    for (const std::string& metric : metrics) {
      if (metric == named || snake_case(metric) == named || metric == snake_case(named)) return metric;
    }
    throw Error(ErrorKind::usage,
                fmt::format("{}: has no metric '{}'.{}", shown, printable(named), did_you_mean(named, metrics)));
  }
  if (metrics.size() == 1) return metrics.front();
  if (metrics.empty()) throw Error(ErrorKind::usage, fmt::format("{}: no row has a value of any metric.", shown));
  throw Error(ErrorKind::usage,
              fmt::format("{}: has several metrics ({}). Name the one that is optimised by --objective", shown,
                          printable(join(metrics, ", "), 200)));
}

}  // namespace hindsight::dataset
