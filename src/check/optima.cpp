/// Asks for the exact optimum of every task.
#include "hindsight/check/optima.h"

#include <fmt/format.h>

#include <array>

#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/csv_import.h"

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

TaskOptimum optimum_of(const OfflineTask& task, const std::string& objective, const accel::optimum::Goal& goal,
                       const accel::Technology& technology, const accel::optimum::Watch& watch) {
  const space::DesignSpace space = space::load_space(kSpace);
  std::vector<workload::Network> networks;
  for (const std::string& name : task.apply) networks.push_back(workload::load_network(name));
  accel::optimum::Question question{.space = &space, .technology = &technology};
  for (const workload::Network& network : networks) question.networks.push_back(&network);
  question.goal = goal;
  question.limits = {{accel::find_metric("area_mm2"), task.area_limit_mm2}};
  const accel::optimum::Answer answer = accel::optimum::find_optimum(question, watch);
  if (answer.interrupted) throw Error(ErrorKind::interrupted, "interrupted before the exact optimum was known");
  HINDSIGHT_ENSURE(!answer.best.empty());
  return {.task = task,
          .objective = objective,
          .value = answer.best.front().value,
          .design = space.text_id(answer.best.front().design)};
}

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
  const accel::Technology technology = accel::load_technology(kTechnology);
  std::vector<TaskOptimum> optima;
  for (const OfflineTask& task : tasks) {
    for (const std::string& objective : objectives) {
      const accel::optimum::Goal goal = kObjectives.at(index_of_name("objective", objective, optima_objectives())).goal;
      optima.push_back(optimum_of(task, objective, goal, technology, watch));
    }
  }
  return optima;
}

TaskOptimum latency_optimum(const OfflineTask& task, const accel::Technology& technology,
                            const accel::optimum::Watch& watch) {
  return optimum_of(task, kObjectives.front().name, kObjectives.front().goal, technology, watch);
}

std::optional<std::vector<TaskOptimum>> parse_optima(const std::string& text, const accel::Technology& technology,
                                                     const std::filesystem::path& file) {
  const std::size_t header = text.find("\ntask,");
  if (header == std::string::npos) {
    throw Error(ErrorKind::usage, fmt::format("{}: has no row of names that begins with 'task'. Write it with "
                                              "`hindsight bench optima`?",
                                              file.string()));
  }
  const std::string about = text.substr(0, text.find('\n'));
  if (!about.ends_with(fmt::format(", {}.", accel::evaluator_name(technology)))) return std::nullopt;
  const dataset::CsvTable table = dataset::parse_csv(std::string_view(text).substr(header + 1), file);
  const auto cell = [&](std::size_t row, const char* name) { return table.rows[row][table.column(name)]; };
  std::vector<TaskOptimum> optima;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto limit = parse_double(cell(i, "area_limit_mm2")), value = parse_double(cell(i, "optimum"));
    if (!limit || !value || !(*value > 0)) {
      throw Error(ErrorKind::usage, fmt::format("{}: row {}: limit and optimum must be positive numbers. Write it with "
                                                "`hindsight bench optima`?",
                                                file.string(), i + 1));
    }
    optima.push_back({.task = {.name = cell(i, "task"),
                               .train = {},
                               .apply = split(cell(i, "applications"), ' '),
                               .area_limit_mm2 = *limit},
                      .objective = cell(i, "objective"),
                      .value = *value,
                      .design = cell(i, "design")});
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
