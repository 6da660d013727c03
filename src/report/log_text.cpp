/// Contents and statistics of a log as tables.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "hindsight/core/json_bounds.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/objective.h"
#include "hindsight/log/metric_direction.h"
#include "hindsight/report/design_table.h"
#include "hindsight/report/log_summary.h"
#include "hindsight/space/short_id.h"
#include "report/fields.h"
#include "report/json.h"
#include "report/study_parts.h"

namespace hindsight::report {
namespace {

std::string runs_text(const std::vector<log::RunInfo>& runs, int columns) {
  Table table;
  table.add_column("run", Align::right);
  table.add_column("kind", Align::left, 3);
  table.add_column("status", Align::left);
  table.add_column("started", Align::left, 1);
  table.add_column("ended", Align::left, 4);
  table.add_column("written", Align::right);
  table.add_column("present", Align::right, 2);
  table.add_column("refused", Align::right, 2);
  table.add_column("version", Align::left, 5);
  table.add_column("commit", Align::left, 6);
  table.add_column("host", Align::left, 6);
  table.add_column("command", Align::left, 7);
  for (const log::RunInfo& run : runs) {
    table.add_row({std::to_string(run.run_id), run.kind, run.status, run.started_at, run.ended_at,
                   with_commas(run.evaluations_inserted), with_commas(run.evaluations_present),
                   with_commas(run.rows_rejected), run.version, run.commit, run.host, run.command_line});
  }
  return table.render(columns);
}

/// What runs proposed: how many designs, and the first of them.
std::string proposed_text(const std::vector<log::ProposingRun>& runs, DesignStyle style, int columns) {
  std::string out;
  std::vector<std::string> designs;
  for (const log::ProposingRun& run : runs) {
    const std::optional<std::string> maximised = maximised_objective(run.objective);
    const std::string metric =
        maximised ? *maximised : dataset::metric_of_short_name(run.objective).value_or(run.objective);
    std::string line = fmt::format("{} for {}", counted(run.designs, "design"), metric);
    if (run.first_value) {
      // What was asked for is predicted in the unit of the metric already.
      const bool is_reciprocal = maximised && run.kind != to_string(log::RunKind::ask);
      line += fmt::format(", first {}{}", run.first_proof ? "" : "predicted ",
                          metric_text(metric, is_reciprocal ? 1 / *run.first_value : *run.first_value));
    }
    if (run.first_proof) line += fmt::format(" ({})", *run.first_proof);
    line += "; first design " + space::short_id(run.first_design_text_id);
    out += wrapped(fmt::format("{:>4}  {}: ", run.run_id, run.kind), line, columns, 6);
    designs.push_back(run.first_design_text_id);
  }
  return out.empty() ? "" : "\nproposed, by run\n" + out + design_table(designs, DesignHeads::ids, style, columns);
}

std::string ranked_text(const std::vector<log::RankedEvaluation>& ranked, const std::vector<std::string>& metrics,
                        bool name_evaluator, const LogQuery& query, int columns) {
  const bool repeated = std::any_of(ranked.begin(), ranked.end(), [](const auto& one) { return one.repeat > 0; });
  Table table;
  table.add_column("rank", Align::right);
  table.add_column("design", Align::right);
  for (const std::string& metric : metrics) table.add_column(metric, Align::right);
  if (repeated) table.add_column("repeat", Align::right);
  if (name_evaluator) table.add_column("evaluator", Align::left);
  std::vector<std::string> designs;
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    designs.push_back(ranked[i].design_text_id);
    std::vector<std::string> cells{std::to_string(i + 1), space::short_id(designs.back())};
    for (std::size_t j = 0; j < metrics.size(); ++j) cells.push_back(metric_text(metrics[j], ranked[i].values[j]));
    if (repeated) cells.push_back(std::to_string(ranked[i].repeat));
    if (name_evaluator) cells.push_back(ranked[i].evaluator);
    table.add_row(std::move(cells));
  }
  if (!query.columns.empty()) table.choose_columns(query.columns);
  return table.render(columns) + "\n" + design_table(designs, DesignHeads::numbers, query.designs, columns);
}

bool several_evaluators(const log::Log& log) { return log::evaluators(log).size() > 1; }

/// Which metric no feasible row of a workload has, and which others there are.
std::string no_values_text(const std::string& metric, const std::map<std::string, std::uint64_t>& counts,
                           const std::string& option, int columns) {
  std::vector<std::string> names;
  for (const auto& [name, count] : counts) names.push_back(name);
  if (names.empty())
    return wrapped("      ", fmt::format("no feasible row has {}, or any other metric", metric), columns, 6);
  const auto nearest = nearest_name(metric, names);
  return wrapped("      ",
                 fmt::format("no feasible row has {}. Others ({}): {}.{}", metric, option, join(names, ", "),
                             nearest ? fmt::format(" Did you mean '{}'?", *nearest) : ""),
                 columns, 6);
}

std::string best_text(const log::Log& log, const LogQuery& query, const std::vector<log::WorkloadStats>& stats,
                      int columns) {
  std::string out;
  const bool name_evaluator = several_evaluators(log);
  for (const log::WorkloadStats& workload : stats) {
    const std::string metric = metric_of(query, workload.workload);
    const auto ranked = best_designs_of(log, query, workload);
    const auto& standard = log::standard_metrics();
    const bool known = std::find(standard.begin(), standard.end(), metric) != standard.end();
    const Direction direction = direction_of(query, metric);
    const bool usual = known && direction == log::direction_of(metric);
    const char* order = direction == Direction::maximise ? ", largest first" : ", smallest first";
    out += fmt::format("\n{}: best by {}{}\n", workload.workload, metric, usual ? "" : order);
    if (const auto others = other_metrics_of(query, workload.workload); !others.empty()) {
      const std::string names = join(std::vector<std::string>(others.begin(), others.end()), ", ");
      out += wrapped("      ", fmt::format("runs that wrote its rows were for {}, too (--metric)", names), columns, 6);
    }
    if (!ranked.empty()) {
      out += ranked_text(ranked, {metric}, name_evaluator, query, columns);
    } else if (workload.feasible == 0) {
      out += "      no feasible design\n";
    } else {
      const auto counts = log::metric_counts(log, workload.workload, query.filter);
      out += no_values_text(metric, counts, "--metric", columns);
    }
  }
  return out;
}

/// [chosen] Designs of a Pareto front that a person reads at once.
constexpr std::size_t kParetoShown = 10;

/// `count` elements at equal distances, the first and the last among them.
std::vector<log::RankedEvaluation> spread_out(const std::vector<log::RankedEvaluation>& front, std::size_t count) {
  if (front.size() <= count) return front;
  std::vector<log::RankedEvaluation> shown;
  for (std::size_t i = 0; i < count; ++i) shown.push_back(front[i * (front.size() - 1) / (count - 1)]);
  return shown;
}

/// What keeps feasible rows from a front: metrics that they lack; empty: nothing.
std::string lacking_text(const log::Log& log, const LogQuery& query, const log::WorkloadStats& workload, int columns) {
  if (workload.feasible == 0) return "";
  const auto counts = log::metric_counts(log, workload.workload, query.filter);
  std::vector<std::string> lacking;
  for (const std::string& metric : query.pareto) {
    const auto found = counts.find(metric);
    if (found == counts.end()) return no_values_text(metric, counts, "--pareto", columns);
    if (found->second < workload.feasible) {
      lacking.push_back(fmt::format("{} in {}", metric, with_commas(workload.feasible - found->second)));
    }
  }
  if (lacking.empty()) return "";
  return wrapped("      ",
                 fmt::format("of {}, some lack a metric and stand on no front: {}",
                             counted(workload.feasible, "feasible row"), join(lacking, ", ")),
                 columns, 6);
}

std::string pareto_text(const log::Log& log, const LogQuery& query, const std::vector<log::WorkloadStats>& stats,
                        int columns) {
  if (query.pareto.empty()) return "";
  std::string out;
  const bool name_evaluator = several_evaluators(log);
  std::vector<std::string> names;
  for (const std::string& metric : query.pareto) {
    names.push_back(metric + direction_note(metric, direction_of(query, metric)));
  }
  for (const log::WorkloadStats& workload : stats) {
    const auto front = log::pareto_front(log, workload.workload, query.pareto, query.filter, query.maximised);
    const std::vector<log::RankedEvaluation> shown = spread_out(front, kParetoShown);
    const std::string thinned =
        shown.size() < front.size() ? fmt::format(", {} shown; --json has all", shown.size()) : "";
    out += "\n" + wrapped(workload.workload + ": ",
                          fmt::format("Pareto front of {} ({} designs{})", join(names, ", "), front.size(), thinned),
                          columns, 2);
    if (!shown.empty()) out += ranked_text(shown, query.pareto, name_evaluator, query, columns);
    out += lacking_text(log, query, workload, columns);
  }
  return out;
}

/// What the definition of an evaluator says that those of the others of its name do not: "version=2".
std::string own_definition_lines(const std::vector<log::EvaluatorSummary>& all, const log::EvaluatorSummary& one) {
  std::set<std::string> of_others;
  for (const log::EvaluatorSummary& other : all) {
    if (other.name != one.name || other.evaluator_id == one.evaluator_id) continue;
    const std::vector<std::string> lines = split(other.definition, '\n');
    of_others.insert(lines.begin(), lines.end());
  }
  std::vector<std::string> own;
  for (std::string& line : split(one.definition, '\n')) {
    if (!of_others.empty() && !line.empty() && !of_others.contains(line)) own.push_back(std::move(line));
  }
  return join(own, ", ");
}

/// The files that rows were imported from, the first ones first, by the hash of the definition of their evaluator.
/// Imports by older versions do not say whose rows they were.
std::map<std::string, std::vector<std::string>> imported_files(const log::Log& log) {
  std::map<std::string, std::vector<std::string>> by_evaluator;
  for (const log::RunInfo& run : log::recent_runs(log, std::numeric_limits<std::int32_t>::max())) {
    if (run.kind != to_string(log::RunKind::import)) continue;
    const auto options = Json::parse(bounded_json(run.options_json), nullptr, false);
    const auto text = [&](const char* key) {
      const bool has = options.is_object() && options.contains(key) && options.at(key).is_string();
      return has ? options.at(key).get<std::string>() : std::string();
    };
    if (!text("file").empty()) by_evaluator[text("evaluator_definition")].push_back(text("file"));
  }
  for (auto& [evaluator, newest_first] : by_evaluator) {
    std::vector<std::string> files;
    std::set<std::string> listed;
    for (auto file = newest_first.rbegin(); file != newest_first.rend(); ++file) {
      if (listed.insert(*file).second) files.push_back(*file);
    }
    newest_first = std::move(files);
  }
  return by_evaluator;
}

/// ", from a.csv, b.csv".
std::string files_text(std::vector<std::string> files) {
  constexpr std::size_t kListed = 3;  // [chosen] of a line
  if (files.empty()) return "";
  const bool more = files.size() > kListed;
  if (more) files.resize(kListed);
  return printable(", from " + join(files, ", ") + (more ? ", ..." : ""), 120);
}

/// A line for each evaluator; where the log has several of one name, with the files that rows were imported from.
std::string evaluators_text(const log::Log& log, const std::vector<log::EvaluatorSummary>& all, int columns) {
  const auto has_namesake = [&](const log::EvaluatorSummary& one) {
    return log::evaluator_reference(all, one) != one.name;
  };
  auto files =
      std::ranges::any_of(all, has_namesake) ? imported_files(log) : std::map<std::string, std::vector<std::string>>();
  std::string out;
  for (const log::EvaluatorSummary& evaluator : all) {
    const std::string repeats =
        evaluator.repeats == 0 ? "" : fmt::format(", {} of them repeats", with_commas(evaluator.repeats));
    const std::string own = own_definition_lines(all, evaluator);
    const std::string from = has_namesake(evaluator) ? files_text(files[evaluator.definition_hash]) : "";
    out += wrapped("evaluator: ",
                   fmt::format("{}{}, {} evaluations{}{}", log::evaluator_reference(all, evaluator),
                               own.empty() ? "" : fmt::format(" ({})", printable(own, 80)),
                               with_commas(evaluator.evaluations), repeats, from),
                   columns, 2);
  }
  return out;
}

}  // namespace

