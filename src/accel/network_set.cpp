/// Finds equal layers once, and costs each of them once per chip and residency.
#include "hindsight/accel/network_set.h"

#include <algorithm>
#include <map>

#include "accel/layer_cost.h"
#include "hindsight/core/error.h"

namespace hindsight::accel {

NetworkSet::NetworkSet(std::span<const workload::Network> networks) {
  std::map<LayerShape, std::uint32_t> places;
  networks_.reserve(networks.size());
  for (const workload::Network& network : networks) {
    std::vector<std::uint32_t>& layers = networks_.emplace_back();
    layers.reserve(network.gemms().size());
    other_parameters_.push_back(network.other_parameters());
    for (std::size_t i = 0; i < network.gemms().size(); ++i) {
      const LayerShape shape = layer_shape(network.gemms(), i);
      const auto [place, added] = places.try_emplace(shape, static_cast<std::uint32_t>(shapes_.size()));
      if (added) shapes_.push_back(shape);
      layers.push_back(place->second);
    }
  }
}

SetEvaluator::SetEvaluator(const NetworkSet& set) : set_(set), first_(set.shapes().size()) {}

const LayerCost& SetEvaluator::cost_of(std::uint32_t shape, const Residency& residency, const ChipFacts& chip,
                                       const ChipRates& rates) {
  for (std::int32_t i = first_[shape]; i >= 0; i = known_[static_cast<std::size_t>(i)].next) {
    const Known& known = known_[static_cast<std::size_t>(i)];
    if (known.residency == residency) return known.cost;
  }
  Known& added = known_.emplace_back();
  added.residency = residency;
  added.next = first_[shape];
  first_[shape] = static_cast<std::int32_t>(known_.size() - 1);
  layer_cost_function()(set_.shapes()[shape], residency, chip, rates, added.cost);
  return added.cost;
}

void SetEvaluator::evaluate(const ChipFacts& chip, Depth depth, std::span<Evaluation> out) {
  HINDSIGHT_EXPECT(out.size() == set_.size());
  if (depth == Depth::stop_at_hardware && chip.violations.count > 0) {
    std::fill(out.begin(), out.end(), hardware_evaluation(chip));
    return;
  }
  std::fill(first_.begin(), first_.end(), -1);
  known_.clear();
  const ChipRates rates = chip_rates(chip.config);
  for (std::size_t network = 0; network < out.size(); ++network) {
    const std::span<const std::uint32_t> layers = set_.layers(network);
    const NetworkCost cost = sum_layers(
        chip, rates, layers.size(), [&](std::size_t i) -> const LayerShape& { return set_.shapes()[layers[i]]; },
        [&](std::size_t i, const Residency& residency) -> const LayerCost& {
          return cost_of(layers[i], residency, chip, rates);
        },
        [](std::size_t, const LayerCost&) {}, set_.other_parameters(network));
    out[network] = network_evaluation(chip, cost);
  }
}

}  // namespace hindsight::accel
