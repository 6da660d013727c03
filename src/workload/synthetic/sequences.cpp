/// Networks over tokens, steps and rows: transformers in both phases, recurrent networks, MLPs, convolutions over time.
///
/// Every range below is [chosen]: from the smallest network of its sort that people deploy to the largest that has at
/// most 10 GB of weights.
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

struct Transformer {
  std::int64_t blocks = 0, heads = 0, kv_heads = 0, head_dim = 0, feed_forward = 0;
  bool gated = false;
  [[nodiscard]] std::int64_t width() const { return heads * head_dim; }
};

Transformer draw_transformer(Draw& draw) {
  Transformer shape;
  shape.heads = draw.size(2, 64, 2);
  shape.head_dim = draw.pick<std::int64_t>({32, 48, 64, 64, 80, 96, 128, 128});
  // Wide ones are deep: published models have 16 (DeiT tiny) to 128 (GPT-3) of width per block.
  const double blocks = static_cast<double>(shape.width()) / draw.log_uniform(8, 192);
  shape.blocks = rounded_to(std::clamp(blocks, 2.0, 96.0), 1);
  const auto sharing = draw.pick<std::int64_t>({1, 1, 1, 2, 4, 8});  // query heads per key head
  shape.kv_heads = shape.heads % sharing == 0 ? shape.heads / sharing : shape.heads;
  shape.gated = draw.chance(50);
  const double ratio = shape.gated ? draw.log_uniform(1.3, 4) : draw.log_uniform(2, 6);
  shape.feed_forward = rounded_to(ratio * static_cast<double>(shape.width()), 64);
  return shape;
}

/// Tokens as they are batched and padded: finer steps where there are few.
std::int64_t draw_tokens(Draw& draw, double fewest, double most) {
  const double tokens = draw.log_uniform(fewest, most);
  return rounded_to(tokens, tokens < 256 ? 8 : 64);
}

