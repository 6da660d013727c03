/// Numbers of parts as ranges.
#include "hindsight/core/parts.h"

#include <fmt/format.h>

namespace hindsight {

std::vector<std::uint64_t> missing_parts(const std::set<std::uint64_t>& have, std::uint64_t count, std::size_t most) {
  std::vector<std::uint64_t> missing;
  for (std::uint64_t part = 0; part < count && missing.size() < most; ++part) {
    if (!have.contains(part)) missing.push_back(part);
  }
  return missing;
}

std::string ranges_text(const std::vector<std::uint64_t>& numbers, std::size_t most) {
  std::vector<std::string> ranges;
  std::size_t told = 0;
  for (std::size_t first = 0; first < numbers.size() && ranges.size() < most;) {
    std::size_t end = first + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    ranges.push_back(end - first == 1 ? fmt::format("{}", numbers[first])
                                      : fmt::format("{}-{}", numbers[first], numbers[end - 1]));
    told = first = end;
  }
  if (told < numbers.size()) ranges.push_back(fmt::format("{} more", numbers.size() - told));
  std::string text;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (i > 0) text += i + 1 == ranges.size() ? " and " : ", ";
    text += ranges[i];
  }
  return text;
}

}  // namespace hindsight
