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
  State(const Log& log, const std::string& sql);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;
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
  std::vector<std::string> columns = {};
};

void SqlQuery::State::fail(int code) {
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

sqlite3_stmt* SqlQuery::State::prepare(const char* text, const char** rest) {
  sqlite3_stmt* prepared = nullptr;
  if (const int code = sqlite3_prepare_v2(handle, text, -1, &prepared, rest); code != SQLITE_OK) fail(code);
  return prepared;
}

SqlQuery::State::State(const Log& given, const std::string& sql)
    : log(given.impl()),
      handle(log.database.file().getHandle()),
      until_interrupted(log.database),
      length_limit(handle),
      trusted_views(handle) {
  HINDSIGHT_EXPECT(log.mode == OpenMode::read_only);
  if (sql.find('\0') != std::string::npos) {
    throw Error(ErrorKind::usage, fmt::format("{}: the SQL contains a NUL byte. Remove it", shown(log.path)));
  }
  sqlite3_set_authorizer(handle, authorize, &refused);
  try {
    const char* rest = nullptr;
    statement = prepare(sql.c_str(), &rest);
    if (statement == nullptr) {
      throw Error(
          ErrorKind::usage,
          fmt::format("{}: the SQL is empty. Write a query, e.g. \"SELECT * FROM v_workloads\"", shown(log.path)));
    }
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

SqlQuery::State::~State() {
  sqlite3_finalize(statement);
  sqlite3_set_authorizer(handle, nullptr, nullptr);
}

SqlQuery::SqlQuery(const Log& log, const std::string& sql) : state_(std::make_unique<State>(log, sql)) {}
SqlQuery::~SqlQuery() = default;

const std::vector<std::string>& SqlQuery::columns() const { return state_->columns; }

bool SqlQuery::next(std::vector<SqlValue>& row) {
  const int code = sqlite3_step(state_->statement);
  if (code == SQLITE_DONE) return false;
  if (code != SQLITE_ROW) state_->fail(code);
  row.clear();
  for (int i = 0; i < static_cast<int>(state_->columns.size()); ++i) row.push_back(value_of(state_->statement, i));
  return true;
}

}  // namespace hindsight::log
