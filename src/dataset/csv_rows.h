/// Rows of a table as evaluations of a space, before a log is touched. Private to the dataset layer.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dataset/csv_columns.h"
#include "hindsight/dataset/csv_import.h"
#include "hindsight/log/log.h"

namespace hindsight::dataset {

/// One application of a table.
struct TableContext {
  std::string name;
  std::string definition;
  std::vector<std::pair<std::string, double>> features;
};

/// A row that fits the space; its workload_id is that of the log once the context is registered.
struct TableRow {
  std::size_t line = 0;
  std::size_t context = 0;  ///< index into contexts
  log::EvaluationRow evaluation;
};

/// A row that does not, and why.
struct RefusedRow {
  CsvTable::Place place;
  std::string reason;
};

struct TableRows {
  std::vector<TableContext> contexts;
  std::vector<TableRow> rows;
  std::vector<RefusedRow> refused;
};
/// Errors: Error{usage} when a parameter has no column, a design column no parameter, or two contexts one name.
[[nodiscard]] TableRows read_rows(const CsvTable& table, const ColumnRoles& roles, const space::DesignSpace& space);

}  // namespace hindsight::dataset
