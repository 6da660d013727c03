/// Builds a network layer by layer, carrying the shape of the activation from one layer to the next.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/workload/network.h"

namespace hindsight::workload {

/// Shape of an activation.
struct FeatureMap {
  std::int64_t height = 0, width = 0, channels = 0;
};

/// How a convolution treats its border: TensorFlow's `same`, or PyTorch's (kernel - 1) / 2 on both sides. They
/// differ where the stride is above 1.
enum class Border { same, symmetric, none };
/// Parameters per output channel beyond the weights.
enum class Channel { batch_norm, bias, plain };

/// A convolution that follows the current activation.
struct Conv {
  std::int64_t out = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  Channel channel = Channel::batch_norm;
  std::int64_t groups = 1;
};

/// An inverted residual block (Sandler et al. 2018): expand, depthwise, project; a 1x1 expansion is left out where
/// `expanded` equals the input channels.
struct InvertedResidual {
  std::int64_t expanded = 0;
  std::int64_t out = 0;
  std::int64_t kernel = 3;
  std::int64_t stride = 1;
  std::int64_t squeeze = 0;  ///< channels of the squeeze-and-excitation bottleneck; 0 = none
};

/// Attention of `queries` rows to `keys` rows, `heads` times; scores, then values.
struct Attention {
  std::int64_t repeat = 1;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 0;  ///< 0 = heads
  std::int64_t queries = 0, keys = 0, head_dim = 0;
};

/// `heads` products of activations, `rows` x `reduction` times `reduction` x `columns`.
struct HeadProduct {
  std::int64_t repeat = 1, heads = 1;
  std::int64_t rows = 0, columns = 0, reduction = 0;
};

class NetworkBuilder {
 public:
  NetworkBuilder(FeatureMap input, Border border) : shape_(input), border_(border) {}

  /// Adds one layer and moves the current activation behind it.
  void convolution(const std::string& name, Conv conv);
  void depthwise(const std::string& name, std::int64_t kernel, std::int64_t stride);
  void transposed(const std::string& name, Conv conv);
  /// A convolution over time: of a map of one row, with a kernel of one row.
  void convolution_1d(const std::string& name, Conv conv);
  void depthwise_1d(const std::string& name, std::int64_t kernel, std::int64_t stride);
  void fully_connected(const std::string& name, std::int64_t rows, std::int64_t reduction, std::int64_t columns,
                       Channel channel, std::int64_t repeat = 1);
  /// Makes the layer added last one of `experts`, to `per_token` of which each of its rows is sent.
  void as_expert(std::int64_t experts, std::int64_t per_token);
  /// Adds `name`.scores and `name`.values.
  void attention(const std::string& name, const Attention& shape);
  /// One product of attention whose keys and values differ in width.
  void product(const std::string& name, const HeadProduct& shape);

  /// What runs over the outputs of the layer added last.
  void then(std::initializer_list<VectorWork> works);

  /// Adds the layers of a block under `name`.
  void inverted_residual(const std::string& name, const InvertedResidual& block);
  /// A fused inverted residual: dense k x k expansion, then a 1x1 projection (Gupta and Akin 2020).
  void fused_inverted_residual(const std::string& name, const InvertedResidual& block);

  [[nodiscard]] FeatureMap shape() const { return shape_; }
  /// Goes on from another activation: a branch, a concatenation, a pooled map.
  void continue_from(FeatureMap shape) { shape_ = shape; }

  [[nodiscard]] std::vector<Layer> take() { return std::move(layers_); }

 private:
  void add(Layer layer);

  FeatureMap shape_;
  Border border_;
  std::vector<Layer> layers_;
};

/// Rounds a scaled channel count to a multiple of 8, never below 90 % of it (Sandler et al. 2018, reference code).
[[nodiscard]] std::int64_t make_divisible(double channels);

/// Prediction heads of SSDLite (Sandler et al. 2018): on each map a depthwise and a 1x1 convolution for classes,
/// and the same for boxes of four coordinates.
void add_ssdlite_heads(NetworkBuilder& builder, const std::vector<FeatureMap>& maps, std::int64_t anchors,
                       std::int64_t classes);
/// Extra feature layers of SSDLite, each halving the map: 1x1 to half of `out`, depthwise of stride 2, 1x1 to `out`.
/// Returns the maps.
[[nodiscard]] std::vector<FeatureMap> add_ssdlite_extras(NetworkBuilder& builder,
                                                         const std::vector<std::int64_t>& outs);

/// One function per family of networks; each appends to `networks`.
void generate_mobile_networks(std::vector<Network>& networks);
void generate_stand_ins(std::vector<Network>& networks);
void generate_large_vision_networks(std::vector<Network>& networks);
void generate_language_networks(std::vector<Network>& networks);
void generate_large_language_networks(std::vector<Network>& networks);
void generate_speech_networks(std::vector<Network>& networks);
void generate_diffusion_networks(std::vector<Network>& networks);

/// A decoder like Llama 3: grouped-query attention and a gated feed-forward network in every block, without biases.
struct LlamaSizes {
  std::int64_t blocks = 0, width = 0, feed_forward = 0, heads = 0, kv_heads = 0, head_dim = 0, vocabulary = 0;
};
/// The projections of attention and attention itself: `queries` tokens against `context` keys, in every block.
void add_llama_attention(NetworkBuilder& builder, const LlamaSizes& sizes, std::int64_t queries, std::int64_t context);
/// The whole decoder; logits for the last token. Causal masking is ignored: the full score matrix is computed.
[[nodiscard]] Network llama_network(const std::string& name, const std::string& description, const LlamaSizes& sizes,
                                    std::int64_t queries, std::int64_t context);

}  // namespace hindsight::workload
