/// hindsight log backup: a copy of a log while others write to it.
#include <fmt/format.h>

#include <memory>

#include "dry_run.h"
#include "file_roles.h"
#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/log/backup.h"
#include "hindsight/report/log_repair.h"
#include "log_verbs.h"
#include "output.h"

namespace hindsight::app {
namespace {

struct BackupOptions {
  std::string log;
  std::string out;
  bool json = false;
};

int back_up(const BackupOptions& options, const Session& session) {
  if (is_standard_output(options.out)) {
    throw Error(ErrorKind::usage, fmt::format("--out '{}': a log is a file. Name a new one: --out FILE", options.out));
  }
  FileRoles().reads_log("log", options.log).writes_log("--out", options.out).require_usable();
  install_interrupt_handlers();
  log::BackupResult result;
  write_log(session, options.out, [&](const std::string& out) { result = log::back_up_log(options.log, out); });
  print(options.json ? report::backup_json(result, options.log, options.out)
                     : report::backup_text(result, options.log, options.out, output_columns()));
  return 0;
}

}  // namespace

void add_log_backup(CLI::App& group, Session& session) {
  const auto options = std::make_shared<BackupOptions>();
  CLI::App* verb = group.add_subcommand("backup", "Copy a log, also while a sweep writes to it");
  verb->add_option("log,--log", options->log, "SQLite log; it is only read")->required();
  verb->add_option("--out", options->out, "Copy to create")->required();
  verb->add_flag("--json", options->json, "As JSON");
  add_dry_run(*verb, session);
  verb->footer(
      "The copy is the log as it is at one moment. It gets its name when it is whole\n"
      "and on the disk.\n"
      "Example: hindsight log backup study.sqlite --out study-backup.sqlite");
  verb->callback([options, &session] { session.action = [options, &session] { return back_up(*options, session); }; });
}

}  // namespace hindsight::app
