/// Puts a study's report together: the answer first, then a section for each question.
#include "hindsight/report/study_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "hindsight/core/error.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/objective.h"
#include "hindsight/log/metric_direction.h"
#include "hindsight/space/short_id.h"
#include "hindsight/study/log_names.h"
#include "report/json.h"
#include "report/study_parts.h"
#include "report/study_sql.h"

namespace hindsight::report {
namespace {

constexpr std::size_t kMostRuns = 1'000'000;

/// The evaluator whose rows the report is of: that with the most.
std::int64_t choose_evaluator(StudyContext& context) {
  const std::vector<log::EvaluatorSummary> all = evaluators_by_rows(context.log);
  if (all.empty()) return 0;
  if (all.size() > 1) {
    std::uint64_t others = 0;
    for (std::size_t i = 1; i < all.size(); ++i) others += all[i].evaluations;
    context.left_out = fmt::format(
        "Figures are of {}'s rows. {} of {} (e.g. {}) are left out: results of different "
        "evaluators do not mix.",
        printable(log::evaluator_reference(all, all[0])), counted(others, "row"),
        counted(all.size() - 1, "other evaluator"), printable(log::evaluator_reference(all, all[1])));
  }
  return all.front().evaluator_id;
}

/// Metrics that have values: what designs are compared by, of all applications, what runs were for besides, then
/// latency, energy and area, then others of the log.
std::vector<std::string> choose_metrics(const log::Log& log, std::int64_t evaluator) {
  const study::CommonObjective common = study::common_objective(log);
  std::vector<std::string> wanted{common.metric};
  for (const auto& [metric, workload] : common.by_metric) wanted.push_back(metric);
  wanted.insert(wanted.end(), common.others.begin(), common.others.end());
  wanted.insert(wanted.end(), {"latency_s", "energy_j", "area_mm2"});
  for (const std::string& name : log::metric_names(log)) {
    const std::vector<std::string>& standard = log::standard_metrics();
    if (std::find(standard.begin(), standard.end(), name) == standard.end()) wanted.push_back(name);
  }
  std::vector<std::string> metrics;
  std::vector<log::SqlValue> row;
  for (const std::string& name : wanted) {
    if (metrics.size() == kScanMetrics || std::find(metrics.begin(), metrics.end(), name) != metrics.end()) continue;
    log::SqlQuery query(log, fmt::format("SELECT 1 FROM evaluations e WHERE e.feasible = 1 AND e.evaluator_id = {} AND "
                                         "{} IS NOT NULL LIMIT 1",
                                         evaluator, sql_metric(name)));
    if (query.next(row)) metrics.push_back(name);
  }
  if (metrics.empty()) metrics.push_back(wanted.front());
  return metrics;
}

/// What the log has of proposed designs; of an optimum of one workload, what its proof says.
void read_proposal_metrics(StudyContext& context) {
  std::string sql = "SELECT e.workload_id, e.design_id";
  for (const std::string& metric : context.scan.metrics) sql += ", " + sql_feasible_mean(sql_metric(metric));
  sql += fmt::format(
      " FROM evaluations e WHERE e.evaluator_id = {} AND e.design_id IN (SELECT design_id FROM proposals) GROUP BY "
      "e.design_id, e.workload_id HAVING {}",
      context.evaluator_id, kSqlMostlyFeasible);
  log::SqlQuery query(context.log, sql);
  std::vector<log::SqlValue> row;
  while (query.next(row)) {
    std::vector<double> metrics;
    for (std::size_t k = 2; k < row.size(); ++k) metrics.push_back(sql_number(row[k]));
    context.proposal_metrics.try_emplace({sql_int(row[0]), sql_int(row[1])}, std::move(metrics));
  }
}

}  // namespace

std::vector<log::EvaluatorSummary> evaluators_by_rows(const log::Log& log) {
  std::vector<log::EvaluatorSummary> all = log::evaluators(log);
  std::erase_if(all, [](const log::EvaluatorSummary& one) { return one.evaluations == 0; });
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.evaluations > b.evaluations; });
  return all;
}

bool is_maximised(const std::string& metric, const std::set<std::string>& maximised) {
  return maximised.contains(metric) || log::direction_of(metric) == Direction::maximise;
}

