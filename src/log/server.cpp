/// libpq: connecting, waiting with an eye on Ctrl-C, and values in their binary form.
#include "log/server.h"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <thread>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"
#include "log/connection.h"

namespace hindsight::log {
namespace {

/// [spec: postgresql] Numbers of the built-in types, catalog/pg_type.dat; the same in every release.
constexpr unsigned kBool = 16, kName = 19, kInt8 = 20, kInt2 = 21, kInt4 = 23, kText = 25, kJson = 114, kFloat4 = 700,
                   kFloat8 = 701, kUnknown = 705, kBpchar = 1042, kVarchar = 1043;

/// [chosen] Pauses between two tries to connect: short at first (a server that restarts), then long.
constexpr std::chrono::milliseconds kFirstPause{50}, kLongestPause{2000};
/// [chosen] Seconds that one try may take where the address names none (connect_timeout).
constexpr const char* kConnectTimeoutS = "5";
/// [spec: postgresql] Appendix A, class 08: what a server that answers says no to. libpq does not tell its code.
constexpr const char* kRefusedConnection = "08004";
/// [chosen] A machine or network that goes away without a word is noticed within about a minute: idle seconds before a
/// probe, seconds between probes, probes, and milliseconds that sent bytes may stay unacknowledged. An address or a
/// server that has its own values keeps them.
constexpr const char *kIdleS = "30", *kBetweenProbesS = "10", *kProbes = "3", *kUnacknowledgedMs = "60000";
/// How long a statement runs before Ctrl-C is asked for. [chosen] not felt
constexpr int kLookMs = 100;

/// Big-endian number of that many bytes.
template <class Number>
Number read_number(const char* bytes) {
  Number value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    value = static_cast<Number>((value << 8U) | static_cast<unsigned char>(bytes[i]));
  }
  return value;
}

template <class Number>
void write_number(std::string& bytes, Number value) {
  for (std::size_t i = sizeof(Number); i-- > 0;) bytes += static_cast<char>((value >> (8U * i)) & 0xffU);
}

/// [spec: postgresql] An array of one dimension in binary form: dimensions, whether it has NULLs, type, size, first
/// index; then each element with its length, -1 for NULL (array_recv).
std::string array_header(bool has_nulls, unsigned type, std::size_t size) {
  std::string bytes;
  write_number<std::uint32_t>(bytes, size == 0 ? 0 : 1);
  write_number<std::uint32_t>(bytes, has_nulls ? 1 : 0);
  write_number<std::uint32_t>(bytes, type);
  if (size == 0) return bytes;
  write_number<std::uint32_t>(bytes, static_cast<std::uint32_t>(size));
  write_number<std::uint32_t>(bytes, 1);
  return bytes;
}

constexpr std::uint32_t kNullLength = 0xffffffffU;

/// Of a server that does not answer, and of one that says no: trying again may help. `answer` is that of PQping, which
/// tells a server that is starting, recovering or shutting down by its code, in whatever language and words it says so.
bool may_come_up(const std::string& message, PGPing answer) {
  const auto has = [&](const char* words) { return message.find(words) != std::string::npos; };
  if (answer == PQPING_REJECT) return true;
  if (has("FATAL:") && answer == PQPING_NO_RESPONSE) return true;  // it has gone since
  if (!has("FATAL:")) return !has("does not exist") || has("Is the server running");
  return has("too many clients") || has("remaining connection");
}

std::string first_line(const char* message) {
  std::string line = message == nullptr ? "" : message;
  line = line.substr(0, line.find('\n', line.find_first_not_of(" \n")));
  return printable(line, 300);
}

}  // namespace

ServerRows::ServerRows(pg_result* result) : result_(result) {}
void ServerRows::Clear::operator()(pg_result* result) const { PQclear(result); }
std::int64_t ServerRows::size() const { return PQntuples(result_.get()); }
int ServerRows::columns() const { return PQnfields(result_.get()); }
std::string ServerRows::name(int column) const { return PQfname(result_.get(), column); }

std::int64_t ServerRows::affected() const { return parse_int(PQcmdTuples(result_.get())).value_or(0); }

bool ServerRows::is_null(std::int64_t row, int column) const {
  return PQgetisnull(result_.get(), static_cast<int>(row), column) == 1;
}

bool ServerRows::is_integer(int column) const {
  const unsigned type = PQftype(result_.get(), column);
  return type == kBool || type == kInt2 || type == kInt4 || type == kInt8;
}

bool ServerRows::is_number(int column) const {
  const unsigned type = PQftype(result_.get(), column);
  return type == kFloat4 || type == kFloat8;
}

