/// Simulator-driven baselines: each counts its queries. They exist for comparison with offline proposals.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/optimize/problem.h"

namespace hindsight::optimize {

/// One simulator query: the objective (smaller is better), or nothing when infeasible.
using Simulator = std::function<std::optional<double>(const space::Design& design)>;

enum class OnlineMethod { random, evolutionary, firefly, bayesian };
/// Error{usage} with the nearest name.
[[nodiscard]] OnlineMethod parse_online_method(const std::string& name);
[[nodiscard]] std::string to_string(OnlineMethod method);

struct OnlineTrace {
  std::vector<space::Design> design;             ///< in query order
  std::vector<std::optional<double>> objective;  ///< in query order
  std::vector<double> best_so_far;               ///< infinity until the first feasible one
};
/// Exactly `queries` simulator calls on distinct designs that meet the problem's constraints (checked without a query,
/// so none may be learned; `model` is not used); fewer only when no more such designs are found, or after an interrupt.
/// Error{no_feasible} when no design meets the constraints.
/// `start`: those that are such designs are queried first, in this order; methods learn from them as from others.
/// bayesian: Gaussian process on standardised log objectives with a mixed kernel (Matern 5/2 on log-scaled ordinals,
/// exponential Hamming on categoricals), hyper-parameters by marginal likelihood, expected improvement times the
/// probability of feasibility (a second process on 0/1 labels), maximised by local search. Objectives that are not all
/// positive are standardised without the logarithm.
[[nodiscard]] OnlineTrace optimize_online(OnlineMethod method, const Problem& problem, const Simulator& simulate,
                                          std::uint64_t queries, std::uint64_t seed,
                                          const std::vector<space::Design>& start = {});

}  // namespace hindsight::optimize
