/// Does every check pass at its limit, fail one step beyond, and name a value that really passes?
#include "hindsight/accel/feasibility.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "hindsight/core/random.h"
#include "hindsight/core/text.h"
#include "hindsight/space/design_space.h"
#include "hindsight/workload/network.h"
#include "tolerances.h"

namespace hindsight::accel {
namespace {

/// Seed of the random designs.
constexpr std::uint64_t kSeed = 4171;

const Technology& technology() {
  static const Technology shared = load_technology("22nm");
  return shared;
}

TEST(AccumulatorCheck, TwoPerLane) {
  AcceleratorConfig config;
  config.cores_per_pe = 16;
  config.compute_lanes = 10;
  config.activation_memory_entries = 320;  // 2 * 16 * 10
  EXPECT_FALSE(check_accumulators(config).has_value());
  config.activation_memory_entries = 319;
  const auto violation = check_accumulators(config);
  ASSERT_TRUE(violation.has_value());
  EXPECT_EQ(violation->reason, Reason::accumulators);
  EXPECT_EQ(violation->value, 320);
  EXPECT_EQ(violation->limit, 319);
  EXPECT_EQ(violation->nearest_passing, 320);
  EXPECT_STREQ(violation->parameter, "activation_memory_entries");
}

TEST(SramBandwidthCheck, PortFeedsTheLanesAtTheReuseOfTheAccumulators) {
  AcceleratorConfig config;
  config.cores_per_pe = 4;
  config.compute_lanes = 8;
  config.activation_memory_entries = 64;  // one pixel: 8 * 4 = 32 bytes per cycle, the port's
  EXPECT_FALSE(check_sram_bandwidth(config).has_value());
  config.compute_lanes = 10;  // 40 bytes; two pixels need 2 * 4 * 10 * 2 = 160 entries
  config.activation_memory_entries = 159;
  const auto violation = check_sram_bandwidth(config);
  ASSERT_TRUE(violation.has_value());
  EXPECT_EQ(violation->value, 40);
  EXPECT_EQ(violation->limit, 32);
  EXPECT_EQ(violation->nearest_passing, 160);
  config.activation_memory_entries = 160;
  EXPECT_FALSE(check_sram_bandwidth(config).has_value());
}

TEST(SramBandwidthCheck, NearestValueIsTheThresholdForEveryWidth) {
  for (double lanes = 1; lanes <= 40; ++lanes) {
    AcceleratorConfig config;
    config.cores_per_pe = 4;
    config.compute_lanes = lanes;
    config.activation_memory_entries = 2 * 4 * lanes;  // one pixel
    const auto violation = check_sram_bandwidth(config);
    EXPECT_EQ(violation.has_value(), lanes > 8) << lanes;  // 4 bytes per lane, 32 from the port
    if (!violation) continue;
    config.activation_memory_entries = violation->nearest_passing.value();
    EXPECT_FALSE(check_sram_bandwidth(config).has_value()) << lanes;
    config.activation_memory_entries -= 1;
    EXPECT_TRUE(check_sram_bandwidth(config).has_value()) << lanes;
  }
}

TEST(NocTimingCheck, DelayOfTapsAndWires) {
  Technology round;
  round.flop_overhead_ps = 50;
  round.tap_delay_ps = 20;
  round.wire_delay_ps_per_mm = 60;
  // 50 + 12 * (20 + 0.5 mm * 60) = 650 ps.
  EXPECT_NEAR(multicast_delay_ns(12, 0.5, round), 0.65, test::kRounding);
}

TEST(NocTimingCheck, PassesAtThePeriodAndNamesTheLongerAxis) {
  Technology round;
  round.flop_overhead_ps = 50;
  round.tap_delay_ps = 20;
  round.wire_delay_ps_per_mm = 60;
  ChipFacts chip;
  chip.config.pes_x = 8;
  chip.config.pes_y = 4;
  chip.config.clock_mhz = 1000;
  chip.pe_pitch_mm = 0.5;
  chip.multicast_delay_ns = 1;
  EXPECT_FALSE(check_noc_timing(chip, round).has_value());
  chip.multicast_delay_ns = 1.001;
  const auto violation = check_noc_timing(chip, round);
  ASSERT_TRUE(violation.has_value());
  EXPECT_EQ(violation->limit, 1);
  EXPECT_STREQ(violation->parameter, "pes_x");
  // floor((1000 - 50) / 50) = 19 taps, 15 of them along x: more than the 8 there are.
  EXPECT_EQ(violation->nearest_passing, 8);
  chip.pe_pitch_mm = 2;  // floor(950 / 140) = 6 taps: two columns beside the four rows
  EXPECT_EQ(check_noc_timing(chip, round)->nearest_passing, 2);
  chip.config.pes_y = 16;  // now rows are more: none beside eight columns
  EXPECT_STREQ(check_noc_timing(chip, round)->parameter, "pes_y");
  EXPECT_EQ(check_noc_timing(chip, round)->nearest_passing, std::nullopt);
}

TEST(PowerDensityCheck, PassesAtTheLimit) {
  Technology round;
  round.power_density_limit_w_per_mm2 = 0.5;
  ChipFacts chip;
  chip.config.pes_x = 4;
  chip.area.pe_mm2 = 2;
  EXPECT_FALSE(check_power_density(chip, 4, round).has_value());  // 4 W on 8 mm2
  const auto violation = check_power_density(chip, 4.001, round);
  ASSERT_TRUE(violation.has_value());
  EXPECT_NEAR(violation->value, 4.001 / 8, test::kRounding);
  EXPECT_EQ(violation->limit, 0.5);
  EXPECT_STREQ(violation->parameter, "compute_lanes");
}

TEST(ReticleCheck, PassesAtTheLimitAndNamesTheRowsThatFit) {
  Technology round;
  round.reticle_limit_mm2 = 100;
  ChipFacts chip;
  chip.config.pes_x = 2;
  chip.config.pes_y = 8;
  chip.area.pe_mm2 = 6;
  chip.area.pe_memory_mm2 = 96;  // the 16 PEs
  chip.area.dram_phy_mm2 = 4;
  EXPECT_FALSE(check_reticle(chip, round).has_value());
  chip.area.dram_phy_mm2 = 5;
  const auto violation = check_reticle(chip, round);
  ASSERT_TRUE(violation.has_value());
  EXPECT_EQ(violation->value, 101);
  EXPECT_EQ(violation->nearest_passing, 7);  // floor((100 - 5) / 12)
  EXPECT_STREQ(violation->parameter, "pes_y");
}

TEST(Messages, SayQuantityLimitAndRemedy) {
  Violation violation{.reason = Reason::accumulators,
                      .value = 320,
                      .limit = 256,
                      .nearest_passing = 320,
                      .parameter = "activation_memory_entries"};
  EXPECT_EQ(message(violation, ""),
            "the lanes of one PE need 320 accumulators, there are 256; activation_memory_entries = 320 would pass (a "
            "number: the design is of no space with values to choose from)");
  violation.of_space = true;
  violation.nearest_passing = 1048576;  // every digit, so that it can be copied
  EXPECT_EQ(message(violation, ""),
            "the lanes of one PE need 320 accumulators, there are 256; activation_memory_entries = 1048576 would pass");
  Violation hopeless{.reason = Reason::noc_timing, .value = 2.5, .limit = 1.25, .parameter = "pes_x"};
  EXPECT_EQ(message(hopeless, ""),
            "a multicast takes 2.5 ns to the far corner of the grid, the clock period is 1.25 ns; no value of pes_x "
            "alone would pass");
  hopeless.of_space = true;
  EXPECT_EQ(message(hopeless, ""),
            "a multicast takes 2.5 ns to the far corner of the grid, the clock period is 1.25 ns; no value of pes_x in "
            "the design space alone would pass");
  const Violation layer{.reason = Reason::no_mapping,
                        .layer = 3,
                        .value = 288,
                        .limit = 256,
                        .nearest_passing = 4608,
                        .parameter = "pe_memory_bytes",
                        .of_space = true};
  EXPECT_EQ(message(layer, "stem"),
            "layer stem: no mapping fits: the smallest tile needs 288 bytes, the buffer has 256; pe_memory_bytes = "
            "4608 would pass");
}

TEST(Messages, EveryReasonHasACodeAndAQuantity) {
  std::vector<std::string> codes;
  for (std::size_t r = 0; r < kReasonCount; ++r) {
    const auto reason = static_cast<Reason>(r);
    EXPECT_FALSE(quantity(reason).empty());
    EXPECT_EQ(std::count(codes.begin(), codes.end(), code(reason)), 0);
    codes.emplace_back(code(reason));
    const std::string text = message({.reason = reason, .value = 12345, .limit = 678, .parameter = "p"}, "");
    EXPECT_NE(text.find("12345"), std::string::npos) << text;
    EXPECT_NE(text.find("678"), std::string::npos) << text;
  }
}

TEST(ViolationLists, KeepTheWorstOfAReason) {
  ViolationList list;
  list.add({.reason = Reason::parameter_memory, .layer = 1, .value = 30, .limit = 20});
  list.add({.reason = Reason::parameter_memory, .layer = 2, .value = 50, .limit = 20});
  list.add({.reason = Reason::parameter_memory, .layer = 3, .value = 40, .limit = 20});
  list.add({.reason = Reason::no_mapping, .layer = 4, .value = 2, .limit = 1});
  ASSERT_EQ(list.view().size(), 2U);
  EXPECT_EQ(list.view()[0].layer, 2);
  EXPECT_EQ(list.view()[1].reason, Reason::no_mapping);
}

/// The violation of `reason`, or nothing.
std::optional<Violation> find(const Evaluation& evaluation, Reason reason) {
  for (const Violation& violation : evaluation.violations.view()) {
    if (violation.reason == reason) return violation;
  }
  return std::nullopt;
}
double& field(AcceleratorConfig& config, const std::string& parameter) {
  const auto fields = config_fields();
  return config.*
         std::find_if(fields.begin(), fields.end(), [&](const ConfigField& f) { return f.name == parameter; })->member;
}

/// The smallest change of a parameter away from what passes: one more PE, lane or megahertz, one entry or byte fewer.
double one_step_worse(const std::string& parameter) {
  const bool grows =
      parameter == "pes_x" || parameter == "pes_y" || parameter == "compute_lanes" || parameter == "clock_mhz";
  return grows ? 1 : -1;
}

class NearestPassing : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Versions, NearestPassing, testing::Values("22nm", "16nm-silicon"),
                         [](const auto& version) { return version.index == 0 ? "One" : "Two"; });

TEST_P(NearestPassing, ReallyPassesAndOneStepWorseFails) {
  Technology technology = load_technology(GetParam());
  technology.cooling_class = Cooling::air;  // a stick cools few designs of the whole space, with any number of lanes
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const space::DesignSpace space = space::load_space("edge");
  const ConfigBinding binding(space);
  const std::vector<workload::Network> networks = workload::load_networks("m4,mobilenet_v3_large,t_rnn_enc,bert_base");
  const RandomStream stream(kSeed, "nearest passing");
  std::vector<std::size_t> seen(kReasonCount, 0), hopeless(kReasonCount, 0);
  for (std::uint64_t i = 0; i < 600; ++i) {  // constants refuse one design in a hundred
    const space::Design design = space.design(stream.below(i, *space.size()));
    AcceleratorConfig config = binding.bind(space, design);
    if (i % 4 == 0) config.pe_memory_bytes = 32768;  // below the space, where mappings run out
    if (i % 8 == 1 && !technology.is_version_1()) config.clock_mhz = 2500;
    const workload::Network& network = networks[i % networks.size()];
    const auto evaluated = [&](const AcceleratorConfig& changed) {
      return evaluate(chip_facts(changed, technology), network.gemms(), Depth::all_checks);
    };
    const Evaluation evaluation = evaluated(config);
    for (const Violation& violation : evaluation.violations.view()) {
      const auto r = static_cast<std::size_t>(violation.reason);
      AcceleratorConfig changed = config;
      double& value = field(changed, violation.parameter);
      if (!violation.nearest_passing) {
        ++hopeless[r];
        value = 1;
        EXPECT_TRUE(find(evaluated(changed), violation.reason).has_value())
            << network.name() << " on " << space.text_id(design) << ": " << message(violation, "");
        continue;
      }
      ++seen[r];
      value = *violation.nearest_passing;
      EXPECT_FALSE(find(evaluated(changed), violation.reason).has_value())
          << network.name() << " on " << space.text_id(design) << ": " << message(violation, "");
      value += one_step_worse(violation.parameter);
      EXPECT_TRUE(find(evaluated(changed), violation.reason).has_value())
          << network.name() << " on " << space.text_id(design) << ": " << message(violation, "");
    }
  }
  for (std::size_t r = 0; r < kReasonCount; ++r) {
    if (!has_reason(technology, static_cast<Reason>(r))) {
      EXPECT_EQ(seen[r] + hopeless[r], 0U) << code(static_cast<Reason>(r));
      continue;
    }
    if (static_cast<Reason>(r) == Reason::dram_capacity)
      continue;  // no design of edge has devices: datacenter_test.cpp
    EXPECT_GE(seen[r], 5U) << code(static_cast<Reason>(r)) << ", hopeless " << hopeless[r];
  }
}

/// The designs that differ from `design` in the value of one parameter only, this one left out.
std::vector<space::Design> with_other_values(const space::DesignSpace& space, const space::Design& design,
                                             const char* parameter) {
  const std::size_t axis = space.index_of(parameter);
  std::vector<space::Design> others;
  for (std::size_t level = 0; level < space.parameters()[axis].level_count(); ++level) {
    if (level == design.levels[axis]) continue;
    others.push_back(design);
    others.back().levels[axis] = static_cast<std::uint16_t>(level);
  }
  return others;
}

/// Designs of a space, and reasons that name a level, or none, often enough to be tested.
struct Named {
  const char* name;
  const char* technology;
  const char* space;
  std::vector<Reason> named, hopeless;
};
void PrintTo(const Named& source, std::ostream* out) { *out << source.name; }

class NamedLevelsOf : public testing::TestWithParam<Named> {};
INSTANTIATE_TEST_SUITE_P(
    Spaces, NamedLevelsOf,
    testing::Values(Named{"EdgeVersionOne",
                          "22nm",
                          "edge",
                          {Reason::accumulators, Reason::sram_bandwidth, Reason::noc_timing, Reason::power_density,
                           Reason::parameter_memory, Reason::instruction_memory},
                          {Reason::noc_timing, Reason::instruction_memory}},
                    Named{"EdgeVersionTwo",
                          "22nm-silicon@card",
                          "edge",
                          {Reason::accumulators, Reason::sram_bandwidth, Reason::cooling, Reason::parameter_memory},
                          {Reason::cooling}},
                    Named{"Datacenter",
                          "5nm-silicon@liquid",
                          "datacenter",
                          {Reason::accumulators, Reason::sram_bandwidth, Reason::cooling, Reason::reticle,
                           Reason::dram_capacity, Reason::parameter_memory},
                          {Reason::cooling, Reason::sram_bandwidth}}),
    [](const auto& source) { return std::string(source.param.name); });

TEST_P(NamedLevelsOf, FollowedLiterallyTheyPass) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const space::DesignSpace space = space::load_space(GetParam().space);
  const Technology node = load_technology(GetParam().technology);
  const ConfigBinding binding(space);
  const std::vector<workload::Network> networks = workload::load_networks("all");
  const RandomStream stream(kSeed, "named levels");
  std::vector<std::size_t> named(kReasonCount, 0), hopeless(kReasonCount, 0);
  for (std::uint64_t i = 0; i < 1200; ++i) {
    const space::Design design = space.design(stream.below(2 * i, *space.size()));
    if (!space.is_legal(design.levels)) continue;
    const workload::Network& network = networks[stream.below(2 * i + 1, networks.size())];
    const auto violations = [&](const space::Design& of) {
      Evaluation evaluation = evaluate(chip_facts(binding.bind(space, of), node), network.gemms(), Depth::all_checks);
      name_levels(evaluation.violations, space, of.levels);
      return evaluation;
    };
    const Evaluation evaluation = violations(design);
    for (const Violation& violation : evaluation.violations.view()) {
      const std::string text = network.name() + " on " + space.text_id(design) + ": " + message(violation, "");
      const std::size_t axis = space.index_of(violation.parameter);
      const auto& parameter = space.parameters()[axis];
      const auto r = static_cast<std::size_t>(violation.reason);
      const double own = space.value(design, axis);
      if (violation.nearest_passing) {
        ++named[r];
        // As a user follows it: the text's value in the design's id.
        const std::string hint = parameter.name + "=" + parameter.labels[design.levels[axis]];
        std::string id = space.text_id(design) + ",";
        const std::string followed = parameter.name + "=" + shortest(*violation.nearest_passing);
        id.replace(id.find(hint + ","), hint.size(), followed);
        id.pop_back();
        EXPECT_FALSE(find(violations(space.parse_design(id)), violation.reason)) << text;
      } else {
        ++hopeless[r];
      }
      // No other value passes when none is named, and none nearer than the named one.
      for (const space::Design& other : with_other_values(space, design, violation.parameter)) {
        const double distance = std::abs(space.value(other, axis) - own);
        if (violation.nearest_passing && distance >= std::abs(*violation.nearest_passing - own)) continue;
        if (!space.is_legal(other.levels)) continue;
        EXPECT_TRUE(find(violations(other), violation.reason)) << text << ", but " << space.text_id(other);
      }
    }
  }
  for (const Reason reason : GetParam().named) EXPECT_GE(named[static_cast<std::size_t>(reason)], 5U) << code(reason);
  for (const Reason reason : GetParam().hopeless) {
    EXPECT_GE(hopeless[static_cast<std::size_t>(reason)], 5U) << code(reason);
  }
}

