/// Rows of a table as evaluations of a space, before a log is touched. Private to the dataset layer.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dataset/csv_columns.h"
#include "hindsight/dataset/import_source.h"
#include "hindsight/log/log.h"

namespace hindsight::dataset {

/// One application of a table.
struct TableContext {
  std::string name;
  bool named = false;  ///< by the user or the file: the log's own of this name is meant, where it has one
  std::string definition;
  std::vector<std::pair<std::string, double>> features;
};

/// A row that fits the space; its workload_id is that of the log once the context is registered.
struct TableRow {
  std::size_t line = 0;
  std::string word = "line";  ///< what the number is of
  std::size_t context = 0;    ///< index into contexts
  log::EvaluationRow evaluation;
};

/// A row that does not, and why.
struct RefusedRow {
  CsvTable::Place place;
  std::string reason;
};

/// Rows as they are read, one by one: a long table in which most repeat others must not be there twice.
class RowTaker {
 public:
  virtual ~RowTaker() = default;
  virtual void take(TableRow row) = 0;
  virtual void take(RefusedRow row) = 0;
};
/// The applications, and to `taker` the rows. `workload`: application of every row, by name; empty: as the rows say.
/// Errors: Error{usage} when a parameter has no column, a design column no parameter, or two contexts one name.
[[nodiscard]] std::vector<TableContext> read_rows(const ImportSource& source, const ColumnRoles& roles,
                                                  const space::DesignSpace& space, const std::string& workload,
                                                  RowTaker& taker);

/// Whether a text in the reason column says that a row failed: nothing else is named that says so, and some row with an
/// objective has none.
[[nodiscard]] bool reason_marks_failures(const CsvTable& table, const ColumnRoles& roles);

/// Which rows of a table with an objective failed: by their mark, by their reason, or because the objective is empty or
/// a word. One that was meant as a number, "3,5", is none.
[[nodiscard]] std::vector<bool> failed_rows(const CsvTable& table, const ColumnRoles& roles);

/// Of roles with an infeasible_value: a remark where no row has it, as nothing may have failed; empty where some have
/// it or the role is another. Error{usage} where the rows have another spelling of it.
[[nodiscard]] std::string remark_on_infeasible_value(const CsvTable& table, const ColumnRoles& roles);

}  // namespace hindsight::dataset
