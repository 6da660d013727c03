/// Text and JSON of workers.
#include "hindsight/report/worker.h"

#include <fmt/format.h>

#include "hindsight/core/plural.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/text.h"
#include "report/fields.h"
#include "report/json.h"

namespace hindsight::report {
namespace {

std::string end_text(study::WorkerEnd end) {
  switch (end) {
    case study::WorkerEnd::no_more_work:
      return "no more work";
    case study::WorkerEnd::enough:
      return "as many as asked for";
    case study::WorkerEnd::interrupted:
      return "interrupted";
  }
  return "";
}

}  // namespace

std::string tasks_text(const log::TaskCounts& counts) {
  std::string text = fmt::format("{} open, {} in work, {} done", with_commas(counts.open), with_commas(counts.leased),
                                 with_commas(counts.done));
  if (counts.expired > 0) text += fmt::format(", {} whose worker fell silent", with_commas(counts.expired));
  if (counts.handed_out_again > 0) text += fmt::format("; {} handed out again", with_commas(counts.handed_out_again));
  return text;
}

std::string worker_text(const study::WorkerSummary& summary, const std::string& log, int columns) {
  std::string said = fmt::format("{}: {}, {} infeasible", printable(log, 400), counted(summary.evaluated, "evaluation"),
                                 with_commas(summary.infeasible));
  if (summary.already_there > 0) said += fmt::format(", {} that others had stored", with_commas(summary.already_there));
  if (summary.contradicting > 0) {
    said += fmt::format(", {} left out because another worker stored another answer first (is the evaluator noisy?)",
                        with_commas(summary.contradicting));
  }
  if (summary.taken_over > 0) said += fmt::format(", {} taken over", with_commas(summary.taken_over));
  said += fmt::format("; {}", end_text(summary.end));
  return wrapped("", said, columns, 2) + wrapped("", "tasks: " + tasks_text(summary.left), columns, 2);
}

std::string worker_json(const study::WorkerSummary& summary, const std::string& log) {
  return to_text({{"hindsight_version", build_info().version},
                  {"log", log},
                  {"end", end_text(summary.end)},
                  {"evaluated", summary.evaluated},
                  {"infeasible", summary.infeasible},
                  {"already_present", summary.already_there},
                  {"contradicting", summary.contradicting},
                  {"taken_over", summary.taken_over},
                  {"heartbeats", summary.heartbeats},
                  {"tasks",
                   {{"open", summary.left.open},
                    {"leased", summary.left.leased},
                    {"expired", summary.left.expired},
                    {"done", summary.left.done},
                    {"handed_out_again", summary.left.handed_out_again}}}});
}

}  // namespace hindsight::report
