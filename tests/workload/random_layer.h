/// Random valid layers for property tests, and the stream they come from.
#pragma once

#include <string>

#include "hindsight/core/random.h"
#include "hindsight/workload/layer.h"

namespace hindsight::workload::testing {

/// Seed of every property test of this folder; printed by SCOPED_TRACE with the index of the failing layer.
inline constexpr std::uint64_t kSeed = 20240611;

class Draw {
 public:
  explicit Draw(const std::string& test) : stream_(kSeed, test) {}
  /// Uniform in [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(stream_.below(next_++, static_cast<std::uint64_t>(high - low + 1)));
  }
  bool coin() { return between(0, 1) == 1; }

 private:
  RandomStream stream_;
  std::uint64_t next_ = 0;
};

/// A convolution with every feature at random: kernel, stride, dilation, uneven padding, groups.
inline Layer random_convolution(Draw& draw) {
  Layer layer;
  layer.name = "random";
  layer.repeat = draw.between(1, 3);
  layer.kernel_height = draw.between(1, 5);
  layer.kernel_width = draw.between(1, 5);
  layer.dilation_height = draw.between(1, 3);
  layer.dilation_width = draw.between(1, 3);
  layer.stride_height = draw.between(1, 4);
  layer.stride_width = draw.between(1, 4);
  layer.in_height = (layer.kernel_height - 1) * layer.dilation_height + draw.between(1, 20);
  layer.in_width = (layer.kernel_width - 1) * layer.dilation_width + draw.between(1, 20);
  layer.pad_top = draw.between(0, 3);
  layer.pad_bottom = draw.between(0, 3);
  layer.pad_left = draw.between(0, 3);
  layer.pad_right = draw.between(0, 3);
  layer.groups = draw.between(1, 4);
  layer.in_channels = layer.groups * draw.between(1, 8);
  layer.out_channels = layer.groups * draw.between(1, 8);
  layer.has_bias = draw.coin();
  layer.batch_norm = draw.coin();
  return layer;
}

/// Any of the five layer types.
inline Layer random_layer(Draw& draw) {
  Layer layer = random_convolution(draw);
  switch (draw.between(0, 4)) {
    case 0:
      break;
    case 1:
      layer.type = LayerType::depthwise_convolution;
      layer.groups = layer.in_channels;
      layer.out_channels = layer.in_channels * draw.between(1, 2);
      break;
    case 2:
      layer.type = LayerType::transposed_convolution;
      layer.pad_top = layer.pad_bottom = layer.pad_left = layer.pad_right = 0;
      break;
    default: {
      const bool matmul = draw.coin();
      layer = Layer{};
      layer.name = "random";
      layer.type = matmul ? LayerType::matmul : LayerType::fully_connected;
      layer.rows = draw.between(1, 50);
      layer.columns = draw.between(1, 50);
      layer.reduction = draw.between(1, 50);
      layer.kv_heads = matmul ? draw.between(1, 3) : 0;
      layer.heads = matmul ? layer.kv_heads * draw.between(2, 3) : 1;
      layer.has_bias = !matmul && draw.coin();
      layer.batch_norm = !matmul && draw.coin();
      break;
    }
  }
  return layer;
}

}  // namespace hindsight::workload::testing
