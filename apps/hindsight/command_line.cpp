/// Finds the verb, parses its options, and says what was meant where a word is unknown.
#include "command_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "command_tree.h"
#include "completion.h"
#include "hindsight/core/error.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/terminal.h"
#include "hindsight/core/text.h"
#include "output.h"
#include "pages.h"

namespace hindsight::app {
namespace {

std::string version_text() {
  const BuildInfo& build = build_info();
  std::string text = fmt::format("hindsight {}\ncommit {}\ncompiler {}\nbuild {}\n", build.version, build.commit,
                                 build.compiler, build.build_type);
  text += fmt::format("features {}\n", build.features.empty() ? "none" : join(build.features, ", "));
  return text;
}

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : verbs_below(app)) names.push_back(verb->get_name());
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

/// What to type instead of an option that the verb does not have. With --application `ask` begins what is no network;
/// the other verbs name applications of a log by --workloads, and what they evaluate must be a network.
std::string option_instead(const std::string& word, const CLI::App& verb) {
  const std::vector<std::string> known = option_names(verb);
  const auto has = [&](const char* name) { return std::find(known.begin(), known.end(), name) != known.end(); };
  if (!has("--workloads") || (word != "--application" && word != "--applications")) return did_you_mean(word, known);
  return fmt::format(" An application is named by --workloads{}.",
                     has("--evaluator-name") ? ", a network or a file of one; what is no network goes by `hindsight "
                                               "ask` and `hindsight tell`"
                                             : "");
}

[[noreturn]] void fail(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& verb = deepest(app);
  std::string problem = error.what();
  const std::vector<std::string> unknown = verb.remaining();
  const bool is_required = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  // What is missing may be there, but misspelt: "--desing x".
  const auto misspelt =
      is_required ? std::find_if(unknown.begin(), unknown.end(),
                                 [](const std::string& text) { return text.starts_with("--") && text.size() > 2; })
                  : unknown.begin();
  if ((is_required || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) && misspelt != unknown.end()) {
    const std::string word = misspelt->substr(0, misspelt->find('='));
    problem = word.starts_with('-') ? fmt::format("unknown option '{}'.{}", printable(word), option_instead(word, verb))
                                    : fmt::format("unexpected argument '{}'.", printable(word));
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    if (const std::string repeated = repeated_option(verb); !repeated.empty()) problem = repeated;
  }
  if (const std::vector<std::string> verbs = verb_names(verb); is_required && !verbs.empty()) {
    problem = "name what to do: " + join(verbs, ", ") + ".";
  }
  const char* separator = problem.ends_with('.') || problem.ends_with('?') ? "" : ".";
  throw Error(ErrorKind::usage,
              fmt::format("{}: {}{} See: {} --help", full_name(verb), problem, separator, full_name(verb)));
}

/// What shells, the build and scripts/update-docs.sh ask; no verbs for people. False: it is none of these.
bool answer_machine(const CLI::App& app, const std::vector<std::string>& arguments, Session& session) {
  if (arguments.empty()) return false;
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (arguments.front() == "__complete") {
    print(completion_answer(app, rest));
  } else if (arguments.front() == "__options" && rest.empty()) {
    print(option_pages(app));
  } else if (arguments.front() == "__pages" && rest.size() == 1) {
    write_pages(app, rest.front());
  } else {
    return false;
  }
  session.action = [] { return 0; };
  return true;
}

/// Where --color stands among words that are not parsed, and how many words it takes.
std::pair<std::size_t, std::size_t> find_colour(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    for (const std::string name : {"--color", "--colour"}) {
      if (arguments[i].starts_with(name + "=")) return {i, 1};
      if (arguments[i] == name && i + 1 < arguments.size()) return {i, 2};
    }
  }
  return {arguments.size(), 0};
}

/// `arguments`: what stands behind `help`. False: they name a verb, whose own help it is.
bool show_help_topic(const CLI::App& app, const std::vector<std::string>& arguments, Session& session) {
  session.action = [] { return 0; };
  if (arguments.empty()) {
    print(app.help() + topics_text(app));
    return true;
  }
  const std::vector<std::string> verbs = verb_names(app);
  if (std::find(verbs.begin(), verbs.end(), arguments.front()) != verbs.end()) return false;
  if (arguments.size() > 1 || arguments.front().starts_with('-')) return false;
  show_topic(app, arguments.front());
  return true;
}

}  // namespace

void obey_colour(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments.front().starts_with("__")) return;  // words that a shell completes
  const auto [at, words] = find_colour(arguments);
  if (words == 0) return;
  const std::string& last = arguments[at + words - 1];
  set_colour_use(parse_colour_use(words == 1 ? last.substr(last.find('=') + 1) : last));
}

CommandLine::CommandLine(Session& session) : session_(session) {
  describe_program(app_);
  app_.add_flag("--version", version_, "Version, commit, compiler and features");
  add_verbs(app_, session);
}

void CommandLine::parse(std::vector<std::string> arguments) {
  version_ = false;
  if (answer_machine(app_, arguments, session_)) return;
  if (!arguments.empty() && arguments.front() == "help") {
    arguments.erase(arguments.begin());
    const auto [at, words] = find_colour(arguments);
    const auto colour = arguments.begin() + static_cast<std::ptrdiff_t>(at);
    arguments.erase(colour, colour + static_cast<std::ptrdiff_t>(words));
    if (show_help_topic(app_, arguments, session_)) return;
    arguments.emplace_back("--help");
  }
  check_verbs(app_, arguments, 0);
  session_.action = nullptr;
  try {
    std::reverse(arguments.begin(), arguments.end());  // the order that CLI11 takes
    app_.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    print(app_.help());
    session_.action = [] { return 0; };
    return;
  } catch (const CLI::ParseError& error) {
    fail(app_, error);
  }
  set_colour_use(parse_colour_use(session_.colour));
  session_.verb = full_name(deepest(app_));
  if (session_.action) return;
  print(version_ ? version_text() : app_.help());
  session_.action = [] { return 0; };
}

void parse_command_line(std::vector<std::string> arguments, Session& session) {
  CommandLine(session).parse(std::move(arguments));
}

}  // namespace hindsight::app
