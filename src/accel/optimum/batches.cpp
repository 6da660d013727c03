/// Cuts a question's chips into batches that an engine can hold.
#include "accel/optimum/batches.h"

#include "accel/optimum/energy_floor.h"

namespace hindsight::accel::optimum {

SiteQuestion site_question(const Axes& axes, const std::vector<const workload::Network*>& networks,
                           LandscapeMetrics metrics) {
  SiteQuestion question;
  for (const workload::Network* network : networks) {
    std::vector<LayerShape> shapes;
    for (const workload::GemmLayer& gemm : network->gemms()) shapes.push_back(layer_shape(gemm));
    question.add_application(shapes);
  }
  question.memories = {axes[Role::pe_memory].values, axes[Role::core_memory].values, axes[Role::activation].values};
  question.bandwidths_gb_per_s = axes[Role::bandwidth].values;
  question.parameter_entries = axes[Role::parameter].values;
  question.instruction_entries = axes[Role::instruction].values;
  question.energies = metrics == LandscapeMetrics::latency_and_energy;
  return question;
}

BatchChip batch_chip(const Point& point, const Core& core, std::uint16_t bandwidths) {
  const BytePrices prices = byte_prices(core, {});
  return {.memories = {at(point, Role::pe_memory), at(point, Role::core_memory), at(point, Role::activation)},
          .bandwidths = bandwidths,
          .pj = prices.pj,
          .accumulator_pj = prices.accumulator_pj,
          .dram_pj_per_byte = core.chip.event.dram_pj_per_byte};
}

}  // namespace hindsight::accel::optimum
