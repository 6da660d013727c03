/// Does version 4 of the model cut sequences along their row, and leave all else as version 3 has it?
#include <gtest/gtest.h>

#include <algorithm>

#include "accel/both_versions.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/core/random.h"
#include "hindsight/workload/network.h"

namespace hindsight::accel {
namespace {

bool has_sequences(const workload::Network& network) {
  return std::ranges::any_of(network.gemms(), &workload::GemmLayer::of_sequence);
}

bool finds_no_mapping(const Evaluation& evaluation) {
  return std::ranges::any_of(evaluation.violations.view(),
                             [](const Violation& one) { return one.reason == Reason::no_mapping; });
}

/// Networks without sequences take what they took; those with them take no longer, because splits whose rows found no
/// tile may be chosen now, and what runs anew is what had no mapping.
TEST(Sequences, OnlyRowsWithoutATileAreNew) {
  const test::BothVersions versions("whisper_base,unet,synthetic:60", RandomStream(4, "sequences"), 4);
  std::size_t same = 0, new_ones = 0;
  for (std::uint64_t i = 0; same < 200 || new_ones < 10; ++i) {
    ASSERT_LT(i, 20'000U) << same << " " << new_ones;
    const auto [network, before, now] = versions.at(i);
    if (before.feasible()) {
      ASSERT_TRUE(now.feasible()) << network.name();
      ASSERT_LE(now.metrics->latency_s, before.metrics->latency_s) << network.name();
      if (has_sequences(network)) continue;
      ASSERT_EQ(now.metrics->latency_s, before.metrics->latency_s) << network.name();
      ASSERT_EQ(now.metrics->energy_j, before.metrics->energy_j) << network.name();
      ++same;
    } else if (now.feasible()) {
      ASSERT_TRUE(has_sequences(network)) << network.name();
      ASSERT_TRUE(finds_no_mapping(before)) << network.name();
      ++new_ones;
    }
  }
}

TEST(Sequences, AreConvolutionsOfOneRowUnderWindowsOfOneRow) {
  workload::Layer layer;
  layer.name = "l";
  layer.in_height = layer.kernel_height = 1;
  layer.in_width = 100;
  layer.in_channels = layer.out_channels = 8;
  layer.kernel_width = 5;
  EXPECT_TRUE(workload::lower(layer, 4).of_sequence) << "of every image";
  layer.kernel_height = 3;
  layer.pad_top = layer.pad_bottom = 1;
  EXPECT_FALSE(workload::lower(layer, 1).of_sequence) << "its window sees padding above and below";
  layer.kernel_height = 1;
  layer.pad_top = layer.pad_bottom = 0;
  layer.in_height = 2;
  EXPECT_FALSE(workload::lower(layer, 1).of_sequence);
}

}  // namespace
}  // namespace hindsight::accel
