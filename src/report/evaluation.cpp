/// One design evaluated on networks, with the details that reports show.
#include "hindsight/report/evaluation.h"

#include <algorithm>

namespace hindsight::report {

bool EvaluatedDesign::feasible() const {
  return std::all_of(networks.begin(), networks.end(), [](const auto& result) { return result.evaluation.feasible(); });
}

EvaluatedDesign evaluate_design(const std::string& name, const accel::AcceleratorConfig& config,
                                const accel::Technology& technology, std::span<const workload::Network> networks) {
  EvaluatedDesign design{.name = name,
                         .description = "",
                         .chip = accel::chip_facts(config, technology),
                         .technology = &technology,
                         .networks = {}};
  for (const workload::Network& network : networks) {
    EvaluatedNetwork result{.network = &network, .evaluation = {}, .layers = {}};
    result.layers.resize(network.gemms().size());
    result.evaluation = accel::evaluate(design.chip, network, accel::Depth::all_checks, result.layers);
    design.networks.push_back(std::move(result));
  }
  return design;
}

EvaluatedDesign evaluate_design(const space::DesignSpace& space, const space::Design& own,
                                const accel::Technology& technology, std::span<const workload::Network> networks) {
  EvaluatedDesign design =
      evaluate_design(space.text_id(own), accel::ConfigBinding(space).bind(space, own), technology, networks);
  for (EvaluatedNetwork& result : design.networks) {
    accel::name_levels(result.evaluation.violations, space, own.levels);
  }
  return design;
}

}  // namespace hindsight::report