std::string metric_of(const LogQuery& query, const std::string& workload) {
  if (!query.metric.empty()) return query.metric;
  const auto own = query.own.find(workload);
  return own == query.own.end() ? "latency_s" : own->second.metric;
}

std::set<std::string> other_metrics_of(const LogQuery& query, const std::string& workload) {
  const auto own = query.own.find(workload);
  return !query.metric.empty() || own == query.own.end() ? std::set<std::string>() : own->second.others;
}

Direction direction_of(const LogQuery& query, const std::string& metric) {
  return log::direction_of(metric, query.maximised);
}

std::vector<log::RankedEvaluation> best_designs_of(const log::Log& log, const LogQuery& query,
                                                   const log::WorkloadStats& workload) {
  if (query.metric.empty() && workload.feasible == 0) return {};
  const std::string metric = metric_of(query, workload.workload);
  return log::best_designs(log, workload.workload, metric, query.top, direction_of(query, metric), query.filter);
}

std::string log_contents_text(const log::Log& log, const LogQuery& query, int columns) {
  const log::Summary summary = log::summary(log);
  std::string out =
      wrapped("",
              fmt::format("log {}: {}, schema {}, created {} by hindsight {}", printable(log.path().string(), 400),
                          binary_bytes(static_cast<double>(summary.file_bytes)), summary.schema_version,
                          summary.created_at, summary.created_by_version),
              columns, 2);
  std::vector<std::string> counts;
  for (const log::TableCount& table : summary.tables) {
    if (table.rows > 0) counts.push_back(fmt::format("{} {}", table.table, with_commas(table.rows)));
  }
  out += wrapped("rows: ", counts.empty() ? "none" : join(counts, ", "), columns, 2);
  for (const log::SpaceSummary& space : summary.spaces) {
    out += wrapped("space: ", fmt::format("{}, {} designs", space.name, with_commas(space.designs)), columns, 2);
  }
  out += evaluators_text(log, summary.evaluators, columns);
  out += "\n" + runs_text(log::recent_runs(log, query.runs, query.filter.run_id), columns);
  out += proposed_text(log::proposing_runs(log, query.runs, query.filter.run_id), query.designs, columns);
  return out + best_text(log, query, log::workload_stats(log, query.filter), columns);
}

