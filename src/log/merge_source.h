/// One log's content brought into another by SQL over both files. Private to the log layer.
///
/// The log that is read is attached as `given`. Its row numbers become others in `main`: temporary tables map_X
/// (old_id, new_id) tell which, for what has few rows; designs and evaluations that are new keep their order and are
/// moved by an offset, so that SQLite appends instead of searching, and only those that both logs have are mapped.
#pragma once

#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/log/log.h"
#include "hindsight/log/merge.h"
#include "log/origins.h"

namespace hindsight::log {

/// A log attached as `given` to the connection of another one. Both stay open meanwhile.
class Attached {
 public:
  Attached(Log& log, const Log& given);
  ~Attached();
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

 private:
  Log& log_;
};

/// SQL of the number that `numbers` (old, new) give `column`; `lookup` is SQL that says the same, taken where there are
/// many.
[[nodiscard]] std::string mapping_sql(const std::string& column,
                                      const std::vector<std::pair<std::int64_t, std::int64_t>>& numbers,
                                      const std::string& lookup);

/// What makes a reason the same; its advice does not.
[[nodiscard]] const std::vector<std::string>& reason_columns();

/// What one log brought to another.
struct SourceCounts {
  std::uint64_t evaluations = 0;    ///< that the given log has
  std::uint64_t inserted = 0;       ///< of those: new
  std::uint64_t contradicting = 0;  ///< of those: left out for another outcome of the same
  std::uint64_t all_designs = 0;    ///< that the given log has
  std::uint64_t designs = 0;        ///< of those: new
};

/// Refuses a log with a row that refers to nothing: maps leave such rows out, and offsets would make them refer to
/// something else. Error{incompatible} naming `file`.
void require_sound_references(SQLite::Database& database, const std::filesystem::path& file);

class SourceMerge {
 public:
  /// `database`: main is the log that is written, `given` the one that is read; their origins are for messages.
  /// `given_repeats`: the given log has the column `repeat`.
  SourceMerge(SQLite::Database& database, Origins given, Origins main, bool given_repeats,
              Contradictions contradictions);

  /// Inside the caller's transaction, of a log whose references are sound. Errors: see merge_logs.
  SourceCounts merge();

 private:
  void create_maps();
  void merge_spaces();
  void merge_parameters();
  void merge_workloads();
  void merge_contexts();
  void merge_evaluators();
  void merge_runs();
  void merge_designs();
  void merge_evaluations();
  void find_shared_evaluations();
  void find_contradictions();
  void find_contradicting_details(const std::string& table, const std::string& key,
                                  const std::vector<std::string>& columns);
  [[noreturn]] void refuse_contradictions();
  void merge_models_and_proposals();
  void merge_gpu_measurements();
  void merge_checkpoints();

  /// SQL of the number in main of `column`, by the map of that name.
  [[nodiscard]] std::string mapped(const std::string& column, const std::string& map);
  /// SQL of the number in main of a given design; `column` holds its number in `given`.
  [[nodiscard]] std::string mapped_design(const std::string& column) const;
  /// Refuses a name that both logs give to different definitions.
  void require_same_definitions(NamedRows rows, const std::string& remedy);
  /// Metrics and reasons that the first of two evaluations has, or has another value of: what differs, in words.
  [[nodiscard]] std::string differing_detail(std::int64_t given_id, std::int64_t main_id);
  [[nodiscard]] std::uint64_t count(const std::string& sql);

  SQLite::Database& database_;
  Origins given_, main_;
  std::string repeat_;  ///< SQL of the repeat of `given.evaluations e`
  Contradictions contradictions_;
  SourceCounts counts_;
  std::int64_t design_offset_ = 0;
  bool shares_designs_ = false, shares_evaluations_ = false;
};

}  // namespace hindsight::log
