/// Tables of the benchmark's tasks and of a player's score.
#include "hindsight/report/play.h"

#include <fmt/format.h>

#include <map>

#include "hindsight/accel/evaluation.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/table.h"
#include "hindsight/report/design_table.h"
#include "report/fields.h"
#include "report/json.h"

namespace hindsight::report {
namespace {

std::string limits_text(const check::PlayTask& task) {
  std::vector<std::string> limits;
  for (const sweep::FactLimit& bound : task.limits) limits.push_back(metric_text(bound.fact, bound.limit));
  return join(limits, ", ");
}

std::string or_dash(const std::optional<std::string>& text) { return text.value_or("-"); }

std::string objective_text(const check::PlayScore& score, double value) {
  return score.objective == check::PlayObjective::latency ? metric_text("latency_s", value) : si(value, "J s");
}

/// "12 infeasible: noc_timing 8, area_mm2 5".
std::string infeasible_text(const check::PlayScore& score) {
  std::map<std::string, std::size_t> counts;
  std::size_t infeasible = 0;
  for (const check::PlayedDesign& design : score.designs) {
    if (!design.value) ++infeasible;
    for (const std::string& reason : design.reasons) ++counts[reason];
  }
  std::vector<std::string> reasons;
  for (const auto& [reason, count] : counts) reasons.push_back(fmt::format("{} {}", reason, count));
  return fmt::format("{} infeasible{}", infeasible, infeasible == 0 ? "" : ": " + join(reasons, ", "));
}

}  // namespace

std::string play_tasks_text(int columns) {
  Table table;
  table.add_column("task", Align::left);
  table.add_column("version", Align::right, 2);
  table.add_column("log", Align::left);
  table.add_column("designs", Align::right);
  table.add_column("train", Align::right, 1);
  table.add_column("apply", Align::right, 1);
  table.add_column("limits", Align::left);
  table.add_column("about", Align::left, 3);
  for (const check::PlayTask& task : check::play_tasks()) {
    table.add_row({task.name, std::to_string(task.version), check::to_string(task.log.kind),
                   with_commas(task.log.samples), std::to_string(task.train.size()), std::to_string(task.apply.size()),
                   limits_text(task), task.about});
  }
  return table.render(columns);
}

std::string play_tasks_json() {
  Json tasks = Json::array();
  for (const check::PlayTask& task : check::play_tasks()) {
    Json limits = Json::object();
    for (const sweep::FactLimit& bound : task.limits) limits[bound.fact] = bound.limit;
    tasks.push_back({{"task", task.name},
                     {"version", task.version},
                     {"about", task.about},
                     {"objective", check::formula_of(task.objective)},
                     {"log", check::to_string(task.log.kind)},
                     {"designs", task.log.samples},
                     {"train", task.train},
                     {"apply", task.apply},
                     {"limits", limits}});
  }
  return to_text({{"model_version", check::play_technology().model_version}, {"tasks", tasks}});
}

std::string play_score_text(const check::PlayScore& score, int columns) {
  std::string out =
      wrapped("",
              fmt::format("{} (version {}, model {}): {}, {}", score.task, score.task_version, score.model_version,
                          counted(score.designs.size(), "proposal"), infeasible_text(score)),
              columns, 2);
  Table table;
  table.add_column("best of", Align::right);
  table.add_column("feasible", Align::right);
  table.add_column(score.objective == check::PlayObjective::latency ? "latency" : "EDP", Align::right);
  table.add_column("regret", Align::right);
  table.add_column("rank", Align::right);
  for (const check::PlayedBest& best : score.best) {
    const auto value = best.value ? std::optional(objective_text(score, *best.value)) : std::nullopt;
    const auto regret = best.regret ? std::optional(fmt::format("{:.4f}", *best.regret)) : std::nullopt;
    const auto rank = best.rank ? std::optional(with_commas(*best.rank)) : std::nullopt;
    table.add_row(
        {std::to_string(best.of), std::to_string(best.feasible), or_dash(value), or_dash(regret), or_dash(rank)});
  }
  out += "\n" + table.render(columns);
  if (!score.ruler.optimum) return out + "no design of the space meets the limits of this task\n";
  out +=
      wrapped("", fmt::format("the best design there is: {}", objective_text(score, *score.ruler.optimum)), columns, 2);
  return out + design_line("  ", score.ruler.optimum_design, columns);
}

std::string play_score_json(const check::PlayScore& score) {
  Json designs = Json::array(), best = Json::array();
  for (const check::PlayedDesign& design : score.designs) {
    designs.push_back({{"design", design.design},
                       {"feasible", design.value.has_value()},
                       {check::key_of(score.objective), value_or_null(design.value)},
                       {"reasons", design.reasons}});
  }
  for (const check::PlayedBest& one : score.best) {
    best.push_back({{"of", one.of},
                    {"feasible", one.feasible},
                    {check::key_of(score.objective), value_or_null(one.value)},
                    {"regret", value_or_null(one.regret)},
                    {"rank", value_or_null(one.rank)}});
  }
  return to_text({{"hindsight_version", build_info().version},
                  {"commit", build_info().commit},
                  {"task", score.task},
                  {"task_version", score.task_version},
                  {"model_version", score.model_version},
                  {"evaluations", score.evaluations},
                  {"optimum_" + check::key_of(score.objective), value_or_null(score.ruler.optimum)},
                  {"optimum_design", score.ruler.optimum_design},
                  {"best", best},
                  {"proposals", designs}});
}

}  // namespace hindsight::report
