/// A space without exact bounds: the best design of a search, and a floor that no design is below.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "hindsight/accel/metrics.h"
#include "hindsight/accel/optimum/floor.h"
#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"
#include "hindsight/evaluator/built_in.h"
#include "hindsight/optimize/online.h"
#include "hindsight/study/analytic_constraint.h"
#include "study/optimum_parts.h"

namespace hindsight::study {
namespace {

using accel::optimum::Limit;
using accel::optimum::Question;
using accel::optimum::Ranked;
using accel::optimum::Standing;
using accel::optimum::Watch;

/// Evolutionary searches of a task's space, with the designs that they evaluated counted together.
class GapSearch {
 public:
  GapSearch(const OptimumTask& task, const Watch& watch)
      : task_(task),
        watch_(watch),
        binding_(task.space()),
        evaluator_(evaluator::built_in(task.space(), task.technology())) {}

  /// The best design found; nothing where none is feasible within the limits.
  std::optional<Ranked> best(const Question& question) {
    optimize::Problem problem{.space = &task_.space(), .allowed = question.allowed, .constraints = {}, .model = {}};
    problem.allowed.resize(task_.space().parameters().size());
    for (const Limit& limit : question.limits) {
      auto constraint = analytic_constraint(evaluator_, std::string(limit.metric->name), limit.most);
      if (constraint) problem.constraints.push_back(std::move(*constraint));
    }
    double best = std::numeric_limits<double>::infinity();
    std::optional<space::Design> found;
    const auto ask = [&](const space::Design& design) {
      const std::optional<double> value = accel::optimum::value_of(question, binding_, design);
      ++queries_;
      if (value && *value < best) {
        best = *value;
        found = design;
      }
      constexpr std::uint64_t kPerLook = 64;
      if (watch_ && queries_ % kPerLook == 0) {
        static_cast<void>(
            watch_({.settled = std::min(queries_, kGapQueries), .designs = kGapSteps, .bound = 0, .best = best}));
      }
      return value;
    };
    try {
      static_cast<void>(
          optimize::optimize_online(optimize::OnlineMethod::evolutionary, problem, ask, kGapQueries, /*seed=*/0));
    } catch (const Error& error) {
      // No design is within what needs no evaluation; without such limits it is the space that has none.
      if (error.kind() != ErrorKind::no_feasible || problem.constraints.empty()) throw;
    }
    return found ? ranked(question, *found) : std::nullopt;
  }

  /// A design as a question ranks it; nothing where it is not feasible within the limits.
  [[nodiscard]] std::optional<Ranked> ranked(const Question& question, const space::Design& design) const {
    Ranked ranked{.design = design, .value = 0, .evaluations = {}};
    const auto value = accel::optimum::value_of(question, binding_, design, &ranked.evaluations);
    if (!value) return std::nullopt;
    ranked.value = *value;
    return ranked;
  }

  [[nodiscard]] std::uint64_t queries() const { return queries_; }

