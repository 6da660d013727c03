/// ResNet-50 and ViT-B/16.
#include <fmt/format.h>

#include <iterator>
#include <string>
#include <vector>

#include "workload/generator/network_builder.h"

namespace hindsight::workload {
namespace {

/// Source: He et al. 2016, "Deep residual learning", table 1 [paper: resnet]. Differs: the stride of a stage is on its
/// 3x3 convolution, as in torchvision ("version 1.5").
Network resnet50() {
  struct Stage {
    std::int64_t blocks, width, stride;
  };
  constexpr Stage kStages[] = {{3, 64, 1}, {4, 128, 2}, {6, 256, 2}, {3, 512, 2}};
  constexpr std::int64_t kExpansion = 4;  // [paper: resnet] bottleneck: outputs per width
  NetworkBuilder builder({224, 224, 3}, Border::symmetric);
  builder.convolution("stem", {.out = 64, .kernel = 7, .stride = 2});
  builder.then({VectorWork::pool});
  builder.continue_from({56, 56, 64});  // 3x3 max pooling, stride 2
  int stage = 0;
  for (const auto& [blocks, width, first_stride] : kStages) {
    ++stage;
    for (std::int64_t block = 0; block < blocks; ++block) {
      const std::string name = fmt::format("s{}.b{}", stage, block + 1);
      const std::int64_t stride = block == 0 ? first_stride : 1;
      const FeatureMap in = builder.shape();
      builder.convolution(name + ".reduce", {.out = width});
      builder.convolution(name + ".conv", {.out = width, .kernel = 3, .stride = stride});
      builder.convolution(name + ".expand", {.out = kExpansion * width});
      if (block == 0) {
        builder.continue_from(in);
        builder.convolution(name + ".shortcut", {.out = kExpansion * width, .stride = stride});
      }
      builder.then({VectorWork::add});
      if (stage == std::ssize(kStages) && block + 1 == blocks) builder.then({VectorWork::pool});
    }
  }
  builder.fully_connected("classifier", 1, 2048, 1000, Channel::bias);
  return {"resnet50",
          "ResNet-50, 224 x 224, 1000 classes",
          "He et al. 2016, table 1; strides as in torchvision",
          false,
          1,
          builder.take()};
}

/// Source: Dosovitskiy et al. 2021, table 1 [paper: vit], patch size 16.
Network vit_b_16() {
  constexpr std::int64_t kBlocks = 12, kWidth = 768, kMlp = 3072, kHeads = 12, kPatch = 16;
  NetworkBuilder builder({224, 224, 3}, Border::none);
  builder.convolution("patches", {.out = kWidth, .kernel = kPatch, .stride = kPatch, .channel = Channel::bias});
  const std::int64_t tokens = builder.shape().height * builder.shape().width + 1;  // and the class token
  builder.fully_connected("attention.qkv", tokens, kWidth, 3 * kWidth, Channel::bias, kBlocks);
  builder.attention(
      "attention",
      {.repeat = kBlocks, .heads = kHeads, .queries = tokens, .keys = tokens, .head_dim = kWidth / kHeads});
  builder.fully_connected("attention.output", tokens, kWidth, kWidth, Channel::bias, kBlocks);
  builder.then({VectorWork::add, VectorWork::norm});
  builder.fully_connected("mlp.up", tokens, kWidth, kMlp, Channel::bias, kBlocks);
  builder.then({VectorWork::activation});
  builder.fully_connected("mlp.down", tokens, kMlp, kWidth, Channel::bias, kBlocks);
  builder.then({VectorWork::add, VectorWork::norm});
  builder.fully_connected("classifier", 1, kWidth, 1000, Channel::bias);
  // Two layer norms per block and one at the end, a scale and a shift per channel each.
  const std::int64_t norms = (2 * kBlocks + 1) * 2 * kWidth;
  return {"vit_b_16",
          "Vision transformer ViT-B/16, 224 x 224, 1000 classes",
          "Dosovitskiy et al. 2021, table 1",
          false,
          1,
          builder.take(),
          {.count = kWidth + tokens * kWidth + norms, .what = "class token, position embedding, layer norms"}};
}

}  // namespace

void generate_large_vision_networks(std::vector<Network>& networks) {
  networks.push_back(resnet50());
  networks.push_back(vit_b_16());
}

}  // namespace hindsight::workload
