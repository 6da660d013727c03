/// Are the remedies of power density, cooling and reticle, which are worked out, the very values that trying chips one
/// by one finds?
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <ostream>
#include <string>

#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/feasibility.h"
#include "hindsight/core/random.h"
#include "hindsight/space/design_space.h"

namespace hindsight::accel {
namespace {

/// Seed of the random designs.
constexpr std::uint64_t kSeed = 4171;

/// Designs of a space that one check refuses, whose remedy is another value of `parameter`.
struct Refusal {
  const char* name;
  const char* technology;
  const char* space;
  Reason reason;
  double AcceleratorConfig::*parameter;
  double reticle_limit_mm2;
};
void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }

class Remedy : public testing::TestWithParam<Refusal> {
 protected:
  Technology technology_ = [] {
    Technology technology = load_technology(GetParam().technology);
    technology.reticle_limit_mm2 = GetParam().reticle_limit_mm2;
    return technology;
  }();
  space::DesignSpace space_ = space::load_space(GetParam().space);
  ConfigBinding binding_{space_};

  /// A random design, of any number of lanes up to those of the widest core there is.
  [[nodiscard]] AcceleratorConfig design(std::uint64_t number) const {
    const RandomStream stream(kSeed, GetParam().name);
    AcceleratorConfig config = binding_.bind(space_, space_.design(stream.below(2 * number, *space_.size())));
    config.compute_lanes = static_cast<double>(1 + stream.below(2 * number + 1, 128));
    return config;
  }
  [[nodiscard]] std::optional<Violation> violation(const AcceleratorConfig& config, Remedies remedies) const {
    const ChipFacts chip = chip_facts(config, technology_, remedies);
    for (const Violation& one : chip.violations.view()) {
      if (one.reason == GetParam().reason) return one;
    }
    return std::nullopt;
  }
  [[nodiscard]] AcceleratorConfig with(AcceleratorConfig config, double value) const {
    config.*GetParam().parameter = value;
    return config;
  }
  /// The largest value below the design's own with which the check passes.
  [[nodiscard]] std::optional<double> one_by_one(const AcceleratorConfig& config) const {
    for (double value = config.*GetParam().parameter - 1.0; value >= 1.0; value -= 1.0) {
      if (!violation(with(config, value), Remedies::left_out)) return value;
    }
    return std::nullopt;
  }
  /// Sets the limit of the check to what the chip has; of every cooling class.
  void set_limit(const AcceleratorConfig& config, double share = 1.0) {
    const ChipFacts chip = chip_facts(config, technology_, Remedies::left_out);
    switch (GetParam().reason) {
      case Reason::power_density:
        technology_.power_density_limit_w_per_mm2 = share * chip.pe_array_peak_w / (config.pes() * chip.area.pe_mm2);
        return;
      case Reason::cooling:
        for (CoolingClass& cooling : technology_.cooling) cooling.most_w = share * chip.peak_power_w;
        return;
      default:
        technology_.reticle_limit_mm2 = share * chip.area.total_mm2();
        return;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(
    Checks, Remedy,
    testing::Values(
        Refusal{"PowerDensity", "22nm", "edge", Reason::power_density, &AcceleratorConfig::compute_lanes, 858},
        Refusal{"CoolingOfAStick", "16nm-silicon", "edge", Reason::cooling, &AcceleratorConfig::compute_lanes, 858},
        Refusal{"CoolingOfACard", "22nm-silicon@card", "edge", Reason::cooling, &AcceleratorConfig::compute_lanes, 858},
        Refusal{"CoolingOfAServer", "7nm-silicon@air", "datacenter", Reason::cooling, &AcceleratorConfig::compute_lanes,
                858},
        Refusal{"ReticleOfVersionOne", "22nm", "edge", Reason::reticle, &AcceleratorConfig::pes_y, 100},
        Refusal{"Reticle", "5nm-silicon@liquid", "datacenter", Reason::reticle, &AcceleratorConfig::pes_y, 858},
        Refusal{"ReticleOfHotDies", "22nm-silicon", "edge", Reason::reticle, &AcceleratorConfig::pes_y, 100}),
    [](const auto& refusal) { return std::string(refusal.param.name); });

TEST_P(Remedy, IsTheLargestValueThatPasses) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::size_t named = 0, hopeless = 0;
  for (std::uint64_t i = 0; i < 2000 || (i < 100'000 && (named < 100 || hopeless < 10)); ++i) {
    const AcceleratorConfig config = design(i);
    const std::optional<Violation> found = violation(config, Remedies::named);
    if (!found) continue;
    ++(found->nearest_passing ? named : hopeless);
    ASSERT_EQ(found->nearest_passing, one_by_one(config)) << "case " << i;
  }
  EXPECT_GE(named, 100U);
  EXPECT_GE(hopeless, 10U);
}

/// A chip of a file may have a number of PEs or lanes that is not whole.
TEST_P(Remedy, EndsWhereNumbersAreNotWhole) {
  std::size_t found = 0;
  for (std::uint64_t i = 0; i < 500; ++i) {
    for (const double more : {0.25, 0.5}) {
      AcceleratorConfig config = design(i);
      config.*GetParam().parameter += more;
      const std::optional<Violation> refused = violation(config, Remedies::named);
      if (!refused) continue;
      ++found;
      ASSERT_EQ(refused->nearest_passing, one_by_one(config)) << "case " << i << ", " << more << " more";
    }
  }
  EXPECT_GT(found, 50U);
}

/// Where a chip is exactly at the limit no closed form knows whether it passes: rounding decides.
TEST_P(Remedy, IsThatOfTheChipItselfAtTheLimit) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::size_t at_limit = 0;
  for (std::uint64_t i = 0; i < 400; ++i) {
    const AcceleratorConfig config = design(i);
    const double own = config.*GetParam().parameter;
    if (own < 2) continue;
    const AcceleratorConfig smaller = with(config, 1.0 + std::floor((own - 2.0) / 2.0));
    constexpr double kUlp = std::numeric_limits<double>::epsilon();
    for (const double share : {1.0 - kUlp, 1.0, 1.0 + kUlp}) {
      set_limit(smaller, share);
      const std::optional<Violation> found = violation(config, Remedies::named);
      if (!found) continue;  // no larger than the smaller one: cooled by as much white space
      ASSERT_EQ(found->nearest_passing, one_by_one(config)) << "case " << i << ", share - 1 = " << share - 1.0;
      at_limit += found->nearest_passing == smaller.*GetParam().parameter ? 1 : 0;
    }
  }
  EXPECT_GT(at_limit, 200U);
}

}  // namespace
}  // namespace hindsight::accel
