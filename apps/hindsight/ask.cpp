/// hindsight ask and tell: the loop around a simulator that runs elsewhere.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "dry_run.h"
#include "durability_option.h"
#include "file_roles.h"
#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/report/loop.h"
#include "hindsight/study/asking.h"
#include "learning_rows.h"
#include "output.h"
#include "training_progress.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

constexpr std::int64_t kMostAsked = 10'000;

struct AskOptions {
  study::AskRequest request;
  std::string log, aggregate, out;
  std::int64_t count = 16, drawn = -1, seed = 1;
  bool pending = false, forget = false, json = false;
};

int show_pending(const AskOptions& options, const Session& session) {
  const study::Pending pending = study::pending_of(options.log, options.request.space, options.request.evaluator);
  if (pending.of_others > 0) {
    remark(fmt::format("{} more of other spaces or evaluators: name them with --space and --evaluator",
                       counted(pending.of_others, "answer")));
  }
  write_or_rehearse(session, options.out, report::pending_csv(pending.designs, pending.space, pending.metrics));
  return 0;
}

int forget(const AskOptions& options, const Session& session) {
  std::size_t count = 0;
  write_log(session, options.log, [&](const std::string& log) {
    count = study::forget_pending(log, options.request.space, options.request.evaluator);
  });
  remark(fmt::format("{} {} awaited no more", counted(count, "answer"), count == 1 ? "is" : "are"));
  return 0;
}

/// Who chose the designs, and what was not looked at.
void say_chosen(const study::Asked& asked) {
  remark(fmt::format("{} chosen by {}; run {}{}", counted(asked.next.designs.size(), "design"),
                     asked.next.learned       ? asked.next.why
                     : asked.next.why.empty() ? "drawing"
                                              : "drawing, since " + asked.next.why,
                     asked.run_id,
                     asked.pending_before == 0
                         ? ""
                         : fmt::format("; {} of earlier asks awaited", counted(asked.pending_before, "answer"))));
  if (!asked.next.alike.empty()) remark(asked.next.alike);
  remark_on_other_objectives(asked.objective, asked.other_objectives);
  if (asked.next.unheeded.empty()) return;
  remark(fmt::format("drawn designs may be beyond --max {}, which only answers tell: it is learnt from rows",
                     printable(join(asked.next.unheeded, ", --max "), 200)));
}

int ask(const AskOptions& options, const Session& session) {
  if (options.pending && options.forget) {
    throw Error(ErrorKind::usage, "--pending shows what --forget forgets. Leave one of the two out");
  }
  if (options.json && (options.pending || options.forget)) {
    throw Error(ErrorKind::usage, "--json is about what is asked: --pending writes a table, --forget nothing");
  }
  FileRoles()
      .reads("--space", options.request.space)
      .reads("--workload", options.request.workloads)
      .writes("--out", options.out)
      .writes_log("--log", options.log)
      .require_usable();
  if (const std::size_t untold = study::untold_answers(options.out, options.log); untold > 0) {
    throw Error(ErrorKind::usage,
                fmt::format("--out {}: it holds {} that the log awaits. First hindsight tell {} --log {}, or name "
                            "another file",
                            printable(options.out, 200), counted(untold, "answer"), pasted_path(options.out),
                            pasted_path(options.log)));
  }
  if (options.drawn > options.count) {
    throw Error(ErrorKind::usage, fmt::format("--drawn {}: --count is {}. Give at most {}, or a larger --count",
                                              options.drawn, options.count, options.count));
  }
  if (options.pending) return show_pending(options, session);
  if (options.forget) return forget(options, session);
  study::AskRequest request = options.request;
  request.provenance = session.provenance;
  if (!options.aggregate.empty()) request.aggregate = parse_aggregate(options.aggregate);
  request.count = static_cast<std::size_t>(options.count);
  if (options.drawn >= 0) request.drawn = static_cast<std::size_t>(options.drawn);
  request.seed = static_cast<std::uint64_t>(options.seed);
  install_interrupt_handlers();
  TrainingProgress progress(false, nullptr, {}, {});
  request.progress = [&progress](const surrogate::TrainProgress& state) { progress(state); };
  std::optional<study::Asked> answer;
  write_log(session, options.log, [&](const std::string& log) {
    request.log = log;
    answer = study::ask(request);
  });
  progress.finish();
  const study::Asked& asked = *answer;
  say_chosen(asked);
  try {
    write_or_rehearse(session, options.out, options.json ? report::ask_json(asked) : report::ask_csv(asked));
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{} The designs are asked for; ask --pending shows them", error.what()));
  }
  return 0;
}

