/// Which options may have a default of their own user's making, and which of two wins where they contradict each other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "verbs.h"

namespace hindsight::app {

/// Where a default stands, in the order in which they win.
enum class DefaultLayer { environment, project, user };

/// Whose options a default is of: "" of all verbs, "log" of a group of verbs, "log show" of one.
using DefaultScope = std::string;

/// Whether a verb takes defaults: not `config` and `completion`, which must work where a file is wrong.
[[nodiscard]] bool takes_defaults(const CLI::App& verb);
/// All scopes, "" first, groups before their verbs.
[[nodiscard]] std::vector<DefaultScope> default_scopes(const CLI::App& program);
[[nodiscard]] bool covers(const DefaultScope& scope, const CLI::App& verb);

/// Whether a default of the scope reaches an option of a verb: not where the option makes the verb another one, as
/// --log does of `serve`, unless that verb alone was meant.
[[nodiscard]] bool reaches(const DefaultScope& scope, const CLI::App& verb, const std::string& key);

/// The names of an option in files: "samples", and "m" of an option that has a short name only. The first one is what
/// messages say; none: it is only positional.
[[nodiscard]] std::vector<std::string> keys_of(const CLI::Option& option);

/// An option of a scope by one of its names.
struct ScopedOption {
  const CLI::App* verb = nullptr;  ///< the first verb of the scope that has it
  const CLI::Option* option = nullptr;
};
/// Empty where no verb of the scope has it.
[[nodiscard]] ScopedOption scoped_option(const CLI::App& program, const DefaultScope& scope, const std::string& key);
/// The names of all options of a scope that may have a default there.
[[nodiscard]] std::vector<std::string> keys_of_scope(const CLI::App& program, const DefaultScope& scope);

/// Why a default of this name may not stand there; empty: it may.
[[nodiscard]] std::string why_refused(const CLI::App& program, DefaultLayer layer, const DefaultScope& scope,
                                      const std::string& key);

/// Whether the verb refuses the two together, or one means nothing beside the other.
[[nodiscard]] bool contradict(const CLI::App& verb, const CLI::Option& a, const CLI::Option& b);

}  // namespace hindsight::app
