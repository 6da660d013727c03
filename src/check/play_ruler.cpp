/// Asks the exact optimum what the best design of a task is, and how many are better than another.
#include <map>
#include <memory>

#include "hindsight/accel/optimum/optimum.h"
#include "hindsight/check/play_score.h"
#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/progress.h"

namespace hindsight::check {
namespace {

/// A question and what it refers to.
struct Truth {
  std::shared_ptr<const evaluator::Evaluator> evaluator = play_evaluator();
  accel::Technology technology = play_technology();
  std::vector<workload::Network> networks;
  accel::optimum::Question question;
  std::map<double, std::uint64_t> better;  ///< designs, by the values that were asked for
};

std::shared_ptr<Truth> truth_of(const PlayTask& task) {
  auto truth = std::make_shared<Truth>();
  for (const std::string& name : task.apply) truth->networks.push_back(workload::load_network(name));
  truth->question.space = &truth->evaluator->space();
  truth->question.technology = &truth->technology;
  for (const workload::Network& network : truth->networks) truth->question.networks.push_back(&network);
  truth->question.aggregate = Aggregate::mean;
  if (task.objective == PlayObjective::edp) truth->question.goal = {.latency = 1, .energy = 1};
  for (const sweep::FactLimit& bound : task.limits) {
    const accel::Metric* metric = accel::find_metric(bound.fact);
    HINDSIGHT_EXPECT(metric != nullptr);
    truth->question.limits.push_back({.metric = metric, .most = bound.limit});
  }
  return truth;
}

/// Shows how many designs are settled, until Ctrl-C.
accel::optimum::Watch shown_on(Progress& progress) {
  return [&progress](const accel::optimum::Standing& standing) {
    progress.update(standing.settled);
    return !interrupt_requested();
  };
}

[[noreturn]] void stop() { throw Error(ErrorKind::interrupted, "interrupted while designs were compared"); }

}  // namespace

PlayRuler ruler_of(const PlayTask& task, bool quiet) {
  const std::shared_ptr<Truth> truth = truth_of(task);
  const std::uint64_t designs = *truth->evaluator->space().size();
  Progress progress("optimum", designs, "designs", quiet);
  const accel::optimum::Answer answer = accel::optimum::find_optimum(truth->question, shown_on(progress));
  if (answer.interrupted) stop();
  progress.update(designs);
  PlayRuler ruler;
  if (!answer.best.empty()) {
    ruler.optimum = answer.best.front().value;
    ruler.optimum_design = truth->evaluator->space().text_id(answer.best.front().design);
  }
  ruler.rank = [truth, designs, quiet](double value) {
    const auto known = truth->better.find(value);
    if (known != truth->better.end()) return known->second + 1;
    Progress counting("rank", designs, "designs", quiet);
    const accel::optimum::Standings standings =
        accel::optimum::count_better(truth->question, value, shown_on(counting));
    if (standings.interrupted) stop();
    counting.update(designs);
    truth->better.emplace(value, standings.better);
    return standings.better + 1;
  };
  return ruler;
}

}  // namespace hindsight::check
