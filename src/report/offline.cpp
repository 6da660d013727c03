/// Tables of the offline study: per task, ratios, and queries to match.
#include "hindsight/report/offline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hindsight/core/provenance.h"
#include "hindsight/core/statistics.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "report/fields.h"
#include "report/json.h"

namespace hindsight::report {
namespace {

using check::OfflineResult;

constexpr double kInfeasible = std::numeric_limits<double>::infinity();
constexpr const char* kBestInLog = "best_in_log";
constexpr const char* kPrime = "prime";

std::vector<std::string> distinct(const check::OfflineStudy& study, std::string OfflineResult::*field) {
  std::vector<std::string> names;
  for (const OfflineResult& result : study.results) {
    if (std::find(names.begin(), names.end(), result.*field) == names.end()) names.push_back(result.*field);
  }
  return names;
}

std::vector<const OfflineResult*> cells(const check::OfflineStudy& study, const std::string& task,
                                        const std::string& method) {
  std::vector<const OfflineResult*> found;
  for (const OfflineResult& result : study.results) {
    if (result.task == task && result.method == method) found.push_back(&result);
  }
  return found;
}

/// Median over seeds of the first proposal; infinity when infeasible; nothing when there is no cell.
std::optional<double> median_value(const check::OfflineStudy& study, const std::string& task,
                                   const std::string& method) {
  std::vector<double> values;
  for (const OfflineResult* cell : cells(study, task, method)) values.push_back(cell->value.value_or(kInfeasible));
  if (values.empty()) return std::nullopt;
  return median(std::move(values));
}

std::string milliseconds(double value_s) {
  return std::isfinite(value_s) ? fmt::format("{:.4g}", value_s * 1e3) : "infeasible";
}

/// "(best, median)" of the first proposals, milliseconds.
std::string cell_text(const std::vector<const OfflineResult*>& found) {
  if (found.empty()) return "-";
  std::vector<double> values;
  for (const OfflineResult* cell : found) values.push_back(cell->value.value_or(kInfeasible));
  const double best = *std::min_element(values.begin(), values.end());
  const double middle = median(values);
  return best == middle ? milliseconds(middle) : fmt::format("{} ({})", milliseconds(middle), milliseconds(best));
}

/// The least latency that any cell of the task reached; nothing when none was feasible.
std::optional<double> best_known(const check::OfflineStudy& study, const std::string& task) {
  std::optional<double> best;
  for (const OfflineResult& result : study.results) {
    if (result.task != task) continue;
    for (const auto& value : {result.value, result.best_value}) {
      if (value && (!best || *value < *best)) best = value;
    }
  }
  return best;
}

std::string latency_table(const check::OfflineStudy& study) {
  const auto methods = distinct(study, &OfflineResult::method);
  Table table;
  table.add_column("task", Align::left);
  for (const std::string& method : methods) table.add_column(method, Align::right);
  table.add_column("best known", Align::right);
  for (const std::string& task : distinct(study, &OfflineResult::task)) {
    std::vector<std::string> row{task};
    for (const std::string& method : methods) row.push_back(cell_text(cells(study, task, method)));
    const std::optional<double> best = best_known(study, task);
    row.push_back(best ? milliseconds(*best) : "-");
    table.add_row(std::move(row));
  }
  return "Mean latency of the applications in ms: median over seeds (best in brackets), first proposal, true values.\n"
         "Best known: the least of all cells and proposals of the task, an upper bound of the unknown optimum.\n\n" +
         table.markdown();
}

/// Geometric mean over the tasks of a kind of best_in_log / method; tasks where either is missing or infeasible are
/// counted apart.
std::string ratio_table(const check::OfflineStudy& study) {
  Table table;
  table.add_column("tasks", Align::left);
  table.add_column("method", Align::left);
  table.add_column("times faster than best in log (geomean)", Align::right);
  table.add_column("tasks counted", Align::right);
  table.add_column("infeasible first proposals", Align::right);
  table.add_column("true / predicted (geomean)", Align::right);
  table.add_column("queries (median)", Align::right);
  table.add_column("seconds (median)", Align::right);
  for (const char* kind : {"single", "multi", "zero_shot"}) {
    for (const std::string& method : distinct(study, &OfflineResult::method)) {
      double log_ratio = 0, log_surprise = 0;
      std::size_t counted = 0, surprises = 0, infeasible = 0, total = 0;
      std::vector<double> queries, seconds;
      for (const std::string& task : distinct(study, &OfflineResult::task)) {
        if (!task.starts_with(std::string(kind) + "/")) continue;
        for (const OfflineResult* cell : cells(study, task, method)) {
          ++total;
          if (!cell->value) ++infeasible;
          queries.push_back(static_cast<double>(cell->queries));
          seconds.push_back(cell->seconds);
          if (cell->value && cell->predicted_value) {
            log_surprise += std::log(*cell->value / *cell->predicted_value);
            ++surprises;
          }
        }
        const auto reference = median_value(study, task, kBestInLog);
        const auto value = median_value(study, task, method);
        if (!reference || !value || !std::isfinite(*reference) || !std::isfinite(*value)) continue;
        log_ratio += std::log(*reference / *value);
        ++counted;
      }
      if (total == 0) continue;
      table.add_row(
          {kind, method, counted == 0 ? "-" : fmt::format("{:.3f}", std::exp(log_ratio / static_cast<double>(counted))),
           std::to_string(counted), fmt::format("{} of {}", infeasible, total),
           surprises == 0 ? "-" : fmt::format("{:.3f}", std::exp(log_surprise / static_cast<double>(surprises))),
           with_commas(static_cast<std::uint64_t>(median(queries))), fmt::format("{:.1f}", median(seconds))});
    }
  }
  return table.markdown();
}

/// Simulator queries that each online method needs until it is as good as PRIME, which needs none.
std::string match_table(const check::OfflineStudy& study) {
  Table table;
  table.add_column("task", Align::left);
  std::vector<std::string> online;
  for (const std::string& method : distinct(study, &OfflineResult::method)) {
    const bool queries = std::any_of(study.results.begin(), study.results.end(), [&](const OfflineResult& result) {
      return result.method == method && result.queries > 0;
    });
    if (queries) online.push_back(method);
  }
  if (online.empty()) return "";
  for (const std::string& method : online) table.add_column(method, Align::right);
  for (const std::string& task : distinct(study, &OfflineResult::task)) {
    const auto prime = median_value(study, task, kPrime);
    if (!prime || !std::isfinite(*prime)) continue;  // nothing to match
    std::vector<std::string> row{task};
    for (const std::string& method : online) {
      std::vector<double> needed;
      std::uint64_t spent = 0;
      for (const OfflineResult* cell : cells(study, task, method)) {
        const auto match = check::queries_to_match(*cell, *prime);
        needed.push_back(match ? static_cast<double>(*match) : kInfeasible);
        spent = std::max(spent, cell->queries);
      }
      if (needed.empty()) {
        row.emplace_back("-");
        continue;
      }
      const double middle = median(needed);
      row.push_back(std::isfinite(middle) ? with_commas(static_cast<std::uint64_t>(middle))
                                          : "> " + with_commas(spent));
    }
    table.add_row(std::move(row));
  }
  return "\nSimulator queries until an online method is as good as PRIME's first proposal (PRIME: 0), median over "
         "seeds\n\n" +
         table.markdown();
}

}  // namespace

std::string offline_markdown(const check::OfflineStudy& study) {
  if (study.results.empty()) return "no cell is finished\n";
  std::string out = latency_table(study) + "\n" + ratio_table(study) + match_table(study);
  if (!study.complete()) {
    out +=
        fmt::format("\n{} of {} cells are finished; the same command continues.\n", study.results.size(), study.cells);
  }
  return out;
}

std::string offline_json(const check::OfflineStudy& study) {
  Json json{{"hindsight_version", build_info().version},
            {"commit", build_info().commit},
            {"cells", study.cells},
            {"complete", study.complete()}};
  json["results"] = Json::array();
  const auto optional = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
  for (const OfflineResult& result : study.results) {
    json["results"].push_back({{"task", result.task},
                               {"method", result.method},
                               {"seed", result.seed},
                               {"samples", result.samples},
                               {"latency_s", optional(result.value)},
                               {"best_latency_s", optional(result.best_value)},
                               {"predicted_latency_s", optional(result.predicted_value)},
                               {"infeasible_frac", result.infeasible_frac},
                               {"queries", result.queries},
                               {"seconds", result.seconds},
                               {"design", result.design}});
  }
  return to_text(json);
}

}  // namespace hindsight::report
