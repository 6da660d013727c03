/// The command line as it runs: what was typed, and the defaults that were not contradicted.
#pragma once

#include <string>
#include <vector>

#include "defaults.h"

namespace hindsight::app {

struct CompleteLine {
  std::vector<std::string> arguments;  ///< without the program's name
  std::vector<Default> taken = {};     ///< the defaults among them

  /// `message`, with the place of the default that it is about, if it is about one.
  [[nodiscard]] std::string explained(const std::string& message) const;
};

/// Appends what environment and files give to the options that `arguments` does not give, and then --no-config, so that
/// the line is complete wherever it runs again. Unchanged: help, what shells ask, --no-config, verbs without defaults,
/// and a line that names no verb. Errors: as read_defaults(), but only where a verb was named.
[[nodiscard]] CompleteLine with_defaults(std::vector<std::string> arguments, const DefaultPlaces& places);

}  // namespace hindsight::app
