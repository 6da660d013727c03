/// Logs that a merge can leave out, because its output has all that they have. Private to the log layer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace hindsight::log {

/// What a log has that brings nothing.
struct KnownLog {
  std::uint64_t evaluations = 0;
  std::uint64_t designs = 0;
};

/// By input: what it has where merging it into `output` would bring nothing and find no fault; else nothing, also where
/// that takes the merge itself to tell (an older schema, measurements of GPUs, reasons in another order, damage).
/// Looks at several inputs at once and writes nothing. Errors: Error{interrupted} after Ctrl-C.
[[nodiscard]] std::vector<std::optional<KnownLog>> known_logs(const std::vector<std::filesystem::path>& inputs,
                                                              const std::filesystem::path& output);

}  // namespace hindsight::log
