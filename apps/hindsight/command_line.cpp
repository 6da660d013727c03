/// Finds the verb, parses its options, and says what was meant where a word is unknown.
#include "command_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "hindsight/core/error.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/text.h"
#include "output.h"

namespace hindsight::app {
namespace {

constexpr int kHelpColumn = 26;

std::string version_text() {
  const BuildInfo& build = build_info();
  std::string text = fmt::format("hindsight {}\ncommit {}\ncompiler {}\nbuild {}\n", build.version, build.commit,
                                 build.compiler, build.build_type);
  text += fmt::format("features {}\n", build.features.empty() ? "none" : join(build.features, ", "));
  return text;
}

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// The verb that was named, e.g. "log show", as deep as the parser got.
const CLI::App& deepest(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : deepest(*parsed.front());
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

/// The first word after a group of verbs must be one of its verbs.
void check_verbs(const CLI::App& app, const std::vector<std::string>& arguments, std::size_t position) {
  const std::vector<std::string> verbs = verb_names(app);
  if (verbs.empty() || position >= arguments.size() || arguments[position].starts_with('-')) return;
  const auto found = std::find(verbs.begin(), verbs.end(), arguments[position]);
  if (found == verbs.end()) {
    throw Error(ErrorKind::usage, fmt::format("'{}' is not a verb of {}.{}", printable(arguments[position]),
                                              full_name(app), did_you_mean(arguments[position], verbs)));
  }
  check_verbs(*app.get_subcommand(*found), arguments, position + 1);
}

/// "option --x is given twice" where an option that takes one value got more of them, else an empty text.
std::string repeated_option(const CLI::App& verb) {
  for (const CLI::Option* option : verb.get_options()) {
    const auto given = option->count(), most = static_cast<std::size_t>(option->get_items_expected_max());
    if (given > most && most > 0) {
      return fmt::format("{} is given {}. Keep one.", option->get_name(),
                         given == 2 ? "twice" : fmt::format("{} times", given));
    }
  }
  return {};
}

[[noreturn]] void fail(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& verb = deepest(app);
  std::string problem = error.what();
  const std::vector<std::string> unknown = verb.remaining();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !unknown.empty()) {
    const std::string word = unknown.front().substr(0, unknown.front().find('='));
    problem = word.starts_with('-')
                  ? fmt::format("unknown option '{}'.{}", printable(word), did_you_mean(word, option_names(verb)))
                  : fmt::format("unexpected argument '{}'.", printable(word));
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    if (const std::string repeated = repeated_option(verb); !repeated.empty()) problem = repeated;
  }
  const char* separator = problem.ends_with('.') || problem.ends_with('?') ? "" : ".";
  throw Error(ErrorKind::usage,
              fmt::format("{}: {}{} See: {} --help", full_name(verb), problem, separator, full_name(verb)));
}

}  // namespace

void parse_command_line(std::vector<std::string> arguments, Session& session) {
  CLI::App app("Designs the next accelerator from the logs of the last ones.", "hindsight");
  app.get_formatter()->column_width(kHelpColumn);
  app.require_subcommand(0, 1);
  app.footer(
      "Exit codes: 0 ok, 1 failed, 2 usage, 3 infeasible, 4 incompatible file,\n"
      "            5 not built in, 70 bug, 130 interrupted\n"
      "Example:    hindsight simulate --design edge_tpu_v1 --workload unet --explain");
  bool version = false;
  app.add_flag("--version", version, "Version, commit, compiler and features");
  add_simulate(app, session);
  add_serve(app, session);
  add_sweep(app, session);
  add_search(app, session);
  add_log(app, session);
  add_space(app, session);
  add_workload(app, session);
  add_train(app, session);
  add_backtest(app, session);
  add_model(app, session);
  add_optimum(app, session);
  add_propose(app, session);
  add_campaign(app, session);
  add_ask(app, session);
  add_tell(app, session);
  add_check(app, session);
  add_report(app, session);
  add_bench(app, session);
  add_measure(app, session);
  add_gemm(app, session);
  add_kernel(app, session);
  add_calibrate(app, session);
  add_doctor(app, session);

  if (!arguments.empty() && arguments.front() == "help") {
    std::rotate(arguments.begin(), arguments.begin() + 1, arguments.end());
    arguments.back() = "--help";
  }
  check_verbs(app, arguments, 0);
  session.action = nullptr;
  try {
    std::reverse(arguments.begin(), arguments.end());  // the order that CLI11 takes
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    print(app.help());
    session.action = [] { return 0; };
    return;
  } catch (const CLI::ParseError& error) {
    fail(app, error);
  }
  if (session.action) return;
  print(version ? version_text() : app.help());
  session.action = [] { return 0; };
}

}  // namespace hindsight::app
