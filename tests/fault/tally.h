/// What was counted while things were made to go wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hindsight::fault {

struct Tally {
  std::int64_t count = 0;    ///< faults that were made
  std::int64_t lost = 0;     ///< rows that had been acknowledged
  std::int64_t corrupt = 0;  ///< logs or files that are neither old nor new
  std::int64_t crashes = 0;  ///< ended by a signal of its own, or with an exit code of a bug
  std::int64_t hangs = 0;
  std::int64_t silent = 0;  ///< success said, and the result is another one
  std::int64_t other = 0;   ///< a message without a path, files left behind, work that did not go on
  double seconds = 0;
  bool whole = true;                    ///< false: of all that there are, some were made
  std::vector<std::string> notes = {};  ///< each of them in words

  [[nodiscard]] bool clean() const {
    return lost == 0 && corrupt == 0 && crashes == 0 && hangs == 0 && silent == 0 && other == 0;
  }
  [[nodiscard]] std::string words() const {
    std::string text = std::to_string(count) + " faults";
    for (const std::string& one : notes) text += "\n  " + one;
    return text;
  }
  void add(std::int64_t& column, const std::string& note, std::int64_t by = 1) {
    column += by;
    notes.push_back(note);
  }
};

}  // namespace hindsight::fault
