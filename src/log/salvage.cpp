/// Pages to tables: from the roots, then by what stray pages hold.
#include "log/salvage.h"

#include <algorithm>
#include <cstdint>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/log/log.h"

namespace hindsight::log {
namespace {

/// [chosen] SQLite's own bound (BTCURSOR_MAX_DEPTH) on how deep a tree is.
constexpr int kMostLevels = 20;

/// sqlite_schema: type, name, table, root page, SQL.
const RecordShape kListOfTables{.name = "sqlite_schema",
                                .columns = {{'t', false}, {'t', false}, {'t', false}, {'i', false}, {'t', true}}};

bool may_hold(PageKind kind, const RecordShape& shape) {
  const bool of_table = kind == PageKind::table_leaf || kind == PageKind::table_inner;
  return of_table == (shape.is_table && shape.has_rowid);
}

/// The one table or index of the schema whose records these are; an index where only indexes fit; else nullptr.
const RecordShape* shape_of(const Page& page) {
  const RecordShape* found = nullptr;
  bool any = false;
  for (const PageCell& cell : page.cells) any = any || cell.sound;
  for (const RecordShape& shape : record_shapes()) {
    const auto fits = [&](const PageCell& cell) { return !cell.sound || shape.matches(cell); };
    if (!any || !may_hold(page.kind, shape) || !std::all_of(page.cells.begin(), page.cells.end(), fits)) continue;
    if (found != nullptr && (found->is_table || shape.is_table)) return nullptr;
    found = &shape;
  }
  return found;
}

const RecordShape* shape_named(const std::string& name) {
  const auto& shapes = record_shapes();
  const auto found =
      std::find_if(shapes.begin(), shapes.end(), [&](const RecordShape& shape) { return shape.name == name; });
  return found == shapes.end() ? nullptr : &*found;
}

/// The version of the schema by which rows are read: the file's, or the newest where that cannot be, which is damage.
int version_of_shapes(const PageFile& file) {
  const std::uint32_t stated = file.schema_version().value_or(0);
  return stated >= 1 && stated <= static_cast<std::uint32_t>(kSchemaVersion) ? static_cast<int>(stated)
                                                                             : kSchemaVersion;
}

/// An evaluation of versions 1 and 2 as one of version 3.
std::vector<StoredValue> with_repeat(const std::vector<StoredValue>& record) {
  std::vector<StoredValue> longer;
  longer.reserve(record.size() + 1);
  for (std::size_t i = 0; i < record.size(); ++i) {
    if (i == kRepeatColumn) longer.emplace_back(std::int64_t{0});
    longer.push_back(record[i]);
  }
  return longer;
}

void stop_if_asked() {
  if (interrupt_requested()) throw Error(ErrorKind::interrupted, "interrupted while looking for rows");
}

}  // namespace

Salvage::Salvage(const std::filesystem::path& file) : file_(file), claimed_(std::size_t{file_.page_count()} + 1) {
  for (const RecordShape& shape : record_shapes()) tables_[shape.name];
  walk_roots();
  const auto damaged = [&](const RecordShape& shape) {
    return shape.is_table && shape.name != kEvaluationsWithoutRepeats && !tables_[shape.name].whole();
  };
  if (!schema_whole_ || std::any_of(record_shapes().begin(), record_shapes().end(), damaged)) {
    claim_free_pages();
    collect_strays();
    choose_evaluations();
  }
}

/// The list of tables stands on page 1 and below; each names the root of its tree.
void Salvage::walk_roots() {
  SalvagedTable list;
  const RecordShape* list_shape = &kListOfTables;
  schema_whole_ = walk(1, list_shape, 0, list) && list.lost_pages == 0;
  without_repeats_ = version_of_shapes(file_) < 3;
  for (const Piece& piece : list.pieces) {
    if (piece.gap) continue;
    for (const PageCell& cell : file_.read(piece.page).cells) {
      if (!kListOfTables.matches(cell)) {
        schema_whole_ = false;
        continue;
      }
      const auto& name = std::get<std::string>(cell.record[1]);
      const std::int64_t root = std::get<std::int64_t>(cell.record[3]);
      const RecordShape* shape =
          shape_named(name == "evaluations" && without_repeats_ ? kEvaluationsWithoutRepeats : name);
      if (shape == nullptr || root < 2 || root > file_.page_count()) continue;
      SalvagedTable& found = tables_[name];
      found.root_known = true;
      if (!walk(static_cast<std::uint32_t>(root), shape, 0, found)) {
        ++found.lost_pages;
        found.pieces.push_back(Piece::missing());
      }
    }
  }
  for (const RecordShape& shape : record_shapes()) {
    if (!shape.is_table || shape.name == kEvaluationsWithoutRepeats) continue;
    // Version 2 brought the tables of GPUs.
    if (schema_whole_ && version_of_shapes(file_) < 2 && shape.name.starts_with("gpu_")) {
      tables_[shape.name].root_known = true;
    }
    if (!tables_[shape.name].root_known) schema_whole_ = false;
  }
}

bool Salvage::walk(std::uint32_t number, const RecordShape*& shape, int depth, SalvagedTable& found) {
  stop_if_asked();
  if (number < 1 || number > file_.page_count() || claimed_[number] || depth > kMostLevels) return false;
  const Page page = file_.read(number);
  if (page.kind == PageKind::other) return false;
  if (shape == nullptr && page.kind != PageKind::table_inner) shape = shape_of(page);
  if (shape != nullptr && !may_hold(page.kind, *shape)) return false;
  if (is_inner(page.kind)) {
    claimed_[number] = true;
    walk_inner(page, number, shape, depth, found);
    return true;
  }
  if (shape == nullptr) return false;
  const auto fits = [&](const PageCell& cell) { return shape->matches(cell); };
  if (!page.cells.empty() && std::none_of(page.cells.begin(), page.cells.end(), fits)) return false;
  claimed_[number] = true;
  if (!page.cells.empty()) found.pieces.push_back({.page = number, .first = 0, .count = page.cells.size()});
  return true;
}

void Salvage::walk_inner(const Page& page, std::uint32_t number, const RecordShape*& shape, int depth,
                         SalvagedTable& found) {
  for (std::size_t i = 0; i < page.cells.size(); ++i) {
    descend(page.cells[i].child, shape, depth + 1, found);
    // Records of an index stand on inner pages, too.
    if (page.kind == PageKind::index_inner) found.pieces.push_back({.page = number, .first = i, .count = 1});
  }
  descend(page.last_child, shape, depth + 1, found);
}

void Salvage::descend(std::uint32_t child, const RecordShape*& shape, int depth, SalvagedTable& found) {
  if (walk(child, shape, depth, found)) return;
  ++found.lost_pages;
  found.pieces.push_back(Piece::missing());
}

void Salvage::claim_free_pages() {
  for (const std::uint32_t page : file_.free_pages()) {
    if (page >= 1 && page <= file_.page_count()) claimed_[page] = true;
  }
}

/// Inner pages that no other stray inner page names: tops of pieces of trees.
std::vector<std::uint32_t> Salvage::stray_roots() {
  std::vector<bool> named(claimed_.size());
  std::vector<std::uint32_t> inner;
  for (std::uint32_t number = 2; number <= file_.page_count(); ++number) {
    stop_if_asked();
    if (claimed_[number]) continue;
    const Page page = file_.read(number);
    if (!is_inner(page.kind)) continue;
    inner.push_back(number);
    for (const PageCell& cell : page.cells) {
      if (cell.child < named.size()) named[cell.child] = true;
    }
    if (page.last_child < named.size()) named[page.last_child] = true;
  }
  std::erase_if(inner, [&](std::uint32_t page) { return named[page]; });
  return inner;
}

void Salvage::add_stray(std::uint32_t page) {
  if (claimed_[page]) return;
  SalvagedTable found;
  const RecordShape* shape = nullptr;
  const bool read = walk(page, shape, 0, found);
  if (shape == nullptr) {
    // An inner page below which nothing can be told, or a leaf of which two tables may be the owner.
    if (const Page stray = file_.read(page); is_leaf(stray.kind) && !stray.cells.empty()) ++unknown_pages_;
    return;
  }
  if (!read || !shape->is_table || found.pieces.empty()) return;
  const std::int64_t key = first_key(found);
  strays_[shape->name].emplace(key, std::move(found));
}

void Salvage::collect_strays() {
  for (const std::uint32_t page : stray_roots()) add_stray(page);
  for (std::uint32_t page = 2; page <= file_.page_count(); ++page) add_stray(page);
  for (auto& [name, pieces_by_key] : strays_) {
    SalvagedTable& table = tables_[name];
    // What was found from the root stands first; it may end anywhere between stray pieces.
    for (auto& [key, stray] : pieces_by_key) {
      table.pieces.push_back(Piece::missing());
      table.pieces.insert(table.pieces.end(), stray.pieces.begin(), stray.pieces.end());
      table.lost_pages += stray.lost_pages;
      table.stray_pages += stray.pieces.size();
    }
    table.pieces.push_back(Piece::missing());
  }
}

/// With no list of tables, the records say whether the file is too old to have repeats.
void Salvage::choose_evaluations() {
  if (file_.schema_version() && !tables_["evaluations"].pieces.empty()) {
    if (without_repeats_) {  // strays, too, are older ones
      SalvagedTable& older = tables_[kEvaluationsWithoutRepeats];
      auto& pieces = tables_["evaluations"].pieces;
      pieces.insert(pieces.end(), older.pieces.begin(), older.pieces.end());
    }
    return;
  }
  SalvagedTable& older = tables_[kEvaluationsWithoutRepeats];
  if (!tables_["evaluations"].pieces.empty() || older.pieces.empty()) return;
  const bool root_known = tables_["evaluations"].root_known;
  tables_["evaluations"] = std::move(older);
  tables_["evaluations"].root_known = root_known;
  without_repeats_ = true;
}

std::int64_t Salvage::first_key(const SalvagedTable& found) {
  for (const Piece& piece : found.pieces) {
    if (piece.gap) continue;
    const Page page = file_.read(piece.page);
    for (std::size_t i = piece.first; i < std::min(page.cells.size(), piece.first + piece.count); ++i) {
      const PageCell& cell = page.cells[i];
      if (!cell.sound || cell.record.empty()) continue;
      if (page.kind == PageKind::table_leaf) return cell.rowid;
      if (const auto* key = std::get_if<std::int64_t>(cell.record.data())) return *key;
      return 0;  // texts have no order that matters here
    }
  }
  return 0;
}

void Salvage::read(const std::string& table, const Reader& reader) {
  const bool older = table == "evaluations" && without_repeats_;
  const RecordShape& shape = *shape_named(older ? kEvaluationsWithoutRepeats : table);
  for (const Piece& piece : tables_.at(table).pieces) {
    stop_if_asked();
    if (piece.gap) {
      reader.gap();
      continue;
    }
    Page page = file_.read(piece.page);
    for (std::size_t i = piece.first; i < std::min(page.cells.size(), piece.first + piece.count); ++i) {
      PageCell& cell = page.cells[i];
      if (!shape.matches(cell)) {
        reader.damaged();
        reader.gap();
        continue;
      }
      if (shape.columns.front().type == 'n') cell.record.front() = cell.rowid;
      if (older) cell.record = with_repeat(cell.record);
      reader.row(cell.record);
    }
  }
}

}  // namespace hindsight::log
