/// Small text helpers: nearest names for typos, lists, numbers with units, joining and splitting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hindsight {

/// `text` without blanks, tabs and line ends around it.
[[nodiscard]] std::string_view trimmed(std::string_view text);
/// What stands before the first colon, trimmed: of "thermal: too hot, 49.5 W" it is thermal. The reason that a text of
/// failure gives; what follows is about one design.
[[nodiscard]] std::string_view head_of_reason(std::string_view text);

/// `text` as a cell of a CSV file, in quotes where it needs them (RFC 4180).
[[nodiscard]] std::string csv_cell(std::string_view text);

/// The candidate with the smallest Damerau-Levenshtein distance to `name`, or nothing when even
/// the best needs more than max(2, name.size() / 2) edits or shares no letter with `name` (a suggestion
/// that far off only confuses). ASCII case does not count as a difference. Names above 200 bytes are no candidates.
/// Nearest of all is the one with `name` as its first word or, alone of all, as its first three letters or more; where
/// several begin so, only they are candidates. Where more than one edit is needed, the longest that is the beginning of
/// `name`, up to one of `-_@`, comes first.
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates);

/// " Known: a, b, c." (at most 12 names and about 200 characters, then "..."); made fit for a message; empty for none.
[[nodiscard]] std::string known_names(std::span<const std::string> candidates);

/// " Did you mean 'x'?" for the nearest candidate, else as `known_names`; made fit for a message.
[[nodiscard]] std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

/// Splits at `separator`; empty pieces are kept; surrounding blanks of each piece are removed.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

/// Splits at commas as split() does, where names may have commas of their own: of pieces that follow each other the
/// most that together are a name (`is_name` is asked for those of up to `most_commas` commas) stay one.
[[nodiscard]] std::vector<std::string> split_names(std::string_view list, std::size_t most_commas,
                                                   const std::function<bool(const std::string&)>& is_name);
/// The commas of the name that has most.
[[nodiscard]] std::size_t most_commas_in(std::span<const std::string> names);

/// Joins with `separator`.
[[nodiscard]] std::string join(std::span<const std::string> pieces, std::string_view separator);

/// Whole-string parse; nothing on trailing characters, overflow, NaN or infinity. Locale-independent.
[[nodiscard]] std::optional<double> parse_double(std::string_view text);
[[nodiscard]] std::optional<std::int64_t> parse_int(std::string_view text);

/// Shortest text that reads back as the same double ("0.1", "1e-09"), but whole numbers below 1e15 in full
/// ("262144", "100000"). Locale-independent.
[[nodiscard]] std::string shortest(double value);

/// The same for a reader: 0.0001 as other numbers have it, and not 1e-04. What is stored, hashed or compared is written
/// by shortest(), whose texts older files have.
[[nodiscard]] std::string readable(double value);

/// A number of so many digits that is not below `value`, so that it works as a limit.
[[nodiscard]] std::string rounded_up(double value, int digits);

/// An integer with thousands separators: 452,760,000.
[[nodiscard]] std::string with_commas(std::uint64_t value);

/// A number with three significant digits and an SI prefix: si(1.234e-3, "s") == "1.23 ms".
/// Without a unit: si(12345, "") == "12.3 k".
[[nodiscard]] std::string si(double value, std::string_view unit);

/// Bytes with a binary prefix: "2 MiB", "1.5 KiB", "17 B".
[[nodiscard]] std::string binary_bytes(double bytes);

/// A duration in its two largest units: "1 min 20 s", "2 h 5 min", "3 d 4 h"; below 10 s "2.5 s".
[[nodiscard]] std::string duration_text(double duration_s);

/// Foreign text made fit for a one-line message: broken UTF-8 and characters that a reader cannot see, or that move
/// others (control characters, marks of direction and of zero width), become \xNN or \uNNNN; more than `max_width`
/// characters end in "…".
[[nodiscard]] std::string printable(std::string_view text, std::size_t max_width = 80);
/// As `max_width`: more characters than a cell or a file of ours may have, so that nothing is cut.
inline constexpr std::size_t kWholeText = std::size_t{1} << 24U;
/// Whether `printable` would leave every character as it is: what a name must be.
[[nodiscard]] bool is_printable(std::string_view text);

}  // namespace hindsight
