/// Prepares and steps through SQL that only reads.
#include "hindsight/log/sql_query.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "log/impl.h"
#include "log/interruptible.h"
#include "log/read_transaction.h"
#include "log/server.h"

namespace hindsight::log {
namespace {

/// Longest text or blob that a query may build. [chosen] far above any cell of a log.
constexpr int kMostValueBytes = 64 << 20;

/// PRAGMAs that tell of a table or index named after them, or check.
constexpr std::array<std::string_view, 9> kPragmasOfTables = {"table_info",       "table_xinfo", "table_list",
                                                              "index_list",       "index_info",  "index_xinfo",
                                                              "foreign_key_list", "quick_check", "integrity_check"};
/// PRAGMAs that tell a setting where no value follows.
constexpr std::array<std::string_view, 11> kPragmasOfSettings = {
    "user_version", "application_id", "schema_version", "page_count",        "page_size",      "freelist_count",
    "encoding",     "database_list",  "collation_list", "foreign_key_check", "compile_options"};

constexpr std::array<std::string_view, 2> kFunctionsThatLoadCode = {"load_extension", "fts3_tokenizer"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view known) {
    return known.size() == name.size() &&
           sqlite3_strnicmp(known.data(), name.data(), static_cast<int>(name.size())) == 0;
  });
}

bool only_tells(std::string_view pragma, const char* value) {
  return contains(kPragmasOfTables, pragma) || (value == nullptr && contains(kPragmasOfSettings, pragma));
}

/// What SQLite asks before it compiles a part of a statement; `refused` remembers the first that was not allowed.
int authorize(void* refused, int action, const char* first, const char* second, const char* /*database*/,
              const char* /*trigger*/) {
  auto& why = *static_cast<std::optional<std::string>*>(refused);
  const auto refuse = [&](const std::string& what) {
    if (!why) why = what;
    return SQLITE_DENY;
  };
  const std::string name = printable(first == nullptr ? "" : first);
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      // SQLite gives the name as it is registered, in lower case; fts3_tokenizer() takes addresses of code.
      return second != nullptr && contains(kFunctionsThatLoadCode, second) ? refuse("loads code") : SQLITE_OK;
    case SQLITE_PRAGMA:
      return first != nullptr && only_tells(first, second) ? SQLITE_OK
                                                           : refuse(fmt::format("PRAGMA {} changes a setting", name));
    case SQLITE_ATTACH:
    case SQLITE_DETACH:
      return refuse("attaches or detaches a file");
    case SQLITE_UPDATE:
      // So SQLite asks for table functions, e.g. json_each(); it lets nobody update this table itself.
      if (first != nullptr && std::string_view(first) == "sqlite_master") return SQLITE_OK;
      return refuse(fmt::format("writes to {}", name));
    case SQLITE_INSERT:
    case SQLITE_DELETE:
      return refuse(fmt::format("writes to {}", name));
    default:
      return refuse("changes the log or how it is read");
  }
}

/// Views of a log may be read, and may call functions that SQLite trusts only in statements (json_each, ->>): the
/// authorizer sees their calls, too. Restored at the end.
class TrustedViews {
 public:
  explicit TrustedViews(sqlite3* handle) : handle_(handle) { set(1); }
  ~TrustedViews() { set(0); }
  TrustedViews(const TrustedViews&) = delete;
  TrustedViews& operator=(const TrustedViews&) = delete;

 private:
  void set(int on) {
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_VIEW, on, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, on, nullptr);
  }
  sqlite3* handle_;
};

/// SQLite compares lengths of what it builds with this; restored at the end.
class LengthLimit {
 public:
  explicit LengthLimit(sqlite3* handle)
      : handle_(handle), before_(sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kMostValueBytes)) {}
  ~LengthLimit() { sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, before_); }
  LengthLimit(const LengthLimit&) = delete;
  LengthLimit& operator=(const LengthLimit&) = delete;

 private:
  sqlite3* handle_;
  int before_;
};

void require_no_nul(const Log::Impl& log, const std::string& sql) {
  if (sql.find('\0') == std::string::npos) return;
  throw Error(ErrorKind::usage, fmt::format("{}: the SQL contains a NUL byte. Remove it", shown(log.path)));
}

