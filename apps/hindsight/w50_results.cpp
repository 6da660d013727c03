/// Takes a table of results apart.
#include "w50_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/sweep/launcher.h"

namespace hindsight::app {
namespace {

constexpr std::uint64_t kMostResultsBytes = std::uint64_t{1} << 30U;

[[noreturn]] void refuse_results(const std::string& file, const std::string& problem) {
  throw Error(ErrorKind::incompatible,
              fmt::format("--results {}: {}. Name another file?", printable(file, 200), problem));
}

/// Names the first difference of the text to the head that it should have.
[[noreturn]] void refuse_head(const std::string& file, const std::string& text, const std::string& head) {
  const std::size_t at = static_cast<std::size_t>(std::ranges::mismatch(head, text).in1 - head.begin());
  const std::size_t start = at == 0 ? 0 : head.rfind('\n', at - 1) + 1;
  constexpr std::size_t kBefore = 40;  // of the line, so that where they part is read
  const std::size_t begin = at > start + kBefore ? at - kBefore : start;
  const auto line = [&](const std::string& of) {
    return (begin > start ? "\u2026" : "") + printable(of.substr(begin, of.find('\n', begin) - begin), 120);
  };
  refuse_results(file, fmt::format("is of another command, version, table or shard: '{}' there, '{}' now",
                                   begin < text.size() ? line(text) : "", line(head)));
}

}  // namespace

std::map<std::uint64_t, std::string> read_w50_results(const std::string& file, const std::string& head,
                                                      const sweep::Shard& shard, std::uint64_t cells) {
  std::map<std::uint64_t, std::string> rows;
  const std::string text = read_file(file, kMostResultsBytes);
  if (text.empty()) return rows;  // as mktemp makes it
  if (!text.starts_with(head)) refuse_head(file, text, head);
  for (std::size_t begin = head.size(); begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    const auto cell = parse_int(line.substr(0, line.find(',')));
    const bool known = cell && *cell >= 0 && static_cast<std::uint64_t>(*cell) < cells &&
                       sweep::has_part(shard, static_cast<std::uint64_t>(*cell));
    if (end == std::string::npos || !known) {
      refuse_results(file, fmt::format("has a row of no cell: '{}'", printable(line)));
    }
    rows[static_cast<std::uint64_t>(*cell)] += line + "\n";
    begin = end + 1;
  }
  return rows;
}

}  // namespace hindsight::app
