/// Does memory that a workload has no use for ever help a design, in version 2 of the model?
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/network_cost.h"
#include "hindsight/accel/optimum/structure.h"
#include "hindsight/core/random.h"
#include "hindsight/space/rules.h"
#include "hindsight/workload/network.h"
#include "tolerances.h"

namespace hindsight::accel {
namespace {

using hindsight::test::kRounding;

constexpr std::uint64_t kSeed = 5150;

struct MemoryField {
  const char* name;
  double AcceleratorConfig::*field;
};
constexpr MemoryField kMemories[] = {{"pe_memory_bytes", &AcceleratorConfig::pe_memory_bytes},
                                     {"core_memory_bytes", &AcceleratorConfig::core_memory_bytes},
                                     {"instruction_memory_entries", &AcceleratorConfig::instruction_memory_entries},
                                     {"parameter_memory_entries", &AcceleratorConfig::parameter_memory_entries},
                                     {"activation_memory_entries", &AcceleratorConfig::activation_memory_entries},
                                     {"shared_memory_bytes", &AcceleratorConfig::shared_memory_bytes}};

struct Question {
  const char* space;
  const char* technology;
  const char* networks;
};

/// Sizes of all memories beyond which a network has no use for one, whatever the others are. Only memories are set.
///
/// Mappings: twice saturated_memory() of every layer. What stays on chip: all weights and the activations of the
/// largest layer, twice over in what is left of the working space.
AcceleratorConfig enough_for(const workload::Network& network, const AcceleratorConfig& config) {
  double weights = 0, activations = 0;
  optimum::SaturatedMemory most;
  for (std::size_t i = 0; i < network.gemms().size(); ++i) {
    const LayerShape layer = layer_shape(network.gemms(), i);
    const optimum::SaturatedMemory one = optimum::saturated_memory(layer, config);
    most.pe_memory_bytes = std::max(most.pe_memory_bytes, one.pe_memory_bytes);
    most.core_memory_bytes = std::max(most.core_memory_bytes, one.core_memory_bytes);
    most.activation_memory_entries = std::max(most.activation_memory_entries, one.activation_memory_entries);
    most.parameter_memory_entries = std::max(most.parameter_memory_entries, one.parameter_memory_entries);
    weights += layer.weight_bytes * layer.repeat;
    activations = std::max({activations, layer.input_bytes, layer.output_bytes, layer.weight_bytes * layer.repeat});
  }
  const double operand = config.operand_bytes();
  AcceleratorConfig enough;
  enough.pe_memory_bytes = operand * (2 * most.pe_memory_bytes + 4 * (weights + 2 * activations));
  enough.core_memory_bytes = operand * (2 * most.core_memory_bytes + 4 * weights);
  enough.instruction_memory_entries = kLoopedLayerInstructions * static_cast<double>(network.gemms().size());
  enough.parameter_memory_entries = 2 * most.parameter_memory_entries;
  enough.activation_memory_entries = 2 * most.activation_memory_entries;
  enough.shared_memory_bytes = operand * (4 * weights + 8 * activations);
  return enough;
}

bool has_reason(const ViolationList& violations, Reason reason) {
  const auto view = violations.view();
  return std::any_of(view.begin(), view.end(), [&](const Violation& one) { return one.reason == reason; });
}

class NoFreeLunch : public testing::TestWithParam<Question> {
 protected:
  /// Legal random designs.
  [[nodiscard]] std::vector<AcceleratorConfig> designs(std::size_t count) const {
    const space::DesignSpace space = space::load_space(GetParam().space);
    const ConfigBinding binding(space);
    const RandomStream stream(kSeed, "no free lunch");
    std::vector<AcceleratorConfig> drawn;
    for (std::uint64_t i = 0; drawn.size() < count; ++i) {
      const space::Design design = space.design(stream.below(i, *space.size()));
      if (space.is_constrained() && !space.rules()->is_legal(design.levels)) continue;
      drawn.push_back(binding.bind(space, design));
      drawn.back().rules = template_rules(technology_);
    }
    return drawn;
  }
  [[nodiscard]] std::vector<workload::Network> networks() const { return workload::load_networks(GetParam().networks); }
  [[nodiscard]] ChipFacts checked(const AcceleratorConfig& config) const {
    return chip_facts(config, technology_, Remedies::left_out);
  }
  /// Compiled whatever the hardware's checks say.
  [[nodiscard]] Evaluation compiled(const AcceleratorConfig& config, const workload::Network& network) const {
    return evaluate(unchecked_chip_facts(config, technology_), network, Depth::all_checks);
  }