[[noreturn]] void refuse_empty(const Log::Impl& log) {
  throw Error(ErrorKind::usage,
              fmt::format("{}: the SQL is empty. Write a query, e.g. \"SELECT * FROM v_workloads\"", shown(log.path)));
}

SqlValue value_of(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return std::int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_NULL:
      return std::monostate();
    default:
      break;
  }
  const bool is_blob = sqlite3_column_type(statement, column) == SQLITE_BLOB;
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
  const std::string_view content = size == 0 ? std::string_view() : std::string_view(bytes, size);
  if (!is_blob) return std::string(content);
  std::string literal = "X'";
  for (const char byte : content) literal += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return literal + "'";
}

}  // namespace

struct SqlQuery::State {
  virtual ~State() = default;
  [[nodiscard]] virtual bool next(std::vector<SqlValue>& row) = 0;
  std::vector<std::string> columns = {};
};

namespace {

/// On a file.
struct FileQuery : SqlQuery::State {
  FileQuery(const Log& log, const std::string& sql);
  ~FileQuery() override;
  FileQuery(const FileQuery&) = delete;
  FileQuery& operator=(const FileQuery&) = delete;
  [[nodiscard]] bool next(std::vector<SqlValue>& row) override;
  /// The statement that `text` begins with (nullptr: none), and what follows it.
  [[nodiscard]] sqlite3_stmt* prepare(const char* text, const char** rest);
  [[noreturn]] void fail(int code);
  /// How far into the SQL the text lies that is compiled.
  std::size_t compiled_offset = 0;

  Log::Impl& log;
  sqlite3* handle;
  Interruptible until_interrupted;
  LengthLimit length_limit;
  TrustedViews trusted_views;
  std::optional<std::string> refused = {};
  sqlite3_stmt* statement = nullptr;
};

void FileQuery::fail(int code) {
  const std::string file = shown(log.path);
  if (refused) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: the SQL {}, and a query only reads. Write SELECT ...", file, *refused));
  }
  const int primary = code & 0xff;
  if (primary == SQLITE_ERROR || primary == SQLITE_TOOBIG || primary == SQLITE_RANGE || primary == SQLITE_MISMATCH) {
    const int offset = sqlite3_error_offset(handle);
    throw Error(
        ErrorKind::usage,
        fmt::format(
            "{}: SQL{}: {}. docs/log-schema.md has the tables and columns", file,
            offset < 0 ? "" : fmt::format(", column {}", compiled_offset + static_cast<std::size_t>(offset) + 1),
            printable(sqlite3_errmsg(handle), 200)));
  }
  throw_translated(SQLite::Exception(handle, code), system_error_of(handle, errno), log.path, "answering the query");
}

sqlite3_stmt* FileQuery::prepare(const char* text, const char** rest) {
  sqlite3_stmt* prepared = nullptr;
  if (const int code = sqlite3_prepare_v2(handle, text, -1, &prepared, rest); code != SQLITE_OK) fail(code);
  return prepared;
}

FileQuery::FileQuery(const Log& given, const std::string& sql)
    : log(given.impl()),
      handle(log.database.file().getHandle()),
      until_interrupted(log.database),
      length_limit(handle),
      trusted_views(handle) {
  require_no_nul(log, sql);
  sqlite3_set_authorizer(handle, authorize, &refused);
  try {
    const char* rest = nullptr;
    statement = prepare(sql.c_str(), &rest);
    if (statement == nullptr) refuse_empty(log);
    while (*rest != '\0') {
      compiled_offset = static_cast<std::size_t>(rest - sql.c_str());
      sqlite3_stmt* second = prepare(rest, &rest);
      if (second == nullptr) continue;
      sqlite3_finalize(second);
      throw Error(ErrorKind::usage,
                  fmt::format("{}: the SQL has more than one statement. Ask one after the other", shown(log.path)));
    }
    if (sqlite3_stmt_readonly(statement) == 0) {
      refused = "changes the log";
      fail(SQLITE_AUTH);
    }
    for (int i = 0; i < sqlite3_column_count(statement); ++i) columns.emplace_back(sqlite3_column_name(statement, i));
  } catch (...) {
    sqlite3_finalize(statement);
    sqlite3_set_authorizer(handle, nullptr, nullptr);
    throw;
  }
}

FileQuery::~FileQuery() {
  sqlite3_finalize(statement);
  sqlite3_set_authorizer(handle, nullptr, nullptr);
}

