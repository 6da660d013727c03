/// Is the mapping that one layer's sorted splits give the mapper's own, choice for choice, ties included?
#include "accel/optimum/splits.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "accel/random_case.h"
#include "hindsight/accel/program.h"

namespace hindsight::accel::optimum::test {
namespace {

using accel::test::random_case;

/// Seed of the random layers and chips.
constexpr std::uint64_t kSeed = 20261123;

/// Everything that a landscape takes from a mapping.
std::array<double, 16> numbers_of(const Mapping& mapping, const AcceleratorConfig& config) {
  return {static_cast<double>(mapping.split.x),
          static_cast<double>(mapping.split.y),
          static_cast<double>(mapping.dataflow),
          mapping.lanes,
          mapping.reuse,
          mapping.pe.n,
          mapping.core.split_m,
          mapping.core.split_n,
          mapping.plan.tiles_m,
          mapping.plan.tiles_n,
          mapping.plan.tiles_k,
          mapping.noc.weight_bytes + mapping.noc.input_bytes + mapping.noc.output_bytes,
          mapping.pe_memory.read_bytes,
          mapping.pe_memory.write_bytes,
          mapping.steady_cycles,
          layer_instructions(mapping.pe, mapping.core, mapping.plan, config.pes_x, config.pes_y)};
}

/// A group's largest chip: that of a case with memories that are at least as large.
AcceleratorConfig largest_of(AcceleratorConfig config) {
  config.pe_memory_bytes = 1U << 21U;
  config.core_memory_bytes = 1U << 17U;
  config.activation_memory_entries = 1U << 14U;
  config.parameter_memory_entries = 1U << 18U;
  return config;
}

/// Compares at one chip; returns the steady cycles when DRAM takes no time.
double compare(Splits& splits, const accel::test::Case& one, bool cached) {
  const Residency residency{.weights_cached_frac = cached ? 1.0 : 0.0};
  const MapperMemory memory = mapper_memory(one.config);
  const auto truth = [&](double dram_cycles) {
    return best_mapping(one.layer, one.config, memory.working, residency, dram_cycles);
  };
  const auto same = [&](const mapper_detail::Choice& choice, double dram_cycles) {
    const Mapping expected = truth(dram_cycles);
    ASSERT_TRUE(choice.found);
    const Mapping found = splits.mapping(choice, memory);
    ASSERT_EQ(numbers_of(found, one.config), numbers_of(expected, one.config)) << "DRAM " << dram_cycles;
    ASSERT_EQ(splits.constants(choice), expected.pe.n);
    ASSERT_EQ(splits.instructions(choice, memory), numbers_of(expected, one.config).back());
  };
  const mapper_detail::Choice free = splits.on_chip(memory);
  EXPECT_EQ(free.found, truth(0).found);
  EXPECT_EQ(free.cycles, truth(0).steady_cycles);
  if (!free.found) return free.cycles;
  same(free, 0);
  for (const double factor : {1.0, 1.01, 1.3, 2.0, 30.0, 1e6}) {
    same(splits.beside_dram(memory, factor * free.cycles), factor * free.cycles);
  }
  return free.cycles;
}

TEST(Splits, ChooseWhatTheMapperChooses) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const RandomStream stream(kSeed, "splits");
  std::size_t found = 0, misfits = 0;
  for (std::uint64_t i = 0; i < 3000 && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    const accel::test::Case one = random_case(stream, i);
    Splits streamed(one.layer, largest_of(one.config), false), cached(one.layer, largest_of(one.config), true);
    // the same splits at several memories, which they may not confuse
    constexpr std::array<std::array<double, 4>, 6> kShares{
        {{0.25, 1, 8, 1}, {1, 2, 2, 8}, {4, 4, 0.5, 1}, {1, 4, 2, 0.5}, {4, 0.25, 8, 8}, {4, 2, 1, 2}}};
    const AcceleratorConfig most = largest_of(one.config);
    for (const auto& [pe, core, activation, parameter] : kShares) {
      accel::test::Case at = one;
      at.config.pe_memory_bytes = std::min(one.config.pe_memory_bytes * pe, most.pe_memory_bytes);
      at.config.core_memory_bytes = std::min(one.config.core_memory_bytes * core, most.core_memory_bytes);
      at.config.activation_memory_entries =
          std::min(one.config.activation_memory_entries * activation, most.activation_memory_entries);
      at.config.parameter_memory_entries = one.config.parameter_memory_entries * parameter;
      for (Splits* const splits : {&streamed, &cached}) {
        const double cycles = compare(*splits, at, splits == &cached);
        ++(std::isfinite(cycles) ? found : misfits);
      }
    }
  }
  EXPECT_GT(found, 16000U);
  EXPECT_GT(misfits, 200U);
}

TEST(Splits, LayersOfOneOfEverything) {
  accel::test::Case one{.layer = {}, .config = {}, .residency = {}};
  one.layer.macs = 1;
  one.config = {.pes_x = 32,
                .pes_y = 32,
                .pe_memory_bytes = 262144,
                .cores_per_pe = 256,
                .core_memory_bytes = 4096,
                .compute_lanes = 32,
                .activation_memory_entries = 16384};
  for (const bool cached : {false, true}) {
    Splits splits(one.layer, one.config, cached);
    EXPECT_TRUE(std::isfinite(compare(splits, one, cached)));
  }
  one.config.core_memory_bytes = 4;  // half a byte of working room: not even one lane's weights fit
  Splits splits(one.layer, one.config, false);
  EXPECT_EQ(compare(splits, one, false), std::numeric_limits<double>::infinity());
}

TEST(Splits, OneOfManyEqualsIsTheMappersFirst) {
  // A square layer on a square grid: rows by columns costs what columns by rows does, to the last byte.
  accel::test::Case one{.layer = {}, .config = {}, .residency = {}};
  one.layer.m = one.layer.out_rows = one.layer.n = one.layer.k = one.layer.in_channels = 512;
  one.layer.macs = 512.0 * 512 * 512;
  one.config = {.pes_x = 4,
                .pes_y = 4,
                .pe_memory_bytes = 1U << 21U,
                .cores_per_pe = 16,
                .core_memory_bytes = 1U << 17U,
                .compute_lanes = 4,
                .activation_memory_entries = 16384};
  Splits splits(one.layer, one.config, false);
  EXPECT_TRUE(std::isfinite(compare(splits, one, false)));
  const Mapping chosen = splits.mapping(splits.on_chip(mapper_memory(one.config)), mapper_memory(one.config));
  EXPECT_EQ(chosen.split.x, GemmDimension::n);
  EXPECT_EQ(chosen.split.y, GemmDimension::m);
}

}  // namespace
}  // namespace hindsight::accel::optimum::test
