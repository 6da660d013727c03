/// Finds passwords in addresses: `user:PASSWORD@` before the host, and `password=` among the parameters.
#include "hindsight/log/address.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/log/log.h"
#include "log/connection.h"

namespace hindsight::log {
namespace {

constexpr std::array<std::string_view, 2> kSchemes = {"postgresql://", "postgres://"};
/// What ends an address inside of a longer text, a command line.
constexpr std::string_view kEnds = " \t\n\"'";

/// Place and length of a part of a text.
using Span = std::pair<std::size_t, std::size_t>;

/// The password of the address that begins at `begin`, whose scheme has that length.
std::vector<Span> passwords_of(std::string_view text, std::size_t begin, std::size_t scheme) {
  std::vector<Span> found;
  const std::size_t end = std::min(text.find_first_of(kEnds, begin), text.size());
  const std::size_t authority = begin + scheme;
  const std::size_t authority_end = std::min(text.find_first_of("/?", authority), end);
  const std::size_t at = text.substr(0, authority_end).rfind('@');
  if (at != std::string_view::npos && at >= authority) {
    const std::size_t colon = text.find(':', authority);
    if (colon < at && at > colon + 1) found.emplace_back(colon + 1, at - colon - 1);
  }
  for (const std::string_view name : {"?password=", "&password="}) {
    for (std::size_t place = text.find(name, authority); place < end; place = text.find(name, place + 1)) {
      const std::size_t value = place + name.size();
      const std::size_t value_end = std::min(text.find('&', value), end);
      if (value_end > value) found.emplace_back(value, value_end - value);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<Span> passwords_in(std::string_view text) {
  std::vector<Span> found;
  for (const std::string_view scheme : kSchemes) {
    for (std::size_t at = text.find(scheme); at != std::string_view::npos; at = text.find(scheme, at + 1)) {
      const std::vector<Span> of_address = passwords_of(text, at, scheme.size());
      found.insert(found.end(), of_address.begin(), of_address.end());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

bool is_server_address(std::string_view log) {
  return std::any_of(kSchemes.begin(), kSchemes.end(),
                     [&](std::string_view scheme) { return log.starts_with(scheme); });
}

bool is_log_there(const std::filesystem::path& log) {
  if (!is_server_address(log)) {
    std::error_code ignored;
    return std::filesystem::exists(log, ignored);
  }
  try {
    static_cast<void>(Log::open(log, OpenMode::read_only));
    return true;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::usage) return false;  // the server has none there yet
    throw;
  }
}

void require_file(const std::filesystem::path& log, std::string_view what, std::string_view instead) {
  if (!is_server_address(log)) return;
  throw Error(ErrorKind::usage, fmt::format("{}: {} works on files. {}", shown(log), what, instead));
}

bool has_password(std::string_view address) { return is_server_address(address) && !passwords_in(address).empty(); }

namespace {

std::string hidden_once(std::string_view text) {
  std::string shown;
  std::size_t from = 0;
  for (const auto& [place, length] : passwords_in(text)) {
    if (place + length <= from) continue;
    if (place >= from) {  // else it goes on with what is hidden already
      shown += text.substr(from, place - from);
      shown += "***";
    }
    from = place + length;
  }
  return shown + std::string(text.substr(from));
}

}  // namespace

std::string without_passwords(std::string_view text) {
  constexpr int kMostPasses = 8;  // [chosen] one does it for an address; hiding may make another one of odd text
  std::string shown = hidden_once(text);
  for (int pass = 1; pass < kMostPasses; ++pass) {
    std::string again = hidden_once(shown);
    if (again == shown) break;
    shown = std::move(again);
  }
  return shown;
}

}  // namespace hindsight::log