std::set<std::string> maximised_with(const log::Log& log, const std::set<std::string>& more) {
  std::set<std::string> maximised = study::maximised_metrics(log);
  maximised.insert(more.begin(), more.end());
  return maximised;
}

int StudyContext::design(const std::string& text_id) {
  const auto [at, is_new] = indices_.try_emplace(text_id, static_cast<int>(report.designs.size()));
  if (is_new) report.designs.push_back({.short_id = space::short_id(text_id), .text_id = text_id});
  return at->second;
}

namespace {

/// A rate by what it counts: "throughput_gflop_per_s" is a throughput in GFLOP/s.
struct RateUnit {
  std::string_view word, label, base;
  double in_base = 1;
};
// A word stands before those that it ends in. Binary prefixes stay as they are.
constexpr std::array<RateUnit, 21> kRateUnits{{
    {"mflop", "MFLOP/s", "FLOP/s", 1e6},
    {"gflop", "GFLOP/s", "FLOP/s", 1e9},
    {"tflop", "TFLOP/s", "FLOP/s", 1e12},
    {"flop", "FLOP/s", "FLOP/s"},
    {"giga_ops", "Gops/s", "ops/s", 1e9},
    {"tera_ops", "Tops/s", "ops/s", 1e12},
    {"gops", "Gops/s", "ops/s", 1e9},
    {"tops", "Tops/s", "ops/s", 1e12},
    {"ops", "ops/s", "ops/s"},
    {"gmac", "GMAC/s", "MAC/s", 1e9},
    {"tmac", "TMAC/s", "MAC/s", 1e12},
    {"mac", "MAC/s", "MAC/s"},
    {"kb", "kB/s", "B/s", 1e3},
    {"mb", "MB/s", "B/s", 1e6},
    {"gb", "GB/s", "B/s", 1e9},
    {"tb", "TB/s", "B/s", 1e12},
    {"bytes", "bytes/s", "B/s"},
    {"kib", "KiB/s", "KiB/s"},
    {"mib", "MiB/s", "MiB/s"},
    {"gib", "GiB/s", "GiB/s"},
    {"tib", "TiB/s", "TiB/s"},
}};
constexpr std::string_view kPerSecond = "_per_s";

/// What a metric of "..._per_s" counts; null: not one of the units, or no rate.
const RateUnit* rate_unit_of(std::string_view name) {
  if (!name.ends_with(kPerSecond)) return nullptr;
  name.remove_suffix(kPerSecond.size());
  for (const RateUnit& unit : kRateUnits) {
    if (name == unit.word || (name.ends_with(unit.word) && name[name.size() - unit.word.size() - 1] == '_'))
      return &unit;
  }
  return nullptr;
}

/// "tile size, mm" of "tile_size_mm": what stands before the unit, as words.
std::string label_of(std::string_view words, std::string_view unit) {
  if (words.empty()) return std::string(unit);
  std::string text(words);
  std::replace(text.begin(), text.end(), '_', ' ');
  return fmt::format("{}, {}", text, unit);
}

}  // namespace

