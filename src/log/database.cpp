/// Statements on either store.
#include "log/database.h"

#include <SQLiteCpp/Exception.h>
#include <sqlite3.h>

#include "hindsight/core/error.h"
#include "log/server_statement.h"

namespace hindsight::log {

SQLite::Database& Database::file() const {
  HINDSIGHT_EXPECT(file_ != nullptr);
  return *file_;
}

ServerConnection& Database::server() const {
  HINDSIGHT_EXPECT(server_ != nullptr);
  return *server_;
}

std::int64_t Database::exec(const std::string& sql) const {
  if (on_server()) return server_->exec(sql);
  return file_->exec(sql);
}

std::int64_t Database::integer_of(const std::string& sql) const {
  Statement query(*this, sql);
  HINDSIGHT_ENSURE(query.step());
  return query.column(0).integer();
}

std::int64_t Database::last_row() const {
  return on_server() ? integer_of("SELECT lastval()") : file_->getLastInsertRowid();
}

bool RowValue::is_null() const {
  return server_row_ != nullptr ? server_row_->is_null(column_)
                                : sqlite3_column_type(file_row_, column_) == SQLITE_NULL;
}

std::int64_t RowValue::integer() const {
  return server_row_ != nullptr ? server_row_->integer(column_) : sqlite3_column_int64(file_row_, column_);
}

double RowValue::number() const {
  return server_row_ != nullptr ? server_row_->number(column_) : sqlite3_column_double(file_row_, column_);
}

std::string RowValue::text() const { return server_row_ != nullptr ? server_row_->text(column_) : std::string(view()); }

std::string_view RowValue::view() const {
  if (server_row_ != nullptr) return server_row_->view(column_);
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(file_row_, column_));  // a number becomes text
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(file_row_, column_));
  return size == 0 ? std::string_view() : std::string_view(bytes, size);
}

Statement::Statement(Database database, const std::string& sql) {
  if (database.on_server()) {
    server_ = std::make_unique<ServerStatement>(database.server(), sql);
    return;
  }
  file_ = database.file().getHandle();
  require(sqlite3_prepare_v2(file_, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr));
}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::fail(int code) const { throw SQLite::Exception(file_, code); }

void Statement::bind(int index) {
  if (server_) return server_->bind(index, std::nullopt);
  require(sqlite3_bind_null(statement_, index));
}

void Statement::bind(int index, std::int64_t value) {
  if (server_) return server_->bind(index, std::to_string(value));
  require(sqlite3_bind_int64(statement_, index, value));
}

void Statement::bind(int index, double value) {
  if (server_) return server_->bind(index, server_text(value));
  require(sqlite3_bind_double(statement_, index, value));
}

void Statement::bind(int index, const std::string& value) {
  if (server_) return server_->bind(index, value);
  require(sqlite3_bind_text(statement_, index, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT));
}

void Statement::bind_view(int index, const std::string& value) {
  if (server_) return server_->bind(index, value);
  require(sqlite3_bind_text(statement_, index, value.data(), static_cast<int>(value.size()), SQLITE_STATIC));
}

void Statement::clear_bindings() {
  if (server_) return server_->clear_bindings();
  sqlite3_clear_bindings(statement_);
}

bool Statement::step() {
  if (server_) return server_->step();
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) fail(code);
  return false;
}

std::int64_t Statement::exec() {
  if (server_) return server_->exec();
  HINDSIGHT_ENSURE(!step());
  return sqlite3_changes(file_);
}

void Statement::reset() noexcept {
  if (server_) return server_->reset();
  sqlite3_reset(statement_);
}

RowValue Statement::column(int index) const {
  return server_ ? RowValue(*server_, index) : RowValue(statement_, index);
}

}  // namespace hindsight::log
