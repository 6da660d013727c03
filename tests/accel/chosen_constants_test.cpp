/// Is every constant that nobody publishes asked and are they ten at most, does a factor reach what the constant
/// enters, and nothing else?
#include "hindsight/accel/chosen_constants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "hindsight/core/files.h"
#include "hindsight/core/random.h"
#include "hindsight/space/rules.h"
#include "hindsight/workload/network.h"
#include "repository.h"
#include "tolerances.h"

namespace hindsight::accel {
namespace {

using hindsight::test::kRounding;
using hindsight::test::relative_error;

constexpr std::uint64_t kSeed = 77;

/// The designs that a constant is asked of.
struct AskedDesigns {
  Technology technology;
  workload::Network network;
  std::vector<AcceleratorConfig> configs;
};

/// The first 40 feasible ones of a random sequence.
AskedDesigns draw_asked_designs(const ChosenConstant& constant) {
  constexpr std::size_t kCount = 40;
  const space::DesignSpace space = space::load_space(std::string(constant.space));
  const ConfigBinding binding(space);
  AskedDesigns asked{.technology = load_technology(std::string(constant.technology)),
                     .network = workload::load_network(std::string(constant.workload)),
                     .configs = {}};
  const RandomStream stream(kSeed, "asked");
  for (std::uint64_t i = 0; asked.configs.size() < kCount && i < 50'000; ++i) {
    const space::Design design = space.design(stream.below(i, *space.size()));
    if (space.is_constrained() && !space.rules()->is_legal(design.levels)) continue;
    const AcceleratorConfig config = binding.bind(space, design);
    const ChipFacts chip = chip_facts(config, asked.technology, Remedies::left_out);
    if (evaluate(chip, asked.network, Depth::stop_at_hardware).feasible()) asked.configs.push_back(config);
  }
  EXPECT_EQ(asked.configs.size(), kCount) << constant.name;
  return asked;
}

/// Drawn once for all constants that are asked of the same.
const AskedDesigns& asked_designs(const ChosenConstant& constant) {
  static std::map<std::string, AskedDesigns> drawn;
  const std::string key =
      std::string(constant.space) + " " + std::string(constant.technology) + " " + std::string(constant.workload);
  const auto known = drawn.find(key);
  return known != drawn.end() ? known->second : drawn.emplace(key, draw_asked_designs(constant)).first->second;
}

const ChosenConstant& constant_named(std::string_view name) {
  for (const ChosenConstant& constant : chosen_constants()) {
    if (constant.name == name) return constant;
  }
  ADD_FAILURE() << name;
  return chosen_constants().front();
}

/// The costs of one design as the model is, with half of a constant and with twice.
struct Scaled {
  Evaluation half, as_is, twice;
};
Scaled scaled_of(const ChosenConstant& constant, const AcceleratorConfig& config, const AskedDesigns& asked) {
  const auto with = [&](double factor) {
    return evaluate_scaled(constant, factor, config, asked.technology, asked.network);
  };
  return {.half = with(0.5), .as_is = with(1), .twice = with(2)};
}

bool differ(const Evaluation& one, const Evaluation& other) {
  if (one.feasible() != other.feasible() || one.area.total_mm2() != other.area.total_mm2()) return true;
  return one.feasible() &&
         (one.metrics->latency_s != other.metrics->latency_s || one.metrics->energy_j != other.metrics->energy_j);
}

TEST(ChosenConstants, AFactorOfOneChangesNothingAndOthersDo) {
  for (const ChosenConstant& constant : chosen_constants()) {
    SCOPED_TRACE(std::string(constant.name) + ", " + std::string(constant.space) + ", seed " + std::to_string(kSeed));
    const AskedDesigns& asked = asked_designs(constant);
    bool does = false;
    for (const AcceleratorConfig& config : asked.configs) {
      const Scaled scaled = scaled_of(constant, config, asked);
      const Evaluation plain = evaluate(chip_facts(config, asked.technology), asked.network, Depth::stop_at_hardware);
      EXPECT_FALSE(differ(scaled.as_is, plain));
      EXPECT_EQ(scaled.as_is.peak_power_w, plain.peak_power_w);
      does = does || differ(scaled.half, plain) || differ(scaled.twice, plain);
    }
    EXPECT_TRUE(does);
  }
}

TEST(ChosenConstants, HalfOfTheDramsEfficiencyIsHalfOfItsBandwidthAndNoneIsAboveOne) {
  const ChosenConstant& constant = constant_named("kDramEfficiency");
  const AskedDesigns& asked = asked_designs(constant);
  for (const AcceleratorConfig& config : asked.configs) {
    AcceleratorConfig slower = config;
    slower.dram_bandwidth_gb_per_s /= 2;
    const Scaled scaled = scaled_of(constant, config, asked);
    const Evaluation half = evaluate(unchecked_chip_facts(slower, asked.technology), asked.network, Depth::all_checks);
    EXPECT_EQ(scaled.half.metrics->latency_s, half.metrics->latency_s);
    EXPECT_EQ(scaled.half.area.total_mm2(), scaled.as_is.area.total_mm2()) << "its PHY stays";
    const Evaluation all = evaluate_scaled(constant, 1.25, config, asked.technology, asked.network);
    EXPECT_EQ(scaled.twice.metrics->latency_s, all.metrics->latency_s);
  }
}

TEST(ChosenConstants, WiderEntriesTakeAreaAndEnergyAndNoOtherMapping) {
  const ChosenConstant& constant = constant_named("kParameterEntryBytes");
  const AskedDesigns& asked = asked_designs(constant);
  for (const AcceleratorConfig& config : asked.configs) {
    AcceleratorConfig more = config;
    more.parameter_memory_entries *= 2;
    const Scaled scaled = scaled_of(constant, config, asked);
    const ChipFacts chip = unchecked_chip_facts(config, asked.technology);
    const ChipFacts larger = unchecked_chip_facts(more, asked.technology);
    EXPECT_EQ(scaled.twice.area.parameter_memory_mm2, larger.area.parameter_memory_mm2);
    if (!scaled.twice.feasible()) continue;  // too hot
    EXPECT_EQ(scaled.twice.metrics->latency_s, scaled.as_is.metrics->latency_s);
    // Twice the bytes, each at the energy of the larger memory.
    const double per_byte = larger.parameter_memory.read_pj_per_byte / chip.parameter_memory.read_pj_per_byte;
    EXPECT_LE(relative_error(scaled.twice.metrics->energy.parameter_memory_j,
                             2 * per_byte * scaled.as_is.metrics->energy.parameter_memory_j),
              kRounding);
  }
}

TEST(ChosenConstants, ConstantsThatServeMoreOutputsTakeLessEnergy) {
  const ChosenConstant& constant = constant_named("kRequantisationReuse");
  const AskedDesigns& asked = asked_designs(constant);
  for (const AcceleratorConfig& config : asked.configs) {
    const Scaled scaled = scaled_of(constant, config, asked);
    EXPECT_LE(relative_error(scaled.twice.metrics->energy.parameter_memory_j,
                             scaled.as_is.metrics->energy.parameter_memory_j / 2),
              kRounding);
    EXPECT_EQ(scaled.twice.metrics->latency_s, scaled.as_is.metrics->latency_s);
  }
}

/// 16 to set up, 4 for a row and for a column, 4 of a tile, 2 for each of five loops, one descriptor: 39 in all.
TEST(ChosenConstants, InstructionsOfALayerAreItsCyclesToStart) {
  const std::map<std::string, double> cycles{{"kSetupInstructions", 16},
                                             {"kSetupInstructionsPerRowAndColumn", 8},
                                             {"kInstructionsPerTile", 4},
                                             {"kInstructionsPerLoop", 10}};
  double sum = 1;
  for (const auto& [name, per_layer] : cycles) {
    const ChosenConstant& constant = constant_named(name);
    const AskedDesigns& asked = asked_designs(constant);
    const auto layers = static_cast<double>(asked.network.totals().layers);
    for (const AcceleratorConfig& config : asked.configs) {
      const Scaled scaled = scaled_of(constant, config, asked);
      const double more = scaled.twice.metrics->latency_cycles - scaled.as_is.metrics->latency_cycles;
      EXPECT_NEAR(more, per_layer * layers, kRounding * scaled.twice.metrics->latency_cycles) << name;
      const double energy_j =
          scaled.twice.metrics->energy.instruction_memory_j - scaled.as_is.metrics->energy.instruction_memory_j;
      EXPECT_EQ(energy_j > 0, name != "kInstructionsPerLoop") << name;
    }
    sum += per_layer;
  }
  EXPECT_EQ(sum, kLoopedLayerInstructions);
}

/// As far as they are fixed per layer: all of them but tiles, of which a layer executes several.
TEST(ChosenConstants, ExecutedInstructionsAreThoseOfTheProgramModel) {
  const AskedDesigns& asked = asked_designs(constant_named("kSetupInstructions"));
  const auto layers = static_cast<double>(asked.network.totals().layers);
  for (const AcceleratorConfig& config : asked.configs) {
    const ChipFacts chip = unchecked_chip_facts(config, asked.technology);
    const double one_j = 1e-12 * kInstructionBytes * chip.instruction_memory.read_pj_per_byte;
    const std::map<std::string, double> executed{
        {"kSetupInstructions", 16}, {"kSetupInstructionsPerRowAndColumn", 4 * (config.pes_x + config.pes_y)}};
    for (const auto& [name, per_layer] : executed) {
      const Scaled scaled = scaled_of(constant_named(name), config, asked);
      const double more_j =
          scaled.twice.metrics->energy.instruction_memory_j - scaled.as_is.metrics->energy.instruction_memory_j;
      EXPECT_LE(relative_error(more_j, per_layer * layers * one_j), 1e-9) << name;
    }
  }
}

TEST(ChosenConstants, WorkOfTheVectorUnitIsOfItsLayersAlone) {
  const auto added_j = [](std::string_view name) {
    const ChosenConstant& constant = constant_named(name);
    const AskedDesigns& asked = asked_designs(constant);
    const Scaled scaled = scaled_of(constant, asked.configs.front(), asked);
    EXPECT_EQ(scaled.twice.metrics->traffic.dram_bytes(), scaled.as_is.metrics->traffic.dram_bytes());
    return (scaled.twice.metrics->energy.vector_j - scaled.as_is.metrics->energy.vector_j) /
           (1e-12 * asked.technology.vector_op_pj);
  };
  // BERT at a batch of 8: twelve layers of 12 heads with 128 x 128 scores, and of 128 x 3,072 activations.
  EXPECT_LE(relative_error(added_j("kSoftmaxOps"), 8 * 12 * 12 * 128.0 * 128 * kSoftmaxOps), 1e-9);
  EXPECT_LE(relative_error(added_j("activation"), 8 * 12 * 128.0 * 3072 * 4), 1e-9);
  // ResNet-50 at 64: behind the first convolution, and over the last map.
  EXPECT_GE(added_j("pool"), 64 * 112.0 * 112 * 64 * (1 - kRounding));
}

TEST(ChosenConstants, AllOfASharedMemoryKeepsWeights) {
  const ChosenConstant& constant = constant_named("kSharedWeightFrac");
  const AskedDesigns& asked = asked_designs(constant);
  for (const AcceleratorConfig& config : asked.configs) {
    const Scaled scaled = scaled_of(constant, config, asked);
    EXPECT_GE(scaled.twice.metrics->weights_cached_frac, scaled.as_is.metrics->weights_cached_frac);
    EXPECT_LE(scaled.half.metrics->weights_cached_frac, scaled.as_is.metrics->weights_cached_frac);
  }
}

TEST(ChosenConstants, ASupplyIsThatOfAChipThatStatesIt) {
  const ChosenConstant& constant = constant_named("supply_v");
  const AskedDesigns& asked = asked_designs(constant);
  for (const AcceleratorConfig& config : asked.configs) {
    AcceleratorConfig supplied = config;
    supplied.logic_v = supplied.memory_v = 0.5 * asked.technology.supply_v;
    const Evaluation half = evaluate_scaled(constant, 0.5, config, asked.technology, asked.network);
    const Evaluation stated =
        evaluate(chip_facts(supplied, asked.technology, Remedies::left_out), asked.network, Depth::stop_at_hardware);
    EXPECT_FALSE(differ(half, stated));
    EXPECT_LT(half.peak_power_w, chip_facts(config, asked.technology).peak_power_w);
  }
}

/// Names of the asked constants of which no source, or one, states the value.
std::set<std::string> asked_names(ValueOrigin origin) {
  std::set<std::string> names;
  for (const ChosenConstant& constant : chosen_constants()) {
    if (constant.origin == origin) names.emplace(constant.name);
  }
  return names;
}

/// What stands between `before` and the next of `ends` in a line.
std::string word_behind(const std::string& line, const std::string& before, const char* ends) {
  const std::size_t begin = line.find(before) + before.size();
  return line.substr(begin, line.find_first_of(ends, begin) - begin);
}

/// Names of the constants of a C++ file that have one of the tags, in the comment above them or behind them.
std::set<std::string> tagged_in_source(const std::string& file, const std::vector<std::string>& tags) {
  std::istringstream text(read_file(hindsight::test::repository() / file));
  std::set<std::string> names;
  std::string label;
  bool tagged = false;
  for (std::string line; std::getline(text, line);) {
    const bool here = std::any_of(tags.begin(), tags.end(),
                                  [&](const std::string& tag) { return line.find(tag) != std::string::npos; });
    tagged = !line.empty() && (tagged || here);
    if (line.find("case VectorWork::") != std::string::npos) label = word_behind(line, "VectorWork::", ":");
    if (line.find("return {") != std::string::npos) {
      if (tagged) names.insert(label);
      tagged = false;
    } else if (line.find("constexpr double ") != std::string::npos) {
      if (tagged) names.insert(word_behind(line, "constexpr double ", " (="));
      tagged = false;
    }
  }
  return names;
}

std::set<std::string> tagged_in_sources(const std::vector<std::string>& tags) {
  std::set<std::string> names = tagged_in_source("include/hindsight/accel/template_constants.h", tags);
  names.merge(tagged_in_source("include/hindsight/workload/vector_work.h", tags));
  return names;
}

/// Keys of version 2's technology files that are [chosen], or in part, but those of which no number enters a result.
std::set<std::string> chosen_in_technologies() {
  std::set<std::string> names;
  for (const char* node : {"28nm", "22nm", "16nm", "12nm", "7nm", "5nm"}) {
    std::istringstream text(
        read_file(hindsight::test::repository() / "data/technology" / (std::string(node) + "-silicon.yaml")));
    for (std::string line; std::getline(text, line);) {
      const std::size_t key = line.find_first_not_of(' ');
      if (key == std::string::npos || line[key] == '#' || line.find("[chosen]") == std::string::npos) continue;
      const std::string name = line.substr(key, line.find(':') - key);
      if (name != "node_nm" && name != "cooling_class") names.insert(name);
    }
  }
  return names;
}

TEST(ChosenConstants, AtMostTenHaveNoSourceAndEachIsAsked) {
  std::set<std::string> tagged = tagged_in_sources({"[chosen]"});
  tagged.merge(chosen_in_technologies());
  const std::string config = read_file(hindsight::test::repository() / "include/hindsight/accel/config.h");
  if (config.find("/// [chosen] Share of every PE memory and of every core memory") != std::string::npos) {
    tagged.insert({"working_frac", "core_working_frac"});
  }
  EXPECT_EQ(tagged, asked_names(ValueOrigin::chosen));
  EXPECT_EQ(tagged.size(), 10U);  // as docs/silicon.md lists them
}

TEST(ChosenConstants, TheOthersHaveASource) {
  const std::set<std::string> sourced = tagged_in_sources({"[paper: ", "[spec: ", "[data: "});
  const std::set<std::string> published = asked_names(ValueOrigin::published);
  // Of the technology files: their keys have tags of other parts, too.
  const std::set<std::string> elsewhere{"area of 22 nm over 28 nm", "bit cell of 12 nm over 16 nm",
                                        "cooling.phone.most_w", "cooling.phone.w_per_mm2", "cooling.air.most_w"};
  for (const std::string& name : published) {
    EXPECT_NE(sourced.contains(name), elsewhere.contains(name)) << name << " has no source";
  }
  EXPECT_TRUE(sourced.contains("kProcessorMacs"));
  EXPECT_EQ(published.size(), 22U);  // and kProcessorMacs, which is not asked: 23, as docs/silicon.md lists them
}

}  // namespace
}  // namespace hindsight::accel
