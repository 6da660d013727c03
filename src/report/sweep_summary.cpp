/// Text and JSON of a finished sweep.
#include "hindsight/report/sweep_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "hindsight/core/provenance.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "report/fields.h"
#include "report/json.h"

namespace hindsight::report {
namespace {

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string headline(const sweep::SweepSummary& summary, const sweep::SweepOptions& options) {
  const std::string kept =
      options.keep
          ? fmt::format("of {} designs x {} workloads the rows of --keep {} are in {}", with_commas(summary.designs),
                        options.networks.size(), to_string(*options.keep), printable(options.log.string(), 200))
          : fmt::format("{} designs x {} workloads are in {}", with_commas(summary.designs), options.networks.size(),
                        printable(options.log.string(), 200));
  switch (summary.status) {
    case sweep::SweepStatus::finished:
      return "finished: " + kept;
    case sweep::SweepStatus::already_finished:
      return "already finished: " + kept + "; nothing to do";
    case sweep::SweepStatus::interrupted:
      if (summary.candidates == 0)
        return "interrupted before there was a row for the log; the same command starts over";
      return "interrupted: " + kept + "; the same command continues";
    case sweep::SweepStatus::exhausted:
      return fmt::format("exhausted: the {} has no more than {} designs within the limits ({} were wanted)",
                         options.search.empty() ? "sequence" : "search", with_commas(summary.accepted),
                         with_commas(summary.samples));
  }
  return "";
}

/// Where the designs came from.
std::string origin(const sweep::SweepSummary& summary, const sweep::SweepOptions& options) {
  if (!options.search.empty()) {
    return fmt::format("{} designs that a search for the best {} asked for, in order", with_commas(summary.accepted),
                       options.objective);
  }
  std::string drawn =
      fmt::format("drawn {} candidates: {} over a limit, {} repeated, {} new designs", with_commas(summary.candidates),
                  with_commas(summary.constrained), with_commas(summary.repeated), with_commas(summary.accepted));
  if (options.shard.count > 1) {
    drawn +=
        fmt::format(" ({} in shard {}/{})", with_commas(summary.designs), options.shard.index, options.shard.count);
  }
  return drawn;
}

WorkloadReasons reasons_of(const sweep::WorkloadCounts& counts) {
  WorkloadReasons reasons{counts.name, {}};
  for (const auto& [code, count] : counts.reasons) {
    if (count > 0) reasons.shares.emplace_back(code, share(count, counts.feasible + counts.infeasible));
  }
  return reasons;
}

}  // namespace

std::string sweep_text(const sweep::SweepSummary& summary, const sweep::SweepOptions& options, int columns) {
  std::string out = wrapped("", headline(summary, options), columns, 2);
  out += wrapped("", origin(summary, options), columns, 2);
  if (summary.run_id) {
    out += wrapped(
        "",
        fmt::format("run {}: {} evaluations written, {} were there before, {}{} refused; {:.1f} s, {:.0f} "
                    "designs/s",
                    *summary.run_id, with_commas(summary.rows_inserted), with_commas(summary.rows_already_present),
                    options.keep ? with_commas(summary.rows_left_out) + " left out, " : "",
                    with_commas(summary.rows_rejected), summary.elapsed_s,
                    static_cast<double>(summary.designs_this_run) / std::max(summary.elapsed_s, 1e-9)),
        columns, 2);
  }
  if (!summary.first_rejection.empty()) out += wrapped("refused: ", summary.first_rejection, columns, 2);
  Table table;
  table.add_column("workload", Align::left);
  table.add_column("feasible", Align::right);
  table.add_column("share", Align::right);
  std::vector<WorkloadReasons> reasons;
  for (const sweep::WorkloadCounts& counts : summary.workloads) {
    table.add_row({counts.name, with_commas(counts.feasible),
                   percent(share(counts.feasible, counts.feasible + counts.infeasible))});
    reasons.push_back(reasons_of(counts));
  }
  out +=
      "\n" + table.render(columns) + "\nwhy designs are infeasible (share of all designs; several reasons may hold)\n";
  return out + reasons_text(reasons, columns);
}

std::string sweep_json(const sweep::SweepSummary& summary, const sweep::SweepOptions& options) {
  Json json{{"hindsight_version", build_info().version},  {"commit", build_info().commit},
            {"status", sweep::to_string(summary.status)}, {"log", options.log.string()},
            {"definition_hash", summary.definition_hash}, {"space", options.space().name()}};
  for (const auto& [name, value] : options.evaluator->settings()) json[name] = value;
  json.update(Json{{"sampler", sweep::sampler_name(options)},
                   {"seed", options.seed},
                   {"shard", fmt::format("{}/{}", options.shard.index, options.shard.count)},
                   {"samples", summary.samples},
                   {"candidates", summary.candidates},
                   {"constrained", summary.constrained},
                   {"repeated", summary.repeated},
                   {"accepted", summary.accepted},
                   {"designs", summary.designs},
                   {"resumed", summary.resumed},
                   {"run_id", nullptr},
                   {"designs_this_run", summary.designs_this_run},
                   {"rows_inserted", summary.rows_inserted},
                   {"rows_already_present", summary.rows_already_present},
                   {"rows_left_out", summary.rows_left_out},
                   {"rows_rejected", summary.rows_rejected},
                   {"elapsed_s", summary.elapsed_s}});
  if (options.around) {
    json["around"] = options.space().text_id(options.around->centre);
    json["steps"] = options.around->steps;
  }
  if (!options.objective.empty()) json["objective"] = options.objective;
  if (options.keep) json["keep"] = sweep::to_string(*options.keep);
  if (summary.run_id) json["run_id"] = *summary.run_id;
  json["workloads"] = Json::array();
  for (const sweep::WorkloadCounts& counts : summary.workloads) {
    Json reasons = Json::object();
    for (const auto& [code, count] : counts.reasons) reasons[code] = count;
    json["workloads"].push_back({{"name", counts.name},
                                 {"feasible", counts.feasible},
                                 {"infeasible", counts.infeasible},
                                 {"reasons", reasons}});
  }
  return to_text(json);
}

}  // namespace hindsight::report
