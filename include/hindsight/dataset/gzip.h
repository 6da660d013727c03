/// Gzip files, written.
#pragma once

#include <string>
#include <string_view>

namespace hindsight::dataset {

/// `text` as a gzip file. The same text gives the same bytes: no name and no time are stored.
/// Errors: Error{failure} when there is not enough memory.
[[nodiscard]] std::string gzipped(std::string_view text);

}  // namespace hindsight::dataset