std::string metric_label(const std::string& name) {
  if (const RateUnit* rate = rate_unit_of(name)) {
    const std::size_t words = name.size() - kPerSecond.size() - rate->word.size();
    return label_of(std::string_view(name).substr(0, words == 0 ? 0 : words - 1), rate->label);
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kUnits{{{"_per_s", "per s"},
                                                                                 {"_mm2", "mm²"},
                                                                                 {"_bytes", "bytes"},
                                                                                 {"_frac", "share"},
                                                                                 {"_s", "s"},
                                                                                 {"_j", "J"},
                                                                                 {"_w", "W"}}};
  for (const auto& [suffix, unit] : kUnits) {
    if (name.ends_with(suffix)) return label_of(std::string_view(name).substr(0, name.size() - suffix.size()), unit);
  }
  return name;
}

std::string objective_metric(const std::string& objective) {
  try {
    const std::vector<dataset::Objective::Factor> factors =
        dataset::parse_objective(objective, Direction::minimise).factors;
    return factors.size() == 1 && factors[0].exponent == 1 ? factors[0].metric : objective;
  } catch (const Error&) {
    return objective;  // a word of another program
  }
}

std::optional<std::string> maximised_objective(const std::string& objective) {
  try {
    return dataset::maximised_metric(dataset::parse_objective(objective, Direction::minimise));
  } catch (const Error&) {
    return std::nullopt;  // a word of another program
  }
}

double true_over_predicted(const std::string& objective, double truth, double predicted) {
  return maximised_objective(objective) ? predicted / truth : truth / predicted;
}

namespace {

/// One digit behind the point; of values below `small`, which that would make 0.0, three digits in all.
std::string one_digit_or_three(double value, double small) {
  return std::abs(value) < small ? fmt::format("{:.3g}", value) : fmt::format("{:.1f}", value);
}

}  // namespace

double shown_of_objective(const std::string& objective, double of_objective) {
  return maximised_objective(objective) ? 1 / of_objective : of_objective;
}

std::string study_value(const std::string& objective, double of_objective) {
  const std::string name = maximised_objective(objective).value_or(objective_metric(objective));
  const double value = shown_of_objective(objective, of_objective);
  if (std::isnan(value)) return "–";
  if (name.ends_with("_frac")) return one_digit_or_three(100 * value, 0.1) + " %";
  if (name.ends_with("_mm2")) return one_digit_or_three(value, 10) + " mm²";
  if (const RateUnit* rate = rate_unit_of(name)) return si(value * rate->in_base, rate->base);
  if (name.ends_with(kPerSecond)) return si(value, "/s");
  if (name.ends_with("_s")) return si(value, "s");
  if (name.ends_with("_j")) return si(value, "J");
  if (name.ends_with("_w")) return si(value, "W");
  return fmt::format("{:.4g}", value);
}

std::vector<std::string> reason_codes(const StudyScan& scan, std::uint32_t reasons) {
  std::vector<std::string> codes;
  for (std::size_t r = 0; r < scan.reason_names.size(); ++r) {
    if ((reasons >> r & 1U) != 0) codes.push_back(scan.reason_names[r]);
  }
  return codes;
}

namespace {

/// A logarithmic axis has no place for values of 0 and below: points that have them would be missing. Infeasible ones
/// are at the edge anyway.
void settle_axes(ReportFigure& figure) {
  for (std::size_t c = 0; c < figure.columns.size(); ++c) {
    bool& logarithmic = figure.columns[c].logarithmic;
    for (const ReportPanel& panel : figure.panels) {
      for (const ReportSeries& series : panel.series) {
        if (series.role == SeriesRole::infeasible) continue;
        const auto has_no_logarithm = [c](const std::vector<double>& point) {
          return c < point.size() && point[c] <= 0;
        };
        logarithmic = logarithmic && std::none_of(series.values.begin(), series.values.end(), has_no_logarithm);
      }
    }
  }
}

}  // namespace

StudyReport study_report(const log::Log& log, const StudySources& sources) {
  StudyReport report{.log = sources.log_name, .headline = {}};
  StudyContext context(log, sources, report);
  context.chosen = sources.chosen != nullptr ? *sources.chosen : chosen_design(log, sources.maximised);
  context.evaluator_id = choose_evaluator(context);
  context.proposals = stored_proposals(log, context.evaluator_id);
  context.runs = log::recent_runs(log, kMostRuns);
  ScanRows rows{
      .metrics = choose_metrics(log, context.evaluator_id), .maximised = {}, .evaluator_id = context.evaluator_id};
  const std::set<std::string> maximised = maximised_with(log, sources.maximised);
  for (const std::string& metric : rows.metrics) rows.maximised.push_back(is_maximised(metric, maximised));
  context.scan = scan_log(log, rows);
  // What is shown first is what the answer is about.
  std::stable_partition(context.scan.workloads.begin(), context.scan.workloads.end(), [&](const ScanWorkload& one) {
    return context.chosen && std::find(context.chosen->workloads.begin(), context.chosen->workloads.end(), one.name) !=
                                 context.chosen->workloads.end();
  });
  read_proposal_metrics(context);
  answer(context);
  for (ReportSection (*section)(StudyContext&) :
       {pareto_section, parameter_section, trust_section, backtest_section, reason_section, importance_section,
        training_section, roofline_section, layer_section, round_section, provenance_section}) {
    report.sections.push_back(section(context));
    for (ReportFigure& figure : report.sections.back().figures) {
      if (figure.kind != FigureKind::bars) settle_axes(figure);
    }
  }
  return report;
}

}  // namespace hindsight::report