std::string log_statistics_text(const log::Log& log, const LogQuery& query, int columns) {
  const std::vector<log::WorkloadStats> stats = log::workload_stats(log, query.filter);
  if (stats.empty()) return "no evaluations\n";
  Table table;
  table.add_column("workload", Align::left);
  table.add_column("rows", Align::right);
  table.add_column("feasible", Align::right);
  table.add_column("share", Align::right);
  for (const log::WorkloadStats& workload : stats) {
    table.add_row({workload.workload, with_commas(workload.evaluations), with_commas(workload.feasible),
                   percent(workload.feasible_frac())});
  }
  std::string out =
      table.render(columns) + "\nwhy designs are infeasible (share of all designs; several reasons may hold)\n";
  std::vector<WorkloadReasons> reasons;
  for (const log::WorkloadStats& workload : stats) {
    reasons.push_back({workload.workload, {}});
    for (const log::ReasonCount& reason : workload.reasons) {
      reasons.back().shares.emplace_back(
          reason.code, static_cast<double>(reason.evaluations) / static_cast<double>(workload.evaluations));
    }
  }
  out += reasons_text(reasons, columns);
  return out + best_text(log, query, stats, columns) + pareto_text(log, query, stats, columns);
}

std::string verification_text(const log::Log& log, const log::Verification& verification, int columns) {
  const std::string file = printable(log.path().string(), 400);
  if (verification.sound()) return wrapped("", file + ": sound", columns, 2);
  std::string out;
  std::map<std::string, std::size_t> times;
  for (const std::string& problem : verification.problems) ++times[problem];
  for (const std::string& problem : verification.problems) {
    const std::size_t of_it = std::exchange(times[problem], 0);  // said once, where it is first
    if (of_it == 0) continue;
    out += wrapped("", fmt::format("{}: {}{}", file, problem, of_it > 1 ? fmt::format(" ({} times)", of_it) : ""),
                   columns, 2);
  }
  return out + wrapped("",
                       fmt::format("Keep the file, and recover what is whole: hindsight log repair {} --out NEW.sqlite",
                                   pasted_path(log.path().string())),
                       columns, 2);
}

}  // namespace hindsight::report