std::int64_t ServerRows::integer(std::int64_t row, int column) const {
  if (is_null(row, column)) return 0;
  const char* bytes = PQgetvalue(result_.get(), static_cast<int>(row), column);
  switch (PQftype(result_.get(), column)) {
    case kBool:
      return bytes[0];
    case kInt2:
      return static_cast<std::int16_t>(read_number<std::uint16_t>(bytes));
    case kInt4:
      return static_cast<std::int32_t>(read_number<std::uint32_t>(bytes));
    case kInt8:
      return static_cast<std::int64_t>(read_number<std::uint64_t>(bytes));
    default:
      throw ContractViolation(
          fmt::format("column {} of type {} is no whole number", name(column), PQftype(result_.get(), column)));
  }
}

double ServerRows::number(std::int64_t row, int column) const {
  if (is_null(row, column)) return 0;
  const char* bytes = PQgetvalue(result_.get(), static_cast<int>(row), column);
  switch (PQftype(result_.get(), column)) {
    case kFloat8:
      return std::bit_cast<double>(read_number<std::uint64_t>(bytes));
    case kFloat4:
      return static_cast<double>(std::bit_cast<float>(read_number<std::uint32_t>(bytes)));
    default:
      return static_cast<double>(integer(row, column));
  }
}

std::string_view ServerRows::view(std::int64_t row, int column) const {
  if (is_null(row, column)) return {};
  switch (PQftype(result_.get(), column)) {
    case kText:
    case kVarchar:
    case kBpchar:
    case kName:
    case kJson:
    case kUnknown:
      return {PQgetvalue(result_.get(), static_cast<int>(row), column),
              static_cast<std::size_t>(PQgetlength(result_.get(), static_cast<int>(row), column))};
    default:
      throw ContractViolation(
          fmt::format("column {} of type {} is no text", name(column), PQftype(result_.get(), column)));
  }
}

std::string_view ServerRows::bytes(std::int64_t row, int column) const {
  return {PQgetvalue(result_.get(), static_cast<int>(row), column),
          static_cast<std::size_t>(PQgetlength(result_.get(), static_cast<int>(row), column))};
}

std::string ServerRows::text(std::int64_t row, int column) const {
  if (is_null(row, column)) return {};
  if (is_integer(column)) return std::to_string(integer(row, column));
  if (is_number(column)) return shortest(number(row, column));
  return std::string(view(row, column));
}

ServerConnection::ServerConnection(const std::filesystem::path& address, std::chrono::milliseconds patience)
    : address_(address.string()), patience_(patience) {
  connect();
}

ServerConnection::~ServerConnection() { PQfinish(connection_); }

void ServerConnection::connect() {
  const auto deadline = std::chrono::steady_clock::now() + patience_;
  // What follows the address (dbname) overrides it, what stands before it is overridden.
  const std::array<const char*, 9> names = {"connect_timeout",
                                            "fallback_application_name",
                                            "keepalives_idle",
                                            "keepalives_interval",
                                            "keepalives_count",
                                            "tcp_user_timeout",
                                            "dbname",
                                            "client_encoding",
                                            nullptr};
  const std::array<const char*, 9> values = {kConnectTimeoutS,  "hindsight",      kIdleS, kBetweenProbesS, kProbes,
                                             kUnacknowledgedMs, address_.c_str(), "UTF8", nullptr};
  bool was_tried_again = false;
  for (std::chrono::milliseconds pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    connection_ = PQconnectdbParams(names.data(), values.data(), 1);
    if (connection_ == nullptr) throw std::bad_alloc();
    if (PQstatus(connection_) == CONNECTION_OK) break;
    const std::string message = PQerrorMessage(connection_);
    PQfinish(connection_);
    connection_ = nullptr;
    const PGPing answer = PQpingParams(names.data(), values.data(), 1);
    // It accepts connections: a server that has just come up takes this one, and one that refuses it says so again.
    const bool once_more = answer == PQPING_OK && !std::exchange(was_tried_again, true);
    const bool may_pass = may_come_up(message, answer);
    if (!(may_pass || once_more) || std::chrono::steady_clock::now() + pause > deadline || interrupt_requested()) {
      const bool is_refused = !may_pass && message.find("FATAL:") != std::string::npos;
      throw ServerError(is_refused ? kRefusedConnection : "", first_line(message.c_str()), !is_refused);
    }
    std::this_thread::sleep_for(pause);
  }
  PQsetNoticeProcessor(
      connection_, [](void* /*unused*/, const char* /*message*/) {}, nullptr);
}

void ServerConnection::reconnect() {
  PQfinish(connection_);
  connection_ = nullptr;
  prepared_.clear();
  ++generation_;
  reads_by_cursor = false;
  connect();
  for (const std::string& setting : settings_) exec(setting);
}

