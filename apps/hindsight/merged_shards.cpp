/// Reads the commands that logs keep.
#include "merged_shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "hindsight/core/parts.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "hindsight/log/query.h"
#include "hindsight/log/row_names.h"
#include "hindsight/sweep/recorded_command.h"

namespace hindsight::app {
namespace {

/// All that is known of one shard of one command.
struct ShardRuns {
  std::set<std::string> files;
  bool finished = false;
};
struct ShardedCommand {
  sweep::RecordedCommand command;
  std::string first_file;
  std::map<std::uint64_t, std::map<std::uint64_t, ShardRuns>> shards;  ///< by count, index
};
/// Names of the evaluators of a log of shards.
struct LogEvaluators {
  std::string file;
  std::set<std::string> names;
};

/// A log that is merged, or the one that it is merged into: what both have is no surprise.
enum class Role { given, extended };

class Shards {
 public:
  void read(const std::string& file, Role role) {
    const log::Log log = log::Log::open(file, log::OpenMode::read_only);
    bool any = false;
    for (const log::RunInfo& run : log::recent_runs(log, std::numeric_limits<std::int32_t>::max())) {
      if (run.kind != to_string(log::RunKind::sweep) && run.kind != to_string(log::RunKind::search)) continue;
      const sweep::RecordedCommand command = sweep::recorded_command(run.command_line);
      if (!command.shard || command.shard->count == 1) continue;
      any = true;
      add(command, file, role,
          run.status == to_string(log::RunStatus::finished) || sweep::is_complete(log, run.options_json));
    }
    if (!any) return;
    LogEvaluators& evaluators = evaluators_.emplace_back();
    evaluators.file = file;
    // Their names say model, version and technology; log::evaluators() would count the rows of each.
    const log::RowNames names(log);
    for (std::size_t id = 1; id <= names.evaluators(); ++id)
      evaluators.names.insert(names.evaluator(static_cast<std::int64_t>(id)));
  }

  [[nodiscard]] std::vector<std::string> remarks() const {
    std::vector<std::string> remarks;
    if (const std::string differ = evaluators_differ(); !differ.empty()) remarks.push_back(differ);
    for (std::size_t i = 1; i < commands_.size(); ++i) {
      const ShardedCommand& first = commands_.front();
      remarks.push_back(fmt::format("these are shards of different commands: {} and {} differ first in {}",
                                    printable(first.first_file), printable(commands_[i].first_file),
                                    sweep::first_difference(first.command, commands_[i].command)));
    }
    for (const ShardedCommand& command : commands_) add_remarks(command, remarks);
    return remarks;
  }

 private:
  void add(const sweep::RecordedCommand& command, const std::string& file, Role role, bool finished) {
    auto known =
        std::ranges::find_if(commands_, [&](const ShardedCommand& one) { return one.command.words == command.words; });
    if (known == commands_.end()) {
      known = commands_.insert(commands_.end(), {.command = command, .first_file = file, .shards = {}});
    }
    ShardRuns& runs = known->shards[command.shard->count][command.shard->index];
    if (role == Role::given) runs.files.insert(file);
    runs.finished = runs.finished || finished;
  }

  [[nodiscard]] std::string evaluators_differ() const {
    for (const LogEvaluators& one : evaluators_) {
      if (one.names == evaluators_.front().names) continue;
      const auto text = [](const LogEvaluators& log) {
        const std::vector<std::string> names(log.names.begin(), log.names.end());
        return names.empty() ? std::string("no evaluator") : printable(join(names, ", "));
      };
      return fmt::format("these shards were evaluated by different models: {} in {}, {} in {}; their rows stay apart",
                         text(evaluators_.front()), printable(evaluators_.front().file), text(one),
                         printable(one.file));
    }
    return {};
  }

  static void add_remarks(const ShardedCommand& command, std::vector<std::string>& remarks) {
    if (command.shards.size() > 1) {
      std::vector<std::uint64_t> counts;
      for (const auto& [count, shards] : command.shards) counts.push_back(count);
      remarks.push_back(fmt::format("one command was cut in different ways: into {} shards", ranges_text(counts)));
    }
    for (const auto& [count, shards] : command.shards) {
      std::set<std::uint64_t> have;
      std::vector<std::uint64_t> twice, unfinished;
      for (const auto& [index, runs] : shards) {
        have.insert(index);
        if (runs.files.size() > 1) twice.push_back(index);
        if (!runs.finished) unfinished.push_back(index);
      }
      const std::vector<std::uint64_t> missing = missing_parts(have, count, std::numeric_limits<std::size_t>::max());
      const auto are = [](const std::vector<std::uint64_t>& some) { return some.size() == 1 ? "is" : "are"; };
      const auto again = [&, of = count](std::uint64_t index) {
        return fmt::format("{} --shard {}/{} --log ...", printable(sweep::text_of(command.command), 160), index, of);
      };
      if (!missing.empty()) {
        remarks.push_back(
            fmt::format("of {} {} missing: {}. Evaluate them: {}", counted(count, "shard"),
                        missing.size() == 1 ? "one is" : fmt::format("{} are", with_commas(missing.size())),
                        ranges_text(missing), again(missing.front())));
      }
      if (!unfinished.empty()) {
        remarks.push_back(fmt::format("of {} {} {} not finished. Continue: {}", counted(count, "shard"),
                                      ranges_text(unfinished), are(unfinished), again(unfinished.front())));
      }
      if (!twice.empty()) {
        remarks.push_back(fmt::format("of {} {} came more than once, e.g. in {}; equal rows count once",
                                      counted(count, "shard"), ranges_text(twice),
                                      printable(join(two_files(shards.at(twice.front())), " and "), 160)));
      }
    }
  }

  static std::vector<std::string> two_files(const ShardRuns& runs) {
    return {*runs.files.begin(), *std::next(runs.files.begin())};
  }

  std::vector<ShardedCommand> commands_;  ///< in the order in which they came
  std::vector<LogEvaluators> evaluators_;
};

}  // namespace

std::future<std::vector<std::string>> remarks_on_shards(std::vector<std::string> logs, const std::string& output) {
  Shards shards;
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(output, error);
  if (!error && bytes > 0) shards.read(output, Role::extended);
  return std::async(std::launch::async, [logs = std::move(logs), shards = std::move(shards)]() mutable {
    for (const std::string& log : logs) shards.read(log, Role::given);
    return shards.remarks();
  });
}

}  // namespace hindsight::app
