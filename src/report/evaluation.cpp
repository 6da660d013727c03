/// One design evaluated on networks, with the details that reports show.
#include "hindsight/report/evaluation.h"

#include <algorithm>

namespace hindsight::report {

bool EvaluatedDesign::feasible() const {
  return std::all_of(networks.begin(), networks.end(), [](const auto& result) { return result.evaluation.feasible(); });
}

EvaluatedDesign evaluate_design(const std::string& name, const accel::AcceleratorConfig& config,
                                const accel::Technology& technology, std::span<const workload::Network> networks,
                                const space::DesignSpace* space) {
  EvaluatedDesign design{.name = name,
                         .description = "",
                         .chip = accel::chip_facts(config, technology),
                         .technology = &technology,
                         .networks = {}};
  for (const workload::Network& network : networks) {
    EvaluatedNetwork result{.network = &network, .evaluation = {}, .layers = {}};
    result.layers.resize(network.layers().size());
    result.evaluation = accel::evaluate(design.chip, network.gemms(), accel::Depth::all_checks, result.layers);
    if (space != nullptr) accel::name_levels(result.evaluation.violations, *space);
    design.networks.push_back(std::move(result));
  }
  return design;
}

}  // namespace hindsight::report
