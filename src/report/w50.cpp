/// Text and JSON of W50 runs: medians per table and method.
#include "hindsight/report/w50.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "hindsight/core/provenance.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "report/fields.h"
#include "report/json.h"

namespace hindsight::report {
namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Runs of one table and method, in the order in which they first occur.
struct Group {
  std::string table, method;
  std::vector<const W50Run*> runs;
};

std::vector<Group> grouped(const std::vector<W50Run>& runs) {
  std::vector<Group> groups;
  for (const W50Run& run : runs) {
    auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.table == run.table && group.method == run.method;
    });
    if (found == groups.end()) found = groups.insert(groups.end(), Group{run.table, run.method, {}});
    found->runs.push_back(&run);
  }
  return groups;
}

double median_over(const Group& group, const std::function<double(const check::W50Score&)>& value) {
  std::vector<double> values;
  for (const W50Run* run : group.runs) {
    for (const check::W50Score& score : run->result.scores) values.push_back(value(score));
  }
  return median(std::move(values));
}

Table make_table(const std::vector<W50Run>& runs) {
  std::vector<std::size_t> top;
  for (const W50Run& run : runs) {
    for (const check::W50Score& score : run.result.scores) {
      if (top.empty()) {
        for (const check::W50Top& one : score.top) top.push_back(one.k);
      }
    }
  }
  Table table;
  table.add_column("table", Align::left);
  table.add_column("method", Align::left);
  table.add_column("rows", Align::right, 2);
  table.add_column("best row", Align::right);
  for (const std::size_t k : top) table.add_column(fmt::format("top {}", k), Align::right);
  if (!top.empty()) table.add_column(fmt::format("infeasible of {}", top.back()), Align::right, 1);
  table.add_column("seconds", Align::right, 2);
  for (const Group& group : grouped(runs)) {
    std::vector<std::string> cells{
        group.table, group.method, with_commas(group.runs.front()->result.train_rows),
        fmt::format("{:.3f}", median_over(group, [](const auto& score) { return score.best_training; }))};
    for (std::size_t i = 0; i < top.size(); ++i) {
      cells.push_back(fmt::format("{:.3f}", median_over(group, [i](const auto& score) { return score.top[i].ratio; })));
    }
    if (!top.empty()) {
      cells.push_back(percent(median_over(group, [](const auto& score) { return score.top.back().infeasible_frac; })));
    }
    std::vector<double> seconds;
    for (const W50Run* run : group.runs) seconds.push_back(run->result.seconds);
    cells.push_back(fmt::format("{:.1f}", median(seconds)));
    table.add_row(std::move(cells));
  }
  return table;
}

}  // namespace

std::string w50_text(const std::vector<W50Run>& runs, int columns) {
  return wrapped("",
                 "true optimum / best true objective among the proposals: 1 = optimum, 0 = none feasible; medians over "
                 "seeds and contexts",
                 columns, 0) +
         "\n" + make_table(runs).render(columns);
}

std::string w50_markdown(const std::vector<W50Run>& runs) { return make_table(runs).markdown(); }

std::string w50_json(const std::vector<W50Run>& runs, const check::W50Options& options) {
  Json json{{"hindsight_version", build_info().version},
            {"commit", build_info().commit},
            {"hide_frac", options.hide_frac},
            {"recipe", surrogate::to_yaml(options.recipe)}};
  json["runs"] = Json::array();
  for (const W50Run& run : runs) {
    Json scores = Json::array();
    for (const check::W50Score& score : run.result.scores) {
      Json top = Json::array();
      for (const check::W50Top& one : score.top) {
        top.push_back({{"k", one.k}, {"ratio", one.ratio}, {"infeasible_frac", one.infeasible_frac}});
      }
      scores.push_back({{"context", score.context},
                        {"optimum", score.optimum},
                        {"best_training_ratio", score.best_training},
                        {"unknown_frac", score.unknown_frac},
                        {"top", std::move(top)}});
    }
    json["runs"].push_back({{"table", run.table},
                            {"method", run.method},
                            {"seed", run.seed},
                            {"table_rows", run.result.table_rows},
                            {"hidden_rows", run.result.hidden_rows},
                            {"train_rows", run.result.train_rows},
                            {"train_feasible", run.result.train_feasible},
                            {"seconds", run.result.seconds},
                            {"simulator_queries", run.result.simulator_queries},
                            {"scores", std::move(scores)}});
  }
  return to_text(json);
}

}  // namespace hindsight::report
