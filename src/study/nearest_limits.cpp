/// Why no design of a whole space meets the limits: the exact nearest ones that can be met.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/space/legal_designs.h"
#include "study/optimum_parts.h"

namespace hindsight::study {

using accel::optimum::DerivedLimit;
using accel::optimum::Goal;
using accel::optimum::Limit;
using accel::optimum::Question;

const std::string& name_of(const DerivedLimit& limit) { return limit.rules->derived()[limit.place].name; }

std::string limits_text(const Question& question) {
  std::vector<std::string> texts;
  for (const Limit& limit : question.limits) {
    texts.push_back(fmt::format("{} <= {}", limit.metric->name, readable(limit.most)));
  }
  for (const DerivedLimit& limit : question.derived_limits) {
    texts.push_back(fmt::format("{} <= {}", name_of(limit), readable(limit.most)));
  }
  return join(texts, ", ");
}

std::string text_of(const std::vector<NearestLimit>& limits, const char* between) {
  std::vector<std::string> texts;
  for (const NearestLimit& one : limits) texts.push_back(fmt::format("{} <= {}", one.metric, shortest(one.nearest)));
  return join(texts, between);
}

std::string none_runs(const OptimumTask& task) {
  std::vector<std::string> names;
  for (const workload::Network& network : task.networks()) names.push_back(network.name());
  return fmt::format("no design of the space {} runs {}", task.space().name(), printable(join(names, ", "), 100));
}

Question least_of(Question question, const Goal& goal) {
  question.goal = goal;
  question.metric = nullptr;
  question.aggregate = Aggregate::worst;  // every application has to meet a limit
  question.weights.clear();
  question.top = 1;
  return question;
}

namespace {

/// The goal whose value is a limited metric, where the bounds cover it.
std::optional<Goal> goal_of_metric(std::string_view metric) {
  if (metric == "latency_s") return Goal{.latency = 1};
  if (metric == "energy_j") return Goal{.latency = 0, .energy = 1};
  if (metric == "area_mm2") return Goal{.latency = 0, .area = 1};
  if (metric == "peak_power_w") return Goal{.latency = 0, .peak_power = 1};
  return std::nullopt;
}

/// The first design that answers a question; nothing where there is none.
std::optional<accel::optimum::Ranked> first_of(const Question& question, const OptimumTask& task,
                                               const accel::optimum::Watch& watch) {
  accel::optimum::Answer answer = accel::optimum::find_optimum(question, watch);
  if (answer.interrupted) {
    throw Error(ErrorKind::interrupted,
                fmt::format("{} within {}; interrupted before the nearest limit that can be met was found",
                            none_runs(task), limits_text(task.question())));
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
    const auto design = first_of(least_of(question, Goal{.latency = 0, .area = 1}), task, watch);
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

Question least_of_limit(const Question& question, std::size_t k, bool others_kept) {
  const accel::Metric* metric = question.limits[k].metric;
  const std::optional<Goal> goal = goal_of_metric(metric->name);
  Question least = least_of(question, goal.value_or(Goal{.latency = 0}));
  if (!goal) least.metric = metric;
  std::erase_if(least.limits, [&](const Limit& other) { return !others_kept || other.metric == metric; });
  if (!others_kept) least.derived_limits.clear();
  return least;
}

std::vector<NearestLimit> nearest_limits(const OptimumTask& task, bool others_kept,
                                         const accel::optimum::Watch& watch) {
  std::vector<NearestLimit> nearest;
  const std::vector<Limit>& limits = task.question().limits;
  const auto add_metrics = [&](bool with_bounds) {
    for (std::size_t k = 0; k < limits.size(); ++k) {
      if (goal_of_metric(limits[k].metric->name).has_value() != with_bounds) continue;
      if (const auto design = first_of(least_of_limit(task.question(), k, others_kept), task, watch)) {
        nearest.push_back({std::string(limits[k].metric->name), limits[k].most, design->value});
      }
    }
  };
  add_metrics(true);
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
  add_metrics(false);  // the slow ones last
  return nearest;
}

void fail_infeasible(const OptimumTask& task, const accel::optimum::Watch& watch) {
  const std::size_t limits = task.question().limits.size() + task.question().derived_limits.size();
  if (task.space().is_constrained()) {  // says which constraint leaves none
    static_cast<void>(task.space().rules()->legal_designs(space::Listing::for_drawing, task.question().allowed));
  }
  const std::string within = fmt::format("{} within {}", none_runs(task), limits_text(task.question()));
  const std::vector<NearestLimit> nearest = nearest_limits(task, true, watch);
  if (!nearest.empty()) {
    throw Error(ErrorKind::no_feasible,
                fmt::format("{}. The nearest limit that can be met{} is {} (exact)", within,
                            limits > 1 ? " with the others kept" : "", text_of(nearest, ", or ")));
  }
  const std::vector<NearestLimit> alone = limits > 1 ? nearest_limits(task, false, watch) : std::vector<NearestLimit>{};
  if (!alone.empty()) {
    throw Error(ErrorKind::no_feasible,
                fmt::format("{}, and raising one limit alone is not enough. Raise several, or leave some out? Each by "
                            "itself can be met: {} (exact)",
                            within, text_of(alone, ", ")));
  }
  throw Error(ErrorKind::no_feasible,
              fmt::format("{}{} (every design was ruled out). `hindsight simulate --explain` of one design says why",
                          none_runs(task), limits > 0 ? ", also without limits" : ""));
}

}  // namespace hindsight::study
