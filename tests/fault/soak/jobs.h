/// What a soak does: one job for each line of its table.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "fault/tally.h"

namespace hindsight::fault {

/// One line of the table, done in pieces.
struct Job {
  int fault_class;
  std::string what;
  std::int64_t wanted;  ///< faults; 0: it is one piece
  std::int64_t piece;
  std::function<Tally(std::int64_t count, std::uint64_t seed)> work;
  std::int64_t most = 0;  ///< of a loop that is one piece, so many are enough; 0: all
};

struct Choice {
  std::filesystem::path folder;
  std::string only;
  std::int64_t count = 400;
  std::int64_t most = 0;  ///< failing calls of a loop; 0: all
};

/// `choice` outlives them.
[[nodiscard]] std::vector<Job> make_jobs(const Choice& choice);

}  // namespace hindsight::fault