void ServerConnection::configure(std::vector<std::string> settings) {
  settings_ = std::move(settings);
  // The server too notices: else it holds the locks of a client whose machine died until its system's two hours are
  // over.
  settings_.push_back(
      fmt::format("SELECT set_config(name, wanted, false) FROM pg_settings JOIN (VALUES ('tcp_keepalives_idle', '{}'), "
                  "('tcp_keepalives_interval', '{}'), ('tcp_keepalives_count', '{}'), ('tcp_user_timeout', '{}')) "
                  "AS ours (setting_name, wanted) ON name = setting_name WHERE source = 'default'",
                  kIdleS, kBetweenProbesS, kProbes, kUnacknowledgedMs));
  for (const std::string& setting : settings_) exec(setting);
}

int ServerConnection::version() const { return PQserverVersion(connection_); }

bool ServerConnection::in_transaction() const {
  const auto status = PQtransactionStatus(connection_);
  return status == PQTRANS_INTRANS || status == PQTRANS_INERROR || status == PQTRANS_ACTIVE;
}

void ServerConnection::fail(const pg_result* result) const {
  const char* state = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* text = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  const bool lost = connection_ == nullptr || PQstatus(connection_) != CONNECTION_OK;
  throw ServerError(
      state == nullptr ? "" : state,
      first_line(text != nullptr ? text : (connection_ == nullptr ? "no connection" : PQerrorMessage(connection_))),
      lost);
}

/// Waits for the end of the statement that was sent. Ctrl-C cancels it.
pg_result* ServerConnection::finish() {
  bool cancelled = false;
  for (;;) {
    if (PQflush(connection_) < 0) fail(nullptr);
    if (PQconsumeInput(connection_) == 0) fail(nullptr);
    if (PQisBusy(connection_) == 0) break;
    pollfd waits{.fd = PQsocket(connection_), .events = POLLIN, .revents = 0};
    poll(&waits, 1, kLookMs);
    if (!cancelled && is_interruptible && interrupt_requested()) {
      cancelled = true;
      std::array<char, 256> why{};
      if (PGcancel* cancel = PQgetCancel(connection_); cancel != nullptr) {
        PQcancel(cancel, why.data(), static_cast<int>(why.size()));
        PQfreeCancel(cancel);
      }
    }
  }
  pg_result* last = nullptr;
  while (pg_result* next = PQgetResult(connection_)) {
    PQclear(last);
    last = next;
    if (PQresultStatus(last) == PGRES_COPY_IN || PQresultStatus(last) == PGRES_COPY_OUT) break;
  }
  return last;
}

pg_result* ServerConnection::check(pg_result* result) const {
  const ExecStatusType status = PQresultStatus(result);
  if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) return result;
  const ServerRows owner(result);
  fail(result);
}

ServerRows ServerConnection::run(const std::string& sql, const std::vector<ServerParameter>& parameters,
                                 const std::string& name) {
  if (connection_ == nullptr) fail(nullptr);
  if (!name.empty() && std::find(prepared_.begin(), prepared_.end(), name) == prepared_.end()) {
    if (PQsendPrepare(connection_, name.c_str(), sql.c_str(), 0, nullptr) == 0) fail(nullptr);
    const ServerRows done(check(finish()));
    prepared_.push_back(name);
  }
  std::vector<const char*> values;
  std::vector<int> lengths, formats;
  for (const ServerParameter& parameter : parameters) {
    values.push_back(parameter.bytes ? parameter.bytes->c_str() : nullptr);
    lengths.push_back(parameter.bytes ? static_cast<int>(parameter.bytes->size()) : 0);
    formats.push_back(parameter.is_binary ? 1 : 0);
  }
  const int count = static_cast<int>(parameters.size());
  const int sent = name.empty() ? PQsendQueryParams(connection_, sql.c_str(), count, nullptr, values.data(),
                                                    lengths.data(), formats.data(), 1)
                                : PQsendQueryPrepared(connection_, name.c_str(), count, values.data(), lengths.data(),
                                                      formats.data(), 1);
  if (sent == 0) fail(nullptr);
  return ServerRows(check(finish()));
}

ServerRows ServerConnection::run_as_text(const std::string& sql) {
  if (connection_ == nullptr) fail(nullptr);
  if (PQsendQueryParams(connection_, sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0) == 0) fail(nullptr);
  return ServerRows(check(finish()));
}

std::int64_t ServerConnection::exec(const std::string& sql) {
  is_committing_ = false;
  if (connection_ == nullptr || PQsendQuery(connection_, sql.c_str()) == 0) fail(nullptr);
  is_committing_ = sql == "COMMIT";
  const ServerRows rows(check(finish()));
  is_committing_ = false;
  return rows.affected();
}

std::string server_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return shortest(value);
}

