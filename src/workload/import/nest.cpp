/// Loop nests as layers.
#include "workload/import/nest.h"

#include <fmt/format.h>

#include <algorithm>

#include "hindsight/core/text.h"

namespace hindsight::workload {
namespace {

/// Products of the sizes of loops by the tensors that they select in.
struct NestSizes {
  std::int64_t groups = 1, images = 1, out_channels = 1, in_channels = 1;
};

[[noreturn]] void fail_nest(const Nest& nest, const std::string& problem) {
  fail_import(nest.where, about_layer(nest.name, problem));
}

std::int64_t bounded_product(const Nest& nest, std::int64_t a, std::int64_t b) {
  if (a > kLargestSize / b) fail_nest(nest, fmt::format("{} times {} is more than {}", a, b, kLargestSize));
  return a * b;
}

std::int64_t loop_size(const Nest& nest, const std::string& name) {
  const auto found = std::ranges::find(nest.loops, name, &NestLoop::name);
  if (found == nest.loops.end()) fail_nest(nest, fmt::format("'{}' has no size", printable(name)));
  return found->size;
}

NestSizes sizes_of(const Nest& nest) {
  NestSizes sizes;
  for (const NestLoop& loop : nest.loops) {
    const bool in_window = std::ranges::any_of(nest.windows, [&](const NestWindow& window) {
      return window.output == loop.name || window.kernel == loop.name;
    });
    if (in_window) continue;
    std::int64_t* into = nullptr;
    if (loop.of_outputs && loop.of_weights) {
      into = loop.of_inputs ? &sizes.groups : &sizes.out_channels;
    } else if (loop.of_inputs && (loop.of_outputs || loop.of_weights)) {
      into = loop.of_outputs ? &sizes.images : &sizes.in_channels;
    } else if (loop.size != 1) {
      fail_nest(nest,
                fmt::format("'{}' selects in one tensor only, so it is no loop of a product", printable(loop.name)));
    }
    if (into != nullptr) *into = bounded_product(nest, *into, loop.size);
  }
  return sizes;
}

Layer nest_product(const Nest& nest, const NestSizes& sizes) {
  Layer layer;
  layer.type = nest.trained ? LayerType::fully_connected : LayerType::matmul;
  layer.has_bias = false;
  layer.rows = sizes.images;
  layer.columns = sizes.out_channels;
  layer.reduction = sizes.in_channels;
  layer.heads = sizes.groups;
  return layer;
}

/// Pixels of the input that the windows reach, without the padding.
std::int64_t window_input(const Nest& nest, const NestWindow& window) {
  const std::int64_t outputs = loop_size(nest, window.output), kernel = loop_size(nest, window.kernel);
  const std::int64_t reached = bounded_product(nest, outputs, window.stride) - window.stride +
                               bounded_product(nest, kernel, window.dilation) - window.dilation + 1 -
                               window.pad_before - window.pad_after;
  if (reached < 1) fail_nest(nest, fmt::format("a padding of {} + {}", window.pad_before, window.pad_after));
  return reached;
}

Layer nest_convolution(const Nest& nest, const NestSizes& sizes) {
  if (nest.windows.size() > 2) fail_nest(nest, "windows over more than two axes, which no layer can say");
  Layer layer;
  layer.has_bias = false;
  layer.in_height = layer.in_width = 1;
  for (const NestWindow& window : nest.windows) {
    const bool width = nest.windows.size() == 1 || window.is_width;
    (width ? layer.in_width : layer.in_height) = window_input(nest, window);
    (width ? layer.kernel_width : layer.kernel_height) = loop_size(nest, window.kernel);
    (width ? layer.stride_width : layer.stride_height) = window.stride;
    (width ? layer.dilation_width : layer.dilation_height) = window.dilation;
    (width ? layer.pad_left : layer.pad_top) = window.pad_before;
    (width ? layer.pad_right : layer.pad_bottom) = window.pad_after;
  }
  layer.groups = sizes.groups;
  layer.in_channels = bounded_product(nest, sizes.in_channels, sizes.groups);
  layer.out_channels = bounded_product(nest, sizes.out_channels, sizes.groups);
  if (sizes.groups > 1 && sizes.in_channels == 1) layer.type = LayerType::depthwise_convolution;
  return layer;
}

/// Trained weights in groups, without windows: a convolution of single pixels, whose groups are those of the nest.
Layer nest_grouped_product(const Nest& nest, const NestSizes& sizes) {
  Layer layer = nest_convolution(nest, sizes);
  layer.in_width = sizes.images;
  return layer;
}

}  // namespace

void require_few(const ConfigNode& node) {
  const std::size_t parts = node.is_list() ? node.items().size() : node.is_map() ? node.keys().size() : 0;
  if (parts > kMostNestParts) {
    node.fail(
        fmt::format("{} parts of one layer (at most {}). Is this a loop nest?", with_commas(parts), kMostNestParts));
  }
}

GatheredLayer layer_of(const Nest& nest) {
  const NestSizes sizes = sizes_of(nest);
  GatheredLayer gathered{.layer = {}, .images = 1, .where = nest.where};
  if (!nest.windows.empty()) {
    if (!nest.trained) fail_nest(nest, "windows over weights that another layer gives, which no layer can say");
    gathered.layer = nest_convolution(nest, sizes);
    gathered.images = sizes.images;
  } else if (nest.trained && sizes.groups > 1) {
    gathered.layer = nest_grouped_product(nest, sizes);
  } else {
    gathered.layer = nest_product(nest, sizes);
  }
  gathered.layer.name = nest.name;
  return gathered;
}

}  // namespace hindsight::workload
