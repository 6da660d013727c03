/// Any table is a log: infer a design space from a CSV file and import its rows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/core/provenance.h"
#include "hindsight/space/design_space.h"

namespace hindsight::dataset {

/// A CSV table (RFC 4180; CRLF, BOM and a gzip file `.gz` accepted), at most 2 GiB unpacked. Errors: Error{usage} with
/// file:line:column on unequal column counts, unterminated quotes, duplicate or empty header cells.
struct CsvTable {
  std::filesystem::path file;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::size_t> line;  ///< source line of every row
  /// Error{usage} with the nearest column name.
  [[nodiscard]] std::size_t column(const std::string& name) const;
};
[[nodiscard]] CsvTable read_csv(const std::filesystem::path& file);

/// Which columns mean what; all other columns are design parameters.
struct CsvRoles {
  std::string objective;                  ///< smaller is better unless `maximise`
  std::optional<std::string> infeasible;  ///< 1/0, true/false, yes/no
  std::optional<std::string> reason;      ///< text of the failure
  std::vector<std::string> context;       ///< columns that name the application; numeric ones become features
  std::vector<std::string> constraints;   ///< metrics kept as labels
  std::vector<std::string> ignored;       ///< neither parameter nor anything else
};

/// Parameters, values and types of the design columns: numeric columns become ordinal, others categorical.
/// Names are made snake_case; the original name goes to the description.
[[nodiscard]] space::DesignSpace infer_space(const CsvTable& table, const CsvRoles& roles, const std::string& name);
/// YAML text of a space, as `load_space_file` reads it (for a person to edit).
[[nodiscard]] std::string to_yaml(const space::DesignSpace& space);

struct ImportResult {
  std::size_t rows = 0, inserted = 0, already_present = 0, feasible = 0;
  std::vector<std::string> rejected;  ///< "file:line: reason", first 20
  std::size_t rejected_count = 0;
};
/// Imports into a log in transactions. A row is infeasible when its flag says so, or its objective is empty, nan or a
/// word (which becomes the reason code). Contradictory duplicates are rejected and named.
ImportResult import_csv(const CsvTable& table, const CsvRoles& roles, const space::DesignSpace& space,
                        const std::filesystem::path& log, const Provenance& provenance);

}  // namespace hindsight::dataset
