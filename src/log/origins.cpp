/// Remembers the last row numbers of each log.
#include "log/origins.h"

#include <fmt/format.h>

#include <algorithm>

namespace hindsight::log {

void Origins::add(SQLite::Database& database, const std::filesystem::path& file) {
  constexpr std::array<std::pair<const char*, const char*>, 4> kTables = {{{"spaces", "space_id"},
                                                                           {"workloads", "workload_id"},
                                                                           {"designs", "design_id"},
                                                                           {"evaluations", "evaluation_id"}}};
  Log& log = logs_.emplace_back(Log{.file = file});
  for (std::size_t i = 0; i < kTables.size(); ++i) {
    const auto& [table, id] = kTables[i];
    log.last_ids[i] = database.execAndGet(fmt::format("SELECT ifnull(max({}), 0) FROM main.{}", id, table)).getInt64();
  }
}

const std::filesystem::path& Origins::of(NamedRows rows, std::int64_t id) const {
  const auto found = std::find_if(logs_.begin(), logs_.end(),
                                  [&](const Log& log) { return id <= log.last_ids[static_cast<std::size_t>(rows)]; });
  return found == logs_.end() ? last_ : found->file;
}

}  // namespace hindsight::log
