/// Rows that contradict themselves. Private to the log layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "log/database.h"

namespace hindsight::log {

struct Finding {
  std::string kind;   ///< a stable word or two
  std::string table;  ///< "designs" or "evaluations"
  std::int64_t id = 0;
  std::string text;  ///< one sentence for a person
};

/// SQL of what tells the built-in model, without noise on top, among `evaluators m`. It gives no further metrics.
inline constexpr const char* kBuiltInModelSql =
    "substr(m.name, 1, 16) = 'hindsight-accel ' AND substr(m.name, 17, 1) BETWEEN '0' AND '9' AND m.name NOT LIKE '% "
    "noise %'";

/// Design hashes, reasons against feasibility, and values that cannot be, in a log whose pages and references are
/// sound. At most `most`.
[[nodiscard]] std::vector<Finding> find_problems(Database database, std::size_t most);

}  // namespace hindsight::log
