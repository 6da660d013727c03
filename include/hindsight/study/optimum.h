/// The exact optimum as a user asks for it: names to a question, and the answer with what it rests on.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/accel/optimum/floor.h"
#include "hindsight/accel/optimum/optimum.h"
#include "hindsight/accel/technology.h"
#include "hindsight/core/provenance.h"
#include "hindsight/study/limits.h"

namespace hindsight::study {

struct OptimumRequest {
  std::string space = "edge";
  std::string workloads;
  std::string technology = {};  ///< empty: that of the space
  std::string objective = "latency_s";
  /// Nothing: weighted with weights, else geomean, as `propose` has it.
  std::optional<Aggregate> aggregate = {};
  std::vector<double> weights = {};
  LimitWords limits = {};
  std::size_t top = 1;
  std::vector<std::string> pareto = {};  ///< lists a,b of metrics; empty: the best by the objective
  double epsilon = 0;                    ///< share by which a point of the front may stand for a better design
  std::string log = {};                  ///< empty: none
  accel::optimum::Slice slice = {};      ///< the part of the space that is asked about
};

/// A request with everything it names loaded. Stays where it is: its question refers to it.
class OptimumTask {
 public:
  /// Error{usage}: unknown names, a space that does not describe the accelerator template, an objective without a
  /// bound, weights that do not fit; Error{no_feasible} when --set, --min or --max leave no value of a parameter.
  explicit OptimumTask(const OptimumRequest& request);
  OptimumTask(const OptimumTask&) = delete;
  OptimumTask& operator=(const OptimumTask&) = delete;

  [[nodiscard]] const OptimumRequest& request() const { return request_; }
  [[nodiscard]] const space::DesignSpace& space() const { return space_; }
  [[nodiscard]] const accel::Technology& technology() const { return technology_; }
  [[nodiscard]] const std::vector<workload::Network>& networks() const { return networks_; }
  [[nodiscard]] const accel::optimum::Question& question() const { return question_; }
  /// "latency_s * energy_j", as it is minimised.
  [[nodiscard]] const std::string& objective() const { return objective_; }
  /// Metrics of the front; none: a single objective.
  [[nodiscard]] const std::vector<std::string>& front() const { return front_; }
  /// The metric that the objective is; empty for a product.
  [[nodiscard]] const std::string& metric() const { return metric_; }

 private:
  OptimumRequest request_;
  space::DesignSpace space_;
  accel::Technology technology_;
  std::vector<workload::Network> networks_;
  std::string objective_, metric_;
  std::vector<std::string> front_;
  accel::optimum::Question question_;
};

/// The nearest value that a limit would have to have.
struct NearestLimit {
  std::string metric;
  double asked = 0;
  double nearest = 0;  ///< the smallest that some design has with the other limits kept, or without them
};
/// Why no design meets the limits of a task: for each limit the value that can be met. `others_kept`: with the other
/// limits; those that are not alone in the way are left out, so that nothing is left where several are. A limit of a
/// metric that bounds do not cover takes as long as all chips that the other limits leave. Error{interrupted} says that
/// no design meets the limits.
[[nodiscard]] std::vector<NearestLimit> nearest_limits(const OptimumTask& task, bool others_kept,
                                                       const accel::optimum::Watch& watch);
/// The same as Error{no_feasible}.
[[noreturn]] void fail_infeasible(const OptimumTask& task, const accel::optimum::Watch& watch);

/// What is known of the optimum of a space that the exact search has no bounds for.
struct Gap {
  double floor = 0;           ///< no design has a smaller value
  bool closed = false;        ///< the best found is the optimum
  std::uint64_t splits = 0;   ///< boxes of designs that the floor rests on
  std::uint64_t queries = 0;  ///< designs that its searches evaluated
};

struct Optimum {
  accel::optimum::Answer answer;  ///< with a gap: the best design found, and no certificate
  double seconds = 0;
  std::optional<Gap> gap = {};
};
/// [chosen] Designs that the search of a space without exact bounds evaluates: a few seconds for a dozen networks.
inline constexpr std::uint64_t kGapQueries = 30'000;
/// What a watch of such a search counts: queries, then splits.
inline constexpr std::uint64_t kGapSteps = kGapQueries + accel::optimum::kMostSplits;

/// Of a space that accel::optimum::has_exact_bounds() is false for: the best design of an evolutionary search (seed 0),
/// then a floor, for the latency alone. Where it finds none within the limits, searches of the least that each limit
/// can be follow: what they come by is a nearest limit of the error, and met when asked for. Error{usage} for what
/// needs exact bounds: other objectives, several designs. Error{no_feasible}: see fail_infeasible(); of a slice, in
/// which there need not be one, an answer without designs. Error{usage}: a slice of a space without exact bounds. An
/// interrupted search is an answer; Error{interrupted} where it was looking for what can be met.
[[nodiscard]] Optimum find_optimum(const OptimumTask& task, const accel::optimum::Watch& watch = {});

struct ExactFront {
  accel::optimum::Front front;
  double seconds = 0;
};
/// The front of the task's metrics. Errors as find_optimum(), and those of accel::optimum::find_front().
[[nodiscard]] ExactFront find_front(const OptimumTask& task, const accel::optimum::Watch& watch = {});

/// What proves an optimum, as a log keeps it: "branch and bound", or "bound" for one that was interrupted.
[[nodiscard]] std::string proof_of(const Optimum& optimum);

/// Stores an optimum in the log of its request: a run with settings, proof and certificate, and the designs as
/// proposals with their values and metrics (predicted_json). No evaluation is stored, so that nothing learns from it.
/// Error: see log::Log.
void record(const OptimumTask& task, const Optimum& optimum, const Provenance& provenance);

}  // namespace hindsight::study
