/// Asks for the exact optimum of every task.
#include "hindsight/check/optima.h"

#include <fmt/format.h>

#include <array>

#include "check/task_question.h"
#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/csv_import.h"
#include "hindsight/sweep/launcher.h"

namespace hindsight::check {
namespace {

struct KnownObjective {
  const char* name;
  accel::optimum::Goal goal;
};
constexpr std::array<KnownObjective, 3> kObjectives{{{"latency_s", {.latency = 1}},
                                                     {"energy_j", {.latency = 0, .energy = 1}},
                                                     {"energy_j * latency_s", {.latency = 1, .energy = 1}}}};

/// Nothing when no design is within the limit.
std::optional<TaskOptimum> optimum_of(const OfflineTask& task, const KnownObjective& objective,
                                      const accel::Technology& technology, const accel::optimum::Watch& watch) {
  TaskQuestion asked(task, technology);
  asked.question.goal = objective.goal;
  const accel::optimum::Answer answer = accel::optimum::find_optimum(asked.question, watch);
  if (answer.interrupted) throw Error(ErrorKind::interrupted, "interrupted before the exact optimum was known");
  if (answer.best.empty()) return std::nullopt;
  return TaskOptimum{.task = task,
                     .objective = objective.name,
                     .value = answer.best.front().value,
                     .design = asked.space.text_id(answer.best.front().design)};
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
                                     const accel::Technology& technology, const accel::optimum::Watch& watch,
                                     const sweep::Shard& shard) {
  std::vector<TaskOptimum> optima;
  std::uint64_t number = 0;
  for (const OfflineTask& task : tasks) {
    for (const std::string& objective : objectives) {
      if (!sweep::has_part(shard, number++)) continue;
      const auto& known = kObjectives.at(index_of_name("objective", objective, optima_objectives()));
      const auto optimum = optimum_of(task, known, technology, watch);
      HINDSIGHT_ENSURE(optimum.has_value());  // every task of the study has designs within its limit
      optima.push_back(*optimum);
    }
  }
  return optima;
}

std::optional<TaskOptimum> latency_optimum(const OfflineTask& task, const accel::Technology& technology,
                                           const accel::optimum::Watch& watch) {
  return optimum_of(task, kObjectives.front(), technology, watch);
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

std::string optima_csv(const std::vector<TaskOptimum>& optima, const accel::Technology& technology) {
  const bool own = technology.name == study_technology().name;
  std::string text = fmt::format(
      "# Exact optima of the offline study's tasks over all designs of configs/spaces/{}.yaml, {}.\n"
      "# optimum: mean of the objective over the applications, in its SI unit, area_mm2 at most the limit.\n"
      "# Regenerate: hindsight bench optima {}--out data/reference/optima{}.csv\n"
      "task,applications,area_limit_mm2,objective,optimum,design\n",
      kStudySpace, accel::evaluator_name(technology), own ? "" : fmt::format("--technology {} ", technology.name),
      own ? "" : "-" + technology.name);
  for (const TaskOptimum& one : optima) {
    text += fmt::format("{},{},{},{},{},{}\n", one.task.name, join(one.task.apply, " "),
                        shortest(one.task.area_limit_mm2), one.objective, shortest(one.value), csv_cell(one.design));
  }
  return text;
}

}  // namespace hindsight::check
