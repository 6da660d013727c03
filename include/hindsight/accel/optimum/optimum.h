/// The exact optimum of a space of accelerators: the best of all designs under limits, proved, not guessed.
///
/// Model: best first branch and bound over the space's own structure: (PEs, cores, lanes), then the memories, then the
/// bandwidth, then instruction and parameter memory. What it relies on of the accelerator model stands in
/// `structure.h`. A box of designs is left out only when a lower bound of its best value, less kMargin, is above the
/// last of the designs that are answered; values and feasibility of these are those of the ordinary `evaluate`.
/// Designs are those that meet the space's constraints and conditions; they are asked for on the way, so that a box's
/// bound is one of its legal designs too.
/// Valid for: spaces whose parameters are fields of the accelerator template, any levels, any constraints.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/metrics.h"
#include "hindsight/core/aggregate.h"
#include "hindsight/space/design_space.h"
#include "hindsight/space/rules.h"
#include "hindsight/workload/network.h"

namespace hindsight::accel::optimum {

/// [chosen] Bounds are sums in another order than the model's own; they are lowered by this share before a box is left
/// out. The rounding of a few hundred additions stays below 1e-13.
inline constexpr double kMargin = 1e-9;

/// What is minimised for one application: latency_s^a * energy_j^b * area_mm2^c * peak_power_w^d, no exponent negative.
struct Goal {
  double latency = 1, energy = 0, area = 0, peak_power = 0;
  [[nodiscard]] double value(double latency_s, double energy_j, double area_mm2, double peak_power_w) const;
};
/// The goal of these metrics and exponents (latency_s, energy_j, area_mm2, peak_power_w). Error{usage}
/// naming a metric that the bounds do not cover, or one of which more is asked for.
[[nodiscard]] Goal goal_of(const std::vector<std::pair<std::string, double>>& factors);

/// metric <= most, for every application.
struct Limit {
  const Metric* metric = nullptr;
  double most = 0;
};

/// A derived quantity <= most. `rules`: what has it, over the parameters of the question's space.
struct DerivedLimit {
  std::shared_ptr<const space::Rules> rules;
  std::size_t place = 0;  ///< in Rules::derived()
  double most = 0;
};

/// Levels of each parameter that may be used, ascending; an empty list, or none at all: all of them.
using AllowedLevels = std::vector<std::vector<std::uint16_t>>;

/// One of `count` parts of a space, for as many processes: the groups of (PEs, cores, lanes) whose number modulo
/// `count` is `index`.
struct Slice {
  std::uint64_t index = 0, count = 1;  ///< index < count
  [[nodiscard]] bool is_whole() const { return count == 1; }
  [[nodiscard]] bool has(std::uint64_t group) const { return group % count == index; }
  /// How many of all groups, and the k-th of them.
  [[nodiscard]] std::uint64_t groups(std::uint64_t all) const { return (all + count - 1 - index) / count; }
  [[nodiscard]] std::uint64_t group(std::uint64_t k) const { return k * count + index; }
  friend bool operator==(const Slice&, const Slice&) = default;
};

/// `space`, `technology` and `networks` are referred to and must outlive the question.
struct Question {
  const space::DesignSpace* space = nullptr;
  AllowedLevels allowed = {};
  const Technology* technology = nullptr;
  std::vector<const workload::Network*> networks = {};  ///< at least one
  Goal goal = {};
  /// Minimised instead of the goal; any metric, as none is negative. Null: the goal. It has no bounds, so that every
  /// chip that the limits leave is compiled for.
  const Metric* metric = nullptr;
  Aggregate aggregate = Aggregate::mean;
  std::vector<double> weights = {};  ///< for Aggregate::weighted: one per network, not negative, not all 0
  std::vector<Limit> limits = {};
  std::vector<DerivedLimit> derived_limits = {};
  std::size_t top = 1;  ///< designs to answer
  Slice slice = {};     ///< designs that are asked about; the answer and its certificate are of them alone
  /// What commands that messages print call the networks: files, where these are of files. Empty: their names.
  std::vector<std::string> network_words = {};
  /// What is minimised, of a feasible evaluation for one network.
  [[nodiscard]] double value(const Evaluation& evaluation) const;
};

/// Combinations of the levels of the question's slice, legal or not: no less than Certificate::designs. Error{usage}:
/// see find_optimum().
[[nodiscard]] std::uint64_t count_combinations(const Question& question);

/// One design of the answer, as `evaluate` sees it.
struct Ranked {
  space::Design design;
  double value = 0;                     ///< the goal, aggregated over the networks
  std::vector<Evaluation> evaluations;  ///< one per network
};

/// How all designs of the question are accounted for; the four numbers add up to `designs`.
struct Certificate {
  std::uint64_t designs = 0;     ///< that the question is about: those that break a constraint are none
  std::uint64_t refused = 0;     ///< a limit, of a derived quantity too, or a hardware check fails, without a network
  std::uint64_t infeasible = 0;  ///< some network cannot run on them, or a limit on what it costs is missed
  std::uint64_t bounded = 0;     ///< no better than the answer, by a lower bound
  std::uint64_t evaluated = 0;   ///< feasible, their value known
  std::uint64_t open = 0;        ///< not decided, of a search that was interrupted; all five add up to `designs`
  /// No design that was left out by a bound has a smaller value; infinity when none was.
  double least_left_out = std::numeric_limits<double>::infinity();
  std::uint64_t network_costs = 0;  ///< chips that were compiled for, times networks
};

struct Answer {
  std::vector<Ranked> best;  ///< by value, then area, then position in the space; empty: no design meets the limits
  Certificate certificate;
  bool interrupted = false;  ///< `best` is what was found so far, and `certificate.least_left_out` a bound of the rest
};

/// Where a search stands.
struct Standing {
  std::uint64_t settled = 0;  ///< of Certificate::designs
  std::uint64_t designs = 0;
  double bound = 0;                                       ///< no design is better
  double best = std::numeric_limits<double>::infinity();  ///< value of the last that would be answered
};
/// Called every few milliseconds; false ends the search.
using Watch = std::function<bool(const Standing&)>;

/// Error{usage} when the space does not describe the template or has more groups of (PEs, cores, lanes) than
/// kMostGroups; at its place in the file, for a constraint that has no value for a design that breaks no other, and for
/// a limited quantity that has none for a legal design within the other limits. No design legal: an empty answer.
[[nodiscard]] Answer find_optimum(const Question& question, const Watch& watch = {});

/// One point of a front.
struct FrontPoint {
  Ranked ranked;
  std::vector<double> values;  ///< of the front's metrics, in their order, aggregated over the networks
};
struct Front {
  std::vector<FrontPoint> points;  ///< by the first metric; none dominates another
  Certificate certificate;         ///< `least_left_out` says nothing here
  bool interrupted = false;        ///< the points found so far
};
/// The Pareto front of two to four of latency_s, energy_j, area_mm2 and peak_power_w under the question's limits (its
/// goal and `top` are not read): every design has a point that is at most 1 + epsilon times worse in each metric, and
/// no design dominates a point by more than kMargin when epsilon is 0. An epsilon below kMargin counts as kMargin.
/// Error{usage}: unknown metrics, one that is named twice, fewer than two; an epsilon that is negative.
[[nodiscard]] Front find_front(const Question& question, const std::vector<std::string>& metrics, double epsilon,
                               const Watch& watch = {});

/// [chosen] About 2 GiB of bounds.
inline constexpr std::uint64_t kMostGroups = 20'000'000;

/// How many feasible designs within the limits there are, and how many of them have a value below `value`, or equal
/// to it, each to the last digit of `evaluate`.
struct Standings {
  std::uint64_t better = 0;
  std::uint64_t equal = 0;
  Certificate certificate;
  bool interrupted = false;  ///< the numbers are those found so far
};
/// Branch and bound with a fixed threshold: cheap where few designs are better. `question.top` is not read.
[[nodiscard]] Standings count_better(const Question& question, double value, const Watch& watch = {});

}  // namespace hindsight::accel::optimum
