/// What methods of the benches have found so far, as pictures of characters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "hindsight/core/statistics.h"
#include "hindsight/core/text.h"
#include "hindsight/report/offline.h"
#include "hindsight/report/w50.h"
#include "report/fields.h"

namespace hindsight::report {
namespace {

using check::OfflineResult;

constexpr double kNoneYet = std::numeric_limits<double>::infinity();

/// The best true objective of the first k proposals of the longest list over the optimum, k = 1, 2, ...; infinite while
/// none is feasible.
std::vector<double> best_so_far(const check::W50Score& score) {
  std::vector<double> best;
  for (const check::W50Proposal& one : score.proposals) {
    const double before = best.empty() ? kNoneYet : best.back();
    best.push_back(std::min(before, one.regret.value_or(kNoneYet)));
  }
  return best;
}

/// Median at every number of proposals; a list that has ended stays where it was.
std::vector<double> medians(const std::vector<std::vector<double>>& lists) {
  std::size_t longest = 0;
  for (const auto& list : lists) longest = std::max(longest, list.size());
  std::vector<double> result;
  for (std::size_t k = 0; k < longest; ++k) {
    std::vector<double> values;
    for (const auto& list : lists) values.push_back(list.empty() ? kNoneYet : list[std::min(k, list.size() - 1)]);
    result.push_back(median(std::move(values)));
  }
  return result;
}

/// Rows of one table, a method each, in the order in which they first occur.
std::vector<PlotRow> table_rows(const std::vector<W50Run>& runs, const std::string& table) {
  std::vector<PlotRow> rows;
  std::vector<std::vector<std::vector<double>>> lists;
  for (const W50Run& run : runs) {
    if (run.table != table) continue;
    auto found = std::find_if(rows.begin(), rows.end(), [&](const PlotRow& row) { return row.name == run.method; });
    if (found == rows.end()) {
      rows.push_back({.name = run.method, .values = {}});
      lists.emplace_back();
      found = rows.end() - 1;
    }
    auto& list = lists[static_cast<std::size_t>(found - rows.begin())];
    for (const check::W50Score& score : run.result.scores) list.push_back(best_so_far(score));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].values = medians(lists[i]);
  return rows;
}

/// The best value after `queries`; infinite before the first feasible design.
double best_after(const OfflineResult& result, std::uint64_t queries) {
  double best = kNoneYet;
  for (const auto& [at, value] : result.improvements) {
    if (at <= queries) best = value;
  }
  return best;
}

/// Steps of an online method: the corners of the median over seeds.
std::vector<std::pair<double, double>> steps_of(const std::vector<const OfflineResult*>& cells, double unit,
                                                std::uint64_t last) {
  std::set<std::uint64_t> turns{last};
  for (const OfflineResult* cell : cells) {
    for (const auto& [at, value] : cell->improvements) turns.insert(std::max<std::uint64_t>(at, 1));
  }
  std::vector<std::pair<double, double>> corners;
  for (const std::uint64_t at : turns) {
    std::vector<double> values;
    for (const OfflineResult* cell : cells) values.push_back(best_after(*cell, at) / unit);
    const double value = median(std::move(values));
    if (!std::isfinite(value)) continue;
    if (!corners.empty()) corners.emplace_back(static_cast<double>(at), corners.back().second);
    corners.emplace_back(static_cast<double>(at), value);
  }
  return corners;
}

/// What a method that asks nothing is worth: its first proposal, the median over seeds.
double first_value(const std::vector<const OfflineResult*>& cells, double unit) {
  std::vector<double> values;
  for (const OfflineResult* cell : cells) values.push_back(cell->value.value_or(kNoneYet) / unit);
  return median(std::move(values));
}

std::string task_picture(const check::OfflineStudy& study, const std::string& task, int columns, PlotGlyphs glyphs) {
  std::vector<std::string> methods;
  std::uint64_t last = 1;
  std::optional<double> optimum;
  for (const OfflineResult& result : study.results) {
    if (result.task != task) continue;
    if (std::find(methods.begin(), methods.end(), result.method) == methods.end()) methods.push_back(result.method);
    last = std::max({last, result.queries, result.samples});
    if (result.truth) optimum = result.truth->optimum;
  }
  const double unit = optimum.value_or(1);
  std::vector<PlotSeries> series;
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    std::vector<const OfflineResult*> cells;
    for (const OfflineResult& result : study.results) {
      if (result.task == task && result.method == methods[i]) cells.push_back(&result);
    }
    const std::string number = std::to_string(i + 1);
    std::uint64_t asked = 0;
    for (const OfflineResult* cell : cells) asked = std::max(asked, cell->queries);
    PlotSeries one{.name = "", .points = {}, .labels = {}, .kind = PlotKind::line};
    const double first = first_value(cells, unit);
    if (asked > 0) {
      one.points = steps_of(cells, unit, asked);
    } else if (std::isfinite(first)) {
      one.points = {{1, first}, {static_cast<double>(last), first}};
    }
    keys.push_back(number + " " + methods[i] + (one.points.empty() ? " (infeasible)" : ""));
    if (one.points.empty()) continue;
    one.labels.assign(one.points.size(), "");
    one.labels.back() = number;
    series.push_back(std::move(one));
  }
  const std::string worth = optimum ? "best so far / optimum" : "best so far, s";
  const std::string picture =
      scatter_text(series, {"simulator queries", PlotSpacing::logarithmic}, {worth}, columns, glyphs);
  return "\n" + task + "\n" + picture + wrapped("", join(keys, "   "), columns, 0);
}

}  // namespace

std::string w50_plot_text(const std::vector<W50Run>& runs, int columns, PlotGlyphs glyphs) {
  std::vector<std::string> tables;
  for (const W50Run& run : runs) {
    if (std::find(tables.begin(), tables.end(), run.table) == tables.end()) tables.push_back(run.table);
  }
  std::string out = wrapped("", "Best of the first k proposals over the optimum, from k = 1 on", columns, 0);
  for (const std::string& table : tables) {
    out += "\n" + printable(table) + "\n" + sparklines_text(table_rows(runs, table), columns, glyphs);
  }
  return out;
}

std::string offline_plot_text(const check::OfflineStudy& study, int columns, PlotGlyphs glyphs) {
  std::vector<std::string> tasks;
  for (const OfflineResult& result : study.results) {
    if (std::find(tasks.begin(), tasks.end(), result.task) == tasks.end()) tasks.push_back(result.task);
  }
  std::string out = wrapped("", "What methods had found after so many queries: medians over seeds", columns, 0);
  for (const std::string& task : tasks) out += task_picture(study, task, columns, glyphs);
  return out;
}

}  // namespace hindsight::report
