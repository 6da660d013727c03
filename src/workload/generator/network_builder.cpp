/// Blocks of networks as lists of layers: convolutions, attention, inverted residuals.
#include "workload/generator/network_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hindsight/core/error.h"

namespace hindsight::workload {
namespace {

Padding border_padding(Border border, LayerType type, std::int64_t in, std::int64_t kernel, std::int64_t stride) {
  switch (border) {
    case Border::same:
      return same_padding(type, in, kernel, stride, 1);
    case Border::symmetric:
      return {(kernel - 1) / 2, (kernel - 1) / 2};
    case Border::none:
      break;
  }
  return {};
}

void set_channel(Layer& layer, Channel channel) {
  layer.batch_norm = channel == Channel::batch_norm;
  layer.has_bias = channel == Channel::bias;
}

Layer convolution_layer(const std::string& name, LayerType type, FeatureMap in, const Conv& conv, Border border) {
  Layer layer;
  layer.name = name;
  layer.type = type;
  layer.in_height = in.height;
  layer.in_width = in.width;
  layer.in_channels = in.channels;
  layer.out_channels = conv.out;
  layer.kernel_height = layer.kernel_width = conv.kernel;
  layer.stride_height = layer.stride_width = conv.stride;
  layer.groups = conv.groups;
  const Padding height = border_padding(border, type, in.height, conv.kernel, conv.stride);
  const Padding width = border_padding(border, type, in.width, conv.kernel, conv.stride);
  layer.pad_top = height.before;
  layer.pad_bottom = height.after;
  layer.pad_left = width.before;
  layer.pad_right = width.after;
  set_channel(layer, conv.channel);
  return layer;
}

Layer depthwise_layer(const std::string& name, FeatureMap in, std::int64_t kernel, std::int64_t stride, Border border) {
  Layer layer = convolution_layer(name, LayerType::depthwise_convolution, in,
                                  {.out = in.channels, .kernel = kernel, .stride = stride}, border);
  layer.groups = in.channels;
  return layer;
}

/// The same with a kernel of one row.
Layer over_time(Layer layer) {
  layer.kernel_height = layer.stride_height = 1;
  layer.pad_top = layer.pad_bottom = 0;
  return layer;
}

}  // namespace

void NetworkBuilder::add(Layer layer) {
  validate(layer);
  shape_ = {layer.out_height(), layer.out_width(), layer.out_channels};
  layers_.push_back(std::move(layer));
}

void NetworkBuilder::then(std::initializer_list<VectorWork> works) {
  HINDSIGHT_EXPECT(!layers_.empty());
  for (const VectorWork work : works) layers_.back().after.add(work);
}

void NetworkBuilder::convolution(const std::string& name, Conv conv) {
  add(convolution_layer(name, LayerType::convolution, shape_, conv, border_));
}

void NetworkBuilder::depthwise(const std::string& name, std::int64_t kernel, std::int64_t stride) {
  add(depthwise_layer(name, shape_, kernel, stride, border_));
}

void NetworkBuilder::transposed(const std::string& name, Conv conv) {
  add(convolution_layer(name, LayerType::transposed_convolution, shape_, conv, border_));
}

void NetworkBuilder::convolution_1d(const std::string& name, Conv conv) {
  add(over_time(convolution_layer(name, LayerType::convolution, shape_, conv, border_)));
}

void NetworkBuilder::depthwise_1d(const std::string& name, std::int64_t kernel, std::int64_t stride) {
  add(over_time(depthwise_layer(name, shape_, kernel, stride, border_)));
}

void NetworkBuilder::fully_connected(const std::string& name, std::int64_t rows, std::int64_t reduction,
                                     std::int64_t columns, Channel channel, std::int64_t repeat) {
  Layer layer;
  layer.name = name;
  layer.type = LayerType::fully_connected;
  layer.repeat = repeat;
  layer.rows = rows;
  layer.reduction = reduction;
  layer.columns = columns;
  set_channel(layer, channel);
  validate(layer);
  layers_.push_back(std::move(layer));
}

void NetworkBuilder::as_expert(std::int64_t experts, std::int64_t per_token) {
  HINDSIGHT_EXPECT(!layers_.empty());
  layers_.back().experts = experts;
  layers_.back().experts_per_token = per_token;
  validate(layers_.back());
}

void NetworkBuilder::attention(const std::string& name, const Attention& shape) {
  Layer scores;
  scores.name = name + ".scores";
  scores.type = LayerType::matmul;
  scores.repeat = shape.repeat;
  scores.rows = shape.queries;
  scores.columns = shape.keys;
  scores.reduction = shape.head_dim;
  scores.heads = shape.heads;
  scores.kv_heads = shape.kv_heads;
  scores.has_bias = false;
  Layer values = scores;
  values.name = name + ".values";
  std::swap(values.columns, values.reduction);
  validate(scores);
  validate(values);
  layers_.push_back(std::move(scores));
  layers_.push_back(std::move(values));
}

void NetworkBuilder::product(const std::string& name, const HeadProduct& shape) {
  Layer layer;
  layer.name = name;
  layer.type = LayerType::matmul;
  layer.repeat = shape.repeat;
  layer.heads = shape.heads;
  layer.rows = shape.rows;
  layer.columns = shape.columns;
  layer.reduction = shape.reduction;
  layer.has_bias = false;
  validate(layer);
  layers_.push_back(std::move(layer));
}

void NetworkBuilder::inverted_residual(const std::string& name, const InvertedResidual& block) {
  if (block.expanded != shape_.channels) convolution(name + ".expand", {.out = block.expanded});
  depthwise(name + ".depthwise", block.kernel, block.stride);
  if (block.squeeze > 0) {
    fully_connected(name + ".squeeze", 1, block.expanded, block.squeeze, Channel::bias);
    fully_connected(name + ".excite", 1, block.squeeze, block.expanded, Channel::bias);
  }
  convolution(name + ".project", {.out = block.out});
}

void NetworkBuilder::fused_inverted_residual(const std::string& name, const InvertedResidual& block) {
  convolution(name + ".fused", {.out = block.expanded, .kernel = block.kernel, .stride = block.stride});
  convolution(name + ".project", {.out = block.out});
}

std::int64_t make_divisible(double channels) {
  constexpr std::int64_t kDivisor = 8;    // [paper: mobilenetv2] reference code of Sandler et al.
  constexpr double kSmallestShare = 0.9;  // [paper: mobilenetv2] ditto: rounding down may lose 10 % at most
  const auto rounded = std::max(kDivisor, static_cast<std::int64_t>(channels + kDivisor / 2.0) / kDivisor * kDivisor);
  return static_cast<double>(rounded) < kSmallestShare * channels ? rounded + kDivisor : rounded;
}

void add_ssdlite_heads(NetworkBuilder& builder, const std::vector<FeatureMap>& maps, std::int64_t anchors,
                       std::int64_t classes) {
  constexpr std::int64_t kBoxCoordinates = 4;  // [chosen] centre and size of a box, as in every SSD
  for (std::size_t i = 0; i < maps.size(); ++i) {
    for (const auto& [kind, outputs] : {std::pair{"classes", classes}, std::pair{"boxes", kBoxCoordinates}}) {
      const std::string name = fmt::format("head{}.{}", i, kind);
      builder.continue_from(maps[i]);
      builder.depthwise(name + ".depthwise", 3, 1);
      builder.convolution(name + ".predict", {.out = anchors * outputs, .channel = Channel::bias});
    }
  }
}

std::vector<FeatureMap> add_ssdlite_extras(NetworkBuilder& builder, const std::vector<std::int64_t>& outs) {
  std::vector<FeatureMap> maps;
  for (std::size_t i = 0; i < outs.size(); ++i) {
    const std::string name = fmt::format("extra{}", i);
    builder.convolution(name + ".reduce", {.out = outs[i] / 2});
    builder.depthwise(name + ".depthwise", 3, 2);
    builder.convolution(name + ".expand", {.out = outs[i]});
    maps.push_back(builder.shape());
  }
  return maps;
}

}  // namespace hindsight::workload
