/// Any table is a log: infer a design space from a CSV file and import its rows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/core/provenance.h"
#include "hindsight/space/design_space.h"

namespace hindsight::dataset {

/// A CSV table (RFC 4180; CRLF, BOM and a gzip file accepted), at most 2 GiB unpacked. Blanks around a cell without
/// quotes and blank lines do not count. Errors: Error{usage} with file:line:column on unequal column counts,
/// unterminated or misplaced quotes, NUL bytes, cells above 1 MiB, duplicate or empty header cells; Error{incompatible}
/// for a gzip file that is truncated, damaged or unpacks to more.
struct CsvTable {
  /// Where a cell starts, both from 1.
  struct Place {
    std::uint32_t line = 0;
    std::uint32_t column = 0;
  };
  std::filesystem::path file;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::size_t> line;          ///< source line of every row
  std::vector<std::vector<Place>> place;  ///< of every cell of every row
  /// Error{usage} with the nearest column name.
  [[nodiscard]] std::size_t column(const std::string& name) const;
};
/// `file` "-" is standard input.
[[nodiscard]] CsvTable read_csv(const std::filesystem::path& file);
/// Reads the same from text; `file` stands for the file in messages.
[[nodiscard]] CsvTable parse_csv(std::string_view text, const std::filesystem::path& file);
/// The file's name without folder and without `.csv`, `.gz`: the workload of a table without context columns.
[[nodiscard]] std::string table_name(const CsvTable& table);

/// Which columns mean what; all other columns are design parameters.
struct CsvRoles {
  std::string objective;  ///< a positive number where feasible
  std::optional<std::string> infeasible =
      {};  ///< 1/0, true/false, yes/no; or "COLUMN=VALUE": infeasible where it has VALUE
  std::optional<std::string> reason = {};     ///< text of the failure; left out: the column "reason" when there is one
  std::vector<std::string> context = {};      ///< columns that name the application; numeric ones become features
  std::vector<std::string> constraints = {};  ///< metrics kept as labels
  std::vector<std::string> ignored = {};      ///< neither parameter nor anything else
};

/// `text` as a stable word: a-z, 0-9 and '_', camel case cut apart, at most 58 characters; "" when nothing is left.
/// Metrics are logged under the snake_case names of their columns.
[[nodiscard]] std::string snake_case(std::string_view text);

/// Parameters, values and types of the design columns: numeric columns become ordinal, others categorical.
/// Names are made snake_case; the original name goes to the description. The unit is "none", or the one that the name
/// ends in; a name whose ending contradicts its values gets "_value" appended. Columns with one value are kept.
/// Error{usage} naming the column when it has more than kMaxLevels values, or a value of its own in every one of 100 or
/// more rows (an identifier or a measurement).
[[nodiscard]] space::DesignSpace infer_space(const CsvTable& table, const CsvRoles& roles, const std::string& name);
/// YAML text of a space, as `load_space_file` reads it (for a person to edit).
[[nodiscard]] std::string to_yaml(const space::DesignSpace& space);

struct ImportResult {
  std::size_t rows = 0, inserted = 0, already_present = 0, feasible = 0;
  std::vector<std::string> rejected;  ///< "file:line: reason", first 20
  std::size_t rejected_count = 0;
};
/// Imports into a log in transactions. A row is infeasible when its flag says so, or its objective is empty, nan, inf
/// or a word. The reason code is the reason column's text, else that word, else "infeasible". A row that contradicts an
/// earlier one of the same design and context, in the table or in the log, is rejected and named; so is one whose value
/// of a parameter the space does not have. Importing the same table again changes nothing.
/// Errors: Error{usage} before anything is written for columns that do not fit; Error{interrupted} after Ctrl-C.
ImportResult import_csv(const CsvTable& table, const CsvRoles& roles, const space::DesignSpace& space,
                        const std::filesystem::path& log, const Provenance& provenance);

}  // namespace hindsight::dataset
