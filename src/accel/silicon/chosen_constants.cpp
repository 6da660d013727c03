/// Factors of the constants that were chosen.
#include "hindsight/accel/chosen_constants.h"

#include <algorithm>

#include "hindsight/accel/template_constants.h"
#include "hindsight/core/units.h"

namespace hindsight::accel {
namespace {

// Where most of them matter: designs of the edge space that a card cools, at 2.5 W few are feasible; designs with an
// air cooler of the datacenter space.
constexpr std::string_view kEdge = "edge", kCard = "7nm-silicon@card", kMobile = "mobilenet_v2";
constexpr std::string_view kDatacenter = "datacenter", kAir = "7nm-silicon@air", kConvolutions = "resnet50@64";
constexpr std::string_view kAttention = "bert_base@8";  // with softmax and activations

CoolingClass& class_of(Technology& technology, Cooling cooling) {
  return technology.cooling[static_cast<std::size_t>(cooling) - 1];
}

/// Adds to the cycles that start a layer, one per instruction of its loops.
void add_instructions(ChipFacts& chip, double instructions) { chip.config.rules.layer_overhead_cycles += instructions; }
/// Adds to the energy of those that are executed.
void add_executed(LayerResult& layer, const ChipFacts& chip, double instructions) {
  layer.executed_instructions += instructions;
  layer.energy.instruction_memory_j +=
      units::kPico * instructions * kInstructionBytes * chip.instruction_memory.read_pj_per_byte;
}

void scale_core_port(AcceleratorConfig& config, double factor) { config.core_memory_port_bytes *= factor; }
void scale_working(AcceleratorConfig& config, double factor) {
  config.working_frac = std::min(1.0, config.working_frac * factor);
}
void scale_core_working(AcceleratorConfig& config, double factor) {
  config.core_working_frac = std::min(1.0, config.core_working_frac * factor);
}
void scale_dram_efficiency(ChipRates& rates, const AcceleratorConfig&, double factor) {
  rates.dram_operands_per_cycle *= std::min(1.0 / kDramEfficiency, factor);
}
/// Routers and buses multiply each other.
void scale_routers(Technology& technology, double factor) { technology.noc_router_um2_per_bit *= factor; }

/// Energies and leakage as those of a chip that states such a supply.
void scale_supply(Technology& technology, double factor) {
  AcceleratorConfig supplied;
  supplied.logic_v = supplied.memory_v = factor * technology.supply_v;
  technology = at_supplies(technology, supplied);
}

/// Every area that 22 nm has from 28 nm.
void scale_shrink(Technology& technology, double factor) {
  for (double* const area :
       {&technology.mac_int8_um2, &technology.mac_fp8_um2, &technology.mac_bf16_um2, &technology.vector_lane_mm2,
        &technology.noc_router_um2_per_bit, &technology.engine_mm2, &technology.sram.area_mm2.coefficient}) {
    *area *= factor;
  }
}

/// As resident_memory().
void scale_shared_weights(ChipRates& rates, const AcceleratorConfig& config, double factor) {
  const double shared = config.shared_memory_bytes / config.operand_bytes();
  const double weight_frac = std::min(1.0, kSharedWeightFrac * factor);
  ResidentMemory& memory = rates.resident;
  memory.shared_parameter_bytes = shared * weight_frac;
  memory.activation_half_bytes = memory.pe_activation_half_bytes + shared * (1.0 - weight_frac) / 2.0;
}

/// As layer_shape(): softmax has the layer for itself.
void add_vector_work(LayerShape& shape, std::span<const workload::GemmLayer> layers, std::size_t i,
                     workload::VectorWork work, double factor) {
  if (is_attention(layers, i) || !layers[i].after.has(work)) return;
  shape.vector_ops += (factor - 1.0) * workload::vector_cost(work).ops * shape.output_bytes;
}

const ChosenConstant kChosenConstants[] = {
    // template_constants.h
    {.name = "kParameterEntryBytes",
     .space = kEdge,
     .technology = kCard,
     .workload = kMobile,
     .in_config = [](AcceleratorConfig& config, double factor) { config.parameter_memory_entries *= factor; },
     .in_chip =
         [](ChipFacts& chip, double factor) {
           chip.config.parameter_memory_entries /= factor;  // as many constants, each of so many bytes
           chip.parameter_memory.read_pj_per_byte *= factor;
         }},
    {.name = "kInstructionBytes",
     .space = kEdge,
     .technology = kCard,
     .workload = kMobile,
     .in_config = [](AcceleratorConfig& config, double factor) { config.instruction_memory_entries *= factor; },
     .in_chip =
         [](ChipFacts& chip, double factor) {
           chip.config.instruction_memory_entries /= factor;
           chip.instruction_memory.read_pj_per_byte *= factor;
         }},
    {.name = "kNocLinkBytesPerCycle",
     .space = kEdge,
     .technology = kCard,
     .workload = kMobile,
     .in_config = [](AcceleratorConfig& config, double factor) { config.noc_link_bytes *= factor; }},
    {.name = "kCoreMemoryPortBytes",
     .space = kEdge,
     .technology = kCard,
     .workload = kMobile,
     .in_config = scale_core_port},
    {.name = "kCoreMemoryPortBytes",
     .space = kDatacenter,
     .technology = kAir,
     .workload = kConvolutions,
     .in_config = scale_core_port},
    {.name = "kPeMemoryBankBytes",
     .space = kEdge,
     .technology = kCard,
     .workload = kMobile,
     .in_config = [](AcceleratorConfig& config, double factor) { config.pe_memory_bank_bytes *= factor; }},
    {.name = "kPeMemoryBankPortBytes",
     .space = kEdge,
     .technology = kCard,
     .workload = kMobile,
     .in_config = [](AcceleratorConfig& config, double factor) { config.pe_memory_bank_port_bytes *= factor; }},
    {.name = "kPeMemoryMaxBanks",
     .space = kEdge,
     .technology = kCard,
     .workload = kMobile,
     .in_config = [](AcceleratorConfig& config, double factor) { config.pe_memory_most_banks *= factor; }},
    {.name = "kDramEfficiency",
     .space = kEdge,
     .technology = kCard,
     .workload = kMobile,
     .in_rates = scale_dram_efficiency},
    {.name = "kDramEfficiency",
     .space = kDatacenter,
     .technology = kAir,
     .workload = kConvolutions,
     .in_rates = scale_dram_efficiency},
    {.name = "kDramLatencyNs",
     .space = kEdge,
     .technology = kCard,
     .workload = kMobile,
     .in_rates = [](ChipRates& rates, const AcceleratorConfig&,
                    double factor) { rates.dram_latency_cycles *= factor; }},
    {.name = "kDmaGranuleBytes",
     .space = kEdge,
     .technology = kCard,
     .workload = kMobile,
     .origin = ValueOrigin::chosen,
     .in_rates = [](ChipRates& rates, const AcceleratorConfig&, double factor) { rates.granule_operands *= factor; }},
    {.name = "kRequantisationReuse",
     .space = kEdge,
     .technology = kCard,
     .workload = kMobile,
     .in_chip = [](ChipFacts& chip, double factor) { chip.parameter_memory.read_pj_per_byte /= factor; }},
    {.name = "kSetupInstructions",
     .space = kEdge,
     .technology = kCard,
     .workload = kMobile,
     .origin = ValueOrigin::chosen,
     .in_chip = [](ChipFacts& chip, double factor) { add_instructions(chip, (factor - 1.0) * kSetupInstructions); },
     .in_layer = [](LayerResult& layer, const ChipFacts& chip,
                    double factor) { add_executed(layer, chip, (factor - 1.0) * kSetupInstructions); }},
    {.name = "kSetupInstructionsPerRowAndColumn",
     .space = kEdge,
     .technology = kCard,
     .workload = kMobile,
     .origin = ValueOrigin::chosen,
     .in_chip = [](ChipFacts& chip,
                   double factor) { add_instructions(chip, (factor - 1.0) * 2 * kSetupInstructionsPerRowAndColumn); },
     .in_layer =
         [](LayerResult& layer, const ChipFacts& chip, double factor) {
           const double rows_and_columns = chip.config.pes_x + chip.config.pes_y;
           add_executed(layer, chip, (factor - 1.0) * kSetupInstructionsPerRowAndColumn * rows_and_columns);
         }},
    {.name = "kInstructionsPerTile",
     .space = kEdge,
     .technology = kCard,
     .workload = kMobile,
     .in_chip = [](ChipFacts& chip, double factor) { add_instructions(chip, (factor - 1.0) * kInstructionsPerTile); },
     .in_layer =
         [](LayerResult& layer, const ChipFacts& chip, double factor) {
           const double steps = layer.tiles_m * layer.tiles_n * layer.tiles_k;
           add_executed(layer, chip, (factor - 1.0) * kInstructionsPerTile * steps);
         }},
    {.name = "kInstructionsPerLoop",  // loops are none of the instructions that layer_instructions() counts
     .space = kEdge,
     .technology = kCard,
     .workload = kMobile,
     .in_chip = [](ChipFacts& chip,
                   double factor) { add_instructions(chip, (factor - 1.0) * 5 * kInstructionsPerLoop); }},
    {.name = "kNocBusesPerPe",
     .space = kEdge,
     .technology = kCard,
     .workload = kMobile,
     .in_technology = scale_routers},
    {.name = "core_register_bits",  // version 2 has their area in that of a MAC
     .space = kEdge,
     .technology = kCard,
     .workload = kMobile,
     .in_technology = [](Technology& technology, double factor) { technology.register_bit_pj *= factor; }},
    {.name = "kSoftmaxOps",
     .space = kDatacenter,
     .technology = kAir,
     .workload = kAttention,
     .in_shape =
         [](LayerShape& shape, std::span<const workload::GemmLayer> layers, std::size_t i, double factor) {
           if (is_attention(layers, i)) shape.vector_ops *= factor;
         }},
    {.name = "kSharedWeightFrac",
     .space = kDatacenter,
     .technology = kAir,
     .workload = kConvolutions,
     .origin = ValueOrigin::chosen,
     .in_rates = scale_shared_weights},
    // config.h
    {.name = "working_frac",
     .space = kEdge,
     .technology = kCard,
     .workload = kMobile,
     .origin = ValueOrigin::chosen,
     .in_config = scale_working},
    {.name = "working_frac",
     .space = kDatacenter,
     .technology = kAir,
     .workload = kConvolutions,
     .origin = ValueOrigin::chosen,
     .in_config = scale_working},
    {.name = "core_working_frac",
     .space = kEdge,
     .technology = kCard,
     .workload = kMobile,
     .origin = ValueOrigin::chosen,
     .in_config = scale_core_working},
    {.name = "core_working_frac",
     .space = kDatacenter,
     .technology = kAir,
     .workload = kConvolutions,
     .origin = ValueOrigin::chosen,
     .in_config = scale_core_working},
    // vector_work.h
    {.name = "activation",
     .space = kDatacenter,
     .technology = kAir,
     .workload = kAttention,
     .in_shape = [](LayerShape& shape, std::span<const workload::GemmLayer> layers, std::size_t i,
                    double factor) { add_vector_work(shape, layers, i, workload::VectorWork::activation, factor); }},
    {.name = "pool",
     .space = kDatacenter,
     .technology = kAir,
     .workload = kConvolutions,
     .in_shape = [](LayerShape& shape, std::span<const workload::GemmLayer> layers, std::size_t i,
                    double factor) { add_vector_work(shape, layers, i, workload::VectorWork::pool, factor); }},
    // data/technology/*-silicon.yaml
    {.name = "area of 22 nm over 28 nm",
     .space = kEdge,
     .technology = "22nm-silicon@card",
     .workload = kMobile,
     .in_technology = scale_shrink},
    {.name = "bit cell of 12 nm over 16 nm",
     .space = kEdge,
     .technology = "12nm-silicon@card",
     .workload = kMobile,
     .in_technology = [](Technology& technology, double factor) { technology.sram.area_mm2.coefficient *= factor; }},
    {.name = "supply_v",
     .space = kEdge,
     .technology = kCard,
     .workload = kMobile,
     .origin = ValueOrigin::chosen,
     .in_technology = scale_supply},
    {.name = "logic_leakage_mw_per_mm2",
     .space = kDatacenter,
     .technology = "5nm-silicon@liquid",
     .workload = kConvolutions,
     .origin = ValueOrigin::chosen,
     .in_technology = [](Technology& technology, double factor) { technology.logic_leakage_mw_per_mm2 *= factor; }},
    {.name = "noc_pj_per_byte_mm",
     .space = kDatacenter,
     .technology = "5nm-silicon@liquid",
     .workload = kConvolutions,
     .origin = ValueOrigin::chosen,
     .in_technology = [](Technology& technology, double factor) { technology.noc_pj_per_byte_mm *= factor; }},
    {.name = "noc_router_um2_per_bit",
     .space = kDatacenter,
     .technology = kAir,
     .workload = kConvolutions,
     .origin = ValueOrigin::chosen,
     .in_technology = scale_routers},
    {.name = "cooling.phone.most_w",
     .space = kEdge,
     .technology = "7nm-silicon@phone",
     .workload = kMobile,
     .in_technology = [](Technology& technology,
                         double factor) { class_of(technology, Cooling::phone).most_w *= factor; }},
    {.name = "cooling.phone.w_per_mm2",
     .space = kEdge,
     .technology = "7nm-silicon@phone",
     .workload = kMobile,
     .in_technology = [](Technology& technology,
                         double factor) { class_of(technology, Cooling::phone).w_per_mm2 *= factor; }},
    {.name = "cooling.air.most_w",
     .space = kDatacenter,
     .technology = kAir,
     .workload = kConvolutions,
     .in_technology = [](Technology& technology,
                         double factor) { class_of(technology, Cooling::air).most_w *= factor; }},
};

constexpr UnaskedConstant kUnaskedConstants[] = {
    {"kPeMemoryBankBytes in energies", "what is asked above is how many ports there are"},
    {"kProcessorMacs", "no design of a space has a processor; chips that have: their peak power"},
};

}  // namespace

std::span<const ChosenConstant> chosen_constants() { return kChosenConstants; }
std::span<const UnaskedConstant> unasked_constants() { return kUnaskedConstants; }

Evaluation evaluate_scaled(const ChosenConstant& constant, double factor, const AcceleratorConfig& config,
                           const Technology& technology, const workload::Network& network) {
  const std::span<const workload::GemmLayer> layers = network.gemms();
  Technology scaled_technology = technology;
  AcceleratorConfig scaled_config = config;
  if (constant.in_technology != nullptr) constant.in_technology(scaled_technology, factor);
  if (constant.in_config != nullptr) constant.in_config(scaled_config, factor);
  ChipFacts chip = chip_facts(scaled_config, scaled_technology, Remedies::left_out);
  if (chip.violations.count > 0) return hardware_evaluation(chip);
  if (constant.in_chip != nullptr) constant.in_chip(chip, factor);
  ChipRates rates = chip_rates(chip.config);
  if (constant.in_rates != nullptr) constant.in_rates(rates, chip.config, factor);
  const auto shape_of = [&](std::size_t i) {
    LayerShape shape = layer_shape(layers, i);
    if (constant.in_shape != nullptr) constant.in_shape(shape, layers, i, factor);
    return shape;
  };
  const auto cost_of = [&](std::size_t i, const Residency& residency) {
    LayerCost cost = layer_cost(shape_of(i), residency, chip, rates);
    if (constant.in_layer != nullptr && cost.found) constant.in_layer(cost.result, chip, factor);
    return cost;
  };
  return network_evaluation(chip, sum_layers(
                                      chip, rates, layers.size(), shape_of, cost_of,
                                      [](std::size_t, const LayerCost&) {}, network.other_parameters()));
}

}  // namespace hindsight::accel
