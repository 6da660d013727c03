/// Spatial mapping: how the GEMM dimensions M, N and K are spread over the PE grid, the cores and the lanes.
///
/// Model: each axis of the grid splits one dimension; a PE's cores split M and N; the lanes of a core split N
/// (they share one activation); the four multipliers of a lane split K.
/// Valid for: the PE-array template with at least one PE, core and lane.
/// Ignores: mappings that split one axis between two dimensions; independent GEMMs (attention heads, groups)
/// running side by side on parts of the grid: they run one after the other.
/// Source: template after [paper: edge-tpu-eval] and [paper: prime-2022]; the enumeration is Hindsight's own.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>

#include "hindsight/accel/config.h"
#include "hindsight/accel/template_constants.h"
#include "hindsight/accel/terms.h"
#include "hindsight/workload/layer.h"

namespace hindsight::accel {

/// One layer as doubles, so that the inner loops convert nothing. Depthwise: n = channels, k = window.
struct LayerShape {
  double m = 1, n = 1, k = 1, count = 1, repeat = 1;
  double out_rows = 1;                         ///< convolution: batch x output height; otherwise m
  double out_columns = 1;                      ///< convolution: output width; otherwise 1
  double kernel_rows = 1, kernel_columns = 1;  ///< extent of the window in the input, dilation included
  double stride_rows = 1, stride_columns = 1;
  double in_channels = 1;  ///< bytes of one input pixel (of one group)
  double macs = 0, weight_bytes = 0, input_bytes = 0, output_bytes = 0;
  double input_parts = 1, output_parts = 1;  ///< of attention: heads that hand over the scores one by one
  // Of the vector units, behind the layer:
  double vector_ops = 0;
  double vector_elements = 0;  ///< of the layer's output that they read and write back; 0: no work
  double other_operands = 0;   ///< elements that other layers wrote
  bool depthwise = false;
  bool of_sequence = false;  ///< a convolution whose maps and windows have one row
  bool windowed = false;     ///< a convolution: rows and columns of a feature map, otherwise a plain GEMM
  bool weights_are_activations = false;
  bool from_earlier_passes = false;  ///< keys or values that no layer of the network makes
  /// Equal layers cost the same; the order is for tables.
  friend auto operator<=>(const LayerShape&, const LayerShape&) = default;  // NOLINT(modernize-use-nullptr): its zero
};
/// Conversion of a lowered layer; extents of dilated windows are (kernel - 1) * dilation + 1.
[[nodiscard]] constexpr LayerShape layer_shape(const workload::GemmLayer& layer) {
  LayerShape shape;
  shape.m = static_cast<double>(layer.m);
  shape.n = static_cast<double>(layer.n);
  shape.k = static_cast<double>(layer.k);
  shape.count = static_cast<double>(layer.count);
  shape.repeat = static_cast<double>(layer.repeat);
  shape.windowed = layer.out_width != layer.m || layer.kernel_height > 1 || layer.kernel_width > 1;
  shape.out_columns = shape.windowed ? static_cast<double>(layer.out_width) : 1.0;
  shape.out_rows = shape.m / shape.out_columns;
  shape.kernel_rows = static_cast<double>((layer.kernel_height - 1) * layer.dilation_height + 1);
  shape.kernel_columns = static_cast<double>((layer.kernel_width - 1) * layer.dilation_width + 1);
  shape.stride_rows = static_cast<double>(layer.stride_height);
  shape.stride_columns = static_cast<double>(layer.stride_width);
  shape.in_channels = static_cast<double>(layer.in_channels);
  shape.macs = layer.macs;
  shape.weight_bytes = layer.weight_bytes;
  shape.input_bytes = layer.input_bytes;
  shape.output_bytes = layer.output_bytes;
  shape.depthwise = layer.depthwise;
  shape.of_sequence = layer.of_sequence;
  shape.weights_are_activations = layer.weights_are_activations;
  shape.from_earlier_passes = layer.from_earlier_passes;
  return shape;
}

/// Whether layer i makes the scores of an attention whose values are the next layer.
[[nodiscard]] constexpr bool is_attention(std::span<const workload::GemmLayer> layers, std::size_t i) {
  return i + 1 < layers.size() && workload::are_attention(layers[i], layers[i + 1]);
}

/// Layer i with what it is to its neighbours. Its vector work: softmax of scores, else what the network says of it. Of
/// networks that say nothing: behind an attention, normalisations of what the layer after it writes, each with a
/// residual (the same as gpu/network.h counts on a GPU).
[[nodiscard]] constexpr LayerShape layer_shape(std::span<const workload::GemmLayer> layers, std::size_t i) {
  LayerShape shape = layer_shape(layers[i]);
  const double outputs = shape.output_bytes;  // int8: one byte is one element
  const bool values = i > 0 && is_attention(layers, i - 1);
  if (values) shape.input_parts = shape.count;
  if (is_attention(layers, i)) {
    shape.output_parts = shape.count;
    shape.vector_elements = outputs;
    shape.vector_ops = kSoftmaxOps * outputs;
  } else if (layers[i].after.any()) {
    const workload::VectorCost cost = layers[i].after.cost();
    shape.vector_elements = outputs;
    shape.vector_ops = cost.ops * outputs;
    shape.other_operands = cost.other_operands * outputs;
  } else if (!layers[i].work_stated && !values && i > 1 && is_attention(layers, i - 2) &&
             !shape.weights_are_activations && !shape.depthwise) {
    const double per_repeat = static_cast<double>(layers[i - 2].repeat) / shape.repeat;
    shape.vector_elements = kNormalisationsPerAttention * per_repeat * outputs;
    shape.vector_ops = kNormalisationOps * shape.vector_elements;
    shape.other_operands = shape.vector_elements;
  }
  return shape;
}

/// What the two axes of the grid split.
struct GridSplit {
  GemmDimension x, y;
};
/// The enumerated grid mappings. K on both axes is left out: its partial sums would cross the whole grid.
inline constexpr std::array<GridSplit, 8> kGridSplits{{
    {GemmDimension::n, GemmDimension::m},
    {GemmDimension::m, GemmDimension::n},
    {GemmDimension::m, GemmDimension::m},
    {GemmDimension::n, GemmDimension::n},
    {GemmDimension::n, GemmDimension::k},
    {GemmDimension::k, GemmDimension::n},
    {GemmDimension::m, GemmDimension::k},
    {GemmDimension::k, GemmDimension::m},
}};

/// The part of a layer that the busiest PE gets.
struct PeShare {
  double split_m = 1, split_n = 1, split_k = 1;  ///< PEs along each dimension (idle ones counted)
  double used_m = 1, used_n = 1, used_k = 1;     ///< PEs with work along each dimension
  double m = 1, n = 1, k = 1;                    ///< ceil-divided sizes
  double rows = 1, columns = 1;                  ///< output rows and columns; m = rows * columns
  double in_rows = 1, in_columns = 1;            ///< input rows and columns with the halo
  double pixel_bytes = 1;                        ///< bytes of one input pixel that this PE needs
  double input_bytes = 0;                        ///< distinct input bytes with the halo, one of `count`
};

/// Equation: size of the busiest PE's share along a split dimension = ceil(size / PEs on that axis).
/// A convolution splits output columns along x and output rows along y (a plain GEMM splits its m rows), so the
/// input of one PE is ((rows - 1) * stride + window) rows of ((columns - 1) * stride + window) pixels: the halo
/// between neighbours is read by both. A depthwise layer needs only its own channels of the input.
/// PEs with work along a dimension = ceil(size / share): splitting 10 over 8 PEs gives 2 each to 5 of them.
[[nodiscard]] constexpr PeShare pe_share(const LayerShape& layer, GridSplit split, double pes_x, double pes_y) {
  PeShare pe;
  pe.split_m = (split.x == GemmDimension::m ? pes_x : 1.0) * (split.y == GemmDimension::m ? pes_y : 1.0);
  pe.split_n = (split.x == GemmDimension::n ? pes_x : 1.0) * (split.y == GemmDimension::n ? pes_y : 1.0);
  pe.split_k = (split.x == GemmDimension::k ? pes_x : 1.0) * (split.y == GemmDimension::k ? pes_y : 1.0);
  pe.n = tile_count(layer.n, pe.split_n);
  pe.k = tile_count(layer.k, pe.split_k);
  if (layer.windowed) {
    pe.columns = split.x == GemmDimension::m ? tile_count(layer.out_columns, pes_x) : layer.out_columns;
    pe.rows = split.y == GemmDimension::m ? tile_count(layer.out_rows, pes_y) : layer.out_rows;
    pe.in_rows = (pe.rows - 1.0) * layer.stride_rows + layer.kernel_rows;
    pe.in_columns = (pe.columns - 1.0) * layer.stride_columns + layer.kernel_columns;
    pe.pixel_bytes = layer.depthwise ? pe.n : tile_count(layer.in_channels, pe.split_k);
  } else {
    pe.columns = 1.0;
    pe.rows = tile_count(layer.out_rows, pe.split_m);
    pe.in_rows = pe.rows;
    pe.in_columns = 1.0;
    pe.pixel_bytes = pe.k;
  }
  pe.m = pe.rows * pe.columns;
  pe.used_m = tile_count(layer.out_rows, pe.rows) * tile_count(layer.out_columns, pe.columns);
  pe.used_n = tile_count(layer.n, pe.n);
  pe.used_k = tile_count(layer.k, pe.k);
  pe.input_bytes = pe.in_rows * pe.in_columns * pe.pixel_bytes;
  return pe;
}

/// The part of a PE's share that its busiest core gets; `split_m * split_n` cores at most are used.
struct CoreShare {
  double split_m = 1, split_n = 1;
  double m = 1, n = 1;
};
[[nodiscard]] constexpr CoreShare core_share(const PeShare& pe, double split_m, double split_n) {
  return {split_m, split_n, tile_count(pe.m, split_m), tile_count(pe.n, split_n)};
}

/// Cycles the busiest core computes, for all `count` GEMMs.
///
/// Equation: cycles = count * m_core * ceil(n_core / lanes) * ceil(k_pe / 4): one lane finishes one output's four
/// products per cycle. Utilisation follows from the four ceilings.
/// Depthwise: k is the window alone, so the four-way reduction runs over window taps (9 taps take 3 cycles).
[[nodiscard]] constexpr double compute_cycles(const LayerShape& layer, const CoreShare& core, double k_pe, double lanes,
                                              double macs_per_lane) {
  return layer.count * core.m * tile_count(core.n, lanes) * tile_count(k_pe, macs_per_lane);
}

/// Cycles that active lanes work on a layer, summed over all lanes: a last group of fewer than four products takes a
/// whole cycle.
///
/// Equation: lane cycles = macs / k * ceil(k / 4).
[[nodiscard]] constexpr double lane_cycles(const LayerShape& layer, double macs_per_lane) {
  return layer.macs / layer.k * tile_count(layer.k, macs_per_lane);
}

}  // namespace hindsight::accel
