/// Tables of the offline study: per task, ratios, and queries to match.
#include "hindsight/report/offline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
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

/// Median over seeds of the first proposal (or the best); infinity when infeasible; nothing when there is no cell.
std::optional<double> median_of(const check::OfflineStudy& study, const std::string& task, const std::string& method,
                                std::optional<double> OfflineResult::*value) {
  std::vector<double> values;
  for (const OfflineResult* cell : cells(study, task, method)) values.push_back((cell->*value).value_or(kInfeasible));
  if (values.empty()) return std::nullopt;
  return median(std::move(values));
}

/// Values over the optimum of a task, or ranks: median over seeds (best in brackets); infinity: infeasible.
std::string cell_text(const std::vector<double>& values, const std::function<std::string(double)>& text) {
  if (values.empty()) return "-";
  const auto shown = [&](double value) { return std::isfinite(value) ? text(value) : "infeasible"; };
  const double best = *std::min_element(values.begin(), values.end());
  const double middle = median(values);
  return best == middle ? shown(middle) : fmt::format("{} ({})", shown(middle), shown(best));
}

/// The optimum of a task; nothing where it was not asked for.
std::optional<double> optimum_of(const check::OfflineStudy& study, const std::string& task) {
  for (const OfflineResult& result : study.results) {
    if (result.task == task && result.truth) return result.truth->optimum;
  }
  return std::nullopt;
}

std::string ratio_text(double ratio) { return fmt::format("{:.3f}", ratio); }

std::string regret_table(const check::OfflineStudy& study) {
  const auto methods = distinct(study, &OfflineResult::method);
  Table table;
  table.add_column("task", Align::left);
  for (const std::string& method : methods) table.add_column(method, Align::right);
  table.add_column("optimum, ms", Align::right);
  for (const std::string& task : distinct(study, &OfflineResult::task)) {
    const std::optional<double> optimum = optimum_of(study, task);
    if (!optimum) continue;
    std::vector<std::string> row{task};
    for (const std::string& method : methods) {
      std::vector<double> regrets;
      for (const OfflineResult* cell : cells(study, task, method)) {
        regrets.push_back(cell->value.value_or(kInfeasible) / *optimum);
      }
      row.push_back(cell_text(regrets, ratio_text));
    }
    row.push_back(fmt::format("{:.6f}", *optimum * 1e3));
    table.add_row(std::move(row));
  }
  return "Mean latency of the applications over the exact optimum: median over seeds (best in brackets), first "
         "proposal, true values.\n\n" +
         table.markdown();
}

/// Where the first proposals stand among all designs; empty without a landscape.
std::string rank_table(const check::OfflineStudy& study) {
  const auto methods = distinct(study, &OfflineResult::method);
  Table table;
  table.add_column("task", Align::left);
  for (const std::string& method : methods) table.add_column(method, Align::right);
  table.add_column("designs", Align::right);
  bool any = false;
  for (const std::string& task : distinct(study, &OfflineResult::task)) {
    std::vector<std::string> row{task};
    std::uint64_t designs = 0;
    for (const std::string& method : methods) {
      std::vector<double> ranks;
      for (const OfflineResult* cell : cells(study, task, method)) {
        const auto rank = cell->truth ? cell->truth->rank : std::nullopt;
        ranks.push_back(rank ? static_cast<double>(rank->better + 1) : kInfeasible);
        if (rank) designs = rank->feasible;
      }
      row.push_back(cell_text(ranks, [](double rank) { return with_commas(static_cast<std::uint64_t>(rank)); }));
    }
    if (designs == 0) continue;
    any = true;
    row.push_back(with_commas(designs));
    table.add_row(std::move(row));
  }
  if (!any) return "";
  return "\nRank of the first proposal among all designs that run the applications within the limit: median over seeds "
         "(best in brackets)\n\n" +
         table.markdown();
}

