/// Finds the installation of a program from where the program lies. The build's paths stand in this source alone.
#include "hindsight/core/installation.h"

#include <algorithm>
#include <system_error>
#include <vector>

namespace hindsight {
namespace {

namespace fs = std::filesystem;

/// Set before main by programs that were linked with an installed package.
fs::path& linked_prefix() {
  static fs::path prefix;
  return prefix;
}

Installation under(const fs::path& prefix) {
  return {.data = prefix / HINDSIGHT_DATA_IN_PREFIX, .libraries = prefix / HINDSIGHT_LIBRARIES_IN_PREFIX};
}

bool lies_within(const fs::path& file, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
}

/// In the order in which they are asked.
std::vector<Installation> candidates() {
  std::vector<Installation> result;
  std::error_code error;
  if (const fs::path program = fs::read_symlink("/proc/self/exe", error); !error) {
    result.push_back(under((program.parent_path() / HINDSIGHT_PREFIX_FROM_BINARIES).lexically_normal()));
    if (lies_within(program, fs::weakly_canonical(HINDSIGHT_BUILD_DIR, error))) {
      result.push_back({.data = HINDSIGHT_SOURCE_DIR, .libraries = HINDSIGHT_BUILD_LIBRARY_DIR});
    }
  }
  if (!linked_prefix().empty()) result.push_back(under(linked_prefix()));
  result.push_back(under(HINDSIGHT_PREFIX));
  return result;
}

}  // namespace

std::optional<Installation> installation() {
  std::error_code error;
  for (const Installation& candidate : candidates()) {
    if (fs::is_directory(candidate.data, error)) return candidate;
  }
  return std::nullopt;
}

void installed_in(const std::filesystem::path& prefix) { linked_prefix() = prefix; }

}  // namespace hindsight
