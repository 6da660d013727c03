/// Named arrays and one text in a safetensors file with checksums: model files, checkpoints, and parts of models.
///
/// Layout: 8 bytes little-endian length N, N bytes of JSON header padded with blanks to a multiple of 8, float32 data.
/// The header starts with `__metadata__`, whose first entry is the SHA-256 of the header, computed with the digits of
/// that entry set to zeros; a further entry is the SHA-256 of the data. No byte of a file is outside a checksum but the
/// length, and a wrong length gives a wrong checksum.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hindsight/surrogate/architecture.h"

namespace hindsight::surrogate {

/// Largest file. [chosen] four networks of kMaxWeights
inline constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 30;

enum class FileKind { model, checkpoint, part };

struct TensorFile {
  std::string format_version;
  std::string text;                                     ///< JSON: what is not an array
  std::vector<std::pair<std::string, Tensor>> tensors;  ///< in the order of their data
};

/// "member.3.": how the names of an ensemble member's arrays begin.
[[nodiscard]] std::string member_prefix(std::size_t member);

[[nodiscard]] std::string serialise(const TensorFile& file, FileKind kind);
/// `require_version` throws for a version that cannot be read; it is asked before the data are. Error{incompatible}
/// for a file of another kind, and for all that is damaged or malformed.
[[nodiscard]] TensorFile parse_tensor_file(std::string_view bytes, FileKind kind,
                                           const std::function<void(const std::string&)>& require_version);

}  // namespace hindsight::surrogate
