/// Random layers on random chips, for tests of what is chosen for one layer.
#pragma once

#include <cstdint>
#include <iterator>

#include "hindsight/accel/mapping.h"
#include "hindsight/core/random.h"
#include "hindsight/workload/layer.h"
#include "version_under_test.h"

namespace hindsight::accel::test {

inline workload::Layer random_layer(const RandomStream& stream, std::uint64_t first_word) {
  const auto pick = [&](std::uint64_t word, std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(stream.below(first_word + word, static_cast<std::uint64_t>(high - low + 1)));
  };
  workload::Layer layer;
  layer.name = "random";
  const std::int64_t type = pick(0, 0, 3);
  if (type == 0) {
    layer.type = workload::LayerType::fully_connected;
    layer.rows = pick(1, 1, 200);
    layer.columns = pick(2, 1, 3000);
    layer.reduction = pick(3, 1, 3000);
  } else if (type == 1) {
    layer.type = workload::LayerType::matmul;
    layer.rows = pick(1, 1, 200);
    layer.columns = pick(2, 1, 200);
    layer.reduction = pick(3, 1, 200);
    layer.heads = pick(4, 1, 12);
  } else {
    layer.in_height = pick(1, 7, 120);
    layer.in_width = pick(2, 7, 120);
    layer.in_channels = pick(3, 1, 400);
    layer.kernel_height = pick(4, 1, 7);
    layer.kernel_width = pick(5, 1, 7);
    layer.stride_height = layer.stride_width = pick(6, 1, 2);
    layer.out_channels = pick(7, 1, 400);
    if (type == 3) {
      layer.type = workload::LayerType::depthwise_convolution;
      layer.out_channels = layer.groups = layer.in_channels;
    }
  }
  return layer;
}

/// A random layer on a random chip, both up to the extremes of the published space.
struct Case {
  LayerShape layer;
  AcceleratorConfig config;
  Residency residency;
  double dram_cycles = 0;
};
inline Case random_case(const RandomStream& stream, std::uint64_t i) {
  constexpr double kGrid[] = {1, 2, 4, 6, 8, 14, 32};
  constexpr double kLaneCounts[] = {1, 2, 4, 6, 8, 10, 12, 14, 16, 32};
  const std::uint64_t word = 20 * i;
  Case drawn{.layer = layer_shape(workload::lower(random_layer(stream, word), 1)), .config = {}, .residency = {}};
  AcceleratorConfig& config = drawn.config;
  config.rules = hindsight::test::rules_under_test();
  config.pes_x = kGrid[stream.below(word + 8, std::size(kGrid))];
  config.pes_y = kGrid[stream.below(word + 9, std::size(kGrid))];
  config.cores_per_pe = static_cast<double>(1U << stream.below(word + 10, 9));
  config.compute_lanes = kLaneCounts[stream.below(word + 11, std::size(kLaneCounts))];
  config.pe_memory_bytes = static_cast<double>(1U << (14 + stream.below(word + 12, 8)));
  config.core_memory_bytes = static_cast<double>(1U << (10 + stream.below(word + 13, 8)));
  config.activation_memory_entries = static_cast<double>(1U << (8 + stream.below(word + 14, 7)));
  config.parameter_memory_entries = static_cast<double>(1U << (6 + stream.below(word + 18, 9)));
  drawn.residency.weights_cached_frac = stream.below(word + 15, 2) == 0 ? 0.0 : 1.0;
  if (stream.below(word + 16, 2) != 0) drawn.dram_cycles = stream.uniform(word + 17) * drawn.layer.macs / 1000;
  return drawn;
}

}  // namespace hindsight::accel::test
