/// From the words of a request to those of the exact optimum.
#include "hindsight/study/optimum_command.h"

#include <algorithm>

#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/optimum/floor.h"
#include "hindsight/core/error.h"
#include "hindsight/core/foreign_name.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/context.h"
#include "hindsight/dataset/network_context.h"
#include "hindsight/dataset/objective.h"
#include "hindsight/study/optimum.h"
#include "study/model_evaluator.h"

namespace hindsight::study {
namespace {

bool is_bounded(const accel::optimum::Limit& limit) {
  const std::string_view name = limit.metric->name;
  return limit.metric->known_before_evaluation() || name == "latency_s" || name == "energy_j";
}

/// Whether the networks of a task are the applications of the proposals.
bool has_networks(const OptimumTask& task, const std::vector<dataset::Context>& contexts) {
  const std::vector<workload::Network>& networks = task.networks();
  return networks.size() == contexts.size() && std::ranges::all_of(networks, [&](const workload::Network& network) {
           const dataset::Context here = dataset::context_of(network);
           const auto same = std::ranges::find(contexts, here.name, &dataset::Context::name);
           return same != contexts.end() && !dataset::contradict(here, *same);
         });
}

/// Whether it asks what the proposals answer, and is answered exactly.
bool is_exact(const OptimumRequest& request, const Proposals& so_far) {
  const OptimumTask task(request);
  return task.space().definition_hash() == so_far.model.parts().space.definition_hash() &&
         accel::optimum::has_exact_bounds(task.space()) &&
         accel::evaluator_name(task.technology()) == rows_evaluator(so_far.model) &&
         std::ranges::all_of(task.question().limits, is_bounded) && has_networks(task, so_far.options.contexts);
}

OptimumRequest same_question(const ProposalRequest& request, const Proposals& so_far) {
  OptimumRequest same{.space = request.space.empty() ? so_far.model.parts().space.name() : request.space,
                      .workloads = join(request.workloads, ","),
                      .objective = dataset::to_string(
                          dataset::parse_objective(so_far.model.parts().objective_text, dataset::Direction::minimise)),
                      .limits = request.limits};
  if (so_far.options.contexts.size() > 1) {
    same.aggregate = so_far.options.aggregate;
    same.weights = so_far.options.weights;
  }
  return same;
}

std::vector<std::string> command_words_of(const OptimumRequest& request) {
  std::vector<std::string> words{"hindsight", "optimum", "--space", request.space, "--workloads", request.workloads};
  const auto add = [&words](const char* option, const std::vector<std::string>& values) {
    for (const std::string& value : values) words.insert(words.end(), {option, value});
  };
  add("--set", request.limits.set);
  add("--min", request.limits.min);
  add("--max", request.limits.max);
  if (request.objective != OptimumRequest().objective) add("--objective", {request.objective});
  std::vector<std::string> weights;
  for (const double weight : request.weights) weights.push_back(shortest(weight));
  if (!weights.empty()) {
    add("--weights", {join(weights, ",")});
  } else if (request.aggregate && *request.aggregate != Aggregate::geomean) {
    add("--aggregate", {to_string(*request.aggregate)});
  }
  if (!request.technology.empty()) add("--technology", {request.technology});
  return words;
}

}  // namespace

std::vector<std::string> optimum_command(const ProposalRequest& request, const Proposals& so_far) {
  const optimize::ProposeOptions& options = so_far.options;
  const bool has_networks_alone = !request.workloads.empty() && request.contexts.empty();
  const bool is_worst = options.contexts.size() > 1 && options.aggregate == Aggregate::worst;
  if (!has_networks_alone || is_worst || !options.front.empty() || so_far.technology.empty()) return {};
  OptimumRequest same = same_question(request, so_far);
  if (request.space.empty() && names_a_file(same.space)) return {};  // what stands in a model opens no file
  try {
    if (is_exact(same, so_far)) return command_words_of(same);
    same.technology = request.technology.empty() ? so_far.technology : request.technology;
    if (is_exact(same, so_far)) return command_words_of(same);
  } catch (const Error&) {
    return {};  // the exact search cannot be asked this
  }
  return {};
}

}  // namespace hindsight::study