/// Padded to a multiple of 64, or, in a quarter of the cases, as the tokeniser left it.
std::int64_t draw_vocabulary(Draw& draw) {
  const bool padded = draw.chance(75);
  return draw.size(1000, 260'000, padded ? 64 : 1);
}

/// [chosen] More blocks than these are always one that is repeated: at seven layers each they would be too many to be
/// listed one by one.
constexpr std::int64_t kMostBlocksApart = 9;

/// `blocks` of them, as one that is repeated: `queries` tokens against `keys` keys.
void add_repeated_block(NetworkBuilder& builder, const Transformer& shape, std::int64_t queries, std::int64_t keys,
                        std::int64_t blocks, const std::string& prefix) {
  const std::int64_t width = shape.width(), key_width = shape.kv_heads * shape.head_dim;
  builder.fully_connected(prefix + "attention.query", queries, width, width, Channel::plain, blocks);
  builder.fully_connected(prefix + "attention.key_value", queries, width, key_width, Channel::plain, 2 * blocks);
  builder.attention(prefix + "attention", {.repeat = blocks,
                                           .heads = shape.heads,
                                           .kv_heads = shape.kv_heads,
                                           .queries = queries,
                                           .keys = keys,
                                           .head_dim = shape.head_dim});
  builder.fully_connected(prefix + "attention.output", queries, width, width, Channel::plain, blocks);
  builder.fully_connected(prefix + "feed_forward.up", queries, width, shape.feed_forward, Channel::plain,
                          shape.gated ? 2 * blocks : blocks);
  builder.fully_connected(prefix + "feed_forward.down", queries, shape.feed_forward, width, Channel::plain, blocks);
}

/// All blocks, one after the other where they are few.
void add_blocks(NetworkBuilder& builder, const Transformer& shape, std::int64_t queries, std::int64_t keys) {
  const bool apart = shape.blocks <= kMostBlocksApart;
  if (!apart) add_repeated_block(builder, shape, queries, keys, shape.blocks, "");
  for (std::int64_t block = 1; apart && block <= shape.blocks; ++block) {
    add_repeated_block(builder, shape, queries, keys, 1, fmt::format("block{}.", block));
  }
}

/// Norms (a scale each: two per block and one at the end) and a table of `embedded` rows.
ExtraParameters extra_of(const Transformer& shape, std::int64_t embedded) {
  return {.count = (2 * shape.blocks + 1 + embedded) * shape.width(),
          .what = embedded > 0 ? "embedding, norms" : "norms"};
}

std::string text(const Transformer& shape) {
  return fmt::format("{} blocks of width {}, {} heads ({} of keys)", shape.blocks, shape.width(), shape.heads,
                     shape.kv_heads);
}

/// An encoder of image patches.
Blueprint draw_patch_encoder(Draw& draw) {
  const Transformer shape = draw_transformer(draw);
  const auto patch = draw.pick<std::int64_t>({8, 14, 16, 16, 32});
  const std::int64_t side = draw.size(96, 512, patch);
  NetworkBuilder builder({side, side, 3}, Border::none);
  builder.convolution("patches", {.out = shape.width(), .kernel = patch, .stride = patch, .channel = Channel::bias});
  const std::int64_t tokens = builder.shape().height * builder.shape().width + (draw.chance(50) ? 1 : 0);
  add_blocks(builder, shape, tokens, tokens);
  builder.fully_connected("classifier", 1, shape.width(), draw.size(2, 20'000), Channel::bias);
  return {fmt::format("{}, {} patches of {} x {}", text(shape), tokens, patch, patch), builder.take(),
          extra_of(shape, tokens)};
}

/// A layer of a network over time: a kernel over its steps and all channels, or depthwise with a pointwise behind it.
void add_over_time(NetworkBuilder& builder, const std::string& name, const Conv& conv, bool separable) {
  if (!separable) {
    builder.convolution_1d(name, conv);
    return;
  }
  builder.depthwise_1d(name + ".depthwise", conv.kernel, conv.stride);
  builder.convolution_1d(name + ".pointwise", {.out = conv.out});
}

/// Stages of blocks of `channels`, more in each, whose first layer may halve the steps.
void add_blocks_over_time(NetworkBuilder& builder, Draw& draw, std::int64_t channels) {
  const bool separable = draw.chance(50), residual = draw.chance(50);
  const auto kernel = draw.pick<std::int64_t>({3, 3, 5, 7, 9, 11, 15, 31});
  const double growth = draw.pick({1.0, 1.0, 1.5, 2.0});
  const std::int64_t stages = draw.between(1, 4);
  double width = static_cast<double>(channels);
  for (std::int64_t stage = 0; stage < stages; ++stage) {
    const std::int64_t blocks = draw.size(1, 6);
    constexpr std::int64_t kFewestSteps = 16;     // [chosen] where a kernel of 31 still sees half of its steps
    constexpr std::int64_t kMostChannels = 2048;  // [chosen] as stages over maps have them
    const bool halved = draw.chance(50) && builder.shape().width >= kFewestSteps;
    const std::int64_t out = std::min(rounded_channels(width), kMostChannels);
    for (std::int64_t block = 0; block < blocks; ++block) {
      const std::string name = fmt::format("s{}.b{}", stage + 1, block + 1);
      const FeatureMap before = builder.shape();
      const std::int64_t stride = halved && block == 0 ? 2 : 1;
      add_over_time(builder, name + ".first", {.out = out, .kernel = kernel, .stride = stride}, separable);
      if (!residual) continue;
      add_over_time(builder, name + ".second", {.out = out, .kernel = kernel}, separable);
      if (stride == 1 && before.channels == out) continue;
      const FeatureMap behind = builder.shape();
      builder.continue_from(before);
      builder.convolution_1d(name + ".shortcut", {.out = out, .stride = stride});
      builder.continue_from(behind);
    }
    width *= growth;
  }
}

/// Widths of the layers of an MLP from its input to its output.
std::vector<std::int64_t> draw_widths(Draw& draw) {
  const std::int64_t layers = draw.size(2, 12);
  const double first = draw.log_uniform(16, 16'384);
  // Constant, tapering, or narrow in the middle as in an autoencoder.
  const double middle = draw.pick({1.0, 1.0, draw.log_uniform(0.02, 1)});
  const double last = draw.pick({1.0, middle, draw.log_uniform(0.05, 1)});
  std::vector<std::int64_t> widths{draw.size(8, 4096)};
  for (std::int64_t i = 0; i < layers; ++i) {
    const double at = static_cast<double>(i) / static_cast<double>(layers);
    const double factor = at < 0.5 ? std::pow(middle, 2 * at) : middle * std::pow(last / middle, 2 * at - 1);
    widths.push_back(rounded_channels(first * factor));
  }
  widths.push_back(draw.size(1, 10'000));
  return widths;
}

}  // namespace

Blueprint draw_prefill(Draw& draw) {
  if (draw.chance(30)) return draw_patch_encoder(draw);
  const Transformer shape = draw_transformer(draw);
  const std::int64_t tokens = draw_tokens(draw, 16, 4096);
  NetworkBuilder builder({}, Border::none);
  add_blocks(builder, shape, tokens, tokens);
  const std::int64_t vocabulary = draw_vocabulary(draw);
  const bool generates = draw.chance(70);  // else it encodes, and its vocabulary stands in the embedding only
  if (generates) builder.fully_connected("logits", 1, shape.width(), vocabulary, Channel::plain);
  const bool tied = generates && draw.chance(40);
  return {fmt::format("{}, {} tokens", text(shape), tokens), builder.take(), extra_of(shape, tied ? 0 : vocabulary)};
}

Blueprint draw_decode(Draw& draw) {
  const Transformer shape = draw_transformer(draw);
  const std::int64_t context = draw_tokens(draw, 32, 32'768);
  const std::int64_t queries = draw.chance(80) ? 1 : draw.between(2, 8);  // more than one: speculated
  const std::int64_t vocabulary = draw_vocabulary(draw);
  NetworkBuilder builder({}, Border::none);
  add_blocks(builder, shape, queries, context);
  builder.fully_connected("logits", queries, shape.width(), vocabulary, Channel::plain);
  const bool tied = draw.chance(40);
  return {fmt::format("{}, {} at a context of {}", text(shape), counted(queries, "token"), context), builder.take(),
          extra_of(shape, tied ? 0 : vocabulary)};
}

Blueprint draw_recurrent(Draw& draw) {
  const auto gates = draw.pick<std::int64_t>({3, 4});  // of a GRU, of an LSTM
  const std::int64_t layers = draw.between(1, 10);
  const std::int64_t hidden = draw.channels(32, 4096);
  const std::int64_t projected = draw.chance(35) ? rounded_channels(static_cast<double>(hidden) / 2) : 0;
  // Gates that do not read the state before (QRNN, SRU) are one product over all steps; the others are one step.
  const bool all_steps = draw.chance(50);
  const std::int64_t rows = all_steps ? draw.size(8, 2048, 8) : 1;
  const bool apart = !all_steps && draw.chance(50);  // the products of input and state, which gates add up
  const std::int64_t state = projected > 0 ? projected : hidden;
  std::int64_t input = draw.size(16, 1024, 8);
  NetworkBuilder builder({}, Border::none);
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::int64_t reduction = all_steps || apart ? input : input + state;
    const std::string name = fmt::format("layer{}", layer + 1);
    builder.fully_connected(name + ".gates", rows, reduction, gates * hidden, Channel::bias);
    if (apart) builder.fully_connected(name + ".state", rows, state, gates * hidden, Channel::plain);
    if (projected > 0) builder.fully_connected(name + ".projection", rows, hidden, projected, Channel::plain);
    input = state;
  }
  builder.fully_connected("output", rows, state, draw.size(2, 32'000), Channel::bias);
  return {
      fmt::format("{} of {} x {} gates, {} at a time", counted(layers, "layer"), gates, hidden, counted(rows, "step")),
      builder.take()};
}

Blueprint draw_mlp(Draw& draw) {
  // One row, or the same layers for every point, pixel or candidate.
  const std::int64_t rows = draw.chance(50) ? 1 : draw.size(16, 65'536, 8);
  const std::vector<std::int64_t> widths = draw_widths(draw);
  NetworkBuilder builder({}, Border::none);
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    builder.fully_connected(fmt::format("layer{}", i + 1), rows, widths[i], widths[i + 1], Channel::bias);
  }
  return {
      fmt::format("{} layers, {} to {} wide, {}", widths.size() - 1, *std::min_element(widths.begin(), widths.end()),
                  *std::max_element(widths.begin(), widths.end()), counted(rows, "row")),
      builder.take()};
}

Blueprint draw_signal(Draw& draw) {
  // Samples, which the first convolution takes many at a time, or features of short windows of them.
  const auto features = draw.pick<std::int64_t>({1, 1, 13, 40, 64, 80, 128});
  const bool samples = features == 1;
  const std::int64_t steps = samples ? draw.size(1024, 65'536, 8) : draw.size(32, 4096, 4);
  const bool attends = draw.chance(35);
  const Transformer shape = draw_transformer(draw);
  const std::int64_t channels = attends && draw.chance(50) ? shape.width() : draw.channels(8, 768);
  NetworkBuilder builder({1, steps, features}, Border::same);
  const std::int64_t front = samples ? draw.between(1, 6) : draw.between(1, 3);
  for (std::int64_t i = 0; i < front; ++i) {
    const auto stride =
        samples && i == 0 ? draw.pick<std::int64_t>({4, 5, 8, 10, 16}) : draw.pick<std::int64_t>({1, 2, 2});
    const std::int64_t kernel = samples && i == 0 ? 2 * stride : draw.pick<std::int64_t>({2, 3, 3, 5, 9, 15});
    builder.convolution_1d(fmt::format("front{}", i + 1), {.out = channels, .kernel = kernel, .stride = stride});
  }
  if (attends) {
    const std::int64_t tokens = builder.shape().width;
    if (channels != shape.width()) {
      builder.fully_connected("projection", tokens, channels, shape.width(), Channel::bias);
    }
    add_blocks(builder, shape, tokens, tokens);
    builder.fully_connected("logits", tokens, shape.width(), draw.size(2, 60'000), Channel::bias);
    return {
        fmt::format("{}, behind {} over {} steps of {}", text(shape), counted(front, "convolution"), steps, features),
        builder.take(), extra_of(shape, tokens)};
  }
  add_blocks_over_time(builder, draw, channels);
  if (draw.chance(50)) {  // a wide convolution in front of the classifier
    const std::int64_t wide = rounded_channels(draw.log_uniform(1, 8) * static_cast<double>(builder.shape().channels));
    constexpr std::int64_t kWidest = 4096;  // [chosen] twice what stages reach
    builder.convolution_1d("head", {.out = std::min(wide, kWidest), .kernel = draw.pick<std::int64_t>({1, 3, 9, 31})});
  }
  const std::int64_t rows = draw.chance(50) ? builder.shape().width : 1;  // of every step, or of all together
  builder.fully_connected("classifier", rows, builder.shape().channels, draw.size(2, 5000), Channel::bias);
  return {fmt::format("convolutions over {} steps of {}", steps, features), builder.take()};
}

}  // namespace hindsight::workload
