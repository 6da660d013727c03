/// Pages of a SQLite file and the records on them, read without SQLite. Private to the log layer.
///
/// SQLite reaches a page only through the pages above it, so that one damaged inner page hides thousands of sound ones;
/// repair needs each by itself. [spec: sqlite-format] sections 1.3, 1.6 and 2. Nothing here is trusted: a page or cell
/// that does not fit the format is no page or cell. Reads rowid tables and index trees of UTF-8 files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace hindsight::log {

/// A stored value; blobs are not read, since a log has none.
using StoredValue = std::variant<std::monostate, std::int64_t, double, std::string>;

enum class PageKind { other, table_leaf, table_inner, index_leaf, index_inner };
[[nodiscard]] inline bool is_leaf(PageKind kind) {
  return kind == PageKind::table_leaf || kind == PageKind::index_leaf;
}
[[nodiscard]] inline bool is_inner(PageKind kind) {
  return kind == PageKind::table_inner || kind == PageKind::index_inner;
}

/// A cell: of an inner page the child left of it, of a table its row number, and its record unless it is of an inner
/// page of a table. `sound`: false where a part of it does not fit the format.
struct PageCell {
  bool sound = false;
  std::uint32_t child = 0;
  std::int64_t rowid = 0;
  std::vector<StoredValue> record;
};

struct Page {
  PageKind kind = PageKind::other;
  std::uint32_t last_child = 0;  ///< of an inner page: the rightmost
  std::vector<PageCell> cells;
};

class PageFile {
 public:
  /// Errors: Error{failure} when it cannot be read.
  explicit PageFile(const std::filesystem::path& file);

  [[nodiscard]] std::uint32_t page_count() const { return page_count_; }
  /// Version of the schema in the file's header; nothing when page 1 is no first page of a SQLite file.
  [[nodiscard]] std::optional<std::uint32_t> schema_version() const { return schema_version_; }
  /// In the same header.
  [[nodiscard]] std::uint32_t application_id() const { return application_id_; }
  /// Pages that SQLite had put aside, as far as the list of them can be followed: what stands there is deleted.
  [[nodiscard]] std::vector<std::uint32_t> free_pages();
  /// Page `number`, from 1; PageKind::other for one that is not there or holds no rows.
  [[nodiscard]] Page read(std::uint32_t number);

 private:
  using Bytes = std::vector<unsigned char>;
  [[nodiscard]] bool load(std::uint32_t number, Bytes& bytes);
  void read_header();
  [[nodiscard]] PageCell read_cell(const Bytes& page, std::size_t at, PageKind kind);
  /// The whole payload of a cell, with the pages that it continues on.
  [[nodiscard]] std::optional<Bytes> payload(const Bytes& page, std::size_t at, std::uint64_t size, bool of_table);

  std::filesystem::path path_;
  std::ifstream file_;
  std::uint64_t file_bytes_ = 0;
  std::uint32_t page_bytes_ = 0, usable_bytes_ = 0, page_count_ = 0, first_free_ = 0, application_id_ = 0;
  std::uint64_t budget_ = 0;  ///< bytes that the page at hand may still ask for: cells may share what they continue on
  std::uint64_t left_ = 0;    ///< bytes that rows may still continue on, of all pages
  std::optional<std::uint32_t> schema_version_;
};

}  // namespace hindsight::log
