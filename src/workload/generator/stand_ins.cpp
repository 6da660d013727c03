/// Networks that imitate unpublished ones: the layer counts of PRIME's application table [paper: prime-2022] are met
/// exactly, its weights and multiply-accumulates within 3 % (asserted in tests/workload/shipped_networks_test.cpp).
///
/// Every width, resolution and head below is [chosen]: searched over multiples of 8 so that both totals come close.
/// The individual layers are therefore plausible, not true.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "workload/generator/network_builder.h"

namespace hindsight::workload {
namespace {

constexpr const char* kSource = "stand-in: layers of our own, sized to PRIME's application table (Kumar et al. 2022)";

Network stand_in(const std::string& name, const std::string& description, std::vector<Layer> layers) {
  return {name, description, kSource, true, 1, std::move(layers)};
}

/// A classifier after MobileNetEdgeTPU: fused blocks at high resolution, depthwise blocks behind.
Network m4() {
  struct Stage {
    std::int64_t kernel, expansion, out, stride, repeats;
  };
  constexpr Stage kFused[] = {{3, 8, 40, 2, 1}, {3, 8, 56, 2, 1}};
  constexpr Stage kDepthwise[] = {{3, 6, 112, 2, 4}, {3, 6, 144, 1, 4}, {5, 6, 224, 2, 4}, {3, 6, 288, 1, 1}};
  NetworkBuilder builder({320, 320, 3}, Border::same);
  builder.convolution("stem", {.out = 32, .kernel = 3, .stride = 2});
  int index = 0;
  for (const auto& [kernel, expansion, out, stride, repeats] : kFused) {
    builder.fused_inverted_residual(
        fmt::format("b{}", ++index),
        {.expanded = builder.shape().channels * expansion, .out = out, .kernel = kernel, .stride = stride});
  }
  for (const auto& [kernel, expansion, out, stride, repeats] : kDepthwise) {
    for (std::int64_t i = 0; i < repeats; ++i) {
      builder.inverted_residual(fmt::format("b{}", ++index), {.expanded = builder.shape().channels * expansion,
                                                              .out = out,
                                                              .kernel = kernel,
                                                              .stride = i == 0 ? stride : 1});
    }
  }
  builder.convolution("head", {.out = 1280});
  builder.fully_connected("embedding", 1, 1280, 640, Channel::bias);
  builder.fully_connected("classifier", 1, 640, 1001, Channel::bias);
  return stand_in("m4", "Imitates PRIME's M4 (32 conv, 13 depthwise, 2 fully connected; 6.23 MiB; 1736 M MACs)",
                  builder.take());
}

struct Stage {
  std::int64_t expansion, channels, repeats, stride;
};

/// MobileNetV2's inverted residuals scaled by `width`. Returns, for the blocks named in `taps` (their index, from 0),
/// the expanded map before the depthwise convolution, where SSDLite attaches.
std::vector<FeatureMap> add_scaled_backbone(NetworkBuilder& builder, const std::vector<Stage>& stages, double width,
                                            const std::vector<int>& taps) {
  const auto scaled = [width](std::int64_t channels) { return make_divisible(static_cast<double>(channels) * width); };
  builder.convolution("stem", {.out = scaled(32), .kernel = 3, .stride = 2});
  std::vector<FeatureMap> maps;
  int index = 0;
  for (const auto& [expansion, channels, repeats, stride] : stages) {
    for (std::int64_t i = 0; i < repeats; ++i) {
      const FeatureMap in = builder.shape();
      for (const int tap : taps) {
        if (tap == index) maps.push_back({in.height, in.width, in.channels * expansion});
      }
      builder.inverted_residual(
          fmt::format("b{}", ++index),
          {.expanded = in.channels * expansion, .out = scaled(channels), .stride = i == 0 ? stride : 1});
    }
  }
  return maps;
}

/// A detector: SSDLite on MobileNetV2 0.7 with two backbone maps and two extra ones.
Network m5() {
  NetworkBuilder builder({320, 320, 3}, Border::same);
  std::vector<FeatureMap> maps = add_scaled_backbone(
      builder,
      {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}}, 0.7,
      {13});
  builder.convolution("head", {.out = 512});
  maps.push_back(builder.shape());
  for (const FeatureMap& map : add_ssdlite_extras(builder, {512, 256})) maps.push_back(map);
  add_ssdlite_heads(builder, maps, 6, 81);
  return stand_in("m5", "Imitates PRIME's M5 (47 conv, 27 depthwise, no fully connected; 2.16 MiB; 470 M MACs)",
                  builder.take());
}

/// A small detector with an attribute classifier: SSDLite on MobileNetV2 0.5 with 15 blocks, three backbone maps and
/// four extra ones.
Network m6() {
  NetworkBuilder builder({256, 256, 3}, Border::same);
  std::vector<FeatureMap> maps = add_scaled_backbone(
      builder, {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 2, 2}}, 0.5,
      {6, 13});
  builder.convolution("head", {.out = 192});
  maps.push_back(builder.shape());
  for (const FeatureMap& map : add_ssdlite_extras(builder, {192, 96, 96, 96})) maps.push_back(map);
  add_ssdlite_heads(builder, maps, 3, 11);
  builder.fully_connected("embedding", 1, 192, 64, Channel::bias);
  builder.fully_connected("classifier", 1, 64, 10, Channel::bias);
  return stand_in("m6", "Imitates PRIME's M6 (53 conv, 33 depthwise, 2 fully connected; 0.41 MiB; 114 M MACs)",
                  builder.take());
}

