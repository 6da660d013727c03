/// MobileNets and the detector on top of one: the networks whose architecture is published.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "workload/generator/network_builder.h"

namespace hindsight::workload {
namespace {

constexpr FeatureMap kImage{224, 224, 3};

/// Source: Sandler et al. 2018, "MobileNetV2", table 2 [paper: mobilenetv2]: t expansion, c channels, n repeats,
/// s stride of the first repeat. Differs: symmetric padding, as in torchvision.
struct MobileNetV2Stage {
  std::int64_t expansion, channels, repeats, stride;
};
constexpr MobileNetV2Stage kMobileNetV2[] = {
    {1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1},
};

Network mobilenet_v2() {
  NetworkBuilder builder(kImage, Border::symmetric);
  builder.convolution("stem", {.out = 32, .kernel = 3, .stride = 2});
  int block = 0;
  for (const auto& [expansion, channels, repeats, stride] : kMobileNetV2) {
    for (std::int64_t i = 0; i < repeats; ++i) {
      builder.inverted_residual(
          fmt::format("b{}", ++block),
          {.expanded = builder.shape().channels * expansion, .out = channels, .stride = i == 0 ? stride : 1});
    }
  }
  builder.convolution("head", {.out = 1280});
  builder.fully_connected("classifier", 1, 1280, 1000, Channel::bias);
  return {"mobilenet_v2",
          "MobileNetV2 1.0, 224 x 224, 1000 classes",
          "Sandler et al. 2018, table 2; padding and bias as in torchvision",
          false,
          1,
          builder.take()};
}

/// Source: Howard et al. 2019, "Searching for MobileNetV3", table 1 [paper: mobilenetv3]: one row per block.
struct MobileNetV3Block {
  std::int64_t kernel, expanded, out, stride;
  bool squeeze;
};
constexpr MobileNetV3Block kMobileNetV3Large[] = {
    {3, 16, 16, 1, false},  {3, 64, 24, 2, false},  {3, 72, 24, 1, false},  {5, 72, 40, 2, true},
    {5, 120, 40, 1, true},  {5, 120, 40, 1, true},  {3, 240, 80, 2, false}, {3, 200, 80, 1, false},
    {3, 184, 80, 1, false}, {3, 184, 80, 1, false}, {3, 480, 112, 1, true}, {3, 672, 112, 1, true},
    {5, 672, 160, 2, true}, {5, 960, 160, 1, true}, {5, 960, 160, 1, true},
};
constexpr std::int64_t kLastStage = 12;  // index of the first block at stride 32

/// Squeeze-and-excitation bottleneck: a quarter of the expanded channels, rounded to a multiple of 8.
std::int64_t squeeze_channels(std::int64_t expanded) { return make_divisible(static_cast<double>(expanded) / 4.0); }

/// Adds the blocks; the channels of the last stage are divided by `tail_divisor` (torchvision's reduced tail of
/// detectors). Returns the expanded map at stride 16, which SSDLite taps.
FeatureMap add_mobilenet_v3_large(NetworkBuilder& builder, std::int64_t tail_divisor) {
  builder.convolution("stem", {.out = 16, .kernel = 3, .stride = 2});
  FeatureMap tap;
  std::int64_t index = 0;
  for (const auto& [kernel, expanded, out, stride, squeeze] : kMobileNetV3Large) {
    const std::int64_t out_divisor = index >= kLastStage ? tail_divisor : 1;
    const std::int64_t expanded_divisor = index > kLastStage ? tail_divisor : 1;
    const InvertedResidual block{.expanded = expanded / expanded_divisor,
                                 .out = out / out_divisor,
                                 .kernel = kernel,
                                 .stride = stride,
                                 .squeeze = squeeze ? squeeze_channels(expanded / expanded_divisor) : 0};
    if (index == kLastStage) tap = {builder.shape().height, builder.shape().width, block.expanded};
    builder.inverted_residual(fmt::format("b{}", ++index), block);
  }
  return tap;
}

Network mobilenet_v3_large() {
  NetworkBuilder builder(kImage, Border::symmetric);
  add_mobilenet_v3_large(builder, 1);
  builder.convolution("head", {.out = 960});
  builder.continue_from({1, 1, 960});  // global average pooling
  builder.convolution("embedding", {.out = 1280, .channel = Channel::bias});
  builder.fully_connected("classifier", 1, 1280, 1000, Channel::bias);
  return {"mobilenet_v3_large",
          "MobileNetV3-Large 1.0, 224 x 224, 1000 classes",
          "Howard et al. 2019, table 1; padding and squeeze channels as in torchvision",
          false,
          1,
          builder.take()};
}

Network ssdlite() {
  constexpr std::int64_t kAnchors = 6;   // [paper: ssdlite] per position, as in torchvision
  constexpr std::int64_t kClasses = 91;  // [spec: torchvision] category ids 0..90 of COCO, 0 = background
  NetworkBuilder builder({320, 320, 3}, Border::symmetric);
  std::vector<FeatureMap> maps{add_mobilenet_v3_large(builder, 2)};
  builder.convolution("head", {.out = 480});
  maps.push_back(builder.shape());
  for (const FeatureMap& map : add_ssdlite_extras(builder, {512, 256, 256, 128})) maps.push_back(map);
  add_ssdlite_heads(builder, maps, kAnchors, kClasses);
  return {"ssdlite",
          "SSDLite on MobileNetV3-Large with the reduced tail, 320 x 320, 91 classes",
          "Howard et al. 2019, section 6.3; torchvision ssdlite320_mobilenet_v3_large",
          false,
          1,
          builder.take()};
}

/// Source: V3_EDGETPU of the TensorFlow slim model zoo, mobilenet_v3.py [spec: tf-slim]; blocks from Gupta and
/// Akin 2020 [paper: mobilenet-edgetpu]. `same` padding.
struct EdgeTpuBlock {
  bool fused;
  std::int64_t kernel, expansion, out, stride, repeats;
};
constexpr EdgeTpuBlock kEdgeTpu[] = {
    {true, 3, 8, 32, 2, 1},   {true, 3, 4, 32, 1, 3},   {true, 3, 8, 48, 2, 1},   {true, 3, 4, 48, 1, 3},
    {false, 3, 8, 96, 2, 1},  {false, 3, 4, 96, 1, 3},  {false, 3, 8, 96, 1, 1},  {false, 3, 4, 96, 1, 3},
    {false, 5, 8, 160, 2, 1}, {false, 5, 4, 160, 1, 3}, {false, 3, 8, 192, 1, 1},
};

Network mobilenet_edgetpu() {
  NetworkBuilder builder(kImage, Border::same);
  builder.convolution("stem", {.out = 32, .kernel = 3, .stride = 2});
  builder.convolution("b1.project", {.out = 16});
  int index = 1;
  for (const auto& [fused, kernel, expansion, out, stride, repeats] : kEdgeTpu) {
    for (std::int64_t i = 0; i < repeats; ++i) {
      const InvertedResidual block{
          .expanded = builder.shape().channels * expansion, .out = out, .kernel = kernel, .stride = stride};
      const std::string name = fmt::format("b{}", ++index);
      fused ? builder.fused_inverted_residual(name, block) : builder.inverted_residual(name, block);
    }
  }
  builder.convolution("head", {.out = 1280});
  builder.fully_connected("classifier", 1, 1280, 1001, Channel::bias);
  return {"mobilenet_edgetpu",
          "MobileNetEdgeTPU 1.0, 224 x 224, 1001 classes",
          "TensorFlow slim, mobilenet_v3.py, V3_EDGETPU; Gupta and Akin 2020",
          false,
          1,
          builder.take()};
}

}  // namespace

void generate_mobile_networks(std::vector<Network>& networks) {
  networks.push_back(mobilenet_edgetpu());
  networks.push_back(mobilenet_v2());
  networks.push_back(mobilenet_v3_large());
  networks.push_back(ssdlite());
}

}  // namespace hindsight::workload
