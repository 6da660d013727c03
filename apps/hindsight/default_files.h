/// The YAML files that hold defaults.
#pragma once

#include <filesystem>
#include <vector>

#include "defaults.h"

namespace hindsight::app {

/// Whether the option may be given more than once, or takes several values.
[[nodiscard]] bool takes_several(const CLI::Option& option);

/// Appends the defaults of a file, which is there: verbs (or `all`), each with its options. Relative names of files
/// become relative to the file's folder. Errors: as read_defaults(), but for ranges and types of numbers.
void read_default_file(const CLI::App& program, DefaultLayer layer, const std::filesystem::path& file,
                       std::vector<Default>& found);

}  // namespace hindsight::app
