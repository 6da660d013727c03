/// --dry-run: everything is read and checked, nothing is written, and what would be is said.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "file_roles.h"
#include "verbs.h"

namespace hindsight::app {

/// --dry-run, of verbs that write.
void add_dry_run(CLI::App& verb, Session& session);

/// What an option's file would get: {"--log", "20,000 designs on 9 workloads"}.
using PlannedContent = std::pair<std::string, std::string>;

/// How a dry run is said.
enum class DryRunStyle { text, json };
[[nodiscard]] inline DryRunStyle dry_run_style(bool json) { return json ? DryRunStyle::json : DryRunStyle::text; }

/// One line per file on standard output: whether it is new, replaced or appended to, its size or its evaluations now,
/// and what it would get. For verbs whose work takes long: it is left out. Returns 0. Errors: as log::Log::open() of a
/// log that is there.
int show_dry_run(const FileRoles& roles, const std::vector<PlannedContent>& contents, DryRunStyle style);

/// Does `work` on a log without touching it: in a dry run on a copy in the temporary folder, which goes with the end of
/// this function. `work` gets the name of the file to write. Errors name the log itself. Afterwards a line on standard
/// error says that nothing was written.
void write_log(const Session& session, const std::string& log, const std::function<void(const std::string&)>& work);

/// The same for whole files: writes, or says what would be written. Standard output is written in any case.
void write_or_rehearse(const Session& session, const std::string& file, const std::string& content);

}  // namespace hindsight::app
