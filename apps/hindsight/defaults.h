/// Defaults of options that the environment, a project's file and the user's file give.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "default_rules.h"

namespace hindsight::app {

/// The file that is looked for in the working folder and those above it.
inline constexpr const char* kProjectFile = ".hindsight.yaml";

/// What decides where defaults are looked for.
struct DefaultPlaces {
  std::vector<std::string> environment;  ///< NAME=value
  std::filesystem::path folder;          ///< absolute: where the search for the project's file begins

  /// A variable's value; nothing where it is missing or empty.
  [[nodiscard]] std::optional<std::string> variable(const std::string& name) const;
};
/// Those of this process.
[[nodiscard]] DefaultPlaces places_of_process();

/// One default as it was written.
struct Default {
  DefaultLayer layer = DefaultLayer::user;
  DefaultScope scope;
  std::string key;                  ///< the option's first name, without dashes
  bool flag = false;                ///< the option takes no value
  std::vector<std::string> values;  ///< as on the command line; of a flag: "true" or "false"
  std::string origin;               ///< ".hindsight.yaml:3", "HINDSIGHT_SWEEP_SAMPLES"
};

/// A file that was looked for.
struct DefaultFile {
  DefaultLayer layer;
  std::string name;  ///< the file, or what was looked for and where
  bool found = false;
};

struct Defaults {
  std::vector<DefaultFile> files;  ///< in the order in which they win
  std::vector<Default> all;        ///< layer by layer, in the order in which they stand there
};

/// The project's file: the first on the way from `places.folder` up to the home folder, or to the root.
[[nodiscard]] std::optional<std::filesystem::path> project_file(const DefaultPlaces& places);
/// The user's file, which need not be there; nothing where no home folder is known.
[[nodiscard]] std::optional<std::filesystem::path> user_file(const DefaultPlaces& places);
/// The variable of an option: HINDSIGHT_LOG_SHOW_TOP; HINDSIGHT_SEED of all verbs.
[[nodiscard]] std::string variable_of(const DefaultScope& scope, const std::string& key);

/// Whether there can be any: a file, or a variable HINDSIGHT_*. Cheap.
[[nodiscard]] bool may_have_defaults(const DefaultPlaces& places);
/// All of them, checked: verbs, options, types and ranges, also of verbs that do not run. Relative names of files in a
/// file become relative to that file. `program` is used to convert values and is not to be parsed with afterwards.
/// Error{usage} with the place, for what is unknown (with the nearest name), refused, given twice or of a wrong type;
/// Error{failure} for a file that cannot be read.
[[nodiscard]] Defaults read_defaults(CLI::App& program, const DefaultPlaces& places);

/// What a variable sets.
struct OptionOfVariable {
  DefaultScope scope;
  std::string key;
};
using KnownVariables = std::map<std::string, OptionOfVariable>;
/// Every name that a default can have in the environment, refused ones included: these have an answer of their own.
[[nodiscard]] KnownVariables known_variables(const CLI::App& program);
/// Appends those of the variables alone. Errors: as read_defaults(), but for types and ranges, which it looks at last.
void read_environment(const CLI::App& program, const KnownVariables& known, const DefaultPlaces& places,
                      std::vector<Default>& found);

/// Those that hold for a verb whose command line gives nothing, in the order in which they win: of each option one.
[[nodiscard]] std::vector<Default> defaults_of(const Defaults& defaults, const CLI::App& verb);
/// The option of a verb that a default is of.
[[nodiscard]] const CLI::Option* option_of(const CLI::App& verb, const Default& one);
/// What stands on the command line for it; nothing for a flag that is off.
[[nodiscard]] std::vector<std::string> as_arguments(const CLI::Option& option, const Default& one);

}  // namespace hindsight::app