/// Encoder and decoder of five levels after U-Net [paper: unet], with `same` padding, four convolutions at the
/// bottom and three per decoder level.
Network unet() {
  constexpr std::int64_t kWidths[] = {24, 32, 64, 96, 128};
  constexpr std::int64_t kBottom = 256;
  NetworkBuilder builder({320, 320, 3}, Border::same);
  int level = 0;
  for (const std::int64_t width : kWidths) {
    builder.convolution(fmt::format("down{}.a", level), {.out = width, .kernel = 3});
    builder.convolution(fmt::format("down{}.b", level), {.out = width, .kernel = 3});
    builder.continue_from({builder.shape().height / 2, builder.shape().width / 2, width});  // 2x2 max pooling
    ++level;
  }
  for (const char* name : {"bottom.a", "bottom.b", "bottom.c", "bottom.d"}) {
    builder.convolution(name, {.out = kBottom, .kernel = 3});
  }
  while (level-- > 0) {
    const std::int64_t width = kWidths[level];
    builder.transposed(fmt::format("up{}.transposed", level), {.out = width, .kernel = 2, .stride = 2});
    builder.continue_from({builder.shape().height, builder.shape().width, 2 * width});  // beside the encoder's map
    for (const char* name : {"a", "b", "c"}) {
      builder.convolution(fmt::format("up{}.{}", level, name), {.out = width, .kernel = 3});
    }
  }
  builder.convolution("mask", {.out = 1, .channel = Channel::bias});
  return stand_in("unet", "Imitates PRIME's U-Net (35 conv; 3.69 MiB; 6854 M MACs)", builder.take());
}

/// One step of a stack of recurrent layers with projection (LSTMP), as in streaming transducers [paper: he-2019]: four
/// gates of `hidden` cells from the input and from the recurrent state of `projected` values, then the projection.
void add_projected_lstm_stack(NetworkBuilder& builder, int layers, std::int64_t hidden, std::int64_t projected) {
  constexpr std::int64_t kGates = 4;  // [paper: sak-2014] input, forget, cell, output
  for (int i = 1; i <= layers; ++i) {
    builder.fully_connected(fmt::format("lstm{}.input", i), 1, projected, kGates * hidden, Channel::bias);
    builder.fully_connected(fmt::format("lstm{}.recurrent", i), 1, projected, kGates * hidden, Channel::plain);
    builder.fully_connected(fmt::format("lstm{}.project", i), 1, hidden, projected, Channel::plain);
  }
}

Network t_rnn_enc() {
  NetworkBuilder builder({}, Border::none);
  add_projected_lstm_stack(builder, 6, 820, 512);
  return stand_in("t_rnn_enc", "Imitates PRIME's t-RNN encoder (18 fully connected; 21.62 MiB), one step",
                  builder.take());
}

Network t_rnn_dec() {
  NetworkBuilder builder({}, Border::none);
  add_projected_lstm_stack(builder, 6, 640, 512);
  builder.fully_connected("word_pieces", 1, 512, 4096, Channel::bias);
  return stand_in("t_rnn_dec", "Imitates PRIME's t-RNN decoder (19 fully connected; 19 MiB), one step", builder.take());
}

}  // namespace

void generate_stand_ins(std::vector<Network>& networks) {
  networks.push_back(m4());
  networks.push_back(m5());
  networks.push_back(m6());
  networks.push_back(unet());
  networks.push_back(t_rnn_dec());
  networks.push_back(t_rnn_enc());
}

}  // namespace hindsight::workload
