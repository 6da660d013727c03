/// Places among ranks.
#include "rank_options.h"

#include <fmt/format.h>

#include "file_roles.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/sweep/launcher.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

constexpr std::string_view kTcpScheme = "tcp://";
constexpr std::int64_t kLargestPort = 65535;

/// Messages of shards in the words of ranks.
std::string of_ranks(std::string text) {
  const std::string_view option = "--shard";
  for (std::size_t at = text.find(option); at != std::string::npos; at = text.find(option, at)) {
    text.replace(at, option.size(), "--ranks");
  }
  return text;
}

void require_rendezvous(const std::string& place) {
  if (place.empty()) {
    throw Error(ErrorKind::usage,
                "--ranks: the ranks need a place to meet. Name a file that all of them see, --rendezvous FILE, or rank "
                "0's host, --rendezvous tcp://HOST:29500");
  }
  if (!place.starts_with(kTcpScheme)) {
    FileRoles().writes("--rendezvous", place).require_usable();
    return;
  }
  const std::string_view rest = std::string_view(place).substr(kTcpScheme.size());
  const std::size_t colon = rest.rfind(':');
  const auto port = colon == std::string_view::npos ? std::nullopt : parse_int(rest.substr(colon + 1));
  if (colon == 0 || !port || *port < 1 || *port > kLargestPort) {
    throw Error(ErrorKind::usage,
                fmt::format("--rendezvous {}: is no host with a port. Write tcp://HOST:29500", printable(place)));
  }
}

}  // namespace

void add_rank_options(CLI::App& verb, RankWords& words) {
  verb.add_option("--ranks", words.ranks, "INDEX/COUNT of processes that share every step; auto");
  verb.add_option("--rendezvous", words.rendezvous, "Where ranks meet: a shared file, tcp://HOST:PORT");
  verb.add_option("--rank-timeout", words.timeout_s, "Seconds without an answer from a rank [120]")
      ->check(CLI::Range(1.0, 86400.0).description(""));
}

std::optional<surrogate::Ranks> ranks_of(const RankWords& words) {
  if (words.ranks.empty()) return std::nullopt;
  surrogate::Ranks ranks;
  try {
    const sweep::Shard place = sweep::shard_of(words.ranks, sweep::process_environment).shard;
    ranks.index = place.index;
    ranks.count = place.count;
  } catch (const Error& error) {
    throw Error(error.kind(), of_ranks(error.what()));
  }
  if (ranks.count > 1) require_rendezvous(words.rendezvous);
  ranks.rendezvous = words.rendezvous;
  ranks.timeout = std::chrono::duration<double>(words.timeout_s);
  return ranks;
}

}  // namespace hindsight::app
