/// Rows that say different things of one design: which is kept, and what is said of the others. Private to the dataset
/// layer.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "dataset/csv_rows.h"
#include "hindsight/dataset/csv_import.h"
#include "hindsight/log/query.h"

namespace hindsight::dataset {

/// What two evaluations of one design are compared by.
struct Outcome {
  bool feasible = false;
  std::map<std::string, double> metrics;
  std::string source;  ///< "line 7", "evaluation 12 of the log"
};
[[nodiscard]] Outcome outcome_of(const TableRow& row);
[[nodiscard]] Outcome outcome_of(const log::EvaluationRecord& record);
/// How `given` contradicts `other`, or an empty text.
[[nodiscard]] std::string contradiction(const Outcome& other, const Outcome& given);

/// Counts and lists refusals.
class Refusals {
 public:
  Refusals(const CsvTable& table, ImportResult& result);
  void add(const RefusedRow& row);
  void add(std::size_t line, const std::string& reason);
  void add_contradiction(std::size_t line, const std::string& reason);
  /// Error{usage} when there are contradictions.
  void require_no_contradiction() const;

 private:
  void add_text(std::string text);

  std::string file_, first_contradiction_;
  ImportResult& result_;
};

/// One row per design and context, in the order of the table; counts what repeats and what contradicts.
[[nodiscard]] std::vector<TableRow> distinct_rows(std::vector<TableRow> rows, const std::string& objective,
                                                  Duplicates duplicates, ImportResult& result, Refusals& refusals);

[[nodiscard]] const std::string& to_string(Duplicates duplicates);

}  // namespace hindsight::dataset
