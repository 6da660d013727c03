/// Reads what is new in a log.
#include "hindsight/log/pulse.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include "log/impl.h"

namespace hindsight::log {

Pulse pulse(const Log& log) {
  Log::Impl& impl = log.impl();
  return impl.guarded("looking for news", [&] {
    Pulse now;
    now.data_version = impl.database.execAndGet("PRAGMA data_version").getInt64();
    now.last_evaluation_id =
        impl.database.execAndGet("SELECT ifnull(max(evaluation_id), 0) FROM evaluations").getInt64();
    // Runs are few, and what runs is new: the newest are looked at.
    SQLite::Statement query(impl.database,
                            "SELECT run_id, kind, evaluations_inserted FROM (SELECT * FROM runs ORDER BY run_id DESC "
                            "LIMIT ?) WHERE status = 'running' ORDER BY run_id DESC");
    query.bind(1, static_cast<std::int64_t>(kMostRunning));
    while (query.executeStep()) {
      now.running.push_back({.run_id = query.getColumn(0).getInt64(),
                             .kind = query.getColumn(1).getString(),
                             .rows = static_cast<std::uint64_t>(query.getColumn(2).getInt64())});
    }
    return now;
  });
}

}  // namespace hindsight::log
