/// The file of results, from which a soak goes on, and its table.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "fault/soak/jobs.h"
#include "fault/tally.h"

namespace hindsight::fault {

/// Lines "class;what;count;lost;corrupt;crashes;hangs;silent;other;seconds;done;date".
class Results {
 public:
  explicit Results(const std::filesystem::path& file);

  void add(const Job& job, const Tally& tally, bool done);
  [[nodiscard]] std::int64_t count(const Job& job) const;
  [[nodiscard]] bool done(const Job& job) const;
  /// Prints the table; true where nothing was lost, corrupt, crashed, hung or accepted in silence.
  [[nodiscard]] bool print() const;

 private:
  using Row = std::pair<int, std::string>;
  struct Sum {
    Tally tally;
    bool done = false;
    std::string date;  ///< of the newest
  };

  static void add_to(Sum& sum, const Tally& tally, bool done, const std::string& date);
  [[nodiscard]] std::map<Row, Sum> by_call() const;
  void take(const std::string& line);

  std::filesystem::path file_;
  std::map<Row, Sum> rows_;
};

}  // namespace hindsight::fault
