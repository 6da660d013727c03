/// Tells a name from a path, whatever lies in the working folder.
#include "hindsight/core/foreign_name.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight {
namespace {

bool would_open(const std::string& name) {
  std::error_code error;
  return name.find('/') != std::string::npos || name.ends_with(".yaml") || name.ends_with(".yml") ||
         std::filesystem::exists(std::filesystem::symlink_status(name, error));
}

}  // namespace

bool names_a_file(const std::string& name) {
  if (name.empty()) return false;
  const std::size_t at = name.rfind('@');
  return would_open(name) || (at != std::string::npos && at > 0 && would_open(name.substr(0, at)));
}

const std::string& foreign_name(const std::string& name, std::string_view where, std::string_view remedy) {
  if (!names_a_file(name)) return name;
  throw Error(ErrorKind::incompatible, fmt::format("{} is '{}', which names a file, and no file is opened because "
                                                   "another one names it.{}{}",
                                                   where, printable(name), remedy.empty() ? "" : " ", remedy));
}

}  // namespace hindsight
