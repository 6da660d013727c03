/// Makes the evaluator that the options of a verb name.
#include "evaluator_argument.h"

#include <fmt/format.h>

#include <utility>

#include "hindsight/accel/technology.h"
#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/evaluator/built_in.h"
#include "hindsight/evaluator/external.h"

namespace hindsight::app {
namespace {

evaluator::ExternalCommand command_of(const EvaluatorOptions& options) {
  evaluator::ExternalCommand command{.text = options.command, .name = options.name, .version = options.version};
  command.metrics = options.metrics;
  if (options.timeout_s != 0) command.timeout_s = options.timeout_s;
  if (options.retries >= 0) command.retries = static_cast<unsigned>(options.retries);
  if (options.workers > 0) command.workers = static_cast<unsigned>(options.workers);
  if (!options.faults.empty()) command.faults = evaluator::parse_faults(options.faults);
  return command;
}

}  // namespace

CLI::Validator named_evaluator() {
  return {[](const std::string& text) {
            return text.empty()
                       ? "the text is empty. Is a variable not set? Without the option the built-in model answers"
                       : std::string();
          },
          ""};
}

void add_evaluator_options(CLI::App& verb, EvaluatorOptions& options) {
  CLI::Option* technology =
      verb.add_option("--technology", options.technology, "Node, NODE@CLASS: its cooling [the space's]");
  verb.add_option("--evaluator", options.command, "Your simulator: a command [built-in model]")
      ->excludes(technology)
      ->check(named_evaluator());
  add_evaluator_settings(verb, options);
}

void add_evaluator_settings(CLI::App& verb, EvaluatorOptions& options) {
  verb.add_option("--evaluator-name", options.name, "Its name in the log [the command]");
  verb.add_option("--evaluator-version", options.version, "Its version: rows of others do not mix");
  verb.add_option("--evaluator-metrics", options.metrics, "All it gives, a,b [those it gives first]")->delimiter(',');
  verb.add_option("--evaluator-timeout", options.timeout_s, "Seconds for one design [600]")->check(CLI::PositiveNumber);
  verb.add_option("--evaluator-retries", options.retries, "After a time-out or a crash [1]")
      ->check(between(0, evaluator::kMostRetries));
  verb.add_option("--evaluator-workers", options.workers, "Processes at a time [1]")
      ->check(between(1, evaluator::kMostWorkers));
  verb.add_option("--evaluator-faults", options.faults, "Time-outs, crashes, NaN: [auto], stop, record");
}

void require_no_settings(const EvaluatorOptions& options) {
  const std::pair<const char*, bool> settings[] = {
      {"--evaluator-name", !options.name.empty()},       {"--evaluator-version", !options.version.empty()},
      {"--evaluator-metrics", !options.metrics.empty()}, {"--evaluator-timeout", options.timeout_s != 0},
      {"--evaluator-retries", options.retries >= 0},     {"--evaluator-workers", options.workers > 0},
      {"--evaluator-faults", !options.faults.empty()}};
  for (const auto& [name, given] : settings) {
    if (!given) continue;
    throw Error(ErrorKind::usage, fmt::format("{} is about a simulator of yours, and none is asked. Name its command "
                                              "with --evaluator?",
                                              name));
  }
}

std::string definition_of(const EvaluatorOptions& options) { return evaluator::definition_of(command_of(options)); }

std::shared_ptr<const evaluator::Evaluator> make_evaluator(const EvaluatorOptions& options, space::DesignSpace space) {
  if (options.command.empty()) {
    require_no_settings(options);
    const accel::Technology technology = accel::load_technology(options.technology, space);
    return evaluator::built_in(std::move(space), technology);
  }
  auto external = evaluator::external(std::move(space), command_of(options));
  install_interrupt_handlers();  // before there are processes that Ctrl-C would leave behind
  return external;
}

}  // namespace hindsight::app
