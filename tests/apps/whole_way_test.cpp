/// Do real tables go the whole way: a part is imported, a model asks for designs, and is told what the table knows?
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "apps/learn_fixture.h"
#include "hindsight/core/random.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/csv_import.h"
#include "repository.h"

namespace hindsight::app::test {
namespace {

constexpr const char* kNotThere = "not in the table";

/// A table of somebody's, and what its columns mean; the others are parameters.
struct Table {
  std::filesystem::path file;
  std::string objective;
  std::string failed;                     ///< column and value of designs that failed
  std::vector<std::string> results;       ///< columns that are no parameters either
  std::vector<std::string> context = {};  ///< columns that name the application
};

std::vector<Table> tables() {
  const std::filesystem::path folder = hindsight::test::shared_folder() / "data" / "logs";
  std::vector<Table> found;
  if (!std::filesystem::exists(folder)) return found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with("convolution_")) continue;
    found.push_back({entry.path(), "time_ms", "infeasible=1", {"reason"}});
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder / "hlsyn")) {
    found.push_back({entry.path(), "perf", "valid=0", {"util_BRAM", "util_DSP", "util_LUT", "util_FF"}});
  }
  found.push_back({folder / "vaesa_grid.csv.gz",
                   "cycles",
                   "",
                   {"energy"},
                   {"R", "S", "P", "Q", "C", "K", "N", "Wstride", "Hstride", "Wdil", "Hdil"}});
  std::sort(found.begin(), found.end(), [](const Table& a, const Table& b) { return a.file < b.file; });
  return found;
}

/// The numbers of a table's rows, by what they are about.
class Truth {
 public:
  Truth(const Table& table, const dataset::CsvTable& csv)
      : table_(table), csv_(csv), objective_(csv.column(table.objective)) {
    const std::vector<std::string> failed = split(table.failed, '=');
    if (failed.size() == 2) failed_ = csv.column(failed[0]), failed_value_ = failed[1];
    for (std::size_t c = 0; c < csv.header.size(); ++c) {
      const auto is_in = [&](const std::vector<std::string>& names) {
        return std::find(names.begin(), names.end(), csv.header[c]) != names.end();
      };
      if (c != objective_ && c != failed_ && !is_in(table.results) && !is_in(table.context)) design_.push_back(c);
    }
  }
  /// Rows of the first application.
  [[nodiscard]] std::vector<std::size_t> rows() const {
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < csv_.rows.size(); ++i) {
      const bool same = std::all_of(table_.context.begin(), table_.context.end(), [&](const std::string& name) {
        return csv_.rows[i][csv_.column(name)] == csv_.rows[0][csv_.column(name)];
      });
      if (same) rows.push_back(i);
    }
    return rows;
  }
  /// Nothing: the design failed.
  [[nodiscard]] std::optional<double> value(std::size_t row) const {
    if (failed_ < csv_.header.size() && csv_.rows[row][failed_] == failed_value_) return std::nullopt;
    return parse_double(csv_.rows[row][objective_]);
  }
  [[nodiscard]] bool better(std::size_t row, std::size_t other) const {
    const std::optional<double> one = value(row), two = value(other);
    return one && (!two || *one < *two);
  }
  [[nodiscard]] std::vector<std::string> design(std::size_t row) const {
    std::vector<std::string> cells;
    for (const std::size_t c : design_) {
      const auto number = parse_double(csv_.rows[row][c]);
      cells.push_back(number ? shortest(*number) : csv_.rows[row][c]);
    }
    return cells;
  }
  [[nodiscard]] std::size_t parameters() const { return design_.size(); }

 private:
  const Table& table_;
  const dataset::CsvTable& csv_;
  std::size_t objective_, failed_ = static_cast<std::size_t>(-1);
  std::string failed_value_;
  std::vector<std::size_t> design_;
};

