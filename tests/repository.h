/// Where tests find the files of this repository and, where it is present, the data shared beside it.
#pragma once

#include <filesystem>

namespace hindsight::test {

/// The source tree that the tests were built from.
[[nodiscard]] std::filesystem::path repository();

/// Folder of recorded logs and measurements: $HINDSIGHT_SHARED_DIR, else `shared` beside the source tree. It may be
/// absent; tests that need it then skip and say so.
[[nodiscard]] std::filesystem::path shared_folder();

}  // namespace hindsight::test
