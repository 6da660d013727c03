/// The text of a file of foreign origin, out of gzip and zip. Private to the dataset layer.
#pragma once

#include <filesystem>
#include <string>

namespace hindsight::dataset {

struct ImportText {
  std::string content;          ///< unpacked
  std::filesystem::path shown;  ///< the file in messages
};
/// "-" is standard input. A zip archive has one file that is no folder. Errors: Error{failure} for a file that cannot
/// be read; Error{incompatible} for a container that is truncated, damaged, encrypted, or unpacks to more than 2 GiB.
[[nodiscard]] ImportText read_text(const std::filesystem::path& file);

}  // namespace hindsight::dataset
