/// Files in files: gzip and zip whose content lies there as it is, so that a change of it is a change of what is read.
#pragma once

#include <string>
#include <string_view>

namespace hindsight::fuzz {

/// Of at most 65,535 bytes, one block that is not compressed.
[[nodiscard]] std::string stored_gzip(std::string_view content);
[[nodiscard]] std::string stored_zip(std::string_view content);

/// A changed file of one of these with its lengths and checksums put right; all else as it is.
[[nodiscard]] std::string seal_packed(std::string bytes);

}  // namespace hindsight::fuzz
