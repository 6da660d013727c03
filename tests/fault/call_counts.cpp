/// The file of two numbers that the preloaded library maps.
#include "fault/call_counts.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "fault/command.h"
#include "hindsight/core/files.h"

namespace hindsight::fault {

namespace fs = std::filesystem;

CallCounts::CallCounts(const fs::path& folder) : folder_(folder), file_(folder.string() + ".counts") {}

CallCounts::~CallCounts() {
  std::error_code ignored;
  fs::remove(file_, ignored);
}

std::map<std::string, std::string> CallCounts::environment(const std::string& call, std::uint64_t n,
                                                           const std::string& times) const {
  write_file_atomically(file_, std::string(2 * sizeof(std::uint64_t), '\0'));
  return {{"LD_PRELOAD", interposer().string()},       {"HINDSIGHT_FAULT_CALL", call},
          {"HINDSIGHT_FAULT_AT", std::to_string(n)},   {"HINDSIGHT_FAULT_TIMES", times},
          {"HINDSIGHT_FAULT_UNDER", folder_.string()}, {"HINDSIGHT_FAULT_COUNTS", file_.string()}};
}

std::uint64_t CallCounts::number(std::size_t which) const {
  std::array<std::uint64_t, 2> numbers{};
  const std::string bytes = read_file(file_);
  std::memcpy(numbers.data(), bytes.data(), std::min(bytes.size(), sizeof numbers));
  return numbers.at(which);
}

std::set<std::uint64_t> spread_over(std::uint64_t calls, std::int64_t most) {
  std::set<std::uint64_t> points;
  const auto wanted = most == 0 ? calls : std::min<std::uint64_t>(calls, static_cast<std::uint64_t>(most));
  for (std::uint64_t i = 0; i < wanted; ++i) {
    points.insert(wanted == 1 ? 1 : 1 + i * (calls - 1) / (wanted - 1));
  }
  return points;
}

}  // namespace hindsight::fault
