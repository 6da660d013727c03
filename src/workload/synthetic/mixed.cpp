/// Networks of layers of any kind, each of which has sizes of its own.
///
/// In the other families sizes go together as they do in networks of their sort: a head is about as wide as its body, a
/// kernel as large as is usual. Which size makes a layer the one that does not fit is then not to be told, and of a
/// network of another sort a learner knows nothing. Every range below is [chosen]: about as wide as those of the
/// others, each size drawn by itself. There are no dilated windows, no borders without padding and no key heads that
/// several heads share. What runs such a network hands outputs from layer to layer all the same.
#include <fmt/format.h>

#include <algorithm>

#include "hindsight/core/error.h"
#include "hindsight/core/plural.h"
#include "workload/synthetic/families.h"

namespace hindsight::workload {
namespace {

/// Of one image of a layer that is not repeated; what is drawn outside is drawn again. One layer of that much is still
/// work for one chip, and one of less than the least costs what starting it costs.
constexpr double kMostLayerMacs = 3e10, kMostLayerWeightBytes = 2e8, kFewestLayerMacs = 1e4;

/// A count of channels; two of three as people round them.
std::int64_t any_channels(Draw& draw, double low, double high) {
  return draw.chance(67) ? draw.channels(low, high) : draw.size(low, high);
}

Layer any_convolution(Draw& draw, LayerType type) {
  Layer layer;
  layer.type = type;
  const bool over_time = draw.chance(35);
  layer.in_width = over_time ? draw.size(8, 65'536) : draw.size(2, 1024);
  layer.in_height = over_time ? 1 : draw.chance(70) ? layer.in_width : draw.size(2, 1024);
  layer.in_channels = any_channels(draw, 1, 4096);
  layer.out_channels = type == LayerType::depthwise_convolution ? layer.in_channels : any_channels(draw, 1, 4096);
  const std::int64_t kernel = draw.chance(50) ? draw.pick<std::int64_t>({1, 2, 3, 3, 5, 7}) : draw.size(1, 48);
  layer.kernel_width = std::min(kernel, layer.in_width);
  layer.kernel_height = std::min(kernel, layer.in_height);
  // A window at every pixel, patch beside patch, or in between.
  const std::int64_t stride = draw.chance(60)   ? 1
                              : draw.chance(50) ? kernel
                                                : draw.between(1, std::min<std::int64_t>(kernel, 8));
  layer.stride_width = std::min(stride, layer.kernel_width);
  layer.stride_height = std::min(stride, layer.kernel_height);
  const Padding across = same_padding(type, layer.in_width, layer.kernel_width, layer.stride_width, 1);
  const Padding down = same_padding(type, layer.in_height, layer.kernel_height, layer.stride_height, 1);
  layer.pad_left = across.before;
  layer.pad_right = across.after;
  layer.pad_top = down.before;
  layer.pad_bottom = down.after;
  if (type == LayerType::depthwise_convolution) layer.groups = layer.in_channels;
  if (type == LayerType::convolution && draw.chance(15)) {
    layer.groups = draw.power_of_two(2, 32);
    layer.in_channels = rounded_to(static_cast<double>(layer.in_channels), layer.groups);
    layer.out_channels = rounded_to(static_cast<double>(layer.out_channels), layer.groups);
  }
  return layer;
}

Layer any_product(Draw& draw, LayerType type) {
  Layer layer;
  layer.type = type;
  if (type == LayerType::matmul) {
    layer.heads = draw.size(1, 64);
    layer.rows = draw.size(1, 4096);
    layer.reduction = draw.size(8, 4096);
    layer.columns = draw.size(8, 4096);
    layer.has_bias = false;
  } else {
    layer.rows = draw.chance(50) ? 1 : draw.size(1, 65'536);
    layer.reduction = draw.size(1, 20'000);
    layer.columns = draw.size(1, 60'000);
  }
  return layer;
}

Layer any_layer(Draw& draw) {
  // Kinds with rows of a feature map more often than not: they have more sizes.
  using enum LayerType;
  const LayerType type =
      draw.pick({convolution, convolution, convolution, convolution, depthwise_convolution, depthwise_convolution,
                 transposed_convolution, fully_connected, fully_connected, fully_connected, matmul});
  return type == fully_connected || type == matmul ? any_product(draw, type) : any_convolution(draw, type);
}

bool is_work_of_one_layer(const Layer& layer) {
  HINDSIGHT_EXPECT(find_problem(layer).empty());
  const GemmLayer gemm = lower(layer, 1);
  return gemm.macs >= kFewestLayerMacs && gemm.macs <= kMostLayerMacs && gemm.weight_bytes <= kMostLayerWeightBytes;
}

}  // namespace

Blueprint draw_mixed(Draw& draw) {
  const std::int64_t count = draw.size(1, 10);
  Blueprint blueprint{.what = fmt::format("{} of any kind", counted(count, "layer")), .layers = {}};
  constexpr int kMostAttempts = 10'000;  // [chosen] of a network: many times what ten layers need
  for (int attempt = 0; std::ssize(blueprint.layers) < count; ++attempt) {
    HINDSIGHT_EXPECT(attempt < kMostAttempts);
    Layer layer = any_layer(draw);
    if (!is_work_of_one_layer(layer)) continue;
    layer.name = fmt::format("any{}", blueprint.layers.size() + 1);
    layer.repeat = draw.chance(80) ? 1 : draw.size(1, 16);
    blueprint.layers.push_back(std::move(layer));
  }
  return blueprint;
}

}  // namespace hindsight::workload