struct TellOptions {
  study::TellRequest request;
  std::string file, log;
  bool json = false;
};

int tell(const TellOptions& options, const Session& session) {
  study::TellRequest request = options.request;
  request.file = options.file;
  request.provenance = session.provenance;
  FileRoles().reads("FILE", options.file).appends_log("--log", options.log).require_usable();
  study::Told told;
  write_log(session, options.log, [&](const std::string& log) {
    request.log = log;
    told = study::tell(request);
  });
  print(options.json ? report::told_json(told, options.log) : report::told_text(told, options.log, output_columns()));
  return 0;
}

}  // namespace

void add_ask(CLI::App& app, Session& session) {
  const auto options = std::make_shared<AskOptions>();
  study::AskRequest& request = options->request;
  CLI::App* verb = app.add_subcommand("ask", "Which designs your simulator should evaluate next");
  verb->add_option("--log", options->log, "SQLite log; created if missing (--space)")->required();
  verb->add_option("-n,--count", options->count, "Designs to ask for [16]")->check(between(1, kMostAsked));
  verb->add_option("--space", request.space, "Design space, name or file [the log's]");
  repeatable(verb->add_option("--workload,--workloads", request.workloads, "Of the log, or networks [the log's only]"));
  repeatable(verb->add_option("--application", request.applications, "Names a,b of what is no network"));
  verb->add_option("--objective", request.objective, "Product of powers of metrics [as before]")->check(not_empty());
  verb->add_flag("--maximise", request.maximise, "Larger objectives are better");
  verb->add_option("--aggregate", options->aggregate, "Of several workloads: geomean, mean, worst");
  repeatable(verb->add_option("--max", request.limits.max, "Limit NAME=NUMBER: metric or parameter"));
  repeatable(verb->add_option("--min", request.limits.min, "Smallest value of a parameter, NAME=NUMBER"));
  repeatable(verb->add_option("--set", request.limits.set, "NAME=VALUE or NAME=LOW..HIGH of a parameter"));
  verb->add_option("--metric", request.metrics, "New metrics a,b that answers have")->delimiter(',');
  verb->add_option("--evaluator", request.evaluator, "Name of what answers [the log's, or simulator]");
  verb->add_option("--drawn", options->drawn, "Of them, drawn instead of chosen [an eighth]")
      ->check(between(0, kMostAsked));
  verb->add_option("--recipe", request.recipe, "How to learn [margins]");
  verb->add_option("--seed", options->seed, "Seed of learning and search [1]")->check(between(0, kLargestExactInteger));
  verb->add_option("--threads", request.threads, "Threads [all that may be used]")->check(between(0, kMostThreads));
  verb->add_option("--out", options->out, "File for the table [standard output]");
  verb->add_flag("--pending", options->pending, "Show what awaits an answer; ask nothing");
  verb->add_flag("--forget", options->forget, "Await no more answers; ask nothing");
  verb->add_flag("--json", options->json, "As JSON");
  add_dry_run(*verb, session);
  verb->footer(
      "Fill in the metrics, or a reason, and tell. No design is asked for twice.\n"
      "Example: hindsight ask -n 16 --log mine.sqlite --out next.csv");
  verb->callback([options, &session] { session.action = [options, &session] { return ask(*options, session); }; });
}

void add_tell(CLI::App& app, Session& session) {
  const auto options = std::make_shared<TellOptions>();
  study::TellRequest& request = options->request;
  CLI::App* verb = app.add_subcommand("tell", "What your simulator says of designs, into the log");
  verb->add_option("file", options->file, "CSV of ask, filled in, or JSON; -: standard input")->required();
  verb->add_option("--log", options->log, "SQLite log that asked")->required();
  verb->add_option("--workload", request.workload, "Of all rows [column workload, or the only one]");
  verb->add_option("--evaluator", request.evaluator, "Name of what answers [as asked]");
  verb->add_option("--space", request.space, "Design space, where the log has several [as asked]");
  verb->add_option("--metric", request.metrics, "Columns a,b that are new metrics")->delimiter(',');
  verb->add_option("--ignore", request.ignored, "Columns a,b to leave out")->delimiter(',');
  verb->add_flag("--repeat", request.repeat, "Other values for a design: it was measured again");
  verb->add_flag("--json", options->json, "As JSON");
  add_durability(*verb);
  add_dry_run(*verb, session);
  verb->footer(
      "All rows are told or none. Rows without metrics and reason wait on.\n"
      "Example: hindsight tell next.csv --log mine.sqlite");
  verb->callback([options, &session] { session.action = [options, &session] { return tell(*options, session); }; });
}

}  // namespace hindsight::app
