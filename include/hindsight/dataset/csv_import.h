/// Any table is a log: infer a design space from a CSV file and import its rows.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hindsight/core/provenance.h"
#include "hindsight/dataset/table_cells.h"
#include "hindsight/space/design_space.h"

namespace hindsight::dataset {

/// A CSV table (RFC 4180; CRLF, BOM and a gzip file accepted), at most 2 GiB unpacked. Blanks around a cell without
/// quotes and blank lines do not count. Errors: Error{usage} with file:line:column on unequal column counts,
/// unterminated or misplaced quotes, NUL bytes, cells above 1 MiB, duplicate or empty header cells; Error{incompatible}
/// for a gzip file that is truncated, damaged, or unpacks to more or to more cells than a table of its size has.
struct CsvTable {
  using Place = CellPlace;
  std::filesystem::path file;
  std::vector<std::string> header;
  TableCells rows;
  std::deque<std::size_t> line;  ///< source line of every row, or its number where it has no line
  CellPlaces place;              ///< of every cell of every row; column 0 where it has none
  /// What a row is called in messages where it has no line of its own: "trial". Empty: "file:line:column".
  std::string row_word = {};
  /// Error{usage} with the nearest column name.
  [[nodiscard]] std::size_t column(const std::string& name) const;
};
/// `file` "-" is standard input.
[[nodiscard]] CsvTable read_csv(const std::filesystem::path& file);
/// Reads the same from text; `file` stands for the file in messages.
[[nodiscard]] CsvTable parse_csv(std::string_view text, const std::filesystem::path& file);
/// [chosen] A table that was not packed: its bytes bound its cells.
inline constexpr std::uint64_t kAnyCells = std::numeric_limits<std::uint64_t>::max();
/// The same with cells between other separators: tab or semicolon. In a table with semicolons a number may have a
/// decimal comma, where no cell has a decimal point. Error{incompatible} for more cells than `most_cells`.
[[nodiscard]] CsvTable parse_delimited(std::string_view text, const std::filesystem::path& file, char separator,
                                       std::uint64_t most_cells = kAnyCells);
/// The separator that the first line has most of; a comma where it has none.
[[nodiscard]] char separator_of(std::string_view text);
/// As read_csv(), with the separator that the file's first line tells; JSON lines or a list of JSON objects, as `log
/// import` takes them, where it begins so.
[[nodiscard]] CsvTable read_table(const std::filesystem::path& file);
/// Where a cell stands, for messages: "t.csv:3:5", "t.jsonl:3", "t.json: item 3".
[[nodiscard]] std::string cell_place(const CsvTable& table, std::size_t row, std::size_t column);
/// The file's name without folder and without the endings of tables (`.csv`, `.json`, `.db`, `.gz`, ...): the workload
/// of a table without context columns.
[[nodiscard]] std::string table_name(const CsvTable& table);

/// Which columns mean what; all other columns are design parameters.
struct CsvRoles {
  std::string objective;  ///< a positive number where feasible; may be empty for infer_space() only
  std::optional<std::string> infeasible =
      {};  ///< 1/0, true/false, yes/no; or "COLUMN=VALUE": infeasible where it has VALUE
  std::optional<std::string> reason = {};     ///< text of the failure; left out: the column "reason" or "Reason" if any
  std::vector<std::string> context = {};      ///< columns that name the application; numeric ones become features
  std::vector<std::string> constraints = {};  ///< metrics kept as labels
  std::vector<std::string> ignored = {};      ///< neither parameter nor anything else
};

/// `text` as a stable word: a-z, 0-9 and '_', camel case cut apart, at most 58 characters; "" when nothing is left.
/// Units stay whole: "Buffer (KiB)" is buffer_kib, "GB/s" is gb_per_s, "time (µs)" is time_us.
/// Metrics are logged under the snake_case names of their columns.
[[nodiscard]] std::string snake_case(std::string_view text);

/// A space, and what a person should know of the columns it was made of.
struct InferredSpace {
  space::DesignSpace space;
  std::vector<std::string> result_like;  ///< parameters that look like results, by column
  std::vector<std::string> left_out;     ///< without an objective: columns that can be no parameter
  std::vector<std::string> remarks;      ///< odd cells, one text per column; columns that tell failed rows from others
  /// Why such a column, whose name is that of an outcome too, should be no parameter; empty where there is none.
  std::string outcome_problem = {};
};
/// Parameters, values and types of the design columns: numeric columns become ordinal, others categorical. A column of
/// numbers stays numeric where a cell is nan, inf or hexadecimal; import refuses such rows.
/// Names are made snake_case; the original name goes to the description. The unit is "none", or the one that the name
/// ends in; a name whose ending contradicts its values gets "_value" appended. Columns with one value are kept.
/// A column that has more than kMaxLevels values, or a value of its own in every one of 100 or more rows (an identifier
/// or a measurement), is Error{usage} naming it; without an objective it is left out.
[[nodiscard]] InferredSpace infer_columns(const CsvTable& table, const CsvRoles& roles, const std::string& name);
/// The space alone.
[[nodiscard]] space::DesignSpace infer_space(const CsvTable& table, const CsvRoles& roles, const std::string& name);
/// YAML text of a space, as `load_space_file` reads it (for a person to edit).
[[nodiscard]] std::string to_yaml(const space::DesignSpace& space);

/// What happens to rows that contradict another row of the same design and context.
enum class Duplicates {
  error,  ///< Error{usage} before anything is written
  first,  ///< the first row is kept
  last,   ///< the last row is kept
  best,   ///< a feasible row before an infeasible one, then the best objective (smallest, or as maximised), the first
  keep,   ///< every row is a measurement, also one that repeats another; they are numbered in the order of the table
};
/// Names as above. Error{usage} with the nearest name.
[[nodiscard]] Duplicates parse_duplicates(const std::string& name);

/// Every row is inserted, was there before, repeats another row, or is rejected.
struct ImportResult {
  std::size_t rows = 0, inserted = 0, already_present = 0, repeated = 0;
  std::size_t feasible = 0;                            ///< evaluations of the log that come from this table
  std::size_t feasible_designs = 0;                    ///< the designs of these, each once per workload
  std::map<std::string, std::size_t> infeasible = {};  ///< the others of them, by their first reason
  std::vector<std::string> rejected;                   ///< "file:line[:column]: reason", first 20
  std::size_t rejected_count = 0;
  std::size_t contradictions = 0;                            ///< of those, for another outcome of the same design
  std::vector<std::pair<std::string, std::string>> renamed;  ///< column and its name in the log, where they differ
  /// What looks like a misreading: rows without a cost of their own that count as feasible.
  std::vector<std::string> remarks;
  std::string format = "CSV table";                                ///< what the file was read as
  std::vector<std::pair<std::string, std::size_t>> left_out = {};  ///< why the format leaves out what is no row
  std::string space, evaluator;                                    ///< names in the log
  std::vector<std::string> workloads = {};                         ///< names in the log, in the order of the rows
};
/// Imports into a log in one transaction. A row is infeasible when its flag says so, its objective is empty, nan, inf
/// or a word, or, without a flag, it has a reason and some other row with an objective has none. The reason code is the
/// reason column's text before its first colon, else that word, else "infeasible"; a list "lut;timing" is several.
/// Where more than 8 codes of a table differ in their numbers only, they are one. Rows that contradict each other are
/// treated as `duplicates` says; the log's own evaluations are always kept. A row whose value of a parameter the space
/// does not have is rejected and named; Error{usage} where no other row did not fail, and the log has no feasible one.
/// Importing the same table again changes nothing. Errors: Error{usage} for columns that do not fit, and for a
/// "COLUMN=VALUE" that no row has where they have several others; Error{interrupted} after Ctrl-C. The log is as it was
/// then, and one that was not there is not.
ImportResult import_csv(const CsvTable& table, const CsvRoles& roles, const space::DesignSpace& space,
                        const std::filesystem::path& log, Duplicates duplicates, const Provenance& provenance);

}  // namespace hindsight::dataset
