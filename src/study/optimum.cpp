/// From words to a question about the whole space, and from its answer to a log.
#include "hindsight/study/optimum.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "hindsight/accel/metrics.h"
#include "hindsight/accel/optimum/floor.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/objective.h"
#include "hindsight/evaluator/built_in.h"
#include "hindsight/log/log.h"
#include "hindsight/optimize/online.h"
#include "hindsight/space/legal_designs.h"
#include "hindsight/study/analytic_constraint.h"
#include "hindsight/study/log_names.h"
#include "study/exact_question.h"

namespace hindsight::study {
namespace {

using accel::optimum::DerivedLimit;
using accel::optimum::Goal;
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
                fmt::format("--weights: {} for {} workloads. Give one per workload, none negative and "
                            "not all 0",
                            request.weights.size(), networks));
  }
  return Aggregate::weighted;
}

/// The goal whose value is a limited metric, where the bounds cover it.
std::optional<Goal> goal_of_metric(std::string_view metric) {
  if (metric == "latency_s") return Goal{.latency = 1};
  if (metric == "energy_j") return Goal{.latency = 0, .energy = 1};
  if (metric == "area_mm2") return Goal{.latency = 0, .area = 1};
  if (metric == "peak_power_w") return Goal{.latency = 0, .peak_power = 1};
  return std::nullopt;
}

const std::string& name_of(const DerivedLimit& limit) { return limit.rules->derived()[limit.place].name; }

std::string limits_text(const Question& question) {
  std::vector<std::string> texts;
  for (const Limit& limit : question.limits) {
    texts.push_back(fmt::format("{} <= {}", limit.metric->name, shortest(limit.most)));
  }
  for (const DerivedLimit& limit : question.derived_limits) {
    texts.push_back(fmt::format("{} <= {}", name_of(limit), shortest(limit.most)));
  }
  return join(texts, ", ");
}

