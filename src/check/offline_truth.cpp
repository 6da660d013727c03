/// Optima and ranks of the offline study's proposals.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "check/task_question.h"
#include "hindsight/accel/optimum/structure.h"
#include "hindsight/check/offline.h"
#include "hindsight/check/optima.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/interrupt.h"

namespace hindsight::check {
namespace {

/// Of the technology of the study's space, and of that of its results.
constexpr std::array<const char*, 2> kReferences{"data/reference/optima.csv", "data/reference/optima-22nm.csv"};

bool go_on(const accel::optimum::Standing&) { return !interrupt_requested(); }

/// Of the shipped files; none when they are of another model or technology, or not there.
std::vector<TaskOptimum> shipped_optima(const accel::Technology& technology) {
  for (const std::filesystem::path& root : data_roots()) {
    for (const char* name : kReferences) {
      const std::filesystem::path file = root / name;
      if (!std::filesystem::exists(file)) continue;
      if (auto optima = parse_optima(read_file(file), technology, file)) return *optima;
    }
  }
  return {};
}

/// Nothing when no design is within the task's limit.
std::optional<double> optimum_of(const OfflineTask& task, const std::vector<TaskOptimum>& shipped,
                                 const accel::Technology& technology) {
  const auto same = [&](const TaskOptimum& one) {
    return one.objective == optima_objectives().front() && one.task.name == task.name && one.task.apply == task.apply &&
           one.task.area_limit_mm2 == task.area_limit_mm2;
  };
  const auto found = std::find_if(shipped.begin(), shipped.end(), same);
  if (found != shipped.end()) return found->value;
  const auto computed = latency_optimum(task, technology, go_on);
  return computed ? std::optional(computed->value) : std::nullopt;
}

/// What beats the exact optimum is of another simulator.
void require_possible(const OfflineResult& result, double optimum, const accel::Technology& technology) {
  for (const auto& value : {result.value, result.best_value}) {
    if (!value || *value >= optimum * (1 - accel::optimum::kMargin)) continue;
    throw Error(
        ErrorKind::incompatible,
        fmt::format("{} of method {}, seed {}: {} s is less than the exact optimum of {}, {} s: it was simulated "
                    "by another model or technology. Name its --technology, or run the study again?",
                    result.task, result.method, result.seed, *value, accel::evaluator_name(technology), optimum));
  }
}

/// Ranks of the first and of the best proposal of all results of one task.
void add_ranks(const OfflineTask& task, const std::vector<OfflineResult*>& results,
               const accel::optimum::Landscape& landscape, const accel::Technology& technology) {
  std::vector<double> values;
  for (const OfflineResult* result : results) {
    for (const auto& value : {result->value, result->best_value}) {
      if (value) values.push_back(*value);
    }
  }
  const TaskQuestion asked(task, technology);
  const std::vector<accel::optimum::Rank> ranks = landscape.ranks(asked.question, values);
  auto next = ranks.begin();
  for (OfflineResult* result : results) {
    if (result->value) result->truth->rank = *next++;
    if (result->best_value) result->truth->best_rank = *next++;
  }
}

}  // namespace

accel::optimum::Landscape read_study_landscape(const std::filesystem::path& file, const std::vector<OfflineTask>& tasks,
                                               const accel::Technology& technology) {
  accel::optimum::Landscape landscape = accel::optimum::Landscape::read(file);
  for (const OfflineTask& task : tasks) landscape.require_answers(TaskQuestion(task, technology).question);
  return landscape;
}

void add_truth(OfflineStudy& study, const accel::Technology& technology, const accel::optimum::Landscape* landscape) {
  std::map<std::string, std::vector<OfflineResult*>> by_task;
  for (OfflineResult& result : study.results) by_task[result.task].push_back(&result);
  const std::vector<TaskOptimum> shipped = shipped_optima(technology);
  for (auto& [name, results] : by_task) {
    const OfflineTask task = select_tasks({name}).front();
    std::optional<double> optimum;
    try {
      optimum = optimum_of(task, shipped, technology);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::interrupted) throw;
    }
    if (!optimum) continue;
    for (OfflineResult* result : results) {
      require_possible(*result, *optimum, technology);
      result->truth = OfflineTruth{.optimum = *optimum};
    }
    if (landscape != nullptr && !interrupt_requested()) add_ranks(task, results, *landscape, technology);
  }
}

}  // namespace hindsight::check
