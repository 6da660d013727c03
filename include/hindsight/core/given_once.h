/// Options that a command takes several times, for another thing each time.
#pragma once

#include <map>
#include <string>
#include <utility>

namespace hindsight {

/// The things that an option has limited so far.
class GivenOnce {
 public:
  /// `option`: as it is written, "--max".
  explicit GivenOnce(std::string option) : option_(std::move(option)) {}
  /// False for what was added before. Error{usage} for a name that was added with another limit: which of the two is
  /// meant would be a guess.
  bool add(const std::string& name, double limit);

 private:
  std::string option_;
  std::map<std::string, double> limits_;
};

}  // namespace hindsight
