/// --dry-run: everything is read and checked, nothing is written, and what would be is said.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "file_roles.h"
#include "hindsight/core/scratch_folder.h"
#include "verbs.h"

namespace hindsight::app {

/// --dry-run, of verbs that write.
void add_dry_run(CLI::App& verb, Session& session);

/// What an option's file would get: {"--log", "20,000 designs on 9 workloads"}.
using PlannedContent = std::pair<std::string, std::string>;

/// How a dry run is said.
enum class DryRunStyle { text, json };
[[nodiscard]] inline DryRunStyle dry_run_style(bool json) { return json ? DryRunStyle::json : DryRunStyle::text; }

/// How much a command would ask, and for how long it would work.
struct PlannedWork {
  std::optional<std::uint64_t> evaluations = {};  ///< at most; nothing: not known before
  std::optional<double> seconds = {};             ///< about; nothing: not known before
  std::string basis = {};                         ///< what `seconds` were measured by, or why they are not known
};

/// One line per file on standard output: whether it is new, replaced or appended to, its size or its evaluations now,
/// and what it would get; then how many evaluations and how much time that takes. For verbs whose work takes long: it
/// is left out. Returns 0. Errors: as log::Log::open() of a log that is there.
int show_dry_run(const FileRoles& roles, const std::vector<PlannedContent>& contents, const PlannedWork& work,
                 DryRunStyle style);

/// The place of a log in a dry run: a copy of it in the temporary folder, none where there is no log. What is done with
/// the copy the log does not see.
class LogRehearsal {
 public:
  explicit LogRehearsal(std::string log);
  [[nodiscard]] const std::string& copy() const { return copy_; }
  /// Does `work`; its errors name the log instead of the copy.
  void operator()(const std::function<void(const std::string& copy)>& work) const;

 private:
  std::string log_;
  ScratchFolder folder_{"a copy of the log"};
  std::string copy_;
};

/// Does `work` on a log without touching it: in a dry run on a copy in the temporary folder, which goes with the end of
/// this function. `work` gets the name of the file to write. Errors name the log itself. Afterwards a line on standard
/// error says that nothing was written.
void write_log(const Session& session, const std::string& log, const std::function<void(const std::string&)>& work);

/// A line on standard error per file that would be written, after a command that has done all but that.
void remark_planned(const FileRoles& roles);

/// The same for whole files: writes, or says what would be written. Standard output is written in any case.
void write_or_rehearse(const Session& session, const std::string& file, const std::string& content);

}  // namespace hindsight::app
