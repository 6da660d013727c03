/// Parts of a whole that several processes make, by number: which are missing, and how that is said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace hindsight {

/// The numbers from 0 to `count` - 1 that `have` lacks, ascending; `count` may be large, so at most `most` of them.
[[nodiscard]] std::vector<std::uint64_t> missing_parts(const std::set<std::uint64_t>& have, std::uint64_t count,
                                                       std::size_t most = 10'000);

/// "3, 5-7 and 9" of ascending numbers; of more than `most` ranges the first, with "and 12 more" (numbers) behind them.
[[nodiscard]] std::string ranges_text(const std::vector<std::uint64_t>& numbers, std::size_t most = 8);

}  // namespace hindsight
