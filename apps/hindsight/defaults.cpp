/// Reads defaults, checks them against the table of options, and says which hold for a verb.
#include "defaults.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "command_tree.h"
#include "default_files.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"

namespace hindsight::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "HINDSIGHT_";

/// Refuses values that the option would refuse, with the option's own words.
void check_values(CLI::App& program, const Default& one) {
  const ScopedOption found = scoped_option(program, one.scope, one.key);
  CLI::App* verb = &program;
  for (const std::string& word : split(verb_path(*found.verb), ' ')) verb = verb->get_subcommand(word);
  CLI::Option* option = verb->get_option((one.key.size() == 1 ? "-" : "--") + one.key);
  try {
    option->clear();
    for (const std::string& value : one.values) option->add_result(value);
    option->run_callback();
    option->clear();
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: {}. Correct it, or leave it out", one.origin, printable(error.what(), 200)));
  }
}

/// The default of a variable; a repeated option takes words.
Default of_variable(const CLI::App& program, const DefaultScope& scope, const std::string& key, const std::string& name,
                    const std::string& value) {
  if (const std::string why = why_refused(program, DefaultLayer::environment, scope, key); !why.empty()) {
    throw Error(ErrorKind::usage, fmt::format("{}: --{} {}, and unset {}", name, key, why, name));
  }
  const ScopedOption found = scoped_option(program, scope, key);
  Default one{.layer = DefaultLayer::environment,
              .scope = scope,
              .key = keys_of(*found.option).front(),
              .flag = !takes_value(*found.option),
              .values = {value},
              .origin = name};
  if (one.flag) {
    const bool on = value == "true" || value == "1", off = value == "false" || value == "0";
    if (!on && !off) {
      throw Error(ErrorKind::usage, fmt::format("{} is '{}', and --{} is true or false. Correct it, or unset it", name,
                                                printable(value, 60), key));
    }
    one.values = {on ? "true" : "false"};
  } else if (takes_several(*found.option)) {
    one.values.clear();
    for (const std::string& word : split(value, ' ')) {
      if (!word.empty()) one.values.push_back(word);
    }
  }
  return one;
}

/// Error{usage} for a variable of a verb that names none of its options: it is taken for a mistake. Others, such as
/// HINDSIGHT_DATA_DIR, are somebody else's.
void require_other(const CLI::App& program, const std::string& name, const KnownVariables& known) {
  for (const DefaultScope& scope : default_scopes(program)) {
    const std::string front = variable_of(scope, "");
    if (scope.empty() || !name.starts_with(front)) continue;
    std::vector<std::string> names;
    for (const auto& [candidate, variable] : known) {
      if (candidate.starts_with(front)) names.push_back(candidate);
    }
    throw Error(ErrorKind::usage, fmt::format("the environment variable {} names no option of '{}'.{} Unset it?",
                                              printable(name, 100), scope, did_you_mean(name, names)));
  }
}

}  // namespace

KnownVariables known_variables(const CLI::App& program) {
  KnownVariables known;
  for (const DefaultScope& scope : default_scopes(program)) {
    for (const CLI::App* verb : all_verbs(program)) {
      if (!takes_defaults(*verb) || !covers(scope, *verb)) continue;
      for (const CLI::Option* option : options_of(*verb)) {
        for (const std::string& key : keys_of(*option))
          known.try_emplace(variable_of(scope, key), OptionOfVariable{scope, key});
      }
    }
  }
  return known;
}

void read_environment(const CLI::App& program, const KnownVariables& known, const DefaultPlaces& places,
                      std::vector<Default>& found) {
  for (const std::string& entry : places.environment) {
    const std::string name = entry.substr(0, entry.find('='));
    if (!name.starts_with(kPrefix) || name.size() + 1 >= entry.size()) continue;
    const auto variable = known.find(name);
    if (variable == known.end()) {
      require_other(program, name, known);
      continue;
    }
    const auto& [scope, key] = variable->second;
    Default one = of_variable(program, scope, key, name, entry.substr(name.size() + 1));
    const auto twice = std::find_if(found.begin(), found.end(), [&](const Default& other) {
      return other.scope == one.scope && other.key == one.key;
    });
    if (twice != found.end()) {
      throw Error(ErrorKind::usage,
                  fmt::format("{} and {} are of one option. Unset one of the two", twice->origin, one.origin));
    }
    found.push_back(std::move(one));
  }
}

namespace {

fs::path resolved(const fs::path& file) {
  std::error_code error;
  const fs::path canonical = fs::weakly_canonical(file, error);
  return error ? file : canonical;
}

bool is_there(const fs::path& file) {
  std::error_code error;
  return fs::exists(file, error);
}

}  // namespace

