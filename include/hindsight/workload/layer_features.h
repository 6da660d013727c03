/// What a surrogate sees of a network's layers: one row of named, versioned features per layer, in execution order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "hindsight/workload/layer.h"

namespace hindsight::workload {

/// Bumped whenever features are added. They are only ever added behind the others, so that a surrogate of an older
/// version finds its own among the first; one that is removed, reordered or computed differently makes it unreadable.
inline constexpr int kLayerFeatureVersion = 6;

struct LayerFeature {
  std::string_view name;
  std::string_view description;  ///< one sentence
};
/// The features in order: logarithms of sizes to the base 2 (log2(1 + x) where x may be 0), and flags.
[[nodiscard]] const std::vector<LayerFeature>& layer_features();
/// How many features version 1, 2, ... to kLayerFeatureVersion has: the first ones of layer_features().
[[nodiscard]] std::size_t layer_feature_count(int version);
/// The version of which there are `count`, none where no version has so many.
[[nodiscard]] std::optional<int> layer_feature_version(std::int64_t count);

/// Layers as rows. Neighbours that are alike in every feature are one row with the sum of their repeats.
struct LayerTable {
  std::vector<double> features;  // rows x layer_features().size(), row after row
  std::vector<double> repeats;   // rows, at least 1
  [[nodiscard]] std::size_t rows() const { return repeats.size(); }
};
/// Of layers in execution order. Reads m, n, k, count, repeat, kernels, strides, output pixels per row, the three
/// flags, MACs and bytes of a layer: what logs keep of it. Four features are of the order: bytes of trained weights of
/// all layers before, and up to this one (repeats counted), because weights that fit stay on the chip; the bytes that
/// the layer before put out; and which layer is the last. Two are of the whole network: the bytes of the largest tensor
/// that it hands over from layer to layer (its own input and output left out, an operand made at run time taken with
/// all its repeats), because memory that no activation needs has room for weights; and the bytes of all trained
/// weights, by which the share of them that finds room is a smooth function of any layer, however many layers there
/// are. Three, pixels per row and the inputs and outputs of a row, tell a long row from a square map: a tile
/// of a convolution has whole rows, and whether one fits the memory of a PE decides whether there is a mapping. Two
/// know keys and values of earlier passes, which version 3 of the accelerator model leaves in DRAM: a flag, and the
/// largest tensor without them. The last four are what steps stand at: a row, all that is to be kept, a whole window;
/// logarithms of a larger one and of a sum, which no sum of logarithms says and few of the learnt layers teach.
///
/// Differs from what the accelerator model has of a network (network_cost.h, handed_over_bytes): there a chip with
/// vector units hands over the scores of one head of attention at a time. A feature does not see the chip.
[[nodiscard]] LayerTable layer_table(const std::vector<GemmLayer>& layers);

}  // namespace hindsight::workload
