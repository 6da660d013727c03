/// Finds what the command line gives itself, and adds the defaults of the rest.
#include "given_defaults.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>

#include "command_tree.h"

namespace hindsight::app {
namespace {

/// A program that parses and does nothing.
struct Rehearsal {
  Session session;
  CLI::App app;

  Rehearsal() {
    describe_program(app);
    add_verbs(app, session);
  }
};

/// The verb that `arguments` name, with the counts of its options; nullptr: none, or only help is wanted.
const CLI::App* rehearse(CLI::App& app, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // the order that CLI11 takes
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    return nullptr;
  } catch (const CLI::ParseError&) {
    // What is missing may be a default; what is wrong is said when the line is parsed in earnest.
  }
  const CLI::App* verb = &app;
  while (!verb->get_subcommands().empty()) verb = verb->get_subcommands().front();
  return verb == &app || !verbs_below(*verb).empty() ? nullptr : verb;
}

/// Those that neither the command line nor a default of a layer above gives or contradicts. Two of one layer that
/// contradict each other both stay: the verb says so.
std::vector<Default> uncontradicted(const CLI::App& verb, const std::vector<Default>& defaults) {
  std::vector<Default> taken;
  for (const Default& one : defaults) {
    const CLI::Option* option = option_of(verb, one);
    const auto beaten_by = [&](const CLI::Option* other) {
      return other == option || contradict(verb, *other, *option);
    };
    const std::vector<const CLI::Option*> all = verb.get_options({});
    const bool by_line = std::any_of(all.begin(), all.end(),
                                     [&](const CLI::Option* other) { return other->count() > 0 && beaten_by(other); });
    const bool by_default = std::any_of(taken.begin(), taken.end(), [&](const Default& other) {
      return other.layer < one.layer && beaten_by(option_of(verb, other));
    });
    const bool off = one.flag && one.values.front() == "false";
    if (!by_line && !by_default && !off) taken.push_back(one);
  }
  // What means nothing without another option is no error where nobody typed it.
  const auto is_given = [&](const CLI::Option* needed) {
    return needed->count() > 0 ||
           std::any_of(taken.begin(), taken.end(), [&](const Default& one) { return option_of(verb, one) == needed; });
  };
  std::erase_if(taken, [&](const Default& one) {
    const auto needs = option_of(verb, one)->get_needs();
    return !std::all_of(needs.begin(), needs.end(), is_given);
  });
  return taken;
}

/// `log query "SELECT ..."`: the first word is the log's place. Where a default names the log, a word that has blanks
/// and names no file is the SQL. False: there is nothing to move.
bool move_sql(const CLI::App& verb, const std::vector<Default>& defaults, std::vector<std::string>& words) {
  const CLI::Option *log = verb.get_option_no_throw("--log"), *sql = verb.get_option_no_throw("--sql");
  if (log == nullptr || sql == nullptr || log->count() != 1 || sql->count() > 0) return false;
  if (std::none_of(defaults.begin(), defaults.end(), [&](const Default& one) { return option_of(verb, one) == log; })) {
    return false;
  }
  const std::string word = log->results().front();
  const auto found = std::find(words.begin(), words.end(), word);
  std::error_code ignored;
  const bool names_log = word.find(' ') == std::string::npos || std::filesystem::exists(word, ignored);
  if (names_log || found == words.end() || *std::prev(found) == "--log") return false;
  words.insert(found, "--sql");
  return true;
}

bool is_on(const CLI::App& app, const std::string& flag) {
  const CLI::Option* option = app.get_option_no_throw(flag);
  return option != nullptr && option->count() > 0;
}

/// Whether `message` has `name` as a word of its own: --max is not in --maximise.
bool mentions(const std::string& message, const std::string& name) {
  for (std::size_t at = 0; (at = message.find(name, at)) != std::string::npos; at += name.size()) {
    const std::size_t end = at + name.size();
    const bool begins = at == 0 || message[at - 1] != '-';
    const bool ends = end == message.size() || (std::isalnum(static_cast<unsigned char>(message[end])) == 0 &&
                                                message[end] != '-' && message[end] != '_');
    if (begins && ends) return true;
  }
  return false;
}

/// Whether the message shows a value that is long enough to be no accident.
bool shows_value(const std::string& message, const Default& one) {
  constexpr std::size_t kTelling = 3;
  return !one.flag && std::any_of(one.values.begin(), one.values.end(), [&](const std::string& value) {
    return value.size() >= kTelling && mentions(message, value);
  });
}

std::string dashed(const Default& one) { return (one.key.size() == 1 ? "-" : "--") + one.key; }

}  // namespace

std::string CompleteLine::explained(const std::string& message) const {
  const auto about = [&](const auto& is_about) { return std::find_if(taken.begin(), taken.end(), is_about); };
  auto found = about([&](const Default& one) { return mentions(message, dashed(one)); });
  if (found == taken.end()) found = about([&](const Default& one) { return shows_value(message, one); });
  if (found == taken.end() || message.find(found->origin) != std::string::npos) return message;
  return fmt::format("{} ({} is a default of {}; --no-config leaves defaults out)", message, dashed(*found),
                     found->origin);
}

CompleteLine with_defaults(std::vector<std::string> arguments, const DefaultPlaces& places) {
  CompleteLine line{.arguments = std::move(arguments)};
  std::vector<std::string>& words = line.arguments;
  if (words.empty() || words.front() == "help" || words.front().starts_with("__")) return line;
  if (!may_have_defaults(places)) return line;
  std::optional<Rehearsal> typed(std::in_place);
  const CLI::App* verb = rehearse(typed->app, words);
  if (verb == nullptr || !takes_defaults(*verb) || is_on(typed->app, "--no-config") || is_on(*verb, "--no-config"))
    return line;
  Rehearsal values;
  const Defaults defaults = read_defaults(values.app, places);
  if (move_sql(*verb, defaults_of(defaults, *verb), words)) verb = rehearse(typed.emplace().app, words);
  line.taken = uncontradicted(*verb, defaults_of(defaults, *verb));
  std::vector<std::string> added;
  for (const Default& one : line.taken) {
    const std::vector<std::string> own = as_arguments(*option_of(*verb, one), one);
    added.insert(added.end(), own.begin(), own.end());
  }
  if (line.taken.empty()) return line;
  added.emplace_back("--no-config");
  words.insert(std::find(words.begin(), words.end(), "--"), added.begin(), added.end());
  return line;
}

}  // namespace hindsight::app
