/// Renders what a copy brought from one log to another.
#pragma once

#include <string>
#include <vector>

#include "hindsight/log/copy.h"

namespace hindsight::report {

struct NamedCopy {
  std::string source;
  log::CopyResult result;
};

[[nodiscard]] std::string copy_text(const NamedCopy& copy, const std::string& target, int columns);
[[nodiscard]] std::string copy_json(const std::vector<NamedCopy>& copies, const std::string& target);

}  // namespace hindsight::report
