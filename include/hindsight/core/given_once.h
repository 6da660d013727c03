/// Options that a command takes several times, for another thing each time.
#pragma once

#include <set>
#include <string>
#include <utility>

namespace hindsight {

/// The things that an option has limited so far.
class GivenOnce {
 public:
  /// `option`: as it is written, "--max".
  explicit GivenOnce(std::string option) : option_(std::move(option)) {}
  /// Error{usage} for a name that was added before: which of the two limits is meant would be a guess.
  void add(const std::string& name);

 private:
  std::string option_;
  std::set<std::string> names_;
};

}  // namespace hindsight
