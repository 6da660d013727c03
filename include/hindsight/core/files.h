/// Files: bounded reads, atomic writes, and finding the data that ships with Hindsight.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hindsight {

/// Reads a whole file. Errors: Error{failure} naming the file when it is missing, a folder, unreadable
/// or larger than `max_bytes`. A device that is no terminal and delivers anything is refused: it may never end.
[[nodiscard]] std::string read_file(const std::filesystem::path& file, std::uint64_t max_bytes = 64U << 20U);

/// What a file is that starts like `content`, for "FILE: is a gzip file, not ...": "a SQLite database", "a gzip file"
/// and their like; empty for text and for what is not recognised.
[[nodiscard]] std::string_view binary_kind(std::string_view content);

/// Writes to a temporary file beside `file`, syncs it, renames it over `file`, syncs the folder: a reader
/// sees the old content or the new, never a part. A symbolic link is followed; a device or pipe is written
/// directly. Errors: Error{failure}; nothing is left behind.
void write_file_atomically(const std::filesystem::path& file, const std::string& content);

/// Folders searched for `configs/`, `data/` and `models/`: $HINDSIGHT_DATA_DIR, then the data of the installation
/// that this program belongs to (installation.h).
[[nodiscard]] std::vector<std::filesystem::path> data_roots();

/// Resolves a user's NAME to a file: a path that exists as given wins; otherwise `folder/NAME.yaml` under
/// the first data root that has it. Unknown, or a folder: Error{usage} with the nearest shipped name.
/// `what` names the kind in messages, e.g. "design space".
[[nodiscard]] std::filesystem::path find_data_file(const std::string& name, const std::string& folder,
                                                   const std::string& what);

/// Names (file stems) of `folder/*.yaml` under the data roots, sorted, without duplicates.
[[nodiscard]] std::vector<std::string> list_data_files(const std::string& folder);

}  // namespace hindsight
