/// One layer's cost, compiled for several instruction sets and chosen when the program runs.
///
/// Only the entry functions carry a target: everything else is inlined into them, so that no inline function that other
/// files share is ever emitted with instructions this machine may lack.
#include "accel/layer_cost.h"

#include <new>

#include "hindsight/core/error.h"

namespace hindsight::accel {
namespace {

[[gnu::flatten]] void layer_cost_baseline(const LayerShape& layer, const Residency& residency, const ChipFacts& chip,
                                          const ChipRates& rates, LayerCost& cost) {
  ::new (&cost) LayerCost(layer_cost(layer, residency, chip, rates));  // made in place: it is large
}

#if defined(__x86_64__)
// Not FMA: a fused multiply and add rounds once where the model rounds twice.
[[gnu::flatten, gnu::target("avx2")]] void layer_cost_avx2(const LayerShape& layer, const Residency& residency,
                                                           const ChipFacts& chip, const ChipRates& rates,
                                                           LayerCost& cost) {
  ::new (&cost) LayerCost(layer_cost(layer, residency, chip, rates));  // made in place: it is large
}
#endif

}  // namespace

std::vector<InstructionSet> supported_instruction_sets() {
  std::vector<InstructionSet> supported = {InstructionSet::baseline};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0) supported.push_back(InstructionSet::avx2);
#endif
  return supported;
}

LayerCostFunction layer_cost_function(InstructionSet instructions) {
#if defined(__x86_64__)
  if (instructions == InstructionSet::avx2) return layer_cost_avx2;
#endif
  HINDSIGHT_EXPECT(instructions == InstructionSet::baseline);
  return layer_cost_baseline;
}

LayerCostFunction layer_cost_function() {
  static const LayerCostFunction fastest = layer_cost_function(supported_instruction_sets().back());
  return fastest;
}

}  // namespace hindsight::accel
