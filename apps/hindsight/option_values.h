/// What the values of options can be: the words, names and files that completion offers.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "verbs.h"

namespace hindsight::app {

/// Where the values of an option come from.
enum class Takes {
  words,      ///< those of the rule
  files,      ///< any file
  workloads,  ///< shipped networks and sets of them; the log's applications where a log is named and read
  logged,     ///< applications of the log that is named
  gpus,
  spaces,
  logged_spaces,
  models,
  recipes,
  technologies,
  chips,       ///< reference designs
  limits,      ///< NAME=: metrics, parameters of the space
  parameters,  ///< NAME= of the space
  metrics,
  runs,        ///< of the log
  evaluators,  ///< of the log
  verbs,       ///< of the program, which completion knows
};

/// A rule for the options of one name.
struct ValueRule {
  std::string_view verb;    ///< the verb, or the group it belongs to; empty: all
  std::string_view option;  ///< a long name, or that of a positional argument
  Takes takes;
  std::string_view words = {};  ///< separated by blanks
  bool list = false;            ///< several, separated by commas
};
[[nodiscard]] std::span<const ValueRule> value_rules();
/// The rule of an option; nullptr: nothing is known of its values.
[[nodiscard]] const ValueRule* value_rule(const CLI::App& verb, const CLI::Option& option);
/// Whether a rule speaks of this option of this verb.
[[nodiscard]] bool applies(const ValueRule& rule, const CLI::App& verb, const CLI::Option& option);

/// What a rule offers, in order. `given`: values of the options before, by long name: --log and --space matter.
[[nodiscard]] std::vector<std::string> offered_values(const ValueRule& rule,
                                                      const std::map<std::string, std::string>& given);

}  // namespace hindsight::app
