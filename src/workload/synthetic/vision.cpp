/// Networks over feature maps: convolutional chains, mobile blocks, encoder-decoders.
///
/// Every range below is [chosen]: from the smallest network of its sort that people deploy (keyword spotting, MNIST) to
/// the largest, so that any network of the sort lies inside.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "hindsight/core/plural.h"
#include "workload/generator/network_builder.h"
#include "workload/synthetic/families.h"

namespace hindsight::workload {
namespace {

constexpr double kMostChannels = 2048;     ///< of a stage's output
constexpr double kMostClasses = 20'000;    ///< ImageNet-21k has about as many
constexpr std::int64_t kSmallestSide = 4;  ///< a map below is not halved again

/// An image, a spectrogram, or the like: the longer side log-uniform, a multiple of `multiple`, and an aspect ratio.
FeatureMap draw_input(Draw& draw, double shortest, double longest, std::int64_t multiple) {
  const std::int64_t width = draw.size(shortest, longest, multiple);
  const double aspect = draw.pick({1.0, 1.0, 1.0, 0.75, 0.5625, 0.5});
  const auto channels = draw.pick<std::int64_t>({3, 3, 3, 3, 1, 4});
  return {rounded_to(aspect * static_cast<double>(width), multiple), width, channels};
}

std::string text(const FeatureMap& map) { return fmt::format("{} x {} x {}", map.height, map.width, map.channels); }

bool can_be_halved(const FeatureMap& map) { return std::min(map.height, map.width) >= 2 * kSmallestSide; }

/// Behind a pooling of stride 2.
void halve(NetworkBuilder& builder) {
  const FeatureMap map = builder.shape();
  builder.continue_from({(map.height + 1) / 2, (map.width + 1) / 2, map.channels});
}

std::int64_t grown(std::int64_t channels, double factor) {
  return rounded_channels(std::min(factor * static_cast<double>(channels), kMostChannels));
}

enum class Block { plain, basic, bottleneck };

struct ChainPlan {
  Block block = Block::plain;
  std::int64_t kernel = 3;
  std::int64_t groups = 1;   ///< of a bottleneck's middle convolution
  std::int64_t squeeze = 4;  ///< outputs of a bottleneck per channel inside
};

ChainPlan draw_chain_plan(Draw& draw) {
  ChainPlan plan;
  plan.block = draw.pick({Block::plain, Block::basic, Block::bottleneck});
  plan.kernel = draw.pick<std::int64_t>({3, 3, 3, 3, 3, 5, 5, 7});
  plan.groups = draw.chance(20) ? draw.pick<std::int64_t>({2, 4, 8}) : 1;
  plan.squeeze = draw.pick<std::int64_t>({2, 4, 4});
  return plan;
}

/// One block of a chain to `out` channels; a residual one has a projected shortcut where its shape changes.
void add_block(NetworkBuilder& builder, const std::string& name, const ChainPlan& plan, std::int64_t out,
               std::int64_t stride) {
  const FeatureMap in = builder.shape();
  if (plan.block == Block::plain) {
    builder.convolution(name, {.out = out, .kernel = plan.kernel, .stride = stride});
    return;
  }
  if (plan.block == Block::basic) {
    builder.convolution(name + ".first", {.out = out, .kernel = plan.kernel, .stride = stride});
    builder.convolution(name + ".second", {.out = out, .kernel = plan.kernel});
  } else {
    const std::int64_t inside = rounded_to(static_cast<double>(out) / static_cast<double>(plan.squeeze), 8);
    builder.convolution(name + ".reduce", {.out = inside});
    builder.convolution(name + ".middle",
                        {.out = inside, .kernel = plan.kernel, .stride = stride, .groups = plan.groups});
    builder.convolution(name + ".expand", {.out = out});
  }
  if (stride == 1 && in.channels == out) return;
  const FeatureMap behind = builder.shape();
  builder.continue_from(in);
  builder.convolution(name + ".shortcut", {.out = out, .stride = stride});
  builder.continue_from(behind);
}

/// A classifier behind a global pooling, or, as in older chains, two wide layers behind the flattened map.
void add_classifier(NetworkBuilder& builder, Draw& draw, bool flattened) {
  std::int64_t features = builder.shape().channels;
  if (flattened) {
    const std::int64_t hidden = draw.size(128, 4096, 64);
    constexpr std::int64_t kLargestSide = 8;  // pooled to it
    features *= std::min(builder.shape().height, kLargestSide) * std::min(builder.shape().width, kLargestSide);
    builder.fully_connected("classifier.first", 1, features, hidden, Channel::bias);
    builder.fully_connected("classifier.second", 1, hidden, hidden, Channel::bias);
    features = hidden;
  }
  builder.fully_connected("classifier", 1, features, draw.size(2, kMostClasses), Channel::bias);
}

/// What the blocks of one stage of a mobile network have in common.
struct MobileStage {
  std::int64_t blocks = 1, out = 0, kernel = 3, stride = 1, expansion = 1;
  bool fused = false, squeezed = false;
};

void add_mobile_stage(NetworkBuilder& builder, const std::string& name, const MobileStage& stage) {
  for (std::int64_t i = 0; i < stage.blocks; ++i) {
    const std::int64_t expanded = stage.expansion * builder.shape().channels;
    constexpr std::int64_t kSqueeze = 4;  // [paper: mobilenetv3] squeezed to a quarter
    const InvertedResidual block{
        .expanded = expanded,
        .out = stage.out,
        .kernel = stage.kernel,
        .stride = i == 0 ? stage.stride : 1,
        .squeeze = stage.squeezed ? rounded_to(static_cast<double>(expanded) / kSqueeze, 8) : 0};
    const std::string block_name = fmt::format("{}.b{}", name, i + 1);
    if (stage.fused) {
      builder.fused_inverted_residual(block_name, block);
    } else {
      builder.inverted_residual(block_name, block);
    }
  }
}

/// `count` convolutions of one level of an encoder-decoder, dense or depthwise separable.
void add_level(NetworkBuilder& builder, const std::string& name, std::int64_t count, const Conv& conv, bool separable) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string layer = fmt::format("{}.c{}", name, i + 1);
    if (separable) {
      builder.depthwise(layer + ".depthwise", conv.kernel, 1);
      builder.convolution(layer + ".pointwise", {.out = conv.out});
    } else {
      builder.convolution(layer, conv);
    }
  }
}

}  // namespace

