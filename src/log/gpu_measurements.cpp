/// Measurements of GPUs as rows of a log, and back.
#include "hindsight/log/gpu_measurements.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"
#include "log/impl.h"
#include "log/read_transaction.h"

namespace hindsight::log {
namespace {

using measure::GemmRow;
using measure::Quantity;
using measure::Session;
using measure::SessionRecords;

/// The fields of a record as columns: one list of them, in measure, serves JSON and SQL.
template <class Record>
struct Fields;
template <>
struct Fields<Session> {
  template <class R, class Visit>
  static void each(R& record, Visit&& visit) {
    measure::for_each_session_field(record, visit);
  }
};
template <>
struct Fields<GemmRow> {
  template <class R, class Visit>
  static void each(R& record, Visit&& visit) {
    measure::for_each_gemm_field(record, visit);
  }
};
template <>
struct Fields<Quantity> {
  template <class R, class Visit>
  static void each(R& record, Visit&& visit) {
    measure::for_each_quantity_field(record, visit);
  }
};

template <class Record>
std::string columns() {
  std::vector<std::string> names;
  const Record record;
  Fields<Record>::each(record, [&](const char* name, const auto& /*value*/) { names.emplace_back(name); });
  return join(names, ", ");
}

template <class Record>
std::string insert_sql(const std::string& table, const std::string& first_columns, int first_count) {
  std::string places;
  for (int i = 0; i < first_count; ++i) places += "?, ";
  const Record record;
  Fields<Record>::each(record, [&](const char* /*name*/, const auto& /*value*/) { places += "?, "; });
  places.resize(places.size() - 2);
  return fmt::format("INSERT INTO {} ({}, {}) VALUES ({}) ON CONFLICT DO NOTHING", table, first_columns,
                     columns<Record>(), places);
}

/// Binds the fields from parameter `first` on; unknown numbers are NULL.
template <class Record>
void bind_fields(Statement& statement, int first, const Record& record) {
  int index = first;
  Fields<Record>::each(record, [&](const char* /*name*/, const auto& value) {
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, double>) {
      if (std::isfinite(value)) {
        statement.bind(index, value);
      } else {
        statement.bind(index);
      }
    } else {
      statement.bind(index, value);
    }
    ++index;
  });
}

template <class Record>
Record read_fields(Statement& query, int first) {
  Record record;
  int index = first;
  Fields<Record>::each(record, [&](const char* /*name*/, auto& value) {
    using Value = std::decay_t<decltype(value)>;
    const RowValue column = query.column(index++);
    if constexpr (std::is_same_v<Value, double>) {
      value = column.is_null() ? measure::kUnknown : column.number();
    } else if constexpr (std::is_same_v<Value, std::int64_t>) {
      value = column.integer();
    } else {
      value = column.text();
    }
  });
  return record;
}

std::int64_t session_id(Database database, std::int64_t run_id, const Session& session) {
  const std::string hash = sha256_hex(measure::to_json_line(session));
  Statement insert(database, insert_sql<Session>("gpu_sessions", "run_id, session_hash", 2));
  insert.bind(1, run_id);
  insert.bind(2, hash);
  bind_fields(insert, 3, session);
  insert.exec();
  Statement find(database, "SELECT session_id FROM gpu_sessions WHERE session_hash = ?");
  find.bind(1, hash);
  HINDSIGHT_ENSURE(find.step());
  return find.column(0).integer();
}

template <class Record>
void insert_rows(Database database, const std::string& table, std::int64_t session, const std::vector<Record>& rows,
                 MeasurementCounts& counts) {
  Statement insert(database, insert_sql<Record>(table, "session_id", 1));
  for (const Record& row : rows) {
    insert.reset();
    insert.bind(1, session);
    bind_fields(insert, 2, row);
    if (insert.exec() > 0) {
      ++counts.inserted;
    } else {
      ++counts.already_present;
    }
  }
}

/// What the schema would refuse, in words.
void require_storable(const GemmRow& row) {
  const bool known = row.status == "ok" || row.status == "unsupported" || row.status == "failed";
  if (known && (row.status == "ok" || !std::isfinite(row.latency_s)) && (row.graph == 0 || row.graph == 1)) return;
  throw Error(ErrorKind::usage,
              fmt::format("the measurement {} is not sound (status '{}', latency {} s, graph {}). Was the file edited?",
                          printable(row.task), printable(row.status), row.latency_s, row.graph));
}

}  // namespace

MeasurementCounts append_measurements(Log& log, std::int64_t run_id, const SessionRecords& records) {
  log.impl().require_writable();
  for (const GemmRow& row : records.gemms) require_storable(row);
  return log.impl().guarded("storing measurements", [&] {
    Database database = log.impl().database;
    WriteTransaction transaction(log.impl());
    MeasurementCounts counts;
    const std::int64_t session = session_id(database, run_id, records.session);
    insert_rows(database, "gpu_gemms", session, records.gemms, counts);
    insert_rows(database, "gpu_quantities", session, records.quantities, counts);
    transaction.commit();
    return counts;
  });
}

std::vector<SessionRecords> gpu_measurements(const Log& log) {
  return log.impl().guarded("reading measurements", [&] {
    Database database = log.impl().database;
    const ReadTransaction snapshot(database);
    std::vector<SessionRecords> result;
    Statement sessions(database,
                       fmt::format("SELECT session_id, {} FROM gpu_sessions ORDER BY session_id", columns<Session>()));
    Statement gemms(database,
                    fmt::format("SELECT {} FROM gpu_gemms WHERE session_id = ? ORDER BY gemm_id", columns<GemmRow>()));
    Statement quantities(
        database,
        fmt::format("SELECT {} FROM gpu_quantities WHERE session_id = ? ORDER BY quantity_id", columns<Quantity>()));
    while (sessions.step()) {
      SessionRecords& records = result.emplace_back();
      records.session = read_fields<Session>(sessions, 1);
      const std::int64_t id = sessions.column(0).integer();
      for (Statement* query : {&gemms, &quantities}) {
        query->reset();
        query->bind(1, id);
      }
      while (gemms.step()) records.gemms.push_back(read_fields<GemmRow>(gemms, 0));
      while (quantities.step()) records.quantities.push_back(read_fields<Quantity>(quantities, 0));
    }
    return result;
  });
}

}  // namespace hindsight::log
