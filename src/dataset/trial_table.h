/// Rows of designs with outcomes that a format states itself. Private to the dataset layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hindsight/dataset/import_source.h"

namespace hindsight::dataset {

/// Names and cells of one design, in order.
using DesignCells = std::vector<std::pair<std::string, std::string>>;

/// Collects trials as a table: a column per parameter in the order that they are met in.
class TrialTable {
 public:
  /// `row_word`: what a row is called, "trial"; empty: rows have lines. `most_cells`: of what was packed.
  TrialTable(const std::filesystem::path& file, const std::string& row_word, std::uint64_t most_cells = kAnyCells);
  /// `number`: the trial's own, or the line. A parameter that a trial lacks is an empty cell.
  void add(std::size_t number, const DesignCells& cells, StatedOutcome outcome);
  /// The same of a table whose columns say the outcome.
  void add(std::size_t number, const DesignCells& cells);
  /// Counts what is no row, by the reason why.
  void leave_out(const std::string& why, std::size_t count = 1);
  [[nodiscard]] bool empty() const { return source_.table.rows.empty(); }
  /// Error{usage} when there is no row, saying what was left out.
  [[nodiscard]] ImportSource take(const std::string& format, const std::string& maker, const std::string& objective);

 private:
  std::size_t column_of(const std::string& name, std::size_t expected);
  /// Error{usage} where nearly all cells would be empty: a short file would take all memory.
  void require_filled() const;

  ImportSource source_;
  std::uint64_t most_cells_;
  std::unordered_map<std::string, std::size_t> columns_;
  std::uint64_t given_ = 0;  ///< cells that are not empty
};

/// A reason with nothing but its code, of what stands before the first colon, and a message where the text says more.
[[nodiscard]] log::ViolationRow plain_violation(const std::string& text);
/// The same of a list, "lut;timing;power", each code once; at least one.
[[nodiscard]] std::vector<log::ViolationRow> plain_violations(const std::string& text);
/// That a quantity misses its limit.
[[nodiscard]] log::ViolationRow missed_limit(const std::string& quantity, double value, double limit);

/// That `program` maximises the metric: the log keeps it, and a remark says how it is learnt.
void note_maximised(const std::string& program, const std::string& metric, ImportSource& source);

/// The metric that is optimised, of those that the rows have: the one named, else the only one. Error{usage} naming
/// them where neither says it.
[[nodiscard]] std::string chosen_metric(const std::filesystem::path& file, const std::string& named,
                                        const std::vector<std::string>& metrics);

}  // namespace hindsight::dataset
