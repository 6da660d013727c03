/// What records of the schema look like where they are stored.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <sqlite3.h>

#include <algorithm>
#include <new>

#include "log/salvage.h"
#include "log/schema.h"

namespace hindsight::log {
namespace {

using Column = RecordShape::Column;

Column column_of(const std::string& type, bool may_be_null) {
  return {.type = type == "INTEGER" ? 'i' : type == "REAL" ? 'r' : 't', .may_be_null = may_be_null};
}

/// [spec: sqlite-format] 2.3, 2.4: columns in their order, the key of a table without row numbers first (the schema
/// writes it so); an INTEGER PRIMARY KEY is the row number, and NULL in the record. Generated columns are not stored.
RecordShape table_shape(SQLite::Database& reference, const std::string& table, bool has_rowid) {
  RecordShape shape{.name = table, .is_table = true, .has_rowid = has_rowid, .columns = {}};
  SQLite::Statement query(reference, "SELECT type, \"notnull\", pk FROM pragma_table_xinfo(?) WHERE hidden = 0");
  query.bind(1, table);
  while (query.executeStep()) {
    const std::string type = query.getColumn(0).getString();
    const bool key = query.getColumn(2).getInt() != 0;
    if (has_rowid && key && type == "INTEGER") {
      shape.columns.push_back({.type = 'n', .may_be_null = true});
    } else {
      shape.columns.push_back(column_of(type, query.getColumn(1).getInt() == 0 && !key));
    }
  }
  return shape;
}

/// [spec: sqlite-format] 2.5: the columns, then the row number or what the table has for it.
RecordShape index_shape(SQLite::Database& reference, const std::string& table, const std::string& index) {
  RecordShape shape{.name = index, .is_table = false, .has_rowid = false, .columns = {}};
  SQLite::Statement query(reference,
                          "SELECT i.cid, t.type, t.\"notnull\" FROM pragma_index_xinfo(?) i "
                          "LEFT JOIN pragma_table_xinfo(?) t ON t.cid = i.cid ORDER BY i.seqno");
  query.bind(1, index);
  query.bind(2, table);
  while (query.executeStep()) {
    const int column = query.getColumn(0).getInt();
    if (column == -1) {
      shape.columns.push_back({.type = 'i', .may_be_null = false});
    } else if (column < 0) {  // an expression: of a number
      shape.columns.push_back({.type = 'r', .may_be_null = true});
    } else {
      shape.columns.push_back(column_of(query.getColumn(1).getString(), query.getColumn(2).getInt() == 0));
    }
  }
  return shape;
}

void add_table(SQLite::Database& reference, const std::string& table, std::vector<RecordShape>& shapes) {
  SQLite::Statement kind(reference, "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?");
  kind.bind(1, table);
  const bool has_rowid = !kind.executeStep() || kind.getColumn(0).getInt() == 0;
  shapes.push_back(table_shape(reference, table, has_rowid));
  SQLite::Statement indexes(reference, "SELECT name, origin FROM pragma_index_list(?)");
  indexes.bind(1, table);
  while (indexes.executeStep()) {
    // The key of a table without row numbers is the table.
    if (!has_rowid && indexes.getColumn(1).getString() == "pk") continue;
    shapes.push_back(index_shape(reference, table, indexes.getColumn(0).getString()));
  }
}

std::vector<RecordShape> make_shapes() {
  SQLite::Database reference(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  for (const Migration& step : migrations()) reference.exec(step.sql);
  std::vector<RecordShape> shapes;
  for (const std::string& table : table_names()) add_table(reference, table, shapes);
  const auto evaluations =
      std::find_if(shapes.begin(), shapes.end(), [](const RecordShape& shape) { return shape.name == "evaluations"; });
  RecordShape older = *evaluations;
  older.name = kEvaluationsWithoutRepeats;
  older.columns.erase(older.columns.begin() + kRepeatColumn);
  shapes.push_back(std::move(older));
  return shapes;
}

bool fits(const Column& column, const StoredValue& value) {
  if (std::holds_alternative<std::monostate>(value)) return column.may_be_null;
  switch (column.type) {
    case 'i':
      return std::holds_alternative<std::int64_t>(value);
    case 'r':
      return !std::holds_alternative<std::string>(value);
    case 't':
      return std::holds_alternative<std::string>(value);
    default:
      return false;  // the row number stands outside of the record
  }
}

}  // namespace

bool RecordShape::matches(const PageCell& cell) const {
  return cell.sound && std::equal(columns.begin(), columns.end(), cell.record.begin(), cell.record.end(), fits);
}

const std::vector<RecordShape>& record_shapes() {
  static const std::vector<RecordShape> shapes = [] {
    try {
      return make_shapes();
    } catch (const SQLite::Exception& error) {  // of a database in memory
      if ((error.getErrorCode() & 0xff) == SQLITE_NOMEM) throw std::bad_alloc();
      throw;
    }
  }();
  return shapes;
}

}  // namespace hindsight::log
