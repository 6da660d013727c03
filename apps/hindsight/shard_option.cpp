/// Places among several processes.
#include "shard_option.h"

#include <fmt/format.h>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "output.h"

namespace hindsight::app {
namespace {

/// The command as it is kept: with the shard that --shard auto meant.
Provenance with_shard(Provenance provenance, const std::string& typed, const sweep::LaunchedShard& place) {
  if (place.source.empty()) return provenance;
  std::string& line = provenance.command_line;
  for (const char* between : {" ", "="}) {
    const std::string words = fmt::format(" --shard{}{}", between, typed);
    const std::size_t at = line.find(words);
    if (at == std::string::npos) continue;
    line.replace(at, words.size(), fmt::format(" --shard {}/{}", place.shard.index, place.shard.count));
  }
  return provenance;
}

}  // namespace

CLI::Option* add_shard(CLI::App& verb, ShardOption& option, const std::string& of) {
  return verb.add_option("--shard", option.text, fmt::format("INDEX/COUNT of {}; auto: by launcher [0/1]", of));
}

Provenance resolve_shard(ShardOption& option, const Session& session, bool quiet, const std::vector<ShardFile>& files) {
  option.place = sweep::shard_of(option.text, sweep::process_environment);
  const sweep::Shard& shard = option.shard();
  std::string into;
  for (const ShardFile& one : files) {
    if (one.file->empty()) continue;
    const std::string named = sweep::file_of_shard(*one.file, shard);
    if (named == *one.file && !one.shared && option.is_part() && !option.place.source.empty()) {
      throw Error(ErrorKind::usage,
                  fmt::format("{} {}: all {} shards would write it. Name one for each, with {{shard}} "
                              "where its number goes",
                              one.option, printable(named), shard.count));
    }
    *one.file = named;
    into += fmt::format("{} {}", into.empty() ? ", into" : " and", named);
  }
  if (!option.place.source.empty() && !quiet)
    remark(fmt::format("shard {}/{} ({}){}", shard.index, shard.count, option.place.source, into));
  return with_shard(session.provenance, option.text, option.place);
}

}  // namespace hindsight::app
