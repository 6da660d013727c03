/// Does the table of metrics say of every number what it is and when it is known?
#include "hindsight/accel/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "hindsight/core/random.h"
#include "hindsight/workload/network.h"

namespace hindsight::accel {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;

constexpr std::uint64_t kSeed = 31;

TEST(Metrics, NamesAreUniqueAndEndInTheirUnits) {
  std::set<std::string_view> names;
  for (const Metric& metric : metrics()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    const std::string suffix = metric.unit.empty() ? "" : "_" + std::string(metric.unit);
    EXPECT_THAT(std::string(metric.name), EndsWith(suffix));
    EXPECT_EQ(find_metric(metric.name), &metric);
  }
  EXPECT_EQ(find_metric("latency"), nullptr);
  EXPECT_THAT(metric_names_known_before_evaluation(), ElementsAre("area_mm2", "peak_power_w"));
}

TEST(Metrics, OfTheDesignAreThoseOfItsEvaluation) {
  const space::DesignSpace space = space::load_space("edge");
  const ConfigBinding binding(space);
  const Technology versions[] = {load_technology("22nm"), load_technology("7nm-silicon")};
  const workload::Network network = workload::load_networks("m4").front();
  const RandomStream stream(kSeed, "metrics");
  for (std::uint64_t i = 0; i < 100; ++i) {
    const Technology& technology = versions[i % 2];
    const AcceleratorConfig config = binding.bind(space, space.design(stream.below(i, *space.size())));
    const Evaluation evaluation = evaluate(chip_facts(config, technology), network.gemms(), Depth::stop_at_hardware);
    for (const Metric& metric : metrics()) {
      if (!metric.known_before_evaluation()) continue;
      EXPECT_EQ(metric.of_design(config, technology), metric.value(evaluation)) << metric.name;
    }
  }
}

TEST(Metrics, KnownBeforeEvaluationNeverFallWhenAParameterGrows) {
  // What smallest_value() rests on.
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const RandomStream stream(kSeed, "growth");
  for (const char* node : {"22nm", "7nm", "7nm-silicon", "28nm-silicon@card"}) {
    const Technology technology = load_technology(node);
    const space::DesignSpace space = space::load_space("edge");
    for (std::uint64_t i = 0; i < 2000; ++i) {
      AcceleratorConfig less = ConfigBinding(space).bind(space, space.design(stream.below(2 * i, *space.size())));
      less.clock_mhz = 100 + 1000 * stream.uniform(2 * i + 1);
      for (const ConfigField& field : config_fields()) {
        AcceleratorConfig more = less;
        more.*field.member *= i % 2 == 0 ? 2 : 1.0 + 1e-3;
        for (const Metric& metric : metrics()) {
          if (!metric.known_before_evaluation()) continue;
          EXPECT_LE(metric.of_design(less, technology), metric.of_design(more, technology) * (1 + 1e-12))
              << metric.name << " and " << field.name << " of " << i;
        }
      }
    }
  }
}

class BothVersions : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Metrics, BothVersions, testing::Values("22nm", "7nm-silicon"),
                         [](const auto& version) { return version.index == 0 ? "One" : "Two"; });

TEST_P(BothVersions, SmallestValueIsThatOfTheWholeSpace) {
  const space::DesignSpace space = space::load_space("tiny");
  const ConfigBinding binding(space);
  const Technology technology = load_technology(GetParam());
  for (const Metric& metric : metrics()) {
    if (!metric.known_before_evaluation()) continue;
    double smallest = INFINITY;
    for (std::uint64_t i = 0; i < *space.size(); ++i) {
      smallest = std::min(smallest, metric.of_design(binding.bind(space, space.design(i)), technology));
    }
    EXPECT_EQ(smallest_value(metric, space, technology), smallest) << metric.name;
  }
}

TEST_P(BothVersions, ValueRangeHoldsEveryDesignOfABox) {
  const space::DesignSpace space = space::load_space("edge");
  const ConfigBinding binding(space);
  const Technology technology = load_technology(GetParam());
  const RandomStream stream(kSeed, "boxes");
  std::uint64_t next = 0;
  for (int draw = 0; draw < 300; ++draw) {
    std::vector<std::vector<std::uint16_t>> box;
    space::Design design;
    for (const space::Parameter& parameter : space.parameters()) {
      std::vector<std::uint16_t> levels;
      for (std::uint16_t level = 0; level < parameter.level_count(); ++level) {
        if (stream.below(next++, 2) == 0) levels.push_back(level);
      }
      const std::size_t choices = levels.empty() ? parameter.level_count() : levels.size();
      const auto at = static_cast<std::size_t>(stream.below(next++, choices));
      design.levels.push_back(levels.empty() ? static_cast<std::uint16_t>(at) : levels[at]);
      box.push_back(levels);
    }
    for (const Metric& metric : metrics()) {
      if (!metric.known_before_evaluation()) continue;
      const auto [smallest, largest] = value_range(metric, binding, space, box, technology);
      const double value = metric.of_design(binding.bind(space, design), technology);
      EXPECT_LE(smallest, value) << metric.name << " of draw " << draw;
      EXPECT_GE(largest, value) << metric.name << " of draw " << draw;
      EXPECT_GE(smallest, smallest_value(metric, space, technology) * (1 - 1e-11));
    }
  }
}

TEST(FieldLists, NameEveryField) {
  const auto expect_all = [](std::size_t listed, std::size_t bytes) { EXPECT_EQ(listed * sizeof(double), bytes); };
  const Metrics metrics;
  std::set<std::string> energies, bytes, areas;
  for_each_energy_field([&](const char* name, double) { energies.insert(name); }, metrics.energy);
  for_each_traffic_field([&](const char* name, double) { bytes.insert(name); }, metrics.traffic);
  const AreaBreakdown area;
  for_each_area_field([&](const char* name, double) { areas.insert(name); }, area);
  expect_all(energies.size(), sizeof(EnergyBreakdown));
  expect_all(bytes.size(), sizeof(Traffic));
  expect_all(areas.size() + 1, sizeof(AreaBreakdown));  // pe_mm2 is a part of the others
}

}  // namespace
}  // namespace hindsight::accel