class WholeWay : public Learn {
 protected:
  [[nodiscard]] std::string quick() const {
    return write("quick.yaml", "method: margins\nhidden: [32]\nensemble: 2\nsteps: 200\nfinal_steps: 50\n");
  }
  /// Imports the rows `known`.
  [[nodiscard]] Outcome import(const Table& table, const dataset::CsvTable& csv,
                               const std::vector<std::size_t>& known) const {
    std::string text;
    const auto add = [&](const auto& cells) {
      for (std::size_t i = 0; i < cells.size(); ++i) text += (i > 0 ? "," : "") + csv_cell(cells[i]);
      text += "\n";
    };
    add(csv.header);
    for (const std::size_t row : known) add(csv.rows[row]);
    std::vector<std::string> arguments{"log",           "import", write("known.csv", text), "--objective",
                                       table.objective, "--log",  file("whole.sqlite")};
    if (!table.failed.empty()) arguments.insert(arguments.end(), {"--infeasible", table.failed});
    if (!table.context.empty()) arguments.insert(arguments.end(), {"--context", join(table.context, ",")});
    arguments.insert(arguments.end(), {"--duplicates", "best", "--ignore", join(table.results, ",")});
    return hindsight(arguments);
  }
  /// Fills in what the table knows of the designs that were asked for.
  [[nodiscard]] static std::string answered(const std::string& asked, const Truth& truth,
                                            const std::map<std::vector<std::string>, std::size_t>& row_of) {
    const dataset::CsvTable csv = dataset::parse_csv(asked, "asked.csv");
    std::string text = join(csv.header, ",") + "\n";
    for (const auto& given : csv.rows) {
      std::vector<std::string> cells(given.begin(), given.end());
      const std::vector<std::string> design(cells.begin() + 2,
                                            cells.begin() + 2 + static_cast<std::ptrdiff_t>(truth.parameters()));
      const auto row = row_of.find(design);
      const std::optional<double> value = row == row_of.end() ? std::nullopt : truth.value(row->second);
      cells[cells.size() - 2] = value ? shortest(*value) : "";
      cells.back() = value ? "" : row == row_of.end() ? kNotThere : "failed";
      for (std::string& cell : cells) cell = csv_cell(cell);
      text += join(cells, ",") + "\n";
    }
    return text;
  }
};

/// [chosen] A quarter of a table is known, and at least this many rows.
constexpr std::size_t kLeastKnown = 60;
constexpr std::size_t kAsked = 16;

TEST_F(WholeWay, EveryTableThatIsThere) {
  const std::vector<Table> all = tables();
  if (all.empty()) GTEST_SKIP() << "no recorded tables beside the source tree";
  std::cout << fmt::format("{:32} {:>6} {:>11} {:>10} {:>10} {:>12}\n", "table", "rows", "infeasible", "before",
                           "after", "not in table");
  for (const Table& table : all) {
    SCOPED_TRACE(table.file.filename());
    const dataset::CsvTable csv = dataset::read_csv(table.file);
    const Truth truth(table, csv);
    std::vector<std::size_t> rows = truth.rows();
    std::sort(rows.begin(), rows.end(), [](std::size_t a, std::size_t b) { return mix64(a) < mix64(b); });
    std::map<std::vector<std::string>, std::size_t> row_of;
    double best = std::numeric_limits<double>::infinity(), before = best;
    std::size_t infeasible = 0;
    const std::size_t known = std::min(rows.size(), std::max(kLeastKnown, rows.size() / 4));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto [same, fresh] = row_of.try_emplace(truth.design(rows[i]), rows[i]);
      if (!fresh && truth.better(rows[i], same->second)) same->second = rows[i];  // as --duplicates best
      const std::optional<double> value = truth.value(rows[i]);
      infeasible += value ? 0 : 1;
      if (value) best = std::min(best, *value);
      if (value && i < known) before = std::min(before, *value);
    }
    std::filesystem::remove(file("whole.sqlite"));
    const Outcome imported = import(table, csv, {rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(known)});
    ASSERT_EQ(imported.exit_code, 0) << imported.err;
    const Outcome asked =
        hindsight({"ask", "-n", std::to_string(kAsked), "--log", file("whole.sqlite"), "--recipe", quick()});
    if (asked.exit_code == 3) continue;  // a table whose every design is known
    ASSERT_EQ(asked.exit_code, 0) << asked.err;
    const std::string answers = answered(asked.out, truth, row_of);
    const Outcome told = hindsight({"tell", write("done.csv", answers), "--log", file("whole.sqlite"), "--json"});
    ASSERT_EQ(told.exit_code, 0) << told.err;
    EXPECT_EQ(Json::parse(told.out).at("unasked"), 0);
    EXPECT_EQ(Json::parse(told.out).at("pending"), 0);
    EXPECT_EQ(hindsight({"log", "verify", file("whole.sqlite")}).exit_code, 0);
    double after = before;
    const dataset::CsvTable done = dataset::parse_csv(answers, "done.csv");
    for (const auto& cells : done.rows) after = std::min(after, parse_double(cells[cells.size() - 2]).value_or(after));
    const auto unknown = std::count_if(done.rows.begin(), done.rows.end(),
                                       [](const auto& cells) { return cells[cells.size() - 1] == kNotThere; });
    std::cout << fmt::format("{:32} {:6} {:9.1f} % {:10.3f} {:10.3f} {:12}\n", table.file.filename().string(),
                             rows.size(), 100.0 * static_cast<double>(infeasible) / static_cast<double>(rows.size()),
                             before / best, after / best, unknown);
    EXPECT_LE(after, before);
    EXPECT_GE(after, best);
  }
}

}  // namespace
}  // namespace hindsight::app::test