TEST(NamedLevels, AreTheNearestValuesThatPassOrNothing) {
  space::Parameter pes{.name = "pes_x", .unit = "count", .description = "", .values = {1, 2, 4, 8}, .labels = {}};
  space::Parameter entries{
      .name = "activation_memory_entries", .unit = "entries", .description = "", .values = {64, 256}, .labels = {}};
  const space::DesignSpace space("small", "", {pes, entries});
  const auto named = [&](Reason reason, const char* parameter, double threshold) {
    ViolationList list;
    list.add({.reason = reason, .nearest_passing = threshold, .parameter = parameter});
    name_levels(list, space, std::vector<std::uint16_t>{0, 0});
    EXPECT_TRUE(list.items[0].of_space);
    return list.items[0].nearest_passing;
  };
  EXPECT_EQ(named(Reason::noc_timing, "pes_x", 3), 2);  // at most three: the largest of them
  EXPECT_EQ(named(Reason::noc_timing, "pes_x", 4), 4);
  EXPECT_EQ(named(Reason::noc_timing, "pes_x", 0.5), std::nullopt);
  EXPECT_EQ(named(Reason::accumulators, "activation_memory_entries", 65), 256);  // at least 65
  EXPECT_EQ(named(Reason::accumulators, "activation_memory_entries", 256), 256);
  EXPECT_EQ(named(Reason::accumulators, "activation_memory_entries", 257), std::nullopt);
  EXPECT_EQ(named(Reason::reticle, "pes_y", 4), std::nullopt);  // no parameter of this space
}

