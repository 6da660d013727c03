/// Which calls of a command are concerned, and how many it made: what the preloaded library is told and tells.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace hindsight::fault {

class CallCounts {
 public:
  /// Of calls about files below `folder`. Their numbers stand in a file beside it, for as long as this lives.
  explicit CallCounts(const std::filesystem::path& folder);
  ~CallCounts();
  CallCounts(const CallCounts&) = delete;
  CallCounts& operator=(const CallCounts&) = delete;

  /// For one run, counted anew. `call`: names of interposer/state.cpp, with commas between; `n`: which of them, from 1,
  /// or 0 for none; `times`: once or forever.
  [[nodiscard]] std::map<std::string, std::string> environment(const std::string& call, std::uint64_t n,
                                                               const std::string& times) const;
  /// Of the last run.
  [[nodiscard]] std::uint64_t calls() const { return number(0); }
  /// Of these the ones that failed, or at which it stopped.
  [[nodiscard]] std::uint64_t met() const { return number(1); }

 private:
  [[nodiscard]] std::uint64_t number(std::size_t which) const;

  std::filesystem::path folder_, file_;
};

/// At most `most` of 1 ... `calls`, the first and the last among them, at equal distances; 0: every one.
[[nodiscard]] std::set<std::uint64_t> spread_over(std::uint64_t calls, std::int64_t most);

}  // namespace hindsight::fault
