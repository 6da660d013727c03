/// The options that name who evaluates designs: the built-in model, or a simulator of the user's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hindsight/evaluator/evaluator.h"
#include "verbs.h"

namespace hindsight::app {

struct EvaluatorOptions {
  std::string command;  ///< empty: the built-in model
  std::string name, version;
  std::vector<std::string> metrics;
  double timeout_s = 0;                    ///< 0: as ExternalCommand has it
  std::int64_t retries = -1, workers = 0;  ///< below what may be given: as ExternalCommand has it
  std::string faults;
  std::string technology;  ///< empty: that of the space  ///< of the built-in model
};

/// Refuses an empty text, which would be the built-in model: what `--evaluator "$SIM"` is where SIM is not set.
[[nodiscard]] CLI::Validator named_evaluator();
/// --evaluator, --technology, and what --evaluator-* sets. `options` must live as long as the verb.
void add_evaluator_options(CLI::App& verb, EvaluatorOptions& options);
/// --evaluator-* alone, for a verb whose own --evaluator may be a command.
void add_evaluator_settings(CLI::App& verb, EvaluatorOptions& options);

/// Error{usage} when any of --evaluator-* is given, which need a command.
void require_no_settings(const EvaluatorOptions& options);
/// Error{usage} for what cannot be, for --evaluator-* without a command, and for a space that the built-in model does
/// not know. With a command, Ctrl-C is watched from here on.
[[nodiscard]] std::shared_ptr<const evaluator::Evaluator> make_evaluator(const EvaluatorOptions& options,
                                                                         space::DesignSpace space);
/// With a command: the definition of the evaluator that is made, in any space.
[[nodiscard]] std::string definition_of(const EvaluatorOptions& options);

}  // namespace hindsight::app
