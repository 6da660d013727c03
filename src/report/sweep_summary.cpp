/// Text and JSON of a finished sweep.
#include "hindsight/report/sweep_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "hindsight/core/provenance.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "hindsight/report/design_table.h"
#include "hindsight/workload/synthetic.h"
#include "report/fields.h"
#include "report/json.h"
#include "report/study_parts.h"

namespace hindsight::report {
namespace {

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string headline(const sweep::SweepSummary& summary, const sweep::SweepOptions& options) {
  const std::string log = printable(options.log.string(), 200);
  const std::size_t count = options.networks_of_a_design();
  const std::string workloads = count == options.networks.size()
                                    ? fmt::format("{}", count)
                                    : fmt::format("{} of {}", count, options.networks.size());
  const std::string kept =
      options.keep ? fmt::format("of {} designs x {} workloads the rows of --keep {} are in {}",
                                 with_commas(summary.designs), workloads, to_string(*options.keep), log)
                   : fmt::format("{} designs x {} workloads are in {}", with_commas(summary.designs), workloads, log);
  switch (summary.status) {
    case sweep::SweepStatus::finished:
      return "finished: " + kept;
    case sweep::SweepStatus::already_finished:
      return "already finished: " + kept + "; nothing to do";
    case sweep::SweepStatus::interrupted:
      if (summary.sampled > 0) {
        return fmt::format("interrupted: {} of {} designs of the sample are in {}; the same command continues",
                           with_commas(summary.sampled), with_commas(summary.samples),
                           printable(sweep::sample_file(options).string(), 200));
      }
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

/// "latency_s <= 0.001: 12 of 80 rows are beyond": a line for limits of what only an evaluation knows.
std::string beyond_part(const sweep::SweepSummary& summary, const sweep::SweepOptions& options, int columns) {
  if (options.outcome_limits.empty()) return "";
  std::vector<std::string> limits;
  for (const sweep::FactLimit& bound : options.outcome_limits) {
    limits.push_back(fmt::format("{} <= {}", bound.fact, readable(bound.limit)));
  }
  std::uint64_t beyond = 0, feasible = 0;
  for (const sweep::WorkloadCounts& counts : summary.workloads) {
    beyond += counts.beyond_limits;
    feasible += counts.feasible;
  }
  return wrapped("",
                 fmt::format("{}: {} of {} feasible evaluations are beyond", join(limits, ", "), with_commas(beyond),
                             with_commas(feasible)),
                 columns, 2);
}

/// What a search looks for, as the user has it: the metric where its reciprocal is minimised.
std::string sought(const std::string& objective) { return maximised_objective(objective).value_or(objective); }

/// Where the designs came from.
std::string origin(const sweep::SweepSummary& summary, const sweep::SweepOptions& options) {
  if (!options.search.empty()) {
    return fmt::format("{} designs that a search for the best {} asked for, in order", with_commas(summary.accepted),
                       sought(options.objective));
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

/// How many questions led nowhere, and the best design with its metrics by workload.
std::string found_part(const sweep::SweepSummary& summary, const sweep::SweepOptions& options, int columns) {
  const sweep::Found& found = *summary.found;
  std::string out = fmt::format("infeasible: {} of {} queries\n", with_commas(summary.accepted - found.feasible),
                                with_commas(summary.accepted));
  if (found.number == 0) return out;
  const std::string several =
      options.networks.size() > 1 ? fmt::format(", over {} workloads together", options.networks.size()) : "";
  out +=
      wrapped("",
              fmt::format("best found: query {}, {} = {:.6g}{}", with_commas(found.number), sought(options.objective),
                          maximised_objective(options.objective) ? 1 / found.score : found.score, several),
              columns, 2);
  out += design_line("  ", found.design, columns);
  Table table;
  table.add_column("best found on", Align::left);
  for (const std::string& metric : summary.found_metrics) table.add_column(metric, Align::right);
  const std::size_t metrics = summary.found_metrics.size();
  for (std::size_t i = 0; i < options.networks.size(); ++i) {
    std::vector<std::string> cells{options.networks[i].name()};
    for (std::size_t j = 0; j < metrics; ++j) {
      cells.push_back(metric_text(summary.found_metrics[j], found.values[i * metrics + j]));
    }
    table.add_row(std::move(cells));
  }
  return out + "\n" + table.render(columns) + "\n";
}

Json found_json(const sweep::SweepSummary& summary, const sweep::SweepOptions& options) {
  const sweep::Found& found = *summary.found;
  Json json{{"feasible", found.feasible}, {"infeasible", summary.accepted - found.feasible}};
  if (found.number == 0) return json;
  json.update(Json{{"query", found.number}, {"design", found.design}, {"score", found.score}});
  const std::size_t metrics = summary.found_metrics.size();
  for (std::size_t i = 0; i < options.networks.size(); ++i) {
    for (std::size_t j = 0; j < metrics; ++j) {
      json["metrics"][options.networks[i].name()][summary.found_metrics[j]] = found.values[i * metrics + j];
    }
  }
  return json;
}

double feasible_share(const sweep::WorkloadCounts& counts) {
  return share(counts.feasible, counts.feasible + counts.infeasible);
}

WorkloadReasons reasons_of(const sweep::WorkloadCounts& counts) {
  WorkloadReasons reasons{counts.name, {}};
  for (const auto& [code, count] : counts.reasons) {
    if (count > 0) reasons.shares.emplace_back(code, share(count, counts.feasible + counts.infeasible));
  }
  return reasons;
}

/// Workloads that share a line.
struct WorkloadGroup {
  sweep::WorkloadCounts sum;
  std::uint64_t workloads = 0;
  double least_share = 1, most_share = 0;  ///< feasible, among those that were evaluated
};

void add(WorkloadGroup& group, const sweep::WorkloadCounts& counts) {
  ++group.workloads;
  group.sum.feasible += counts.feasible;
  group.sum.infeasible += counts.infeasible;
  for (const auto& one : counts.reasons) {
    const auto known = std::find_if(group.sum.reasons.begin(), group.sum.reasons.end(),
                                    [&](const auto& reason) { return reason.first == one.first; });
    if (known == group.sum.reasons.end()) {
      group.sum.reasons.push_back(one);
    } else {
      known->second += one.second;
    }
  }
  if (counts.feasible + counts.infeasible == 0) return;
  group.least_share = std::min(group.least_share, feasible_share(counts));
  group.most_share = std::max(group.most_share, feasible_share(counts));
}

/// The families of synthetic networks, and the others, together when they are many, in the order of their first.
std::vector<WorkloadGroup> grouped(const std::vector<sweep::WorkloadCounts>& workloads) {
  constexpr std::ptrdiff_t kMostOthers = 16;  // [chosen] with nine families still a screen
  const bool others_fit = std::count_if(workloads.begin(), workloads.end(), [](const sweep::WorkloadCounts& counts) {
                            return !workload::synthetic_family_of(counts.name);
                          }) <= kMostOthers;
  std::vector<WorkloadGroup> groups;
  for (const sweep::WorkloadCounts& counts : workloads) {
    const std::string name = workload::synthetic_group_of(counts.name).value_or(others_fit ? counts.name : "others");
    auto group =
        std::find_if(groups.begin(), groups.end(), [&](const WorkloadGroup& one) { return one.sum.name == name; });
    if (group == groups.end()) {
      group = groups.insert(groups.end(), WorkloadGroup{});
      group->sum.name = name;
    }
    add(*group, counts);
  }
  return groups;
}

std::string table_of_all(const std::vector<sweep::WorkloadCounts>& workloads, int columns) {
  Table table;
  table.add_column("workload", Align::left);
  table.add_column("feasible", Align::right);
  table.add_column("share", Align::right);
  for (const sweep::WorkloadCounts& counts : workloads) {
    table.add_row({counts.name, with_commas(counts.feasible), percent(feasible_share(counts))});
  }
  return table.render(columns);
}

std::string table_of_groups(const std::vector<WorkloadGroup>& groups, int columns) {
  Table table;
  table.add_column("workloads", Align::left);
  table.add_column("number", Align::right);
  table.add_column("rows", Align::right, 1);
  table.add_column("feasible", Align::right);
  table.add_column("share", Align::right);
  table.add_column("least", Align::right, 2);
  table.add_column("most", Align::right, 2);
  const auto add_row = [&](const WorkloadGroup& group) {
    const sweep::WorkloadCounts& sum = group.sum;
    const bool evaluated = sum.feasible + sum.infeasible > 0;
    table.add_row({sum.name, std::to_string(group.workloads), with_commas(sum.feasible + sum.infeasible),
                   with_commas(sum.feasible), percent(feasible_share(sum)),
                   evaluated ? percent(group.least_share) : "-", evaluated ? percent(group.most_share) : "-"});
  };
  WorkloadGroup all;
  all.sum.name = "all";
  for (const WorkloadGroup& group : groups) {
    add_row(group);
    all.workloads += group.workloads;
    all.sum.feasible += group.sum.feasible;
    all.sum.infeasible += group.sum.infeasible;
    all.least_share = std::min(all.least_share, group.least_share);
    all.most_share = std::max(all.most_share, group.most_share);
  }
  table.add_rule();
  add_row(all);
  return table.render(columns) +
         wrapped("", "least, most: smallest and largest share of one workload; --json lists each", columns, 2);
}

/// Where most evaluations were of designs that are known, without one, never to be feasible: what draws others.
std::string known_before_part(const sweep::SweepSummary& summary, const sweep::SweepOptions& options, int columns) {
  constexpr double kWorthALine = 0.5;  // [chosen] of the evaluations
  std::string out;
  for (const evaluator::StatedLimit& stated : options.evaluator->stated_limits()) {
    std::uint64_t beyond = 0, all = 0;
    for (const sweep::WorkloadCounts& counts : summary.workloads) {
      all += counts.feasible + counts.infeasible;
      for (const auto& [code, count] : counts.reasons) beyond += code == stated.reason ? count : 0;
    }
    if (share(beyond, all) < kWorthALine) continue;
    const std::string most = fmt::format("{}={}", stated.fact, shortest(stated.most));
    out += wrapped("note: ",
                   fmt::format("{} of the evaluations are of designs above {}, which is known without evaluating, and "
                               "tell nothing of latency or energy; with --max {} the same number of designs tells more",
                               percent(share(beyond, all)), most, most),
                   columns, 2);
  }
  return out;
}

/// A line per workload, or per group where they would fill more than a screen, and why designs are infeasible.
std::string workloads_part(const std::vector<sweep::WorkloadCounts>& workloads, int columns) {
  constexpr std::size_t kMostLines = 24;  // [chosen] a terminal of the classic size
  std::vector<WorkloadReasons> reasons;
  std::string table;
  if (workloads.size() <= kMostLines) {
    for (const sweep::WorkloadCounts& counts : workloads) reasons.push_back(reasons_of(counts));
    table = table_of_all(workloads, columns);
  } else {
    const std::vector<WorkloadGroup> groups = grouped(workloads);
    for (const WorkloadGroup& group : groups) reasons.push_back(reasons_of(group.sum));
    table = table_of_groups(groups, columns);
  }
  return "\n" + table + "\nwhy designs are infeasible (share of evaluations; several reasons may hold)\n" +
         reasons_text(reasons, columns);
}

}  // namespace

std::string sweep_text(const sweep::SweepSummary& summary, const sweep::SweepOptions& options, int columns) {
  std::string out = wrapped("", headline(summary, options), columns, 2);
  if (summary.found) out += found_part(summary, options, columns);
  out += wrapped("", origin(summary, options), columns, 2);
  out += beyond_part(summary, options, columns);
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
  return out + workloads_part(summary.workloads, columns) + known_before_part(summary, options, columns);
}

namespace {

Json summary_json(const sweep::SweepSummary& summary, const sweep::SweepOptions& options) {
  Json json{{"hindsight_version", build_info().version},  {"commit", build_info().commit},
            {"status", sweep::to_string(summary.status)}, {"log", options.log.string()},
            {"definition_hash", summary.definition_hash}, {"space", options.space().name()}};
  for (const auto& [name, value] : options.evaluator->settings()) json[name] = value;
  json.update(Json{{"sampler", sweep::sampler_name(options)},
                   {"seed", options.seed},
                   {"networks_per_design", options.networks_of_a_design()},
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
    if (options.search.empty()) json["steps"] = options.around->steps;
  }
  if (!options.objective.empty()) json["objective"] = options.objective;
  if (options.keep) json["keep"] = sweep::to_string(*options.keep);
  for (const auto& [name, value] : options.search_settings) json[name] = value;
  if (summary.found) json["found"] = found_json(summary, options);
  if (summary.run_id) json["run_id"] = *summary.run_id;
  json["workloads"] = Json::array();
  for (const sweep::WorkloadCounts& counts : summary.workloads) {
    Json reasons = Json::object();
    for (const auto& [code, count] : counts.reasons) reasons[code] = count;
    json["workloads"].push_back({{"name", counts.name},
                                 {"feasible", counts.feasible},
                                 {"infeasible", counts.infeasible},
                                 {"reasons", reasons}});
    if (!options.outcome_limits.empty()) json["workloads"].back()["beyond_limits"] = counts.beyond_limits;
  }
  return json;
}

}  // namespace

std::string sweep_json(const sweep::SweepSummary& summary, const sweep::SweepOptions& options) {
  return to_text(summary_json(summary, options));
}

std::string chains_json(const std::vector<SearchedChain>& chains) {
  Json json{{"chains", Json::array()}};
  for (const SearchedChain& chain : chains) json["chains"].push_back(summary_json(*chain.summary, *chain.options));
  return to_text(json);
}

}  // namespace hindsight::report
