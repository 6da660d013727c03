/// Does a chip that fewer lanes do not cool get the nearest value of another parameter that does?
#include "hindsight/accel/other_remedies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "hindsight/core/random.h"

namespace hindsight::accel {
namespace {

/// Seed of the random designs.
constexpr std::uint64_t kSeed = 6023;

/// 64 PEs at 1500 MHz, of 775 W at 7 nm; a liquid removes 700 W.
constexpr const char* kHotDesign =
    "pes_x=8,pes_y=8,cores_per_pe=16,compute_lanes=8,macs_per_lane=8,precision=int8,clock_mhz=1500,pe_memory_bytes="
    "262144,core_memory_bytes=262144,activation_memory_entries=16384,parameter_memory_entries=8192,"
    "instruction_memory_entries=16384,shared_memory_bytes=268435456,noc_link_bytes=512,vector_lanes=64,dram_type=hbm3,"
    "dram_devices=6";

class OtherRemedies : public testing::Test {
 protected:
  space::DesignSpace space_ = space::load_space("datacenter");
  ConfigBinding binding_{space_};
  Technology technology_ = load_technology("7nm-silicon@liquid");

  /// The chip's violations, with levels of the space.
  [[nodiscard]] ViolationList violations(const space::Design& design, Remedies remedies) const {
    ViolationList found = chip_facts(binding_.bind(space_, design), technology_, remedies).violations;
    if (remedies == Remedies::named) name_levels(found, space_, design.levels);
    return found;
  }
  [[nodiscard]] static std::optional<Violation> heat(const ViolationList& list) {
    for (const Violation& one : list.view()) {
      if (one.reason == Reason::cooling) return one;
    }
    return std::nullopt;
  }
  /// Levels from the design's own down to the nearest of the parameter that cools it and breaks nothing else; nothing
  /// when none does.
  [[nodiscard]] std::optional<int> steps_down(const space::Design& design, std::size_t place) const {
    const std::size_t before = violations(design, Remedies::left_out).count;
    space::Design lower = design;
    for (int steps = 1; steps <= int{design.levels[place]}; ++steps) {
      lower.levels[place] = static_cast<std::uint16_t>(int{design.levels[place]} - steps);
      const ViolationList left = violations(lower, Remedies::left_out);
      if (space_.is_legal(lower.levels) && !heat(left) && left.count < before) return steps;
    }
    return std::nullopt;
  }
};

/// One value less of the PEs, cores, links or clock cools it; the clock leaves most of its watts (689 W; pes_x 688 W).
TEST_F(OtherRemedies, TheNearestValueOfAnyParameterIsNamed) {
  const space::Design design = space_.parse_design(kHotDesign);
  ViolationList found = violations(design, Remedies::named);
  ASSERT_TRUE(heat(found));
  ASSERT_FALSE(heat(found)->nearest_passing) << "fewer lanes do not cool it";
  name_other_parameter(found, space_, design, technology_);
  EXPECT_EQ(heat(found)->parameter, std::string("clock_mhz"));
  EXPECT_EQ(heat(found)->nearest_passing, 1300);
  EXPECT_NE(message(*heat(found), "").find("; clock_mhz = 1300 would pass"), std::string::npos);
}

TEST_F(OtherRemedies, AreFoundWhereAnyValueOfAnyParameterPasses) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const RandomStream stream(kSeed, "other remedies");
  std::size_t named = 0, hopeless = 0;
  for (std::uint64_t i = 0; i < 20'000 && (named < 40 || hopeless < 10); ++i) {
    const space::Design design = space_.design(stream.below(i, *space_.size()));
    if (!space_.is_legal(design.levels)) continue;
    // A slot's 75 W are out of reach of many designs; some value of theirs brings all to 700 W.
    technology_.cooling_class = i % 2 == 0 ? Cooling::liquid : Cooling::card;
    ViolationList found = violations(design, Remedies::named);
    const std::optional<Violation> before = heat(found);
    name_other_parameter(found, space_, design, technology_);
    if (!before) continue;
    if (before->nearest_passing) {
      EXPECT_EQ(heat(found)->nearest_passing, before->nearest_passing) << "lanes keep the first word";
      continue;
    }
    const Violation after = heat(found).value();
    EXPECT_TRUE(after.of_any_parameter);
    std::optional<int> fewest;
    for (std::size_t place = 0; place < space_.parameters().size(); ++place) {
      if (space_.parameters()[place].kind == space::ParameterKind::categorical) continue;
      const std::optional<int> steps = steps_down(design, place);
      if (steps && (!fewest || *steps < *fewest)) fewest = steps;
    }
    ++(after.nearest_passing ? named : hopeless);
    ASSERT_EQ(after.nearest_passing.has_value(), fewest.has_value()) << space_.text_id(design);
    if (!fewest) {
      EXPECT_NE(message(after, "").find("; no value of any parameter in the design space alone would pass"),
                std::string::npos);
      continue;
    }
    const std::size_t place = space_.index_of(after.parameter);
    EXPECT_EQ(steps_down(design, place), fewest) << space_.text_id(design) << ": " << after.parameter;
    const auto& values = space_.parameters()[place].values;
    EXPECT_EQ(*after.nearest_passing, values.at(design.levels[place] - static_cast<std::size_t>(*fewest)));
  }
  EXPECT_GE(named, 40U);
  EXPECT_GE(hopeless, 10U);
}

TEST_F(OtherRemedies, AChipOfNoSpaceGetsTheFastestClockThatPasses) {
  AcceleratorConfig config = binding_.bind(space_, space_.parse_design(kHotDesign));
  config.compute_lanes = 1;  // there are no fewer
  config.noc_link_bytes = 2048;
  const auto list = [&] { return chip_facts(config, technology_).violations; };
  ViolationList found = list();
  ASSERT_TRUE(heat(found));
  ASSERT_FALSE(heat(found)->nearest_passing);
  name_slower_clock(found, config, technology_);
  const Violation slower = heat(found).value();
  ASSERT_EQ(slower.parameter, std::string("clock_mhz"));
  ASSERT_TRUE(slower.nearest_passing);
  config.clock_mhz = *slower.nearest_passing;
  EXPECT_FALSE(heat(list()));
  config.clock_mhz += 1;
  EXPECT_TRUE(heat(list())) << "the fastest that passes";
  config.clock_mhz = 0.5;  // there is no slower whole one
  config.noc_link_bytes = 1e9;
  ViolationList none = list();
  ASSERT_TRUE(heat(none));
  name_slower_clock(none, config, technology_);
  EXPECT_FALSE(heat(none)->nearest_passing);
}

}  // namespace
}  // namespace hindsight::accel
