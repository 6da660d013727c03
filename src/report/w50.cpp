/// Text and JSON of W50 runs: medians per table and method.
#include "hindsight/report/w50.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "hindsight/core/provenance.h"
#include "hindsight/core/statistics.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "report/fields.h"
#include "report/json.h"

namespace hindsight::report {
namespace {

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

/// Values over seeds and contexts.
std::vector<double> values_over(const Group& group, const std::function<double(const check::W50Score&)>& value) {
  std::vector<double> values;
  for (const W50Run* run : group.runs) {
    for (const check::W50Score& score : run->result.scores) values.push_back(value(score));
  }
  return values;
}

/// NaN where no run has such a value.
double middle_of(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  return values.empty() ? std::numeric_limits<double>::quiet_NaN() : median(std::move(values));
}

double median_over(const Group& group, const std::function<double(const check::W50Score&)>& value) {
  return middle_of(values_over(group, value));
}

std::vector<std::size_t> numbers_of_proposals(const std::vector<W50Run>& runs) {
  std::vector<std::size_t> top;
  for (const W50Run& run : runs) {
    for (const check::W50Score& score : run.result.scores) {
      for (const check::W50Top& one : score.top) top.push_back(one.k);
      return top;
    }
  }
  return top;
}

/// What the table shows of one group.
struct Summary {
  double best_row = 0, worst_first = 0, seconds = 0;
  double first_rank = 0, feasible = 0;  ///< medians; 0: of several tables
  std::vector<double> regret;           ///< per number of proposals
  std::size_t infeasible_firsts = 0, sets = 0;
  double infeasible_frac = 0;
};

Summary summary_of(const Group& group, std::size_t tops) {
  using check::W50Score;
  Summary summary;
  summary.best_row = median_over(group, [](const W50Score& score) {
    return score.best_training > 0 ? 1 / score.best_training : std::numeric_limits<double>::quiet_NaN();
  });
  for (std::size_t i = 0; i < tops; ++i) {
    const std::vector<double> regrets = values_over(group, [i](const W50Score& score) { return score.top[i].regret; });
    summary.regret.push_back(middle_of(regrets));
    if (i == 0 && !regrets.empty()) summary.worst_first = *std::max_element(regrets.begin(), regrets.end());
  }
  summary.first_rank =
      median_over(group, [](const W50Score& score) { return static_cast<double>(score.top.front().better + 1); });
  summary.feasible = median_over(group, [](const W50Score& score) { return static_cast<double>(score.feasible); });
  for (const double share :
       values_over(group, [](const W50Score& score) { return score.top.front().infeasible_frac; })) {
    ++summary.sets;
    summary.infeasible_firsts += share > 0 ? 1 : 0;
  }
  summary.infeasible_frac = median_over(group, [](const W50Score& score) { return score.top.back().infeasible_frac; });
  std::vector<double> seconds;
  for (const W50Run* run : group.runs) seconds.push_back(run->result.seconds);
  summary.seconds = median(seconds);
  return summary;
}

std::string regret_cell(double regret) { return std::isfinite(regret) ? fmt::format("{:.3f}", regret) : "-"; }

/// "471 of 13,114"
std::string rank_cell(const Summary& summary) {
  if (!(summary.feasible > 0)) return "-";
  return fmt::format("{} of {}", with_commas(static_cast<std::uint64_t>(summary.first_rank)),
                     with_commas(static_cast<std::uint64_t>(summary.feasible)));
}

std::vector<std::string> cells_of(const std::string& table, const std::string& method, const std::string& rows,
                                  const Summary& summary) {
  std::vector<std::string> cells{table, method, rows, regret_cell(summary.best_row)};
  for (std::size_t i = 0; i < summary.regret.size(); ++i) {
    cells.push_back(regret_cell(summary.regret[i]));
    if (i > 0) continue;
    cells.push_back(regret_cell(summary.worst_first));
    cells.push_back(rank_cell(summary));
  }
  cells.push_back(fmt::format("{} of {}", summary.infeasible_firsts, summary.sets));
  cells.push_back(percent(summary.infeasible_frac));
  cells.push_back(fmt::format("{:.1f}", summary.seconds));
  return cells;
}

/// Geometric means of a method's regrets over all tables; sums and means of the rest.
Summary over_tables(const std::vector<Summary>& tables) {
  Summary all;
  const auto count = static_cast<double>(tables.size());
  double best_row = 0, worst = 0;
  std::vector<double> regret(tables.front().regret.size(), 0);
  for (const Summary& one : tables) {
    best_row += std::log(one.best_row) / count;
    worst += std::log(one.worst_first) / count;
    for (std::size_t i = 0; i < regret.size(); ++i) regret[i] += std::log(one.regret[i]) / count;
    all.infeasible_firsts += one.infeasible_firsts;
    all.sets += one.sets;
    all.infeasible_frac += one.infeasible_frac / count;
    all.seconds += one.seconds / count;
  }
  all.best_row = std::exp(best_row);
  all.worst_first = std::exp(worst);
  for (const double sum : regret) all.regret.push_back(std::exp(sum));
  return all;
}

Table make_table(const std::vector<W50Run>& runs) {
  const std::vector<std::size_t> top = numbers_of_proposals(runs);
  Table table;
  table.add_column("table", Align::left);
  table.add_column("method", Align::left);
  table.add_column("rows", Align::right, 3);
  table.add_column("best row", Align::right);
  for (std::size_t i = 0; i < top.size(); ++i) {
    table.add_column(fmt::format("best of {}", top[i]), Align::right);
    if (i > 0) continue;
    table.add_column("worst", Align::right, 2);
    table.add_column("rank", Align::right, 2);
  }
  table.add_column("infeasible firsts", Align::right, 1);
  table.add_column(top.empty() ? "infeasible" : fmt::format("of {}", top.back()), Align::right, 1);
  table.add_column("seconds", Align::right, 3);
  std::vector<std::string> methods;
  std::map<std::string, std::vector<Summary>> by_method;
  std::set<std::string> names;
  for (const Group& group : grouped(runs)) {
    const Summary summary = summary_of(group, top.size());
    if (!by_method.contains(group.method)) methods.push_back(group.method);
    by_method[group.method].push_back(summary);
    names.insert(group.table);
    if (summary.sets == 0) continue;
    table.add_row(cells_of(group.table, group.method, with_commas(group.runs.front()->result.train_rows), summary));
  }
  if (names.size() < 2) return table;
  table.add_rule();
  for (const std::string& method : methods) {
    if (by_method[method].size() != names.size()) continue;  // interrupted: no mean over some of the tables
    table.add_row(cells_of(fmt::format("all {}", names.size()), method, "", over_tables(by_method[method])));
  }
  return table;
}

/// Which tables do not hold their whole space; empty when all do.
std::string partial_tables(const std::vector<W50Run>& runs) {
  std::set<std::string> partial;
  for (const W50Run& run : runs) {
    for (const check::W50Score& score : run.result.scores) {
      if (!score.whole_space) partial.insert(run.table);
    }
  }
  if (partial.empty()) return "";
  return fmt::format("Not every design of their spaces is in the table, so its own rows are proposed from: {}.",
                     fmt::join(partial, ", "));
}

}  // namespace

std::string w50_text(const std::vector<W50Run>& runs, int columns) {
  std::string text =
      wrapped("",
              "Best true objective among the proposals / true optimum: 1 = optimum; a set without a feasible proposal "
              "counts as the worst feasible row. Medians over seeds and contexts, beside the first proposal's its "
              "worst and its rank among the table's feasible rows; over several tables geometric means.",
              columns, 0) +
      "\n" + make_table(runs).render(columns);
  if (const std::string partial = partial_tables(runs); !partial.empty())
    text += "\n" + wrapped("", partial, columns, 0);
  return text;
}

std::string w50_markdown(const std::vector<W50Run>& runs) { return make_table(runs).markdown(); }

std::string w50_json(const std::vector<W50Run>& runs, const check::W50Options& options) {
  const optimize::ProposeOptions usual = optimize::options_of(options.risk.risk, false);
  Json json{{"hindsight_version", build_info().version},
            {"commit", build_info().commit},
            {"hide_frac", options.hide_frac},
            {"risk", optimize::to_string(options.risk.risk)},
            {"pessimism", options.risk.pessimism.value_or(usual.pessimism)},
            {"diversity", options.risk.diversity.value_or(usual.diversity)},
            {"portfolio", optimize::to_string(options.risk.portfolio.value_or(usual.portfolio))},
            {"evaluations", options.evaluations}};
  json["runs"] = Json::array();
  for (const W50Run& run : runs) {
    Json scores = Json::array();
    for (const check::W50Score& score : run.result.scores) {
      Json top = Json::array();
      for (const check::W50Top& one : score.top) {
        top.push_back({{"k", one.k},
                       {"ratio", one.ratio},
                       {"regret", one.regret},
                       {"rank", one.better + 1},
                       {"infeasible_frac", one.infeasible_frac}});
      }
      Json proposals = Json::array();
      for (const check::W50Proposal& one : score.proposals) {
        proposals.push_back({{"known", one.known},
                             {"feasible", one.regret.has_value()},
                             {"regret", one.regret ? Json(*one.regret) : Json(nullptr)},
                             {"rank", one.better ? Json(*one.better + 1) : Json(nullptr)}});
      }
      scores.push_back({{"context", score.context},
                        {"optimum", score.optimum},
                        {"feasible_rows", score.feasible},
                        {"best_training_ratio", score.best_training},
                        {"unknown_frac", score.unknown_frac},
                        {"whole_space", score.whole_space},
                        {"top", std::move(top)},
                        {"proposals", std::move(proposals)}});
    }
    json["runs"].push_back({{"table", run.table},
                            {"method", run.method},
                            {"recipe", run.result.recipe},
                            {"recipe_text", run.recipe},
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

std::string w50_csv_names() {
  return "cell,table,method,recipe,seed,train_rows,train_feasible,context,feasible_rows,optimum,best_training_ratio,"
         "unknown_frac,k,ratio,regret,rank,infeasible_frac\n";
}

std::string w50_csv_rows(const W50Run& run, std::uint64_t cell) {
  std::string rows;
  for (const check::W50Score& score : run.result.scores) {
    for (const check::W50Top& one : score.top) {
      rows += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", cell, csv_cell(run.table),
                          csv_cell(run.method), csv_cell(run.result.recipe), run.seed, run.result.train_rows,
                          run.result.train_feasible, csv_cell(score.context), score.feasible, shortest(score.optimum),
                          shortest(score.best_training), shortest(score.unknown_frac), one.k, shortest(one.ratio),
                          shortest(one.regret), one.better + 1, shortest(one.infeasible_frac));
    }
  }
  return rows;
}

}  // namespace hindsight::report
