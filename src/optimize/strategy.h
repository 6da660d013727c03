/// Simulator-driven strategies, one question at a time.
#pragma once

#include <memory>
#include <optional>

#include "hindsight/optimize/online.h"
#include "optimize/cheap_designs.h"

namespace hindsight::optimize {

/// Proposes the next query and learns from its answer.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// An open design; nothing when none is left.
  [[nodiscard]] virtual std::optional<Point> ask() = 0;
  /// `objective`: nothing when the simulator called the design infeasible.
  virtual void tell(const Point& point, std::optional<double> objective) = 0;
};

[[nodiscard]] std::unique_ptr<Strategy> make_random(CheapDesigns& designs);
[[nodiscard]] std::unique_ptr<Strategy> make_evolution(CheapDesigns& designs, std::uint64_t seed);
[[nodiscard]] std::unique_ptr<Strategy> make_firefly(CheapDesigns& designs, std::uint64_t seed);
[[nodiscard]] std::unique_ptr<Strategy> make_bayesian(CheapDesigns& designs, std::uint64_t seed);

}  // namespace hindsight::optimize
