/// hindsight log merge and hash: logs into one, and whether two say the same.
#include <fmt/format.h>

#include <memory>

#include "dry_run.h"
#include "file_roles.h"
#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/log/content.h"
#include "hindsight/log/merge.h"
#include "hindsight/report/log_content.h"
#include "log_verbs.h"
#include "merged_shards.h"
#include "output.h"

namespace hindsight::app {
namespace {

struct MergeOptions {
  std::vector<std::string> logs;
  std::string out;
  std::string duplicates = "error";
  bool json = false;
};

int merge(const MergeOptions& options, const Session& session) {
  const log::Contradictions contradictions = log::parse_contradictions(options.duplicates);
  if (is_standard_output(options.out)) {
    throw Error(ErrorKind::usage, fmt::format("--out '{}': a log is a file. Name it: --out FILE", options.out));
  }
  FileRoles roles;
  for (const std::string& log : options.logs) roles.reads_log("log", log);
  roles.writes_log("--out", options.out).require_usable();
  install_interrupt_handlers();
  // Beside the merge: opening thousands of logs once more takes as long as a third of it.
  auto remarks = remarks_on_shards(options.logs, options.out);
  log::MergeResult result;
  write_log(session, options.out, [&](const std::string& out) {
    result = log::merge_logs({options.logs.begin(), options.logs.end()}, out, contradictions, session.provenance);
  });
  try {
    for (const std::string& line : remarks.get()) remark(line);
  } catch (const Error& error) {  // the merged log is whole
    remark(fmt::format("which shards are missing is not known: {}", error.what()));
  }
  print(options.json ? report::merge_json(result, options.out)
                     : report::merge_text(result, options.out, output_columns()));
  return 0;
}

struct HashOptions {
  std::vector<std::string> logs;
  bool json = false;
};

int hash(const HashOptions& options) {
  install_interrupt_handlers();
  std::vector<report::NamedContent> contents;
  for (const std::string& file : options.logs) {
    const log::Log log = log::Log::open(file, log::OpenMode::read_only);
    const log::Content content = log::content(log);
    if (options.json) {
      contents.emplace_back(file, content);
    } else {
      print(report::content_text(content, file));
    }
  }
  if (options.json) print(report::content_json(contents));
  return 0;
}

}  // namespace

void add_log_merge(CLI::App& group, Session& session) {
  const auto options = std::make_shared<MergeOptions>();
  CLI::App* verb = group.add_subcommand("merge", "Bring the content of logs into one");
  verb->add_option("logs", options->logs, "SQLite logs; they are only read")->required();
  verb->add_option("--out", options->out, "Log to create, or to extend")->required();
  verb->add_option("--duplicates", options->duplicates, "Contradicting rows: error, or first is kept [error]");
  verb->add_flag("--json", options->json, "As JSON");
  add_dry_run(*verb, session);
  verb->footer(
      "The content does not depend on how many logs there are or on their order;\n"
      "merging again adds nothing. All is written, or nothing.\n"
      "Example: hindsight log merge shard0.sqlite shard1.sqlite --out study.sqlite");
  verb->callback([options, &session] { session.action = [options, &session] { return merge(*options, session); }; });
}

void add_log_hash(CLI::App& group, Session& session) {
  const auto options = std::make_shared<HashOptions>();
  CLI::App* verb = group.add_subcommand("hash", "SHA-256 of the content: the same for equal logs");
  verb->add_option("logs,--log", options->logs, "SQLite logs")->required();
  verb->add_flag("--json", options->json, "As JSON, with counts");
  verb->footer(
      "Definitions, designs, evaluations and reasons count; runs, times and row\n"
      "numbers do not.\n"
      "Example: hindsight log hash study.sqlite");
  verb->callback([options, &session] { session.action = [options] { return hash(*options); }; });
}

}  // namespace hindsight::app
