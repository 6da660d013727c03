/// Makes a landscape whose records were changed pass its checksums: what a stranger can do who writes such a file.
#pragma once

#include <string>
#include <string_view>

#include "hindsight/core/hash.h"

namespace hindsight::test {

/// Of bytes that have the header of a landscape: with the number and the checksum of the records behind it, and the
/// header's own. Others are left as they are.
inline std::string sealed_landscape(std::string bytes) {
  const std::size_t end = bytes.find("\n\n");
  const std::size_t counts = end == std::string::npos ? end : bytes.rfind("\nrecords_bytes ", end);
  if (counts == std::string::npos) return bytes;
  const std::string_view records = std::string_view(bytes).substr(end + 2);
  const std::string text = bytes.substr(0, counts + 1) + "records_bytes " + std::to_string(records.size()) +
                           "\nrecords_sha256 " + sha256_hex(records) + "\n";
  return text + "header_sha256 " + sha256_hex(text) + "\n\n" + std::string(records);
}

}  // namespace hindsight::test