 private:
  const OptimumTask& task_;
  const Watch& watch_;
  accel::ConfigBinding binding_;
  std::shared_ptr<const evaluator::Evaluator> evaluator_;
  std::uint64_t queries_ = 0;
};

/// For each limit what a search with the others kept, or without them, can meet; and a design that meets all, which
/// such a search may come by: that of a limit does not depend on its value, so that a limit which it named is met.
struct Reached {
  std::vector<NearestLimit> nearest;
  std::optional<Ranked> meets_all;
};
Reached reach(const OptimumTask& task, bool others_kept, GapSearch& search) {
  Reached reached;
  const std::vector<Limit>& limits = task.question().limits;
  for (std::size_t k = 0; k < limits.size() && !interrupt_requested(); ++k) {
    const std::optional<Ranked> least = search.best(least_of_limit(task.question(), k, others_kept));
    if (!least) continue;
    reached.nearest.push_back({std::string(limits[k].metric->name), limits[k].most, least->value});
    std::optional<Ranked> ranked = search.ranked(task.question(), least->design);
    if (ranked && (!reached.meets_all || ranked->value < reached.meets_all->value)) {
      reached.meets_all = std::move(ranked);
    }
  }
  return reached;
}

/// "5nm-silicon@liquid": the task's technology with the cooling class that removes the most, where that is more than
/// its own and designs name none.
std::optional<std::string> cooler_technology(const OptimumTask& task) {
  const accel::Technology& technology = task.technology();
  const auto& parameters = task.space().parameters();
  if (technology.is_version_1() ||
      std::ranges::find(parameters, "cooling", &space::Parameter::name) != parameters.end())
    return std::nullopt;
  const auto* most = std::max_element(std::begin(technology.cooling), std::end(technology.cooling),
                                      [](const auto& a, const auto& b) { return a.most_w < b.most_w; });
  if (!(most->most_w > technology.cooling_of(accel::Cooling::as_technology).most_w)) return std::nullopt;
  const std::string& asked = task.request().technology;
  const std::string name = asked.empty() ? task.space().technology() : asked;
  const std::size_t at = name.rfind('@');
  const bool has_class = at != std::string::npos && accel::parse_cooling(name.substr(at + 1)).has_value();
  return (has_class ? name.substr(0, at) : name) + "@" +
         accel::cooling_names()[static_cast<std::size_t>(most - std::begin(technology.cooling))];
}

/// What makes some design run where none does without limits, as far as searches tell.
std::string way_out(const OptimumTask& task, const Watch& watch) {
  constexpr std::size_t kLongestName = 250;  // else it is cut, and no command
  const std::optional<std::string> name = cooler_technology(task);
  if (name && name->size() <= kLongestName) {
    try {
      OptimumRequest request = task.request();
      request.technology = *name;
      const OptimumTask cooler(request);
      if (GapSearch(cooler, watch).best(cooler.question())) {
        return fmt::format(". Another cooling class helps: --technology {}", printable(*name, kLongestName));
      }
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;  // a file whose name has an @ has no classes by name
    }
  }
  return ". `hindsight simulate --explain` of one design says why";
}

[[noreturn]] void fail_unfound(const OptimumTask& task, const Reached& reached, bool proven, std::uint64_t tried,
                               GapSearch& search, const Watch& watch) {
  const Question& question = task.question();
  const std::string within = question.limits.empty() ? "" : " within " + limits_text(question);
  const std::string what =
      proven ? fmt::format("{}{} (exact)", none_runs(task), within)
             : fmt::format("{}{}, of those that a search of {} tried", none_runs(task), within, with_commas(tried));
  const bool several = question.limits.size() > 1;
  std::string rest;
  if (!reached.nearest.empty()) {
    rest = fmt::format(". The nearest limit that a search met{} is {}", several ? " with the others kept" : "",
                       text_of(reached.nearest, ", or "));
  } else if (const Reached alone = several ? reach(task, false, search) : Reached{}; !alone.nearest.empty()) {
    rest = fmt::format(
        ". Raising one limit alone did not help. Raise several, or leave some out? Each by itself can be met: {}",
        text_of(alone.nearest, ", "));
  } else {
    rest = (question.limits.empty() ? "" : ", and a search without limits found none") + way_out(task, watch);
  }
  if (interrupt_requested()) throw Error(ErrorKind::interrupted, what + "; interrupted while looking for what does");
  throw Error(ErrorKind::no_feasible, what + rest);
}

void require_boundable(const OptimumTask& task) {
  const accel::optimum::Goal& goal = task.question().goal;
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

}  // namespace

Optimum find_with_gap(const OptimumTask& task, const Watch& watch) {
  require_boundable(task);
  const auto start = std::chrono::steady_clock::now();
  const Question& question = task.question();
  GapSearch search(task, watch);
  std::optional<Ranked> best = search.best(question);
  const std::uint64_t tried = search.queries();
  Reached reached;
  if (!best) {
    reached = reach(task, true, search);
    best = reached.meets_all;
  }
  const double known = best ? best->value : std::numeric_limits<double>::infinity();
  const accel::optimum::Floor floor =
      accel::optimum::latency_floor(question, known, accel::optimum::kMostSplits, [&](Standing standing) {
        standing.settled += kGapQueries;
        standing.designs = kGapSteps;
        return !watch || watch(standing);
      });
  if (floor.better) best = search.ranked(question, *floor.better);
  if (!best && !floor.interrupted) fail_unfound(task, reached, !std::isfinite(floor.latency_s), tried, search, watch);
  Optimum optimum;
  optimum.gap = Gap{.floor = floor.latency_s,
                    .closed = floor.closed && best.has_value(),
                    .splits = floor.splits,
                    .queries = search.queries()};
  optimum.answer.interrupted = floor.interrupted;
  if (best) optimum.answer.best.push_back(std::move(*best));
  optimum.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return optimum;
}

}  // namespace hindsight::study
