/// What a check of the repository found: a place and what is wrong there.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hindsight::checks {

struct Finding {
  std::string file;      ///< relative to the repository's root
  std::size_t line = 0;  ///< from 1; 0 = the whole file
  std::string problem;   ///< what is wrong, why it matters, and the remedy
};
using Findings = std::vector<Finding>;

}  // namespace hindsight::checks