/// Geometric mean over tasks, and how many of them: "1.300 of 9".
class GeometricMean {
 public:
  void add(std::optional<double> numerator, std::optional<double> denominator) {
    if (!numerator || !denominator || !std::isfinite(*numerator) || !std::isfinite(*denominator)) return;
    sum_ += std::log(*numerator / *denominator);
    ++count_;
  }
  [[nodiscard]] std::string text() const {
    return count_ == 0 ? "-" : fmt::format("{:.3f} of {}", std::exp(sum_ / static_cast<double>(count_)), count_);
  }
  [[nodiscard]] std::string mean() const {
    return count_ == 0 ? "-" : ratio_text(std::exp(sum_ / static_cast<double>(count_)));
  }

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
};

/// One row of ratio_table(); nothing when the method has no cell for tasks of this kind.
std::vector<std::string> ratio_row(const check::OfflineStudy& study, const std::string& kind,
                                   const std::string& method) {
  GeometricMean first, best, gain, surprise;
  std::size_t infeasible = 0, total = 0;
  std::vector<double> queries, seconds;
  for (const std::string& task : distinct(study, &OfflineResult::task)) {
    if (!task.starts_with(kind + "/")) continue;
    for (const OfflineResult* cell : cells(study, task, method)) {
      ++total;
      if (!cell->value) ++infeasible;
      queries.push_back(static_cast<double>(cell->queries));
      seconds.push_back(cell->seconds);
      surprise.add(cell->value, cell->predicted_value);
    }
    const auto value = median_of(study, task, method, &OfflineResult::value);
    first.add(value, optimum_of(study, task));
    best.add(median_of(study, task, method, &OfflineResult::best_value), optimum_of(study, task));
    gain.add(median_of(study, task, kBestInLog, &OfflineResult::value), value);
  }
  if (total == 0) return {};
  return {kind,
          method,
          first.text(),
          best.text(),
          gain.text(),
          fmt::format("{} of {}", infeasible, total),
          surprise.mean(),
          with_commas(static_cast<std::uint64_t>(median(queries))),
          fmt::format("{:.1f}", median(seconds))};
}

/// Geometric means over the tasks of a kind whose medians can be built.
std::string ratio_table(const check::OfflineStudy& study) {
  Table table;
  table.add_column("tasks", Align::left);
  table.add_column("method", Align::left);
  table.add_column("first proposal / optimum, geomean of tasks", Align::right);
  table.add_column("best proposal / optimum", Align::right);
  table.add_column("times faster than best in log", Align::right);
  table.add_column("infeasible first proposals", Align::right);
  table.add_column("true / predicted (geomean)", Align::right);
  table.add_column("queries (median)", Align::right);
  table.add_column("seconds (median)", Align::right);
  for (const char* kind : {"single", "multi", "zero_shot"}) {
    for (const std::string& method : distinct(study, &OfflineResult::method)) {
      std::vector<std::string> row = ratio_row(study, kind, method);
      if (!row.empty()) table.add_row(std::move(row));
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
    const auto prime = median_of(study, task, kPrime, &OfflineResult::value);
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
  std::string out = regret_table(study) + "\n" + ratio_table(study) + match_table(study) + rank_table(study);
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
  const auto rank = [](const std::optional<accel::optimum::Rank>& one) {
    return one ? Json(one->better + 1) : Json(nullptr);
  };
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
    if (!result.recipe.empty()) json["results"].back()["recipe"] = result.recipe;
    if (!result.truth) continue;
    const check::OfflineTruth& truth = *result.truth;
    Json& json_of_cell = json["results"].back();
    const auto regret = [&](const std::optional<double>& value) {
      return value ? Json(*value / truth.optimum) : Json();
    };
    json_of_cell["optimum_latency_s"] = truth.optimum;
    json_of_cell["regret"] = regret(result.value);
    json_of_cell["best_regret"] = regret(result.best_value);
    json_of_cell["rank"] = rank(truth.rank);
    json_of_cell["best_rank"] = rank(truth.best_rank);
    json_of_cell["designs"] = truth.best_rank ? Json(truth.best_rank->feasible) : Json(nullptr);
  }
  return to_text(json);
}

}  // namespace hindsight::report
