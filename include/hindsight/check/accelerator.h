/// The built-in accelerator model as a judge: constraints known without a simulator, and true objectives of proposals.
///
/// Proposing uses the first part only. The second part is the simulator: every evaluation of a design on a network is
/// one query and is counted.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/accel/config.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/technology.h"
#include "hindsight/dataset/dataset.h"
#include "hindsight/optimize/problem.h"
#include "hindsight/workload/network.h"

namespace hindsight::check {

/// Whether every parameter of the space is a field of the accelerator template.
[[nodiscard]] bool describes_accelerator(const space::DesignSpace& space);

/// area_mm2 <= limit by the analytical area model; nothing when the space does not describe an accelerator or `metric`
/// is another one. The function may be called concurrently.
[[nodiscard]] std::optional<optimize::Constraint> analytic_constraint(const space::DesignSpace& space,
                                                                      const std::string& metric, double limit,
                                                                      const accel::Technology& technology);

/// The context of a network, as a sweep logs it.
[[nodiscard]] dataset::Context context_of(const workload::Network& network);

/// Truth about one design on one network.
struct NetworkVerdict {
  std::optional<double> objective;   ///< nothing when infeasible
  std::vector<std::string> reasons;  ///< codes, when infeasible
};
/// Truth about one design on all networks of a simulator.
struct Verdict {
  std::vector<NetworkVerdict> networks;
  double area_mm2 = 0;
  [[nodiscard]] bool feasible() const;
};

/// Evaluates designs of one space on networks. Immutable but for its counter; may be used by several threads.
class Simulator {
 public:
  /// Error{usage} when the space does not describe an accelerator or the objective has a metric that the accelerator
  /// model does not give.
  Simulator(space::DesignSpace space, accel::Technology technology, std::vector<workload::Network> networks,
            dataset::Objective objective);
  [[nodiscard]] Verdict evaluate(const space::Design& design) const;
  [[nodiscard]] const std::vector<workload::Network>& networks() const { return networks_; }
  /// Evaluations of one design on one network so far.
  [[nodiscard]] std::uint64_t queries() const { return queries_; }

 private:
  space::DesignSpace space_;
  accel::ConfigBinding binding_;
  accel::Technology technology_;
  std::vector<workload::Network> networks_;
  dataset::Objective objective_;
  mutable std::atomic<std::uint64_t> queries_ = 0;
};

}  // namespace hindsight::check
