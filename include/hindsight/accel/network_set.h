/// Networks that are asked about together: what a chip makes of a layer is worked out once, in however many networks
/// and places it stands.
///
/// Results are those of evaluate(), bit for bit: a layer's costs depend on its shape and on where its operands live,
/// and they are summed in the order of the layers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/network_cost.h"
#include "hindsight/workload/network.h"

namespace hindsight::accel {

/// The layers of several networks, converted once, each shape once. Immutable; shared by threads.
class NetworkSet {
 public:
  explicit NetworkSet(std::span<const workload::Network> networks);
  [[nodiscard]] std::size_t size() const { return networks_.size(); }
  /// The distinct shapes of all networks.
  [[nodiscard]] std::span<const LayerShape> shapes() const { return shapes_; }
  /// Places in shapes() of a network's layers, in the order of execution.
  [[nodiscard]] std::span<const std::uint32_t> layers(std::size_t network) const { return networks_[network]; }
  /// Of a network, those that no layer reads.
  [[nodiscard]] double other_parameters(std::size_t network) const { return other_parameters_[network]; }

 private:
  std::vector<LayerShape> shapes_;
  std::vector<std::vector<std::uint32_t>> networks_;
  std::vector<double> other_parameters_;
};

/// Evaluates chips, one after the other, on all networks of a set. One per thread: it keeps the layers of the chip at
/// hand, about 200 KiB for the nine applications.
class SetEvaluator {
 public:
  /// `set` has to outlive it.
  explicit SetEvaluator(const NetworkSet& set);
  /// `out`: one per network of the set, in order.
  void evaluate(const ChipFacts& chip, Depth depth, std::span<Evaluation> out);

 private:
  /// A layer that was costed on the chip at hand.
  struct Known {
    Residency residency;
    std::int32_t next = -1;  ///< of the same shape; -1: none
    LayerCost cost;
  };
  const LayerCost& cost_of(std::uint32_t shape, const Residency& residency, const ChipFacts& chip,
                           const ChipRates& rates);

  const NetworkSet& set_;
  std::vector<std::int32_t> first_;  ///< per shape, in known_; -1: none
  std::vector<Known> known_;
};

}  // namespace hindsight::accel