std::optional<std::string> DefaultPlaces::variable(const std::string& name) const {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() + 1 && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

DefaultPlaces places_of_process() {
  DefaultPlaces places;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) places.environment.emplace_back(*entry);
  std::sort(places.environment.begin(), places.environment.end());
  std::error_code error;
  places.folder = fs::current_path(error);  // a folder that was removed has no file, and none above it is known
  return places;
}

std::optional<fs::path> project_file(const DefaultPlaces& places) {
  if (places.folder.empty()) return std::nullopt;
  const fs::path home = resolved(places.variable("HOME").value_or(""));
  for (fs::path folder = resolved(places.folder);; folder = folder.parent_path()) {
    if (is_there(folder / kProjectFile))
      return folder == resolved(places.folder) ? kProjectFile : folder / kProjectFile;
    if (folder == home || folder == folder.parent_path()) return std::nullopt;
  }
}

std::optional<fs::path> user_file(const DefaultPlaces& places) {
  const auto configured = places.variable("XDG_CONFIG_HOME");
  if (configured && fs::path(*configured).is_absolute()) return fs::path(*configured) / "hindsight" / "config.yaml";
  const auto home = places.variable("HOME");
  if (!home) return std::nullopt;
  return fs::path(*home) / ".config" / "hindsight" / "config.yaml";
}

std::string variable_of(const DefaultScope& scope, const std::string& key) {
  std::string name = std::string(kPrefix) + (scope.empty() ? "" : scope + "_") + key;
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : (c == '-' || c == ' ' ? '_' : c);
  });
  return name;
}

bool may_have_defaults(const DefaultPlaces& places) {
  const auto is_ours = [](const std::string& entry) { return entry.starts_with(kPrefix); };
  const std::optional<fs::path> user = user_file(places);
  return std::any_of(places.environment.begin(), places.environment.end(), is_ours) || project_file(places) ||
         (user && is_there(*user));
}

Defaults read_defaults(CLI::App& program, const DefaultPlaces& places) {
  Defaults defaults;
  read_environment(program, known_variables(program), places, defaults.all);
  const std::optional<fs::path> project = project_file(places), user = user_file(places);
  defaults.files.push_back(
      {DefaultLayer::project,
       project ? project->string() : fmt::format("{} in {} or a folder above", kProjectFile, places.folder.string()),
       project.has_value()});
  if (project) read_default_file(program, DefaultLayer::project, *project, defaults.all);
  defaults.files.push_back(
      {DefaultLayer::user, user ? user->string() : "no home folder is known ($HOME)", user && is_there(*user)});
  if (defaults.files.back().found) read_default_file(program, DefaultLayer::user, *user, defaults.all);
  for (const Default& one : defaults.all) check_values(program, one);
  return defaults;
}

std::vector<Default> defaults_of(const Defaults& defaults, const CLI::App& verb) {
  std::vector<const Default*> candidates;
  for (const Default& one : defaults.all) {
    if (reaches(one.scope, verb, one.key) && option_of(verb, one) != nullptr) candidates.push_back(&one);
  }
  // Of one layer the nearest scope wins, which has the longest name.
  std::stable_sort(candidates.begin(), candidates.end(), [](const Default* a, const Default* b) {
    return a->layer != b->layer ? a->layer < b->layer : a->scope.size() > b->scope.size();
  });
  std::vector<Default> chosen;
  for (const Default* candidate : candidates) {
    const CLI::Option* option = option_of(verb, *candidate);
    const bool known =
        std::any_of(chosen.begin(), chosen.end(), [&](const Default& one) { return option_of(verb, one) == option; });
    if (!known) chosen.push_back(*candidate);
  }
  return chosen;
}

const CLI::Option* option_of(const CLI::App& verb, const Default& one) {
  for (const CLI::Option* option : options_of(verb)) {
    const std::vector<std::string> keys = keys_of(*option);
    if (std::find(keys.begin(), keys.end(), one.key) != keys.end() && takes_value(*option) != one.flag) return option;
  }
  return nullptr;
}

std::vector<std::string> as_arguments(const CLI::Option& option, const Default& one) {
  const bool is_short = option.get_lnames().empty();
  const std::string name = (is_short ? "-" : "--") + keys_of(option).front();
  if (one.flag) return one.values.front() == "true" ? std::vector<std::string>{name} : std::vector<std::string>{};
  std::vector<std::string> words;
  if (option.get_items_expected_min() > 1) {  // all behind one name
    words.push_back(name);
    words.insert(words.end(), one.values.begin(), one.values.end());
    return words;
  }
  for (const std::string& value : one.values) {
    if (value.empty() || value.starts_with('-')) {
      words.push_back(name + (is_short ? "" : "=") + value);
    } else {
      words.insert(words.end(), {name, value});
    }
  }
  return words;
}

}  // namespace hindsight::app
