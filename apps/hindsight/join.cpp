/// hindsight join: what shards of a command wrote, as the one file that one process writes.
#include <fmt/format.h>

#include <fstream>
#include <memory>

#include "dry_run.h"
#include "file_roles.h"
#include "hindsight/accel/optimum/landscape.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/scratch_folder.h"
#include "hindsight/core/text.h"
#include "hindsight/report/joined.h"
#include "output.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct JoinOptions {
  std::vector<std::string> files;
  std::string out;
};

constexpr std::uint64_t kLargestPartBytes = std::uint64_t{1} << 30U;  ///< [chosen] as results of a study are read

bool is_landscape(const std::string& file) {
  constexpr std::size_t kEnough = 64;
  std::string begin(kEnough, 0);
  std::ifstream stream(file, std::ios::binary);
  stream.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return accel::optimum::begins_as_landscape(begin);
}

std::string joined_text(const JoinOptions& options) {
  std::vector<report::Part> parts;
  for (const std::string& file : options.files)
    parts.push_back({.file = file, .text = read_file(file, kLargestPartBytes)});
  const report::PartKind kind = report::kind_of(parts.front());
  for (const report::Part& part : parts) {
    if (report::kind_of(part) == kind) continue;
    throw Error(ErrorKind::usage, fmt::format("{} and {}: are of different kinds. Join the files of one command",
                                              printable(parts.front().file, 200), printable(part.file, 200)));
  }
  switch (kind) {
    case report::PartKind::table:
      return report::join_tables(parts);
    case report::PartKind::optimum:
      return report::join_optima(parts);
    case report::PartKind::results:
      return report::join_results(parts);
  }
  return {};
}

int run(const JoinOptions& options, const Session& session) {
  FileRoles roles;
  for (const std::string& file : options.files) roles.reads("FILE", file);
  roles.writes("--out", options.out).require_usable();
  install_interrupt_handlers();
  if (!is_landscape(options.files.front())) {
    const std::string text = joined_text(options);
    write_or_rehearse(session, options.out, text);
    return 0;
  }
  if (is_standard_output(options.out)) {
    throw Error(ErrorKind::usage,
                fmt::format("--out '{}': a landscape needs the name of a file. Name it: --out FILE", options.out));
  }
  accel::optimum::require_replaceable(options.out);
  const ScratchFolder folder("the landscape that a dry run joins");
  const std::string out = session.dry_run ? (folder / "joined.landscape").string() : options.out;
  const std::uint64_t records = accel::optimum::join_landscapes({options.files.begin(), options.files.end()}, out);
  if (session.dry_run) {
    remark_planned(roles);
  } else {
    print(
        fmt::format("{}: {} of {}\n", options.out, counted(records, "record"), counted(options.files.size(), "file")));
  }
  return 0;
}

}  // namespace

void add_join(CLI::App& app, Session& session) {
  const auto options = std::make_shared<JoinOptions>();
  CLI::App* verb = app.add_subcommand("join", "One file of those that shards wrote");
  verb->add_option("FILES", options->files, "Those of all shards of one command")->required();
  verb->add_option("--out", options->out, "File to write [standard output]");
  add_dry_run(*verb, session);
  verb->footer(
      "The bytes that one process writes. Shards that are missing, of another command\n"
      "or of another model are refused. Logs: hindsight log merge.\n"
      "Example: hindsight join edge.0.landscape edge.1.landscape --out edge.landscape\n"
      "Example: hindsight join optima.*.csv --out optima.csv");
  verb->callback([options, &session] { session.action = [options, &session] { return run(*options, session); }; });
}

}  // namespace hindsight::app