std::string networks_text(const OptimumTask& task) {
  std::vector<std::string> names;
  for (const workload::Network& network : task.networks()) names.push_back(network.name());
  return printable(join(names, ", "), 100);
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

namespace {

/// The first design that meets all limits of a question by `goal`; nothing where there is none.
std::optional<accel::optimum::Ranked> smallest(Question question, const Goal& goal, const OptimumTask& task,
                                               const accel::optimum::Watch& watch) {
  question.goal = goal;
  question.aggregate = Aggregate::worst;  // every application has to meet it
  question.weights.clear();
  question.top = 1;
  accel::optimum::Answer answer = accel::optimum::find_optimum(question, watch);
  if (answer.interrupted) {
    throw Error(ErrorKind::interrupted,
                fmt::format("no design of the space {} runs {} within {}; interrupted before the nearest limit that "
                            "can be met was found",
                            task.space().name(), networks_text(task), limits_text(task.question())));
  }
  if (answer.best.empty()) return std::nullopt;
  return std::move(answer.best.front());
}

/// The smallest value of limited quantity `k` among designs within a question's other limits; nothing where there are
/// none. Halves what is left between the limit, which none meets, and a value that one has, until none has less.
std::optional<double> smallest_derived(Question question, std::size_t k, const OptimumTask& task,
                                       const accel::optimum::Watch& watch) {
  const DerivedLimit limit = question.derived_limits[k];
  std::vector<double> values(limit.rules->derived().size());
  const auto within = [&](double most) -> std::optional<double> {
    question.derived_limits[k].most = most;
    const auto design = smallest(question, Goal{.latency = 0, .area = 1}, task, watch);
    if (!design) return std::nullopt;
    limit.rules->derive(design->design.levels, values);
    return values[limit.place];
  };
  double missed = limit.most;
  std::optional<double> found = within(std::numeric_limits<double>::max());
  while (found) {
    const std::optional<double> less = within(std::nextafter(*found, missed));
    if (!less) return found;
    const double middle = missed + (*less - missed) / 2;
    found = less;
    if (!(middle > missed && middle < *less)) continue;
    if (const auto half = within(middle)) {
      found = half;
    } else {
      missed = middle;
    }
  }
  return found;
}

}  // namespace

std::vector<NearestLimit> nearest_limits(const OptimumTask& task, bool others_kept,
                                         const accel::optimum::Watch& watch) {
  std::vector<NearestLimit> nearest;
  for (const Limit& limit : task.question().limits) {
    const auto goal = goal_of_metric(limit.metric->name);
    if (!goal) continue;
    Question question = task.question();
    std::erase_if(question.limits, [&](const Limit& other) { return !others_kept || other.metric == limit.metric; });
    if (!others_kept) question.derived_limits.clear();
    if (const auto design = smallest(std::move(question), *goal, task, watch)) {
      nearest.push_back({std::string(limit.metric->name), limit.most, design->value});
    }
  }
  for (std::size_t k = 0; k < task.question().derived_limits.size(); ++k) {
    const DerivedLimit& limit = task.question().derived_limits[k];
    Question question = task.question();
    if (!others_kept) {
      question.limits.clear();
      question.derived_limits = {limit};
    }
    if (const auto value = smallest_derived(question, others_kept ? k : 0, task, watch)) {
      nearest.push_back({name_of(limit), limit.most, *value});
    }
  }
  return nearest;
}

/// "area_mm2 <= 1.11, or latency_s <= 0.5", with ", or " between.
std::string text_of(const std::vector<NearestLimit>& limits, const char* between) {
  std::vector<std::string> texts;
  for (const NearestLimit& one : limits) texts.push_back(fmt::format("{} <= {}", one.metric, shortest(one.nearest)));
  return join(texts, between);
}

void fail_infeasible(const OptimumTask& task, const accel::optimum::Watch& watch) {
  const std::size_t limits = task.question().limits.size() + task.question().derived_limits.size();
  if (task.space().is_constrained()) {  // says which constraint leaves none
    static_cast<void>(task.space().rules()->legal_designs(space::Listing::for_drawing, task.question().allowed));
  }
  const std::string what = fmt::format("no design of the space {} runs {}", task.space().name(), networks_text(task));
  if (limits == 0) {
    throw Error(ErrorKind::no_feasible, what +
                                            " (every design was ruled out). `hindsight simulate --explain` of one "
                                            "design says why");
  }
  const std::vector<NearestLimit> nearest = nearest_limits(task, true, watch);
  const std::string within = fmt::format("{} within {}", what, limits_text(task.question()));
  if (nearest.empty()) {
    const std::string alone = text_of(nearest_limits(task, false, watch), ", ");
    throw Error(ErrorKind::no_feasible,
                fmt::format("{}, and raising one limit alone is not enough. Raise several, or leave some out?{}",
                            within, alone.empty() ? "" : fmt::format(" Each by itself can be met: {} (exact)", alone)));
  }
  throw Error(ErrorKind::no_feasible,
              fmt::format("{}. The nearest limit that can be met{} is {} (exact)", within,
                          limits > 1 ? " with the others kept" : "", text_of(nearest, ", or ")));
}

namespace {

/// The best design that an evolutionary search finds; nothing where none of its designs is feasible within the limits.
std::optional<accel::optimum::Ranked> best_by_search(const OptimumTask& task, std::uint64_t& queries,
                                                     const accel::optimum::Watch& watch) {
  const Question& question = task.question();
  const accel::ConfigBinding binding(task.space());
  optimize::Problem problem{.space = &task.space(), .allowed = question.allowed, .constraints = {}, .model = {}};
  problem.allowed.resize(task.space().parameters().size());
  const std::shared_ptr<const evaluator::Evaluator> model = evaluator::built_in(task.space(), task.technology());
  for (const Limit& limit : question.limits) {
    auto constraint = analytic_constraint(model, std::string(limit.metric->name), limit.most);
    if (constraint) problem.constraints.push_back(std::move(*constraint));
  }
  double best = std::numeric_limits<double>::infinity();
  std::optional<space::Design> found;
  const auto ask = [&](const space::Design& design) {
    const std::optional<double> value = accel::optimum::value_of(question, binding, design);
    ++queries;
    if (value && *value < best) {
      best = *value;
      found = design;
    }
    constexpr std::uint64_t kPerLook = 64;
    if (watch && queries % kPerLook == 0) {
      static_cast<void>(watch({.settled = queries, .designs = kGapSteps, .bound = 0, .best = best}));
    }
    return value;
  };
  static_cast<void>(
      optimize::optimize_online(optimize::OnlineMethod::evolutionary, problem, ask, kGapQueries, /*seed=*/0));
  if (!found) return std::nullopt;
  accel::optimum::Ranked ranked{.design = *found, .value = best, .evaluations = {}};
  static_cast<void>(accel::optimum::value_of(question, binding, *found, &ranked.evaluations));
  return ranked;
}

void require_boundable(const OptimumTask& task) {
  const Goal& goal = task.question().goal;
  const bool latency = goal.latency == 1 && goal.energy == 0 && goal.area == 0 && goal.peak_power == 0;
  if (latency && task.question().top == 1 && task.question().derived_limits.empty()) return;
  const std::string what = !latency                  ? "--objective " + task.objective()
                           : task.question().top > 1 ? "--top above 1"
                                                     : "a limit of a derived quantity";
  throw Error(ErrorKind::usage,
              fmt::format("{}: the exact search has no bounds for the space {}, whose floor is of the latency of one "
                          "design. Leave it out, or use `hindsight search`?",
                          what, task.space().name()));
}

Optimum find_with_gap(const OptimumTask& task, const accel::optimum::Watch& watch) {
  require_boundable(task);
  const auto start = std::chrono::steady_clock::now();
  Optimum optimum;
  Gap gap;
  std::optional<accel::optimum::Ranked> best = best_by_search(task, gap.queries, watch);
  const double known = best ? best->value : std::numeric_limits<double>::infinity();
  const accel::optimum::Floor floor = accel::optimum::latency_floor(task.question(), known, accel::optimum::kMostSplits,
                                                                    [&](accel::optimum::Standing standing) {
                                                                      standing.settled += kGapQueries;
                                                                      standing.designs = kGapSteps;
                                                                      return !watch || watch(standing);
                                                                    });
  if (floor.better) {
    best = accel::optimum::Ranked{.design = *floor.better, .value = floor.better_s, .evaluations = {}};
    static_cast<void>(accel::optimum::value_of(task.question(), accel::ConfigBinding(task.space()), *floor.better,
                                               &best->evaluations));
  }
  gap.floor = floor.latency_s;
  gap.closed = floor.closed && best.has_value();
  gap.splits = floor.splits;
  optimum.answer.interrupted = floor.interrupted;
  if (best) optimum.answer.best.push_back(std::move(*best));
  optimum.gap = gap;
  optimum.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!best && !floor.interrupted) {
    throw Error(
        ErrorKind::no_feasible,
        fmt::format("none of {} designs of the space {} that a search tried runs {}{}. {}", with_commas(gap.queries),
                    task.space().name(), networks_text(task),
                    task.question().limits.empty() ? "" : " within " + limits_text(task.question()),
                    std::isfinite(floor.latency_s)
                        ? "Loosen a limit, or name a cooling class that removes more (--technology NODE@liquid)?"
                        : "No design meets the limits (exact): even the smallest exceeds them. Loosen one?"));
  }
  return optimum;
}

}  // namespace

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
  log::Run run(log, log::RunKind::optimum, provenance, json.dump());
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
         .predicted_json = Json{{"proof", proof_of(optimum)}, {"metrics", metrics_json(task, ranked)}}.dump(),
         .verdict_json = verdict.dump()});
  }
  log.add_proposals(run.id(), space, std::nullopt, rows);
  run.finish(optimum.answer.interrupted ? log::RunStatus::interrupted : log::RunStatus::finished);
}

}  // namespace hindsight::study
