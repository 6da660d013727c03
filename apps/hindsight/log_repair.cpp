/// hindsight log repair: what is left of a damaged log, as a new one.
#include "hindsight/report/log_repair.h"

#include <fmt/format.h>

#include <memory>

#include "dry_run.h"
#include "file_roles.h"
#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/log/repair.h"
#include "log_verbs.h"
#include "output.h"

namespace hindsight::app {
namespace {

struct RepairOptions {
  std::string damaged;
  std::string out;
  bool json = false;
};

int repair(const RepairOptions& options, const Session& session) {
  if (is_standard_output(options.out)) {
    throw Error(ErrorKind::usage, fmt::format("--out '{}': a log is a file. Name a new one: --out FILE", options.out));
  }
  FileRoles().reads_log("log", options.damaged).writes_log("--out", options.out).require_usable();
  install_interrupt_handlers();
  log::RepairResult result;
  write_log(session, options.out,
            [&](const std::string& out) { result = log::repair_log(options.damaged, out, session.provenance); });
  print(options.json ? report::repair_json(result, options.damaged, options.out)
                     : report::repair_text(result, options.damaged, options.out, session.dry_run, output_columns()));
  return 0;
}

}  // namespace

void add_log_repair(CLI::App& group, Session& session) {
  const auto options = std::make_shared<RepairOptions>();
  CLI::App* verb = group.add_subcommand("repair", "Recover a damaged log's rows into a new log");
  verb->add_option("log,--log", options->damaged, "Damaged SQLite log; it is only read")->required();
  verb->add_option("--out", options->out, "Log to create")->required();
  verb->add_flag("--json", options->json, "As JSON");
  add_dry_run(*verb, session);
  verb->footer(
      "Says by table what was recovered and what is lost. The new log is sound, or not\n"
      "there. A sweep that is run again on it evaluates what is missing.\n"
      "Example: hindsight log repair broken.sqlite --out study.sqlite");
  verb->callback([options, &session] { session.action = [options, &session] { return repair(*options, session); }; });
}

}  // namespace hindsight::app