/// The space has no eight stacks of HBM, but eight devices of GDDR.
TEST(NamedLevels, AreLegalBesideTheOtherValues) {
  const space::DesignSpace space = space::load_space("datacenter");
  const std::size_t type = space.index_of("dram_type"), devices = space.index_of("dram_devices");
  const auto& types = space.parameters()[type].labels;
  const auto named = [&](const std::string& of_type) {
    space::Design design = space.design(0);
    design.levels[type] = static_cast<std::uint16_t>(std::find(types.begin(), types.end(), of_type) - types.begin());
    EXPECT_TRUE(space.is_legal(design.levels)) << of_type;
    ViolationList list;
    list.add({.reason = Reason::dram_capacity, .nearest_passing = 7, .parameter = "dram_devices"});
    name_levels(list, space, design.levels);
    return list.items[0].nearest_passing;
  };
  EXPECT_EQ(space.parameters()[devices].values[4], 8);
  EXPECT_EQ(named("gddr6"), 8);
  EXPECT_EQ(named("hbm3"), std::nullopt);
}

TEST(HardwareChecks, ReferenceChipsCanBeBuilt) {
  for (const char* name : {"edge_tpu_v1", "edge_tpu_v1_grid", "edge_tpu_v3"}) {
    const ChipFacts chip = chip_facts(load_reference_chip(name).config, technology());
    EXPECT_EQ(chip.violations.count, 0U) << name;
  }
}

}  // namespace
}  // namespace hindsight::accel
