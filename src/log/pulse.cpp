/// Reads what is new in a log.
#include "hindsight/log/pulse.h"

#include "log/impl.h"

namespace hindsight::log {

Pulse pulse(const Log& log) {
  Log::Impl& impl = log.impl();
  return impl.guarded("looking for news", [&] {
    Pulse now;
    now.data_version = impl.database.integer_of(
        impl.server ? "SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT)"
                    : "PRAGMA data_version");
    now.last_evaluation_id = impl.database.integer_of("SELECT coalesce(max(evaluation_id), 0) FROM evaluations");
    // Runs are few, and what runs is new: the newest are looked at.
    Statement query(impl.database,
                    "SELECT run_id, kind, evaluations_inserted FROM (SELECT * FROM runs ORDER BY run_id DESC "
                    "LIMIT ?) newest WHERE status = 'running' ORDER BY run_id DESC");
    query.bind(1, static_cast<std::int64_t>(kMostRunning));
    while (query.step()) {
      now.running.push_back({.run_id = query.column(0).integer(),
                             .kind = query.column(1).text(),
                             .rows = static_cast<std::uint64_t>(query.column(2).integer())});
    }
    return now;
  });
}

}  // namespace hindsight::log
