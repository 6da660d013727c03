/// The options that say what the columns of a CSV table mean.
#pragma once

#include <string>
#include <vector>

#include "hindsight/dataset/csv_import.h"
#include "verbs.h"

namespace hindsight::app {

struct CsvRoleOptions {
  std::string objective, infeasible, reason;
  std::vector<std::string> context, constraints, ignored;
  /// In lists of columns * stands for any letters, of columns that no option names. Error{usage} with the nearest
  /// column when one does not exist, and for a pattern that no column is like.
  [[nodiscard]] dataset::CsvRoles resolve(const dataset::CsvTable& table) const;
  /// As they were given, to be pasted: "--objective y --ignore 'count_*'".
  [[nodiscard]] std::string pasted() const;
};
/// Returns the option of the objective, which most verbs require.
CLI::Option* add_csv_roles(CLI::App& verb, CsvRoleOptions& options);

/// The space of the columns without a role; named after the file when `name` is empty. Says on standard error which of
/// them look like results, and which cells are odd.
[[nodiscard]] space::DesignSpace infer_csv_space(const dataset::CsvTable& table, const dataset::CsvRoles& roles,
                                                 const std::string& name);

/// The space of `inferred`, with the same said of it.
[[nodiscard]] space::DesignSpace said_space(dataset::InferredSpace inferred);

}  // namespace hindsight::app
