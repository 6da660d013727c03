/// Columns without a role that say how rows came out: outcomes that would pass for parameters. Private to the dataset
/// layer.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dataset/csv_columns.h"
#include "hindsight/dataset/csv_import.h"

namespace hindsight::dataset {

/// A design column none of whose values failed rows and others share, or that only failed rows fill.
struct TellingColumn {
  std::size_t column = 0;
  std::string what;              ///< "is 0 in all 269 failed rows and in none of the 115 others"
  std::string remedy;            ///< its role, "--infeasible ok=0"; no two columns get the same
  bool is_outcome_name = false;  ///< its name is that of an outcome, too: ok, status, why
  bool is_empty_in_good_rows = false;
};

/// Those of the table, where enough rows failed and enough did not to tell chance from cause, and always those that
/// only failed rows fill; none without an objective. A hard rule on a parameter of few values looks the same.
[[nodiscard]] std::vector<TellingColumn> telling_columns(const CsvTable& table, const ColumnRoles& roles);

/// "column 'ok' is 0 in ...", and the options that give all of them roles.
[[nodiscard]] std::string telling_text(const CsvTable& table, const std::vector<TellingColumn>& columns);
/// "--infeasible ok=0 --ignore oom".
[[nodiscard]] std::string roles_of_telling(const std::vector<TellingColumn>& columns);

}  // namespace hindsight::dataset
