/// Values of a log against each other, beyond what every `verify` looks at.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hindsight/log/log.h"

namespace hindsight::log {

/// All rows with one kind of fault.
struct DeepFinding {
  std::string kind;  ///< a stable word or two
  std::uint64_t rows = 0;
  std::string first;   ///< the first of them: "evaluation 12"
  std::string text;    ///< what is wrong with it
  std::string remedy;  ///< what to do
};

/// In a log that Log::verify() calls sound: definitions and their hashes, designs and the parameters of their space,
/// what an append would refuse, reasons that are none (a value within its limit), shares outside of 0 to 1, negative
/// amounts. Reads every row. Errors: Error{interrupted} after Ctrl-C.
[[nodiscard]] std::vector<DeepFinding> contradictions_in(const Log& log);

}  // namespace hindsight::log
