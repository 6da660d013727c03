/// Asks for the exact optimum of every task.
#include "hindsight/check/optima.h"

#include <fmt/format.h>

#include <array>

#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::check {
namespace {

constexpr const char* kSpace = "edge";
constexpr const char* kTechnology = "22nm";

struct KnownObjective {
  const char* name;
  accel::optimum::Goal goal;
};
constexpr std::array<KnownObjective, 3> kObjectives{{{"latency_s", {.latency = 1}},
                                                     {"energy_j", {.latency = 0, .energy = 1}},
                                                     {"energy_j * latency_s", {.latency = 1, .energy = 1}}}};

}  // namespace

const std::vector<std::string>& optima_objectives() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const KnownObjective& objective : kObjectives) all.emplace_back(objective.name);
    return all;
  }();
  return names;
}

std::vector<TaskOptimum> task_optima(const std::vector<OfflineTask>& tasks, const std::vector<std::string>& objectives,
                                     const accel::optimum::Watch& watch) {
  const space::DesignSpace space = space::load_space(kSpace);
  const accel::Technology technology = accel::load_technology(kTechnology);
  std::vector<TaskOptimum> optima;
  for (const OfflineTask& task : tasks) {
    std::vector<workload::Network> networks;
    for (const std::string& name : task.apply) networks.push_back(workload::load_network(name));
    for (const std::string& objective : objectives) {
      accel::optimum::Question question{.space = &space, .technology = &technology};
      for (const workload::Network& network : networks) question.networks.push_back(&network);
      question.goal = kObjectives.at(index_of_name("objective", objective, optima_objectives())).goal;
      question.limits = {{accel::find_metric("area_mm2"), task.area_limit_mm2}};
      const accel::optimum::Answer answer = accel::optimum::find_optimum(question, watch);
      if (answer.interrupted) throw Error(ErrorKind::interrupted, "interrupted; nothing was written");
      HINDSIGHT_ENSURE(!answer.best.empty());
      optima.push_back({.task = task,
                        .objective = objective,
                        .value = answer.best.front().value,
                        .design = space.text_id(answer.best.front().design)});
    }
  }
  return optima;
}

std::string optima_csv(const std::vector<TaskOptimum>& optima) {
  std::string text = fmt::format(
      "# Exact optima of the offline study's tasks over all designs of configs/spaces/{}.yaml, {}.\n"
      "# optimum: mean of the objective over the applications, in its SI unit, area_mm2 at most the limit.\n"
      "# Regenerate: hindsight bench optima --out data/reference/optima.csv\n"
      "task,applications,area_limit_mm2,objective,optimum,design\n",
      kSpace, accel::evaluator_name(accel::load_technology(kTechnology)));
  for (const TaskOptimum& one : optima) {
    text += fmt::format("{},{},{},{},{},{}\n", one.task.name, join(one.task.apply, " "),
                        shortest(one.task.area_limit_mm2), one.objective, shortest(one.value), csv_cell(one.design));
  }
  return text;
}

}  // namespace hindsight::check
