/// The text of a file of foreign origin, out of gzip and zip. Private to the dataset layer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "dataset/text_source.h"
#include "hindsight/dataset/csv_import.h"

namespace hindsight::dataset {

inline constexpr std::uint64_t kMostTextBytes = std::uint64_t{2} << 30U;  ///< [chosen] fits the memory of a server

struct ImportText {
  std::string content;                   ///< unpacked
  std::filesystem::path shown;           ///< the file in messages
  std::uint64_t most_cells = kAnyCells;  ///< of a table: most_unpacked_cells() where it was packed
};
/// "-" is standard input. A zip archive has one file that is no folder. Errors: Error{failure} for a file that cannot
/// be read; Error{incompatible} for a container that is truncated, damaged, encrypted, or unpacks to more than
/// most_unpacked().
[[nodiscard]] ImportText read_text(const std::filesystem::path& file);

[[nodiscard]] bool begins_like_gzip(std::string_view bytes);
[[nodiscard]] bool begins_like_zip(std::string_view bytes);
/// What a packed file of so many bytes may become.
[[nodiscard]] std::uint64_t most_unpacked(std::uint64_t packed);
/// What a packed table of so many bytes may have: short texts unpack to tables that take all memory.
[[nodiscard]] std::uint64_t most_unpacked_cells(std::uint64_t packed);
[[noreturn]] void refuse_cells(const std::filesystem::path& file, std::uint64_t most);
/// All that is left of `source`. Errors: Error{incompatible} for more than `most` bytes.
[[nodiscard]] std::string whole(ByteSource& source, const std::string& file, std::uint64_t most = kMostTextBytes);
/// The one file of a zip archive. Errors: as read_text.
[[nodiscard]] std::string unzipped(std::string_view bytes, const std::string& file);

}  // namespace hindsight::dataset
