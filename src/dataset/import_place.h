/// Where imported rows go in a log: space, workloads, evaluator. Private to the dataset layer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "dataset/csv_columns.h"
#include "dataset/csv_rows.h"
#include "hindsight/dataset/import_source.h"

namespace hindsight::dataset {

/// Maker of tables whose columns have roles.
inline const std::string kTableMaker = "csv import";

/// Ids in the log.
struct ImportPlace {
  std::int64_t space = 0, evaluator = 0;
  std::string space_name, evaluator_name;
  std::vector<std::int64_t> workloads;  ///< per context
};

/// Registers what the log does not have. A named application is the log's own of that name, else what the program knows
/// by it, else a name. The evaluator is the one that is named; else that of the definitions that came with the rows;
/// else, of rows that join the log, the one that its rows of these applications have; else one that says how the rows
/// were read. Errors: Error{usage} for a choice between several evaluators (named), and those of Log::add_space and
/// Log::add_workload.
[[nodiscard]] ImportPlace find_place(log::Log& log, const ImportSource& source, const ColumnRoles& roles,
                                     const space::DesignSpace& space, const ImportTarget& target,
                                     const std::vector<TableContext>& contexts);

}  // namespace hindsight::dataset
