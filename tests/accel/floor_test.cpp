/// Properties of the floor of spaces without an exact optimum: no design is below it, and on small parts it ends with
/// the best of all designs.
#include "hindsight/accel/optimum/floor.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hindsight/accel/bounds.h"
#include "hindsight/core/error.h"
#include "hindsight/core/random.h"
#include "hindsight/space/rules.h"

namespace hindsight::accel::optimum {
namespace {

constexpr double kNothing = std::numeric_limits<double>::infinity();

/// The datacenter space with a technology and networks that its designs are for.
class FloorTest : public testing::TestWithParam<const char*> {
 protected:
  FloorTest() {
    for (const workload::Network& network : networks_) question_.networks.push_back(&network);
    question_.space = &space_;
    question_.technology = &technology_;
    question_.aggregate = Aggregate::geomean;
  }

  /// Two neighbouring levels of about half of the parameters, one of the others: at most a few hundred designs.
  [[nodiscard]] AllowedLevels random_part(std::uint64_t seed) const {
    const RandomStream random(seed, "parts of a space");
    AllowedLevels allowed;
    std::size_t designs = 1;
    for (std::size_t p = 0; p < space_.parameters().size(); ++p) {
      const auto levels = space_.parameters()[p].level_count();
      const auto first = static_cast<std::uint16_t>(random.below(2 * p, levels));
      allowed.push_back({first});
      const bool two = random.below(2 * p + 1, 2) == 0 && designs < 256 && first + 1U < levels;
      if (!two) continue;
      allowed.back().push_back(static_cast<std::uint16_t>(first + 1));
      designs *= 2;
    }
    return allowed;
  }

  /// The best of all designs of a part, one after the other.
  [[nodiscard]] double best_of_all(const AllowedLevels& allowed) const {
    const ConfigBinding binding(space_);
    double best = kNothing;
    space::Design design;
    for (const auto& levels : allowed) design.levels.push_back(levels.front());
    const auto visit = [&](auto&& self, std::size_t p) -> void {
      if (p == allowed.size()) {
        if (!space_.rules()->is_legal(design.levels)) return;
        best = std::min(best, value_of(question_, binding, design).value_or(kNothing));
        return;
      }
      for (const std::uint16_t level : allowed[p]) {
        design.levels[p] = level;
        self(self, p + 1);
      }
    };
    visit(visit, 0);
    return best;
  }

  space::DesignSpace space_ = space::load_space("datacenter");
  Technology technology_ = load_technology(GetParam());
  std::vector<workload::Network> networks_ = workload::load_networks("bert_base@8,resnet50");
  Question question_;
};

TEST_P(FloorTest, NoDesignOfAPartIsBelowIt) {
  std::size_t runnable = 0, near = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    question_.allowed = random_part(seed);
    const double best = best_of_all(question_.allowed);
    const Floor unsplit = latency_floor(question_, kNothing, 0);
    ASSERT_LE(unsplit.latency_s, best) << "part " << seed;
    const Floor searched = latency_floor(question_, kNothing);
    ASSERT_LE(searched.latency_s, best) << "part " << seed;
    ASSERT_GE(searched.latency_s, unsplit.latency_s) << "part " << seed;
    if (!std::isfinite(best)) continue;
    ++runnable;
    near += best < 2 * unsplit.latency_s ? 1 : 0;
    EXPECT_TRUE(searched.closed) << "part " << seed;
    EXPECT_EQ(searched.better_s, best) << "part " << seed;
  }
  EXPECT_GT(runnable, 20U);
  EXPECT_GT(near, runnable / 10) << "a floor that is never near says nothing";
}

TEST_P(FloorTest, LimitsOfAreaAndWattsRaiseIt) {
  const double unlimited = latency_floor(question_, kNothing, 200).latency_s;
  for (const auto& [metric, most] : {std::pair("area_mm2", 100.0), std::pair("peak_power_w", 40.0)}) {
    Question limited = question_;
    limited.limits.push_back({find_metric(metric), most});
    const Floor floor = latency_floor(limited, kNothing, 200);
    EXPECT_GT(floor.latency_s, 1.1 * unlimited) << metric;
    EXPECT_EQ(floor.splits, 200U);
  }
  Question impossible = question_;
  impossible.limits.push_back({find_metric("area_mm2"), 1});
  EXPECT_EQ(latency_floor(impossible, kNothing).latency_s, kNothing);
}

TEST_P(FloorTest, AKnownDesignEndsItWhereNothingIsBetter) {
  question_.allowed = random_part(3);
  for (std::uint64_t seed = 3; !std::isfinite(best_of_all(question_.allowed)); ++seed) {
    question_.allowed = random_part(seed);
  }
  const double best = best_of_all(question_.allowed);
  const Floor floor = latency_floor(question_, best);
  EXPECT_TRUE(floor.closed);
  EXPECT_FALSE(floor.better);
  EXPECT_LE(floor.latency_s, best);
  EXPECT_GE(floor.latency_s, best * (1 - 2 * kMargin));
}

TEST_P(FloorTest, AWatchThatHasEnoughEndsIt) {
  const Floor floor = latency_floor(question_, kNothing, 1'000'000'000, [](const Standing&) { return false; });
  EXPECT_TRUE(floor.interrupted);
  EXPECT_FALSE(floor.closed);
  EXPECT_GT(floor.latency_s, 0);
}

INSTANTIATE_TEST_SUITE_P(Technologies, FloorTest, testing::Values("7nm-silicon@air", "5nm-silicon@liquid"),
                         [](const auto& one) { return std::string(one.param).substr(0, 3); });

TEST(ExactBounds, AreThoseOfTheEdgeSpace) {
  EXPECT_TRUE(has_exact_bounds(space::load_space("edge")));
  EXPECT_FALSE(has_exact_bounds(space::load_space("datacenter")));
}

}  // namespace
}  // namespace hindsight::accel::optimum
