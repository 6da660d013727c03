/// Values of a sound log that a stranger has written over: pages and rows are as SQLite made them, so that readers get
/// to what the values say.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace hindsight::fuzz {

/// Writes the values that the bytes list into the log, whatever its constraints say of them; one that the store refuses
/// (a number's column takes no text) is left out. Each begins with a byte for its column and one for its row, and ends
/// with kEndOfValue or the bytes. How many were written.
std::size_t change_values(const std::filesystem::path& log, std::string_view bytes);

inline constexpr char kEndOfValue = '\x1e';  ///< ASCII's separator of records; no text of ours has it
/// A value that stands for NULL.
inline constexpr std::string_view kNullValue{"\0", 1};

/// The bytes that write `value` over `column` ("runs.options_json") of a row, counted from 0.
[[nodiscard]] std::string value_bytes(std::string_view column, unsigned char row, std::string_view value);

}  // namespace hindsight::fuzz
