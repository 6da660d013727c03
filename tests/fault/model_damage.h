/// A model file that was cut or changed, in every way there is, and whether it is refused.
#pragma once

#include <cstdint>
#include <filesystem>

#include "fault/tally.h"

namespace hindsight::fault {

/// The file cut off after each number of bytes: `every`-th of them.
[[nodiscard]] Tally cut_model(const std::filesystem::path& model, const std::filesystem::path& folder,
                              std::int64_t every);
/// `count` copies with 1 to 4 bytes changed, or one bit.
[[nodiscard]] Tally change_model(const std::filesystem::path& model, const std::filesystem::path& folder,
                                 std::int64_t count, std::uint64_t seed);

}  // namespace hindsight::fault
