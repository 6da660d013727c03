/// Do the steps that a device takes give the sites of the host's own path, bit for bit?
#include "hindsight/accel/optimum/site_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "accel/optimum/batches.h"
#include "accel/optimum/enumeration.h"
#include "accel/optimum/sites.h"
#include "accel/space_parts.h"
#include "hindsight/core/error.h"

namespace hindsight::accel::optimum {

void PrintTo(LandscapeMetrics metrics, std::ostream* out) {
  *out << (metrics == LandscapeMetrics::latency ? "latency" : "latency_and_energy");
}

namespace test {
namespace {

class SiteBatchTest : public testing::TestWithParam<LandscapeMetrics> {};
INSTANTIATE_TEST_SUITE_P(Metrics, SiteBatchTest,
                         testing::Values(LandscapeMetrics::latency, LandscapeMetrics::latency_and_energy),
                         testing::PrintToStringParamName());

void expect_same_bits(double ours, double reference) {
  EXPECT_EQ(std::bit_cast<std::uint64_t>(ours), std::bit_cast<std::uint64_t>(reference))
      << ours << " against " << reference;
}

void expect_same_energy(const EnergyParts& ours, const EnergyParts& reference) {
  expect_same_bits(ours.fixed_j, reference.fixed_j);
  expect_same_bits(ours.parameter_read_bytes, reference.parameter_read_bytes);
  expect_same_bits(ours.instruction_read_bytes, reference.instruction_read_bytes);
  expect_same_bits(ours.noc_hop_bytes, reference.noc_hop_bytes);
}

TEST_P(SiteBatchTest, GivesTheSitesOfTheReferenceBitForBit) {
  Dice dice("site batch");
  Question question;
  question.space = &inputs().space;
  question.allowed = dice.levels(30'000);
  question.allowed[*inputs().space.find("dram_bandwidth_gb_per_s")].clear();  // all: DRAM changes some mappings
  question.technology = &inputs().technology;
  for (const std::size_t network : {1U, 2U, 5U, 7U, 8U}) question.networks.push_back(&inputs().networks[network]);
  const Axes axes(question);
  const Legality legality(question, axes);
  const Layers layers(question.networks, axes.rules());
  const Chips chips(axes, inputs().technology, {.area_mm2 = 60, .peak_power_w = 1e9});
  const SiteQuestion asked = site_question(axes, question.networks, GetParam());
  SiteBatch batch(asked);
  Sites reference(axes, layers, GetParam());
  std::vector<std::vector<Site>> expected;
  const auto bandwidths = static_cast<std::uint16_t>(axes.size(Role::bandwidth));
  for (std::uint64_t number = 0; number < axes.groups(); ++number) {
    const auto group = chips.group(axes.group_point(number));
    if (!group) continue;
    std::vector<BuildableChip> all;
    // Also chips that no pair of the two other memories makes buildable: the steps do not ask.
    for_each_core(axes, legality, chips, *group, [&](const Point& point, const Core& core) {
      all.push_back({.point = point, .core = core, .bandwidths = bandwidths});
    });
    if (all.empty()) continue;
    batch.add_group(group->chip);
    reference.open(*group);
    reference.visit(all);
    for (std::size_t c = 0; c < all.size(); ++c) {
      batch.add_chip(batch_chip(all[c]));
      for (std::size_t level = 0; level < bandwidths; ++level) {
        const auto sites = reference.of(c, level);
        expected.emplace_back(sites.begin(), sites.end());
      }
    }
  }
  ASSERT_GT(expected.size(), 500U);
  const SiteAnswers answers = answer_on_host(batch);
  ASSERT_EQ(batch.points(), expected.size());
  std::size_t unmappable = 0;
  for (std::size_t p = 0; p < expected.size(); ++p) {
    for (std::size_t a = 0; a < question.networks.size(); ++a) {
      const Site& site = expected[p][a];
      const std::size_t i = p * question.networks.size() + a;
      expect_same_bits(answers.latency_s[i], site.latency_s);
      EXPECT_EQ(answers.parameter[i], site.parameter);
      EXPECT_EQ(answers.instruction[i], site.instruction);
      if (GetParam() == LandscapeMetrics::latency_and_energy) {
        expect_same_energy(answers.energy[i], site.energy);
      }
      unmappable += std::isinf(site.latency_s) ? 1 : 0;
    }
    ASSERT_FALSE(HasFailure()) << "point " << p << ", seed " << kSeed;
  }
  EXPECT_GT(unmappable, 0U) << "no chip without a mapping was drawn; seed " << kSeed;
  // Each is asked for once; what the reference saves beyond that is looking at values.
  EXPECT_LT(answers.mappings, 2 * reference.mappings());
}

TEST(Mappings, MoreSlotsThanNumbersAreRefused) {
  const space::DesignSpace fine = group_of_fine_memories(1400, 8);
  Question question;
  question.space = &fine;
  question.technology = &inputs().technology;
  for (const workload::Network& network : inputs().networks) question.networks.push_back(&network);
  const Axes axes(question);
  const Layers layers(question.networks, axes.rules());
  Mappings mappings(axes, layers, LandscapeMetrics::latency);
  try {
    mappings.open(axes.config(axes.group_point(0)));
    ADD_FAILURE() << "was opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), testing::HasSubstr("Fewer levels of pe_memory_bytes"));
  }
}

}  // namespace
}  // namespace test
}  // namespace hindsight::accel::optimum