  const Technology technology_ = load_technology(GetParam().technology);
};
INSTANTIATE_TEST_SUITE_P(Spaces, NoFreeLunch,
                         testing::Values(Question{"edge", "22nm-silicon", "mobilenet_v2,t_rnn_enc,bert_base"},
                                         Question{"datacenter", "7nm-silicon@air", "resnet50,bert_base@8,vit_b_16"}),
                         [](const auto& question) { return std::string(question.param.space); });

TEST_P(NoFreeLunch, MemoryBeyondUseIsNeitherFasterNorCoolerNorSmaller) {
  const std::vector<workload::Network> asked = networks();
  std::size_t compared = 0;
  for (const AcceleratorConfig& config : designs(60)) {
    for (const workload::Network& network : asked) {
      const AcceleratorConfig enough = enough_for(network, config);
      for (const MemoryField& memory : kMemories) {
        SCOPED_TRACE(std::string(memory.name) + ", " + network.name() + ", seed " + std::to_string(kSeed));
        AcceleratorConfig used = config;
        used.*memory.field = enough.*memory.field;
        AcceleratorConfig padded = used;
        padded.*memory.field *= 2;
        const ChipFacts less = checked(used), more = checked(padded);
        ASSERT_GE(more.area.total_mm2(), less.area.total_mm2() * (1 - kRounding));
        ASSERT_GE(more.peak_power_w, less.peak_power_w * (1 - kRounding));
        for (const Violation& violation : less.violations.view()) {
          ASSERT_TRUE(has_reason(more.violations, violation.reason)) << code(violation.reason);
        }
        const Evaluation before = compiled(used, network), after = compiled(padded, network);
        ASSERT_EQ(before.feasible(), after.feasible()) << "what the compiler lacks is another memory";
        if (!before.feasible()) continue;
        ASSERT_EQ(before.metrics->latency_s, after.metrics->latency_s);
        ASSERT_EQ(before.metrics->traffic.dram_bytes(), after.metrics->traffic.dram_bytes());
        ASSERT_GE(after.metrics->energy_j, before.metrics->energy_j * (1 - kRounding));
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 200U);
}

/// The reasons that a larger memory can take away, of a design that has none of them.
bool lacks_memory(const ViolationList& violations) {
  return has_reason(violations, Reason::accumulators) || has_reason(violations, Reason::sram_bandwidth) ||
         has_reason(violations, Reason::no_mapping) || has_reason(violations, Reason::parameter_memory);
}

TEST_P(NoFreeLunch, NoMemoryMakesADesignFeasibleThatLacksNone) {
  const std::vector<workload::Network> asked = networks();
  std::size_t compared = 0;
  for (const AcceleratorConfig& config : designs(200)) {
    const ChipFacts less = checked(config);
    for (const MemoryField& memory : kMemories) {
      AcceleratorConfig padded = config;
      padded.*memory.field = std::max(2 * config.*memory.field, 1048576.0);  // of the shared one, which edge has not
      const ChipFacts more = checked(padded);
      ASSERT_GE(more.area.total_mm2(), less.area.total_mm2() * (1 - kRounding)) << memory.name;
      ASSERT_GE(more.peak_power_w, less.peak_power_w * (1 - kRounding)) << memory.name;
      for (const workload::Network& network : asked) {
        const Evaluation before = evaluate(less, network, Depth::all_checks);
        if (before.feasible() || lacks_memory(before.violations)) continue;
        const Evaluation after = evaluate(more, network, Depth::all_checks);
        EXPECT_FALSE(after.feasible()) << memory.name << ", " << network.name() << ", seed " << kSeed;
        for (const Violation& violation : before.violations.view()) {
          EXPECT_TRUE(has_reason(after.violations, violation.reason)) << memory.name << ": " << code(violation.reason);
        }
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 100U);
}

}  // namespace
}  // namespace hindsight::accel
