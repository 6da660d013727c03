/// One design evaluated on networks, with the details that reports show.
#include "hindsight/report/evaluation.h"

#include <algorithm>

#include "hindsight/accel/other_remedies.h"

namespace hindsight::report {

namespace {

/// The hints are plain numbers, of the parameters that the checks ask.
EvaluatedDesign with_plain_hints(const std::string& name, const accel::AcceleratorConfig& config,
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

}  // namespace

bool EvaluatedDesign::feasible() const {
  return std::all_of(networks.begin(), networks.end(), [](const auto& result) { return result.evaluation.feasible(); });
}

EvaluatedDesign evaluate_design(const std::string& name, const accel::AcceleratorConfig& config,
                                const accel::Technology& technology, std::span<const workload::Network> networks) {
  EvaluatedDesign design = with_plain_hints(name, config, technology, networks);
  for (EvaluatedNetwork& result : design.networks) {
    accel::name_slower_clock(result.evaluation.violations, config, technology);
  }
  return design;
}

EvaluatedDesign evaluate_design(const space::DesignSpace& space, const space::Design& own,
                                const accel::Technology& technology, std::span<const workload::Network> networks) {
  EvaluatedDesign design =
      with_plain_hints(space.text_id(own), accel::ConfigBinding(space).bind(space, own), technology, networks);
  for (EvaluatedNetwork& result : design.networks) {
    accel::name_levels(result.evaluation.violations, space, own.levels);
    accel::name_other_parameter(result.evaluation.violations, space, own, technology);
  }
  return design;
}

}  // namespace hindsight::report
