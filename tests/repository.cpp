/// The one file that knows the folder it was built from, so that all other tests compile alike in every checkout.
#include "repository.h"

#include <cstdlib>

namespace hindsight::test {

std::filesystem::path repository() { return HINDSIGHT_SOURCE_DIR; }

std::filesystem::path shared_folder() {
  const char* given = std::getenv("HINDSIGHT_SHARED_DIR");
  if (given != nullptr && *given != '\0') return given;
  return repository().parent_path() / "shared";
}

}  // namespace hindsight::test
