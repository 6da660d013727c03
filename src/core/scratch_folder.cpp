/// Makes and removes folders in the temporary folder.
#include "hindsight/core/scratch_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_without_folder(const std::string& parent, std::string_view purpose, const std::string& why) {
  throw Error(ErrorKind::failure,
              fmt::format("{}: no temporary folder can be made there (for {}): {}. Set TMPDIR to a folder that can be "
                          "written to",
                          printable(parent, 200), purpose, why));
}

}  // namespace

ScratchFolder::ScratchFolder(std::string_view purpose) {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) {
    const char* variable = std::getenv("TMPDIR");
    fail_without_folder(variable == nullptr ? "/tmp" : variable, purpose, "it is no folder");
  }
  std::string path = (parent / "hindsight-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) {  // makes it with mode 0700
    fail_without_folder(parent.string(), purpose, std::generic_category().message(errno));
  }
  path_ = path;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace hindsight
