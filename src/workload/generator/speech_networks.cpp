/// Whisper: speech to text, an encoder of 30 seconds of sound and a decoder of up to 448 tokens.
#include <string>
#include <vector>

#include "workload/generator/network_builder.h"

namespace hindsight::workload {
namespace {

struct WhisperSizes {
  std::int64_t blocks = 0, width = 0, heads = 0, mel_bands = 0, vocabulary = 0;
};

/// Source: Radford et al. 2023, table 1 and section 2.2 [paper: whisper]: two convolutions over 3000 frames, blocks in
/// both halves, feed-forward networks of four widths. Keys have no bias (reference code). All 448 tokens at once, as in
/// training; logits with the weights of the token embedding.
Network whisper(const std::string& name, const std::string& description, const WhisperSizes& sizes) {
  constexpr std::int64_t kFrames = 3000, kTokens = 448, kFeedForward = 4;  // [paper: whisper]
  constexpr std::int64_t kSound = kFrames / 2;
  const auto& [blocks, width, heads, mel_bands, vocabulary] = sizes;
  NetworkBuilder builder({1, kFrames, mel_bands}, Border::symmetric);
  builder.convolution_1d("conv1", {.out = width, .kernel = 3, .channel = Channel::bias});
  builder.then({VectorWork::activation});
  builder.convolution_1d("conv2", {.out = width, .kernel = 3, .stride = 2, .channel = Channel::bias});
  builder.then({VectorWork::activation});
  const auto linear = [&](const std::string& layer, std::int64_t rows, Channel channel, std::int64_t per_block) {
    builder.fully_connected(layer, rows, sizes.width, sizes.width, channel, per_block * sizes.blocks);
  };
  const auto feed_forward = [&](const std::string& half, std::int64_t rows) {
    const std::int64_t inner = kFeedForward * sizes.width;
    builder.fully_connected(half + ".feed_forward.up", rows, sizes.width, inner, Channel::bias, sizes.blocks);
    builder.then({VectorWork::activation});
    builder.fully_connected(half + ".feed_forward.down", rows, inner, sizes.width, Channel::bias, sizes.blocks);
    builder.then({VectorWork::add, VectorWork::norm});
  };
  const auto self_attention = [&](const std::string& half, std::int64_t rows) {
    linear(half + ".query_value_output", rows, Channel::bias, 3);
    linear(half + ".key", rows, Channel::plain, 1);
    builder.then(
        {VectorWork::add, VectorWork::norm});  // of the attention's output, as large; its line is that of three
    builder.attention(half, {.repeat = sizes.blocks,
                             .heads = sizes.heads,
                             .queries = rows,
                             .keys = rows,
                             .head_dim = sizes.width / sizes.heads});
  };
  self_attention("encoder.attention", kSound);
  feed_forward("encoder", kSound);
  self_attention("decoder.attention", kTokens);
  linear("decoder.cross.query_output", kTokens, Channel::bias, 2);
  builder.then({VectorWork::add, VectorWork::norm});  // [chosen] one of two too many: the queries share the line
  linear("decoder.cross.value", kSound, Channel::bias, 1);
  linear("decoder.cross.key", kSound, Channel::plain, 1);
  builder.attention("decoder.cross",
                    {.repeat = blocks, .heads = heads, .queries = kTokens, .keys = kSound, .head_dim = width / heads});
  feed_forward("decoder", kTokens);
  builder.fully_connected("logits", kTokens, width, vocabulary, Channel::plain);
  // Layer norms, a scale and a shift each: two per block of the encoder, three of the decoder, one behind each half.
  constexpr std::int64_t kNormsPerBlock = 2 + 3;
  const std::int64_t norms = (kNormsPerBlock * blocks + 2) * 2 * width;
  return {name,
          description,
          "Radford et al. 2023, table 1",
          false,
          1,
          builder.take(),
          {.count = (kSound + kTokens) * width + norms, .what = "position embeddings, layer norms"}};
}

}  // namespace

void generate_speech_networks(std::vector<Network>& networks) {
  // [paper: whisper] table 1; large-v3 has 128 mel bands and one more language.
  networks.push_back(whisper("whisper_base", "Whisper base, 30 s of sound, 448 tokens",
                             {.blocks = 6, .width = 512, .heads = 8, .mel_bands = 80, .vocabulary = 51865}));
  networks.push_back(whisper("whisper_large_v2", "Whisper large-v2, 30 s of sound, 448 tokens",
                             {.blocks = 32, .width = 1280, .heads = 20, .mel_bands = 80, .vocabulary = 51865}));
  networks.push_back(whisper("whisper_large_v3", "Whisper large-v3, 30 s of sound, 448 tokens",
                             {.blocks = 32, .width = 1280, .heads = 20, .mel_bands = 128, .vocabulary = 51866}));
}

}  // namespace hindsight::workload
