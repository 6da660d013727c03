/// Text and JSON of backtests.
#include "hindsight/report/backtest.h"

#include <fmt/format.h>

#include <cmath>

#include "hindsight/core/plural.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "report/fields.h"
#include "report/json.h"

namespace hindsight::report {
namespace {

std::string ratio_cell(double value) { return std::isfinite(value) ? fmt::format("{:.2f}", value) : "-"; }

/// The true objective of what was chosen beside the predicted one.
std::string compared_cell(const study::BacktestScore& score, bool has_ratios) {
  if (has_ratios) return ratio_cell(score.true_over_predicted);
  const double difference = score.true_minus_predicted_sd;
  return std::isfinite(difference) ? fmt::format("{:+.2f}", difference) : "-";
}

Table score_table(const study::BacktestResult& result) {
  Table table;
  table.add_column("recipe", Align::left);
  table.add_column("hidden", Align::left, 1);
  table.add_column("first", Align::right);
  table.add_column(fmt::format("best of {}", study::kBacktestProposals), Align::right);
  table.add_column("infeasible", Align::right);
  table.add_column("recall", Align::right, 2);
  table.add_column("danger", Align::right, 2);
  table.add_column(result.has_ratios ? "true/predicted" : "true - predicted (SD)", Align::right, 3);
  table.add_column("seconds", Align::right, 4);
  for (std::size_t i = 0; i < result.candidates.size(); ++i) {
    const study::Backtest& test = result.candidates[i];
    std::string name = (i == result.chosen ? "> " : "  ") + test.recipe.name;
    for (const study::BacktestScore& score : test.scores) {
      table.add_row({name, study::to_string(score.hiding), ratio_cell(score.first_regret),
                     ratio_cell(score.best_regret), percent(score.infeasible_frac), percent(score.recall),
                     percent(score.danger), compared_cell(score, result.has_ratios),
                     fmt::format("{:.1f}", score.seconds)});
      name.clear();
    }
    if (test.scores.empty()) table.add_row({name, "-", "-", "-", "-", "-", "-", "-", "-"});
  }
  return table;
}

}  // namespace

std::string choice_text(const study::BacktestResult& result) {
  const study::Backtest& chosen = result.candidates[result.chosen];
  double first = 0, best = 0;
  for (const study::BacktestScore& score : chosen.scores) {
    first += std::log(score.first_regret) / static_cast<double>(chosen.scores.size());
    best += std::log(score.best_regret) / static_cast<double>(chosen.scores.size());
  }
  return fmt::format("{}, of {}: regret {:.2f} for the first, {:.2f} for the best of {} hidden designs it chose",
                     chosen.recipe.name, counted(result.candidates.size(), "recipe"), std::exp(first), std::exp(best),
                     study::kBacktestProposals);
}

std::string backtest_text(const study::BacktestResult& result, int columns) {
  std::string text = wrapped(
      "",
      fmt::format(
          "Would a recipe have found the best of {} ({} feasible)? A part is hidden, the recipe learns from the "
          "rest and chooses among what is hidden: true objective of its first choice, and of the best of {}, "
          "over the best hidden one; how much of that cannot be built; how many of the good hidden designs it "
          "would propose (recall); how many of those its objective alone likes best cannot be built (danger).",
          counted(result.rows, "row"), with_commas(result.feasible), study::kBacktestProposals),
      columns, 0);
  text += "\n" + score_table(result).render(columns) + "\n";
  for (const study::Backtest& test : result.candidates) {
    if (!test.failure.empty()) {
      text += wrapped("", fmt::format("{}: {}", test.recipe.name, test.failure), columns, 2);
    } else if (!test.veto.empty()) {
      text += wrapped("", fmt::format("against {}: {}", test.recipe.name, test.veto), columns, 2);
    }
  }
  for (const std::string& remark : result.remarks) text += wrapped("", remark, columns, 0);
  text += wrapped("", fmt::format("chosen: {}", choice_text(result)), columns, 2);
  return text;
}

std::string backtest_json(const study::BacktestResult& result) {
  Json json{{"hindsight_version", build_info().version},
            {"commit", build_info().commit},
            {"rows", result.rows},
            {"feasible", result.feasible},
            {"chosen", result.candidates[result.chosen].recipe.name},
            {"remarks", result.remarks},
            {"seconds", result.seconds}};
  json["candidates"] = Json::array();
  for (const study::Backtest& test : result.candidates) {
    Json scores = Json::array();
    for (const study::BacktestScore& score : test.scores) {
      scores.push_back({{"hidden", study::to_string(score.hiding)},
                        {"first_regret", finite_or_null(score.first_regret)},
                        {"best_regret", finite_or_null(score.best_regret)},
                        {"infeasible_firsts", score.infeasible_firsts},
                        {"applications", score.applications},
                        {"infeasible_frac", score.infeasible_frac},
                        {"recall", score.recall},
                        {"danger", score.danger},
                        {"true_over_predicted", finite_or_null(score.true_over_predicted)},
                        {"true_minus_predicted_sd", finite_or_null(score.true_minus_predicted_sd)},
                        {"seconds", score.seconds}});
    }
    json["candidates"].push_back({{"recipe", test.recipe.name},
                                  {"loss", finite_or_null(test.loss)},
                                  {"veto", test.veto},
                                  {"failure", test.failure},
                                  {"scores", std::move(scores)}});
  }
  return to_text(json);
}

}  // namespace hindsight::report