Blueprint draw_convolutional(Draw& draw) {
  const FeatureMap input = draw_input(draw, 24, 640, 8);
  const ChainPlan plan = draw_chain_plan(draw);
  const std::int64_t stages = draw.between(2, 5);
  const double growth = draw.pick({1.5, 2.0, 2.0});
  const bool pooled = draw.chance(50);  // stages begin behind a pooling instead of with a stride
  NetworkBuilder builder(input, Border::same);
  std::int64_t channels = draw.channels(8, 160);
  constexpr std::int64_t kLargeImage = 96;
  const std::int64_t stem_stride = input.width >= kLargeImage && draw.chance(75) ? 2 : 1;
  builder.convolution("stem",
                      {.out = channels, .kernel = draw.pick<std::int64_t>({3, 3, 5, 7}), .stride = stem_stride});
  if (stem_stride > 1 && draw.chance(50)) halve(builder);
  if (plan.block == Block::bottleneck) channels *= plan.squeeze;
  for (std::int64_t stage = 0; stage < stages; ++stage) {
    const std::int64_t blocks = draw.size(1, 10);
    const bool halved = stage > 0 && can_be_halved(builder.shape());
    if (stage > 0) channels = grown(channels, growth);
    if (halved && pooled) halve(builder);
    for (std::int64_t block = 0; block < blocks; ++block) {
      add_block(builder, fmt::format("s{}.b{}", stage + 1, block + 1), plan, channels,
                halved && !pooled && block == 0 ? 2 : 1);
    }
  }
  add_classifier(builder, draw, plan.block == Block::plain && draw.chance(40));
  return {fmt::format("{} blocks in {} stages on {}",
                      plan.block == Block::plain   ? "plain"
                      : plan.block == Block::basic ? "basic residual"
                                                   : "bottleneck residual",
                      stages, text(input)),
          builder.take()};
}

