/// layer_cost(), compiled for the instructions that this machine has.
#pragma once

#include <vector>

#include "hindsight/accel/network_cost.h"

namespace hindsight::accel {

/// Instruction sets that layer_cost() is compiled for. None changes a bit of a result: AVX2 alone, without FMA, rounds
/// every operation as the baseline does.
enum class InstructionSet { baseline, avx2 };
/// Those that this machine has, the fastest last.
[[nodiscard]] std::vector<InstructionSet> supported_instruction_sets();

using LayerCostFunction = void (*)(const LayerShape& layer, const Residency& residency, const ChipFacts& chip,
                                   const ChipRates& rates, LayerCost& cost);
[[nodiscard]] LayerCostFunction layer_cost_function(InstructionSet instructions);
/// The fastest one.
[[nodiscard]] LayerCostFunction layer_cost_function();

}  // namespace hindsight::accel
