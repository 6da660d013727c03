/// Where the parts of Hindsight lie that a program needs at run time: its data, and the libraries that it opens.
#pragma once

#include <filesystem>
#include <optional>

namespace hindsight {

struct Installation {
  std::filesystem::path data;       ///< holds configs/, data/ and models/
  std::filesystem::path libraries;  ///< holds what is opened at run time
};

/// The installation that this program belongs to, and no other one, so that versions never mix. The first whose data
/// exist: the prefix the program itself lies in; for a program of the build tree, the source and the build tree; the
/// prefix of the package that it was linked with (`installed_in`); the prefix the build was configured for.
[[nodiscard]] std::optional<Installation> installation();

/// Says where the package lies that a program was linked with; `find_package(Hindsight)` compiles a call of it into
/// every program, because static libraries cannot know.
void installed_in(const std::filesystem::path& prefix);

}  // namespace hindsight
