/// hindsight log copy: between files and a team's server.
#include "hindsight/report/log_copy.h"

#include <fmt/format.h>

#include <memory>

#include "dry_run.h"
#include "file_roles.h"
#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/log/address.h"
#include "hindsight/log/copy.h"
#include "log_verbs.h"
#include "output.h"

namespace hindsight::app {
namespace {

struct CopyOptions {
  std::vector<std::string> logs;  ///< the last is the target
  std::string duplicates = "error";
  bool json = false;
};

int copy(CopyOptions options, const Session& session) {
  const log::Contradictions contradictions = log::parse_contradictions(options.duplicates);
  if (options.logs.size() < 2) {
    throw Error(ErrorKind::usage,
                "log copy: one log is named. Name what is copied and where to, e.g. `hindsight log copy "
                "study.sqlite postgresql://host/database`");
  }
  const std::string target = options.logs.back();
  options.logs.pop_back();
  if (is_standard_output(target)) {
    throw Error(ErrorKind::usage, "log copy: standard output is no log. Name a file or an address");
  }
  FileRoles roles;
  for (const std::string& log : options.logs) roles.reads_log("log", log);
  roles.writes_log("the last log", target).require_usable();
  install_interrupt_handlers();
  std::vector<report::NamedCopy> copies;
  for (const std::string& log : options.logs) {
    if (log == target) {
      throw Error(ErrorKind::usage, fmt::format("{}: is copied to itself. Name another log", log));
    }
    copies.push_back(
        {.source = log::without_passwords(log), .result = log::copy_log(log, target, contradictions, session.dry_run)});
    if (!options.json) print(report::copy_text(copies.back(), log::without_passwords(target), output_columns()));
  }
  if (session.dry_run) remark(fmt::format("dry run: {} is as it was", log::without_passwords(target)));
  if (options.json) print(report::copy_json(copies, log::without_passwords(target)));
  return 0;
}

}  // namespace

void add_log_copy(CLI::App& group, Session& session) {
  const auto options = std::make_shared<CopyOptions>();
  CLI::App* verb = group.add_subcommand("copy", "Bring logs to a team's server, or from it");
  verb->add_option("logs", options->logs, "Logs, and last where they go: files or addresses")->required();
  verb->add_option("--duplicates", options->duplicates, "Contradicting rows: error, or first is kept [error]");
  verb->add_flag("--json", options->json, "As JSON");
  add_dry_run(*verb, session);
  verb->footer(
      "An address is postgresql://USER@HOST/DATABASE, as psql takes it. Copying again\n"
      "adds nothing, and equal logs have equal hashes, wherever they are.\n"
      "Example: hindsight log copy shard*.sqlite postgresql://db.example.org/chips");
  verb->callback([options, &session] { session.action = [options, &session] { return copy(*options, session); }; });
}

}  // namespace hindsight::app
