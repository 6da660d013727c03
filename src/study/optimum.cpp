/// From words to a question about the whole space, and from its answer to a log.
#include "hindsight/study/optimum.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "hindsight/accel/metrics.h"
#include "hindsight/accel/optimum/floor.h"
#include "hindsight/core/error.h"
#include "hindsight/core/json_line.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/objective.h"
#include "hindsight/log/log.h"
#include "hindsight/study/log_names.h"
#include "study/exact_question.h"
#include "study/optimum_parts.h"

namespace hindsight::study {
namespace {

using accel::optimum::Limit;
using accel::optimum::Question;
using Json = nlohmann::ordered_json;

Aggregate aggregate_of(const OptimumRequest& request, std::size_t networks) {
  if (request.weights.empty()) {
    const Aggregate aggregate = request.aggregate.value_or(Aggregate::geomean);
    if (aggregate != Aggregate::weighted) return aggregate;
    throw Error(ErrorKind::usage, "--aggregate weighted needs --weights, one per workload");
  }
  if (request.aggregate.value_or(Aggregate::weighted) != Aggregate::weighted) {
    throw Error(ErrorKind::usage, fmt::format("--weights are those of a weighted mean; --aggregate {} has none. Leave "
                                              "one of the two out?",
                                              to_string(*request.aggregate)));
  }
  const auto wrong = std::find_if(request.weights.begin(), request.weights.end(), [](double w) { return !(w >= 0); });
  if (request.weights.size() != networks || wrong != request.weights.end() ||
      std::all_of(request.weights.begin(), request.weights.end(), [](double w) { return w == 0; })) {
    throw Error(ErrorKind::usage,
                fmt::format("--weights: {} for {} (one that is named twice counts once). Give one per workload, none "
                            "negative and not all 0",
                            request.weights.size(), counted(networks, "workload")));
  }
  return Aggregate::weighted;
}

Json settings(const OptimumTask& task) {
  const Question& question = task.question();
  Json json{{"space", task.space().name()},
            {"space_hash", task.space().definition_hash()},
            {"evaluator", accel::evaluator_name(task.technology())},
            {"objective", task.objective()},
            {"aggregate", to_string(question.aggregate)},
            {"weights", question.weights},
            {"set", task.request().limits.set},
            {"min", task.request().limits.min},
            {"max", task.request().limits.max},
            {"top", question.top}};
  json["workloads"] = Json::array();
  for (const workload::Network& network : task.networks()) {
    json["workloads"].push_back({{"name", network.name()}, {"hash", network.definition_hash()}});
  }
  if (!question.derived_limits.empty()) json["derived_hash"] = task.space().derived_hash();
  return json;
}

}  // namespace

OptimumTask::OptimumTask(const OptimumRequest& request)
    : request_(request),
      space_(space::load_space(request.space)),
      technology_(accel::load_technology(request.technology, space_)),
      networks_(workload::load_networks(request.workloads)) {
  [[maybe_unused]] const accel::ConfigBinding described(space_);
  accel::require_expressible(technology_, space_);
  const std::vector<std::string> metrics = accel::metric_names();
  const dataset::Objective objective =
      dataset::parse_objective(known_objective(request.objective, metrics), dataset::Direction::minimise);
  std::vector<std::pair<std::string, double>> factors;
  for (const dataset::Objective::Factor& factor : objective.factors)
    factors.emplace_back(factor.metric, factor.exponent);
  objective_ = dataset::to_string(objective);
  if (factors.size() == 1 && factors.front().second == 1.0) metric_ = factors.front().first;
  SpaceLimits limits = resolve_space_limits(request.limits, space_, metrics);
  question_ = {.space = &space_,
               .allowed = std::move(limits.allowed),
               .technology = &technology_,
               .networks = {},
               .goal = accel::optimum::goal_of(factors),
               .aggregate = aggregate_of(request, networks_.size()),
               .weights = request.weights,
               .limits = {},
               .derived_limits = {},
               .top = request.top,
               .slice = request.slice};
  for (const std::string& list : request.pareto) {
    for (const std::string& word : split(list, ',')) front_.push_back(known_name(word, metrics));
  }
  for (const workload::Network& network : networks_) question_.networks.push_back(&network);
  for (const auto& [metric, most] : limits.metrics) question_.limits.push_back({accel::find_metric(metric), most});
  for (const auto& [name, most] : limits.derived) {
    question_.derived_limits.push_back(derived_limit(space_.rules(), name, most).value());
  }
}

Optimum find_optimum(const OptimumTask& task, const accel::optimum::Watch& watch) {
  const bool whole = task.question().slice.is_whole();
  if (!accel::optimum::has_exact_bounds(task.space())) {
    if (whole) return find_with_gap(task, watch);
    throw Error(ErrorKind::usage,
                fmt::format("--shard: the exact search has no bounds for the space {}, and its search is one. Leave it "
                            "out, or use `hindsight search --chains`?",
                            task.space().name()));
  }
  const auto start = std::chrono::steady_clock::now();
  Optimum optimum{.answer = accel::optimum::find_optimum(task.question(), watch), .seconds = 0};
  optimum.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (optimum.answer.best.empty() && !optimum.answer.interrupted && whole) fail_infeasible(task, watch);
  return optimum;
}

ExactFront find_front(const OptimumTask& task, const accel::optimum::Watch& watch) {
  const auto start = std::chrono::steady_clock::now();
  ExactFront found{.front = accel::optimum::find_front(task.question(), task.front(), task.request().epsilon, watch),
                   .seconds = 0};
  found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (found.front.points.empty() && !found.front.interrupted) fail_infeasible(task, watch);
  return found;
}

std::string proof_of(const Optimum& optimum) {
  if (optimum.gap) return optimum.gap->closed ? "branch and bound" : "search, and a floor of the latency";
  return optimum.answer.interrupted ? "bound of an interrupted branch and bound" : "branch and bound";
}

namespace {

/// {"unet": {"latency_s": 1e-3, ...}}: the confirmed metrics of a design by workload.
Json metrics_json(const OptimumTask& task, const accel::optimum::Ranked& ranked) {
  Json of_workloads = Json::object();
  for (std::size_t w = 0; w < ranked.evaluations.size(); ++w) {
    const accel::Evaluation& evaluation = ranked.evaluations[w];
    if (!evaluation.feasible()) continue;
    Json& of_workload = of_workloads[task.networks()[w].name()];
    for (const accel::Metric& metric : accel::metrics())
      of_workload[std::string(metric.name)] = metric.value(evaluation);
  }
  return of_workloads;
}

}  // namespace

void record(const OptimumTask& task, const Optimum& optimum, const Provenance& provenance) {
  const accel::optimum::Certificate& c = optimum.answer.certificate;
  Json json = settings(task);
  json["proof"] = proof_of(optimum);
  json["certificate"] = {{"designs", c.designs},       {"refused", c.refused},
                         {"infeasible", c.infeasible}, {"bounded", c.bounded},
                         {"evaluated", c.evaluated},   {"open", c.open},
                         {"least_left_out", nullptr},  {"network_costs", c.network_costs}};
  if (c.bounded + c.open > 0) json["certificate"]["least_left_out"] = c.least_left_out;
  if (optimum.gap) {
    json.erase("certificate");
    json["gap"] = {{"floor", optimum.gap->floor},
                   {"closed", optimum.gap->closed},
                   {"splits", optimum.gap->splits},
                   {"queries", optimum.gap->queries}};
  }
  log::Log log = log::Log::open(task.request().log, log::OpenMode::read_write_create);
  log::Run run(log, log::RunKind::optimum, provenance, json_line(json));
  const std::int64_t space =
      log.add_space(task.space().name(), task.space().canonical_definition(), task.space().definition_hash());
  std::vector<log::ProposalRow> rows;
  for (std::size_t i = 0; i < optimum.answer.best.size(); ++i) {
    const accel::optimum::Ranked& ranked = optimum.answer.best[i];
    Json verdict{{"feasible", true}, {"value", ranked.value}, {"technology", task.technology().name}};
    verdict["area_mm2"] = ranked.evaluations.front().area.total_mm2();
    rows.push_back(
        {.design_text_id = task.space().text_id(ranked.design),
         .design_hash = task.space().content_hash(ranked.design),
         .workload_id = std::nullopt,
         .rank = static_cast<std::int64_t>(i + 1),
         .objective = task.objective(),
         .predicted_value = ranked.value,
         .predicted_json = json_line(Json{{"proof", proof_of(optimum)}, {"metrics", metrics_json(task, ranked)}}),
         .verdict_json = json_line(verdict)});
  }
  log.add_proposals(run.id(), space, std::nullopt, rows);
  run.finish(optimum.answer.interrupted ? log::RunStatus::interrupted : log::RunStatus::finished);
}

}  // namespace hindsight::study
