/// Rows that say different things of one design: which is kept, and what is said of the others. Private to the dataset
/// layer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "dataset/csv_rows.h"
#include "hindsight/core/direction.h"
#include "hindsight/dataset/csv_import.h"
#include "hindsight/dataset/outcome.h"

namespace hindsight::dataset {

[[nodiscard]] Outcome outcome_of(const TableRow& row);

/// Counts and lists refusals.
class Refusals {
 public:
  Refusals(const CsvTable& table, ImportResult& result);
  void add(const RefusedRow& row);
  void add(std::size_t line, const std::string& reason);
  void add_contradiction(std::size_t line, const std::string& reason);
  /// Contradictions are listed behind all other rows that are refused until then.
  void hold_contradictions() { holds_ = true; }
  void release_contradictions();
  /// Error{usage} when there are contradictions.
  void require_no_contradiction() const;

 private:
  void add_text(std::string text);
  /// "file:7", or "file: trial 7".
  [[nodiscard]] std::string row_text(std::size_t line) const;

  std::string file_, row_word_, first_contradiction_;
  bool holds_ = false;
  std::vector<std::string> held_;  ///< as many as are listed
  std::size_t held_count_ = 0;
  ImportResult& result_;
};

/// The evaluations of one design and context that the log has.
class LoggedRepeats {
 public:
  void add(std::int64_t repeat, Outcome outcome);
  /// The number of an evaluation that says the same as `given` and no row has been before; nothing when none does.
  [[nodiscard]] std::optional<std::int64_t> take(const Outcome& given, Agreement agreement);
  /// A number that no evaluation has.
  [[nodiscard]] std::int64_t next();
  /// How `given` contradicts the first of them; an empty text when there is none.
  [[nodiscard]] std::string contradiction_of(const Outcome& given, Agreement agreement) const;

 private:
  struct One {
    std::int64_t repeat = 0;
    Outcome outcome;
    bool taken = false;
  };
  std::vector<One> known_;
  std::size_t taken_before_ = 0;  ///< all before are taken
  std::int64_t next_ = 0;
};

/// Which of two feasible rows is better.
struct Best {
  std::string metric;
  Direction direction = Direction::minimise;
};

/// One row per design and context, in the order of the table; counts what repeats and what contradicts. All rows when
/// each is a measurement of its own (keep).
class DistinctRows : public RowTaker {
 public:
  /// All must outlive it.
  DistinctRows(const Best& best, Duplicates duplicates, ImportResult& result, Refusals& refusals)
      : best_(best), duplicates_(duplicates), result_(result), refusals_(refusals) {
    refusals.hold_contradictions();
  }
  void take(TableRow row) override;
  void take(RefusedRow row) override { refusals_.add(row); }
  /// What is kept of all.
  [[nodiscard]] std::vector<TableRow> finish();

 private:
  const Best& best_;
  Duplicates duplicates_;
  ImportResult& result_;
  Refusals& refusals_;
  std::vector<TableRow> kept_;
  std::unordered_map<std::string, std::size_t> places_;  ///< in kept_, by context and design
};

[[nodiscard]] const std::string& to_string(Duplicates duplicates);

}  // namespace hindsight::dataset
