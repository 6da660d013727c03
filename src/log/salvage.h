/// Finds the rows of a damaged log, page by page. Private to the log layer.
///
/// First from each table's root, as far as sound pages lead; then from whatever page is left over that looks like one
/// of a table: a piece of a tree whose inner page is damaged, or all of it when the list of roots is. Deleted rows
/// stand on pages that SQLite put aside, which are left out as far as the list of them is readable.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "log/page_file.h"

namespace hindsight::log {

/// What a stored record of a table or index looks like.
struct RecordShape {
  struct Column {
    char type = 'i';  ///< i: integer, r: real (stored as an integer where it is one), t: text, n: the row number (NULL)
    bool may_be_null = false;
  };
  std::string name;
  bool is_table = true;
  bool has_rowid = true;
  std::vector<Column> columns;
  [[nodiscard]] bool matches(const PageCell& cell) const;
};

/// Shapes of all tables and indexes of the newest schema; of `evaluations` also that of versions 1 and 2, under the
/// name kEvaluationsWithoutRepeats.
[[nodiscard]] const std::vector<RecordShape>& record_shapes();
inline constexpr const char* kEvaluationsWithoutRepeats = "evaluations (versions 1 and 2)";
/// Place of `repeat` in `evaluations`.
inline constexpr std::size_t kRepeatColumn = 4;

/// Cells of one page, in the order of their keys, or a place where something between two pages may be missing.
struct Piece {
  std::uint32_t page = 0;
  std::size_t first = 0, count = 0;  ///< cells
  bool gap = false;
  [[nodiscard]] static Piece missing() { return {.gap = true}; }
};

struct SalvagedTable {
  std::vector<Piece> pieces;
  std::uint64_t lost_pages = 0;   ///< that a page above names and that are damaged
  std::uint64_t stray_pages = 0;  ///< found without a page above
  bool root_known = false;
  [[nodiscard]] bool whole() const { return root_known && lost_pages == 0; }
};

class Salvage {
 public:
  /// Looks at every page. Errors: those of PageFile; Error{interrupted} after Ctrl-C.
  explicit Salvage(const std::filesystem::path& file);

  [[nodiscard]] const SalvagedTable& table(const std::string& name) const { return tables_.at(name); }
  /// Pages that look like rows and belong to no table that is known.
  [[nodiscard]] std::uint64_t unknown_pages() const { return unknown_pages_; }
  [[nodiscard]] std::uint32_t page_count() const { return file_.page_count(); }
  /// True when the file's own list of tables is readable and complete.
  [[nodiscard]] bool schema_whole() const { return schema_whole_; }

  /// Calls `row` for every sound record of a table (its row number in place of the NULL that stands for it; a repeat of
  /// 0 where the file is too old to have one), `damaged` for every cell that is none, and `gap` between records that
  /// need not follow each other.
  struct Reader {
    std::function<void(std::vector<StoredValue>&)> row;
    std::function<void()> damaged;
    std::function<void()> gap;
  };
  void read(const std::string& table, const Reader& reader);

 private:
  void walk_roots();
  void claim_free_pages();
  void collect_strays();
  [[nodiscard]] std::vector<std::uint32_t> stray_roots();
  void add_stray(std::uint32_t page);
  void choose_evaluations();
  /// Follows a tree down from `page`; false when that page is none of it. With no shape, the first records decide.
  bool walk(std::uint32_t number, const RecordShape*& shape, int depth, SalvagedTable& found);
  void walk_inner(const Page& page, std::uint32_t number, const RecordShape*& shape, int depth, SalvagedTable& found);
  void descend(std::uint32_t child, const RecordShape*& shape, int depth, SalvagedTable& found);
  [[nodiscard]] std::int64_t first_key(const SalvagedTable& found);

  PageFile file_;
  std::vector<bool> claimed_;  ///< by page number
  std::map<std::string, SalvagedTable> tables_;
  std::map<std::string, std::multimap<std::int64_t, SalvagedTable>> strays_;  ///< by table and first key
  std::uint64_t unknown_pages_ = 0;
  bool schema_whole_ = false, without_repeats_ = false;
};

}  // namespace hindsight::log