bool FileQuery::next(std::vector<SqlValue>& row) {
  const int code = sqlite3_step(statement);
  if (code == SQLITE_DONE) return false;
  if (code != SQLITE_ROW) fail(code);
  row.clear();
  for (int i = 0; i < static_cast<int>(columns.size()); ++i) row.push_back(value_of(statement, i));
  return true;
}

/// On a server: a cursor in a transaction that reads. A cursor is of one statement that gives rows and changes nothing.
struct ServerQuery : SqlQuery::State {
  ServerQuery(const Log& given, const std::string& sql) : log(given.impl()), until_interrupted(log.database) {
    require_no_nul(log, sql);
    if (sql.find_first_not_of(" \t\n;") == std::string::npos) refuse_empty(log);
    asking([&] {
      transaction.emplace(log.database);
      const std::string name = log.server->new_name();
      static_cast<void>(log.server->run_as_text(fmt::format("DECLARE {} NO SCROLL CURSOR FOR {}", name, sql)));
      cursor = name;
      fetch();
    });
    for (int i = 0; i < rows.columns(); ++i) columns.push_back(rows.name(i));
  }

  /// In a transaction of others the cursor would stay.
  ~ServerQuery() override {
    try {
      if (!cursor.empty()) log.server->exec("CLOSE " + cursor);
    } catch (const ServerError&) {
      // The transaction failed, and its cursors went with it.
    }
  }
  ServerQuery(const ServerQuery&) = delete;
  ServerQuery& operator=(const ServerQuery&) = delete;

  [[nodiscard]] bool next(std::vector<SqlValue>& row) override {
    if (at == rows.size() && !is_last) asking([&] { fetch(); });
    if (at == rows.size()) return false;
    row.clear();
    for (int i = 0; i < rows.columns(); ++i) row.push_back(value(i));
    ++at;
    return true;
  }

 private:
  // [chosen] as many rows as a person looks at
  static constexpr std::int64_t kRowsAtOnce = 1000;

  void fetch() {
    rows = log.server->run_as_text(fmt::format("FETCH FORWARD {} FROM {}", kRowsAtOnce, cursor));
    is_last = rows.size() < kRowsAtOnce;
    at = 0;
  }

  [[nodiscard]] SqlValue value(int column) const {
    if (rows.is_null(at, column)) return std::monostate();
    const std::string text(rows.bytes(at, column));
    if (rows.is_integer(column)) {
      if (text == "t" || text == "f") return std::int64_t{text == "t"};
      if (const auto number = parse_int(text)) return *number;
    }
    if (rows.is_number(column)) {
      if (const auto number = parse_double(text)) return *number;
    }
    return text;
  }

  template <class Body>
  void asking(Body&& body) {
    try {
      body();
    } catch (const ServerError& error) {
      // Class 42 is syntax and names, 22 and 0A what a computation cannot do, 25 what a transaction that reads may not.
      const std::string kind = error.sqlstate().substr(0, 2);
      if (kind == "42" || kind == "22" || kind == "0A" || kind == "25") {
        throw Error(
            ErrorKind::usage,
            fmt::format("{}: SQL: {} (a query is one statement that only reads: SELECT ...). docs/log-schema.md "
                        "has the tables and columns",
                        shown(log.path), error.what()));
      }
      throw_translated(error, log.path, "answering the query");
    }
  }

  Log::Impl& log;
  Interruptible until_interrupted;
  std::optional<ReadTransaction> transaction;
  std::string cursor;
  ServerRows rows;
  std::int64_t at = 0;
  bool is_last = false;
};

std::unique_ptr<SqlQuery::State> query_of(const Log& log, const std::string& sql) {
  HINDSIGHT_EXPECT(log.impl().mode == OpenMode::read_only);
  if (log.impl().server) return std::make_unique<ServerQuery>(log, sql);
  return std::make_unique<FileQuery>(log, sql);
}

}  // namespace

SqlQuery::SqlQuery(const Log& log, const std::string& sql) : state_(query_of(log, sql)) {}
SqlQuery::~SqlQuery() = default;

const std::vector<std::string>& SqlQuery::columns() const { return state_->columns; }

bool SqlQuery::next(std::vector<SqlValue>& row) { return state_->next(row); }

}  // namespace hindsight::log