Blueprint draw_mobile(Draw& draw) {
  const FeatureMap input = draw_input(draw, 32, 512, 8);
  const std::int64_t stages = draw.between(3, 6);
  const std::int64_t fused_stages = draw.chance(30) ? draw.between(1, 3) : 0;
  const bool squeezed = draw.chance(30);
  NetworkBuilder builder(input, Border::same);
  builder.convolution("stem", {.out = draw.channels(8, 64), .kernel = 3, .stride = 2});
  std::vector<FeatureMap> maps;
  for (std::int64_t i = 0; i < stages; ++i) {
    MobileStage stage;
    stage.blocks = draw.size(1, 6);
    stage.out = grown(builder.shape().channels, draw.log_uniform(1.1, 2.2));
    stage.kernel = draw.pick<std::int64_t>({3, 3, 3, 5, 5, 7});
    stage.stride = can_be_halved(builder.shape()) && draw.chance(75) ? 2 : 1;
    stage.expansion = draw.pick<std::int64_t>({1, 2, 3, 4, 6, 6, 8});
    stage.fused = i < fused_stages;
    stage.squeezed = squeezed;
    add_mobile_stage(builder, fmt::format("s{}", i + 1), stage);
    maps.push_back(builder.shape());
  }
  const bool detector = draw.chance(25);
  if (detector) {
    maps.erase(maps.begin(), maps.end() - draw.between(1, 3));
    const auto anchors = draw.pick<std::int64_t>({3, 4, 6});
    add_ssdlite_heads(builder, maps, anchors, draw.between(2, 91));
  } else {
    builder.convolution("head", {.out = grown(builder.shape().channels, draw.log_uniform(1, 6))});
    add_classifier(builder, draw, false);
  }
  return {fmt::format("{} of {} stages{} on {}", detector ? "detector" : "classifier", stages,
                      fused_stages > 0 ? ", the first fused," : "", text(input)),
          builder.take()};
}

Blueprint draw_encoder_decoder(Draw& draw) {
  const std::int64_t levels = draw.between(2, 5);
  const FeatureMap input = draw_input(draw, 64, 1024, std::int64_t{1} << levels);
  const std::int64_t count = draw.between(1, 3);
  const bool separable = draw.chance(25);
  const bool upsampled = draw.chance(35);  // interpolated, then convolved, instead of a transposed convolution
  const double growth = draw.pick({1.5, 2.0, 2.0});
  Conv conv{.out = draw.channels(8, 96), .kernel = draw.pick<std::int64_t>({3, 3, 3, 5})};
  NetworkBuilder builder(input, Border::same);
  std::vector<FeatureMap> skips;
  for (std::int64_t level = 0; level < levels; ++level) {
    add_level(builder, fmt::format("down{}", level), count, conv, separable && level > 0);
    skips.push_back(builder.shape());
    halve(builder);
    conv.out = grown(conv.out, growth);
  }
  add_level(builder, "bottom", count, conv, separable);
  for (std::int64_t level = levels - 1; level >= 0; --level) {
    const FeatureMap& skip = skips[static_cast<std::size_t>(level)];
    const std::string name = fmt::format("up{}", level);
    if (upsampled) {
      builder.continue_from({skip.height, skip.width, builder.shape().channels});
      builder.convolution(name + ".merge", {.out = skip.channels});
    } else {
      builder.transposed(name + ".transposed", {.out = skip.channels, .kernel = 2, .stride = 2});
    }
    builder.continue_from({skip.height, skip.width, 2 * skip.channels});  // beside the encoder's map
    add_level(builder, name, count, {.out = skip.channels, .kernel = conv.kernel}, separable);
  }
  builder.convolution("output", {.out = draw.size(1, 64), .channel = Channel::bias});
  return {fmt::format("{} levels of {} on {}", levels,
                      counted(count, separable ? "separable convolution" : "convolution"), text(input)),
          builder.take()};
}

}  // namespace hindsight::workload