ServerParameter server_array(const std::vector<std::int64_t>& values) {
  std::string bytes = array_header(false, kInt8, values.size());
  for (const std::int64_t value : values) {
    write_number<std::uint32_t>(bytes, sizeof value);
    write_number(bytes, static_cast<std::uint64_t>(value));
  }
  return {.bytes = std::move(bytes), .is_binary = true};
}

ServerParameter server_array(const std::vector<double>& values) {
  const bool has_nulls = std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
  std::string bytes = array_header(has_nulls, kFloat8, values.size());
  for (const double value : values) {
    if (std::isnan(value)) {
      write_number(bytes, kNullLength);
      continue;
    }
    write_number<std::uint32_t>(bytes, sizeof value);
    write_number(bytes, std::bit_cast<std::uint64_t>(value));
  }
  return {.bytes = std::move(bytes), .is_binary = true};
}

ServerParameter server_array(const std::vector<std::string_view>& values, bool empty_is_null) {
  const auto is_null = [&](std::string_view value) { return empty_is_null && value.empty(); };
  const bool has_nulls = std::any_of(values.begin(), values.end(), is_null);
  std::string bytes = array_header(has_nulls, kText, values.size());
  for (const std::string_view value : values) {
    if (is_null(value)) {
      write_number(bytes, kNullLength);
      continue;
    }
    write_number(bytes, static_cast<std::uint32_t>(value.size()));
    bytes += value;
  }
  return {.bytes = std::move(bytes), .is_binary = true};
}

std::string server_sql(std::string_view sql) {
  std::string result;
  int last = 0;
  for (std::size_t i = 0; i < sql.size(); ++i) {
    const char c = sql[i];
    if (c == '\'' || c == '"') {  // a text or a name: to its end
      const std::size_t end = sql.find(c, i + 1);
      HINDSIGHT_EXPECT(end != std::string_view::npos);
      result += sql.substr(i, end - i + 1);
      i = end;
    } else if (c == '?') {
      std::size_t digits = i + 1;
      int number = 0;
      while (digits < sql.size() && sql[digits] >= '0' && sql[digits] <= '9')
        number = 10 * number + (sql[digits++] - '0');
      if (number == 0) number = last + 1;
      last = std::max(last, number);
      result += fmt::format("${}", number);
      i = digits - 1;
    } else {
      result += c;
    }
  }
  return result;
}

void throw_translated(const ServerError& error, const std::filesystem::path& address, std::string_view doing) {
  const std::string name = shown(address), &state = error.sqlstate();
  const auto fail = [&](ErrorKind kind, const std::string& what, const std::string& remedy) {
    throw Error(kind, fmt::format("{}: {} while {}: {}. {}", name, what, doing, error.what(), remedy));
  };
  if (state == kRefusedConnection) {
    fail(ErrorKind::failure, "the server refuses the connection",
         "psql with the same address says the same; a password stands in ~/.pgpass or PGPASSFILE");
  }
  if (error.is_lost() && doing == kOpening) {
    fail(ErrorKind::failure, "the server cannot be reached",
         "Check that it runs and that the address is right: psql opens the same one");
  }
  if (error.is_lost() && state != "57014") {
    fail(ErrorKind::failure, "the server cannot be reached",
         "What was committed is there, and running this again adds the rest");
  }
  if (state == "57014" && interrupt_requested()) {
    throw Error(ErrorKind::interrupted, fmt::format("{}: interrupted while {}.", name, doing));
  }
  if (state == "42501") {
    fail(ErrorKind::failure, "the server's role has no right to this",
         "Ask the log's owner for the role of a reader or writer (configs/cluster/postgresql_roles.sql)");
  }
  if (state == "25006") {
    fail(ErrorKind::failure, "the server only reads (a standby, or a role that is set so)", "Name the primary server");
  }
  if (state.starts_with("53")) {
    fail(ErrorKind::failure, "the server is out of disk, memory or connections",
         "What was committed is there; make room and run this again");
  }
  if (state == "55P03" || state == "23505" || error.is_conflict()) {
    fail(ErrorKind::failure, "other writers stood in the way", "Run this again; what was committed is kept");
  }
  if (state == "XX001" || state == "XX002") {
    fail(ErrorKind::incompatible, "the server reports damaged data",
         "Restore the database from a backup, or copy what can be read: `hindsight log copy`");
  }
  if (state == "42P01" || state == "42703") {
    fail(ErrorKind::incompatible, "a table or column of the log is missing", "Restore the database from a backup");
  }
  if (state == "22021" || state == "22P05") {
    fail(ErrorKind::usage, "a text is not valid UTF-8 or has a NUL byte, which the server does not store",
         "Write such rows to a log in a file");
  }
  fail(ErrorKind::failure, "the server failed", "Its own log may tell more");
  throw ContractViolation("unreachable");
}

}  // namespace hindsight::log
