/// Commands as logs and tables keep them: which shard one was, and whether two are shards of one command.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/log/log.h"
#include "hindsight/sweep/sweep.h"

namespace hindsight::sweep {

/// A recorded command line without what a shard has of its own: program, --shard, where it writes (--log, --out,
/// --results), how fast (--threads, --device, --durability) and what it says (--quiet, --json, --plot, --wide,
/// --colour).
struct RecordedCommand {
  std::vector<std::string> words;  ///< "sweep", "--space=edge": an option and its value are one word
  std::optional<Shard> shard;      ///< nothing: no --shard, or one that is none
};
/// Of words as Provenance::command_line has them; of text that no shell would read, the words up to there.
[[nodiscard]] RecordedCommand recorded_command(std::string_view command_line);

/// The words, quoted for a shell, with "hindsight" before them.
[[nodiscard]] std::string text_of(const RecordedCommand& command);

/// "--samples=400 and --samples=500": the first words in which two commands differ; empty: they are one.
[[nodiscard]] std::string first_difference(const RecordedCommand& one, const RecordedCommand& other);

/// Whether a sweep or a search has all that it was asked for, by the options that its run keeps and by its checkpoint:
/// also one that was killed behind its last row, whose run never ended.
[[nodiscard]] bool is_complete(const log::Log& log, const std::string& options_json);

}  // namespace hindsight::sweep
