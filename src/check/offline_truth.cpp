/// Optima and ranks of the offline study's proposals.
#include <algorithm>
#include <map>
#include <memory>

#include "hindsight/check/offline.h"
#include "hindsight/check/optima.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/interrupt.h"

namespace hindsight::check {
namespace {

constexpr const char* kSpace = "edge";
constexpr const char* kReference = "data/reference/optima.csv";
constexpr const char* kObjective = "latency_s";

bool go_on(const accel::optimum::Standing&) { return !interrupt_requested(); }

/// Of the shipped file; none when it is of another model or technology, or is not there.
std::vector<TaskOptimum> shipped_optima(const accel::Technology& technology) {
  for (const std::filesystem::path& root : data_roots()) {
    const std::filesystem::path file = root / kReference;
    if (!std::filesystem::exists(file)) continue;
    if (auto optima = parse_optima(read_file(file), technology, file)) return *optima;
  }
  return {};
}

double optimum_of(const OfflineTask& task, const std::vector<TaskOptimum>& shipped,
                  const accel::Technology& technology) {
  const auto same = [&](const TaskOptimum& one) {
    return one.objective == kObjective && one.task.name == task.name && one.task.apply == task.apply &&
           one.task.area_limit_mm2 == task.area_limit_mm2;
  };
  const auto found = std::find_if(shipped.begin(), shipped.end(), same);
  return found != shipped.end() ? found->value : latency_optimum(task, technology, go_on).value;
}

/// Ranks of the first and of the best proposal of all results of one task.
void add_ranks(const OfflineTask& task, const std::vector<OfflineResult*>& results,
               const accel::optimum::Landscape& landscape, const accel::Technology& technology) {
  const space::DesignSpace space = space::load_space(kSpace);
  std::vector<workload::Network> networks;
  for (const std::string& name : task.apply) networks.push_back(workload::load_network(name));
  accel::optimum::Question question{.space = &space, .technology = &technology};
  for (const workload::Network& network : networks) question.networks.push_back(&network);
  question.limits = {{accel::find_metric("area_mm2"), task.area_limit_mm2}};
  landscape.require_answers(question);
  std::vector<double> values;
  for (const OfflineResult* result : results) {
    for (const auto& value : {result->value, result->best_value}) {
      if (value) values.push_back(*value);
    }
  }
  const std::vector<accel::optimum::Rank> ranks = landscape.ranks(question, values);
  auto next = ranks.begin();
  for (OfflineResult* result : results) {
    if (result->value) result->truth->rank = *next++;
    if (result->best_value) result->truth->best_rank = *next++;
  }
}

}  // namespace

void add_truth(OfflineStudy& study, const accel::Technology& technology, const std::filesystem::path& landscape) {
  std::map<std::string, std::vector<OfflineResult*>> by_task;
  for (OfflineResult& result : study.results) by_task[result.task].push_back(&result);
  const std::vector<TaskOptimum> shipped = shipped_optima(technology);
  std::unique_ptr<const accel::optimum::Landscape> ranks;
  if (!landscape.empty()) {
    ranks = std::make_unique<const accel::optimum::Landscape>(accel::optimum::Landscape::read(landscape));
  }
  for (auto& [name, results] : by_task) {
    if (interrupt_requested()) throw Error(ErrorKind::interrupted, "interrupted before the exact optima were known");
    const OfflineTask task = select_tasks({name}).front();
    const double optimum = optimum_of(task, shipped, technology);
    for (OfflineResult* result : results) result->truth = OfflineTruth{.optimum = optimum};
    if (ranks) add_ranks(task, results, *ranks, technology);
  }
}

}  // namespace hindsight::check
