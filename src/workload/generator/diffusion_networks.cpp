/// The U-Net of Stable Diffusion 1.5, one step of denoising.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "workload/generator/network_builder.h"

namespace hindsight::workload {
namespace {

/// Source: Rombach et al. 2022, table 15 [paper: stable-diffusion], as released in version 1.5: latents of 64 x 64 x 4,
/// four levels, two residual blocks down and three up, attention on the first three levels, 77 tokens of text of 768.
class StableDiffusionUnet {
 public:
  Network build() {
    time_embedding();
    convolution("conv_in", kWidths[0], 3);
    skips_.push_back(builder_.shape().channels);
    down();
    residual("mid.r0", kWidths[kLevels - 1]);
    transformer("mid.a0");
    residual("mid.r1", kWidths[kLevels - 1]);
    up();
    norms_ += 2 * builder_.shape().channels;
    convolution("conv_out", 4, 3);
    return {"sd15_unet",
            "U-Net of Stable Diffusion 1.5, one step at 512 x 512 (latents of 64 x 64)",
            "Rombach et al. 2022, as released in version 1.5",
            false,
            1,
            builder_.take(),
            {.count = norms_, .what = "group norms, layer norms"}};
  }

 private:
  static constexpr int kLevels = 4;
  static constexpr std::int64_t kWidths[kLevels] = {320, 640, 1280, 1280};            // [paper: stable-diffusion]
  static constexpr std::int64_t kTime = 1280, kText = 768, kTokens = 77, kHeads = 8;  // [paper: stable-diffusion]

  void convolution(const std::string& name, std::int64_t out, std::int64_t kernel, std::int64_t stride = 1) {
    builder_.convolution(name, {.out = out, .kernel = kernel, .stride = stride, .channel = Channel::bias});
  }

  void time_embedding() {
    builder_.fully_connected("time.a", 1, kWidths[0], kTime, Channel::bias);
    builder_.fully_connected("time.b", 1, kTime, kTime, Channel::bias);
  }

  /// Two convolutions, each behind a group norm, the time in between, and a shortcut where the width changes.
  void residual(const std::string& name, std::int64_t out) {
    const FeatureMap in = builder_.shape();
    norms_ += 2 * in.channels + 2 * out;
    convolution(name + ".conv1", out, 3);
    builder_.then({VectorWork::add, VectorWork::norm, VectorWork::activation});  // the time; the norm of the next
    builder_.fully_connected(name + ".time", 1, kTime, out, Channel::bias);
    convolution(name + ".conv2", out, 3);
    builder_.then({VectorWork::add, VectorWork::norm, VectorWork::activation});
    if (in.channels == out) return;
    builder_.continue_from(in);
    convolution(name + ".shortcut", out, 1);
  }

  /// Self-attention over pixels, cross-attention to the text, a gated feed-forward network.
  void transformer(const std::string& name) {
    const std::int64_t width = builder_.shape().channels;
    const std::int64_t pixels = builder_.shape().height * builder_.shape().width;
    constexpr std::int64_t kFeedForward = 4, kNorms = 4;  // [paper: stable-diffusion] one of groups, three of layers
    norms_ += kNorms * 2 * width;
    convolution(name + ".in", width, 1);
    builder_.then({VectorWork::norm});
    builder_.fully_connected(name + ".self.qkv", pixels, width, width, Channel::plain, 3);
    builder_.attention(name + ".self",
                       {.heads = kHeads, .queries = pixels, .keys = pixels, .head_dim = width / kHeads});
    builder_.fully_connected(name + ".self.output", pixels, width, width, Channel::bias);
    builder_.then({VectorWork::add, VectorWork::norm});
    builder_.fully_connected(name + ".cross.query", pixels, width, width, Channel::plain);
    builder_.fully_connected(name + ".cross.key_value", kTokens, kText, width, Channel::plain, 2);
    builder_.attention(name + ".cross",
                       {.heads = kHeads, .queries = pixels, .keys = kTokens, .head_dim = width / kHeads});
    builder_.fully_connected(name + ".cross.output", pixels, width, width, Channel::bias);
    builder_.then({VectorWork::add, VectorWork::norm});
    builder_.fully_connected(name + ".feed_forward.up", pixels, width, 2 * kFeedForward * width, Channel::bias);
    builder_.then({VectorWork::gate});
    builder_.fully_connected(name + ".feed_forward.down", pixels, kFeedForward * width, width, Channel::bias);
    builder_.then({VectorWork::add});
    convolution(name + ".out", width, 1);
    builder_.then({VectorWork::add, VectorWork::norm, VectorWork::activation});
  }

  void down() {
    for (int level = 0; level < kLevels; ++level) {
      for (int block = 0; block < 2; ++block) {
        residual(fmt::format("down{}.r{}", level, block), kWidths[level]);
        if (level + 1 < kLevels) transformer(fmt::format("down{}.a{}", level, block));
        skips_.push_back(builder_.shape().channels);
      }
      if (level + 1 == kLevels) continue;
      convolution(fmt::format("down{}.sample", level), kWidths[level], 3, 2);
      skips_.push_back(builder_.shape().channels);
    }
  }

  /// Every residual block takes the map of the way down beside its own.
  void up() {
    for (int level = kLevels - 1; level >= 0; --level) {
      for (int block = 0; block < 3; ++block) {
        const FeatureMap map = builder_.shape();
        builder_.continue_from({map.height, map.width, map.channels + skips_.back()});
        skips_.pop_back();
        residual(fmt::format("up{}.r{}", level, block), kWidths[level]);
        if (level + 1 < kLevels) transformer(fmt::format("up{}.a{}", level, block));
      }
      if (level == 0) continue;
      const FeatureMap map = builder_.shape();
      builder_.continue_from({2 * map.height, 2 * map.width, map.channels});
      convolution(fmt::format("up{}.sample", level), kWidths[level], 3);
    }
  }

  NetworkBuilder builder_{{64, 64, 4}, Border::symmetric};
  std::vector<std::int64_t> skips_;  ///< channels of the maps on the way down
  std::int64_t norms_ = 0;
};

}  // namespace

void generate_diffusion_networks(std::vector<Network>& networks) { networks.push_back(StableDiffusionUnet().build()); }

}  // namespace hindsight::workload
