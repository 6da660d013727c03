/// The features of layers: one table of name, meaning and computation.
#include "hindsight/workload/layer_features.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "hindsight/core/error.h"

namespace hindsight::workload {
namespace {

/// A layer and its network around it.
struct Place {
  const GemmLayer& layer;
  double earlier_weight_bytes = 0, previous_output_bytes = 0, most_handed_over_bytes = 0, all_weight_bytes = 0;
  double most_made_bytes = 0;
  bool last = false;
};

double log2_of(std::int64_t size) { return std::log2(static_cast<double>(size)); }
/// Of quantities that may be 0.
double log2_above(double size) { return std::log2(1 + size); }
double weight_bytes(const GemmLayer& layer) { return layer.weights_are_activations ? 0 : layer.weight_bytes; }
double weight_bytes_so_far(const Place& place) {
  return place.earlier_weight_bytes + weight_bytes(place.layer) * static_cast<double>(place.layer.repeat);
}
/// log2 of what has to be kept for that many bytes of weights to stay on a chip: they, and one layer's input and
/// output.
double log2_kept(double weights, const Place& place) { return log2_above(weights + 2 * place.most_made_bytes); }

/// Whether a product's rows are pixels of a map that has rows, as the accelerator model takes it (`windowed`,
/// accel/spatial.h): a convolution of single pixels over one row is a plain product.
bool has_rows(const GemmLayer& layer) {
  return layer.out_width != layer.m || layer.kernel_height > 1 || layer.kernel_width > 1;
}
/// log2 of the inputs of one group under the windows of one row of outputs, with the padding and what a stride skips;
/// of a product without rows, those of one output. Ignores: dilation, of which logs have no column.
double log2_row_inputs(const GemmLayer& layer) {
  if (!has_rows(layer)) return log2_of(layer.k);
  const double columns = static_cast<double>(layer.out_width - 1) * static_cast<double>(layer.stride_width) +
                         static_cast<double>(layer.kernel_width);
  // k without the kernel: channels of a group; a depthwise layer reads a channel for each that it writes.
  const double channels = log2_of(layer.k) - log2_of(layer.kernel_height) - log2_of(layer.kernel_width) +
                          (layer.depthwise ? log2_of(layer.n) : 0);
  return std::log2(columns) + log2_of(layer.kernel_height) + channels;
}
/// log2 of the outputs of one such row.
double log2_row_outputs(const GemmLayer& layer) {
  return log2_of(layer.n) + (has_rows(layer) ? log2_of(layer.out_width) : 0);
}

/// log2 of the larger of both: what a row needs at the least of a memory that nothing is shared over. A product without
/// rows and a sequence are cut wherever they have to be.
double log2_row(const GemmLayer& layer) {
  return has_rows(layer) && !layer.of_sequence ? std::max(log2_row_inputs(layer), log2_row_outputs(layer)) : 0;
}

struct LayerFormula {
  LayerFeature meaning;
  double (*compute)(const Place&);
};

/// Of the layer alone, and of what runs before it.
std::vector<LayerFormula> first_formulas() {
  return {
      {{"log2_m", "Rows of the product: output pixels or tokens, batch included."},
       [](const Place& p) { return log2_of(p.layer.m); }},
      {{"log2_n", "Columns of the product: output channels of one group."},
       [](const Place& p) { return log2_of(p.layer.n); }},
      {{"log2_k", "Length of the reduction."}, [](const Place& p) { return log2_of(p.layer.k); }},
      {{"log2_count", "Independent products: groups, heads."}, [](const Place& p) { return log2_of(p.layer.count); }},
      {{"log2_repeat", "Identical layers one after the other."},
       [](const Place& p) { return log2_of(p.layer.repeat); }},
      {{"log2_kernel_height", "Kernel height."}, [](const Place& p) { return log2_of(p.layer.kernel_height); }},
      {{"log2_kernel_width", "Kernel width."}, [](const Place& p) { return log2_of(p.layer.kernel_width); }},
      {{"log2_stride_height", "Vertical stride."}, [](const Place& p) { return log2_of(p.layer.stride_height); }},
      {{"log2_stride_width", "Horizontal stride."}, [](const Place& p) { return log2_of(p.layer.stride_width); }},
      {{"log2_in_channels", "Input channels of one group: k without the kernel."},
       [](const Place& p) {
         return log2_of(p.layer.k) - log2_of(p.layer.kernel_height) - log2_of(p.layer.kernel_width);
       }},
      {{"log2_macs", "Multiply-accumulates of one repeat."}, [](const Place& p) { return log2_above(p.layer.macs); }},
      {{"log2_input_bytes", "Distinct input bytes of one repeat."},
       [](const Place& p) { return log2_above(p.layer.input_bytes); }},
      {{"log2_output_bytes", "Distinct output bytes of one repeat."},
       [](const Place& p) { return log2_above(p.layer.output_bytes); }},
      {{"log2_weight_bytes", "Bytes of the k x n operand of one repeat."},
       [](const Place& p) { return log2_above(p.layer.weight_bytes); }},
      {{"log2_earlier_weight_bytes", "Trained weights of all layers before."},
       [](const Place& p) { return log2_above(p.earlier_weight_bytes); }},
      {{"log2_weight_bytes_so_far", "Trained weights of all layers up to this one, its repeats included."},
       [](const Place& p) { return log2_above(weight_bytes_so_far(p)); }},
      {{"log2_previous_output_bytes", "What the layer before put out."},
       [](const Place& p) { return log2_above(p.previous_output_bytes); }},
      {{"depthwise", "1 for depthwise convolutions."}, [](const Place& p) { return p.layer.depthwise ? 1.0 : 0.0; }},
      {{"weights_are_activations", "1 for products of two activations."},
       [](const Place& p) { return p.layer.weights_are_activations ? 1.0 : 0.0; }},
      {{"one_row", "1 where m is 1: every weight is used once."},
       [](const Place& p) { return p.layer.m == 1 ? 1.0 : 0.0; }},
      {{"last", "1 for the last layer: its output leaves the chip."},
       [](const Place& p) { return p.last ? 1.0 : 0.0; }},
  };
}

/// Of the network, of rows and of memory.
std::vector<LayerFormula> last_formulas() {
  return {
      {{"log2_most_handed_over_bytes", "The most that any layer of the network hands over to another."},
       [](const Place& p) { return log2_above(p.most_handed_over_bytes); }},
      {{"log2_all_weight_bytes", "Trained weights of the whole network."},
       [](const Place& p) { return log2_above(p.all_weight_bytes); }},
      {{"log2_out_width", "Pixels per row of a convolution's output (transposed: input); of other products m."},
       [](const Place& p) { return log2_of(p.layer.out_width); }},
      {{"log2_row_inputs", "Inputs of one group under one row of a convolution's outputs; of other products k."},
       [](const Place& p) { return log2_row_inputs(p.layer); }},
      {{"log2_row_outputs", "Outputs of one group in one such row; of other products n."},
       [](const Place& p) { return log2_row_outputs(p.layer); }},
      {{"from_earlier_passes", "1 for keys or values of more tokens than the pass has."},
       [](const Place& p) { return p.layer.from_earlier_passes ? 1.0 : 0.0; }},
      {{"log2_most_made_bytes", "As `log2_most_handed_over_bytes`, without what earlier passes made."},
       [](const Place& p) { return log2_above(p.most_made_bytes); }},
      {{"log2_row", "The larger of a row's inputs and outputs; 0 where none has to be whole: products, sequences."},
       [](const Place& p) { return log2_row(p.layer); }},
      {{"log2_kept_bytes_so_far", "Trained weights up to this layer and twice the largest tensor made."},
       [](const Place& p) { return log2_kept(weight_bytes_so_far(p), p); }},
      {{"log2_kept_bytes", "The same of all weights: what a chip holds that reads nothing twice."},
       [](const Place& p) { return log2_kept(p.all_weight_bytes, p); }},
      {{"log2_whole_window", "Weights of a depthwise convolution's window, which no lane divides; 0 for others."},
       [](const Place& p) { return p.layer.depthwise ? log2_of(p.layer.k) : 0; }},
  };
}

/// In the order of the versions.
const std::vector<LayerFormula>& layer_formulas() {
  static const std::vector<LayerFormula> table = [] {
    std::vector<LayerFormula> all = first_formulas();
    const std::vector<LayerFormula> others = last_formulas();
    all.insert(all.end(), others.begin(), others.end());
    return all;
  }();
  return table;
}

/// The largest tensor that a network makes for itself: inputs but for its own, outputs but for its own, and operands
/// made at run time of all repeats, those of earlier passes where they are counted. A layer that is repeated hands over
/// to itself.
double most_handed_over_bytes(const std::vector<GemmLayer>& layers, bool earlier_passes) {
  double most = 0;
  for (const GemmLayer& layer : layers) {
    const bool repeated = layer.repeat > 1;
    if (repeated || &layer != &layers.front()) most = std::max(most, layer.input_bytes);
    if (repeated || &layer != &layers.back()) most = std::max(most, layer.output_bytes);
    if (layer.weights_are_activations && (earlier_passes || !layer.from_earlier_passes)) {
      most = std::max(most, layer.weight_bytes * static_cast<double>(layer.repeat));
    }
  }
  return most;
}

}  // namespace

const std::vector<LayerFeature>& layer_features() {
  static const std::vector<LayerFeature> all_meanings = [] {
    std::vector<LayerFeature> meanings;
    for (const LayerFormula& feature : layer_formulas()) meanings.push_back(feature.meaning);
    return meanings;
  }();
  return all_meanings;
}

std::size_t layer_feature_count(int version) {
  // Of each version.
  static constexpr std::array<std::size_t, kLayerFeatureVersion> counts = {21, 23, 24, 26, 28, 32};
  HINDSIGHT_EXPECT(version >= 1 && version <= kLayerFeatureVersion && counts.back() == layer_formulas().size());
  return counts.at(static_cast<std::size_t>(version) - 1);
}

std::optional<int> layer_feature_version(std::int64_t count) {
  for (int version = 1; version <= kLayerFeatureVersion; ++version) {
    if (static_cast<std::int64_t>(layer_feature_count(version)) == count) return version;
  }
  return std::nullopt;
}

LayerTable layer_table(const std::vector<GemmLayer>& layers) {
  LayerTable table;
  const std::size_t width = layer_formulas().size();
  const double most = most_handed_over_bytes(layers, true), made = most_handed_over_bytes(layers, false);
  double earlier = 0, previous = 0, all = 0;
  for (const GemmLayer& layer : layers) all += weight_bytes(layer) * static_cast<double>(layer.repeat);
  for (const GemmLayer& layer : layers) {
    const Place place{.layer = layer,
                      .earlier_weight_bytes = earlier,
                      .previous_output_bytes = previous,
                      .most_handed_over_bytes = most,
                      .all_weight_bytes = all,
                      .most_made_bytes = made,
                      .last = &layer == &layers.back()};
    std::vector<double> row;
    for (const LayerFormula& feature : layer_formulas()) row.push_back(feature.compute(place));
    earlier += weight_bytes(layer) * static_cast<double>(layer.repeat);
    previous = layer.output_bytes;
    const auto last = table.features.end() - static_cast<std::ptrdiff_t>(table.rows() > 0 ? width : 0);
    if (table.rows() > 0 && std::equal(row.begin(), row.end(), last)) {
      table.repeats.back() += static_cast<double>(layer.repeat);
      continue;
    }
    table.features.insert(table.features.end(), row.begin(), row.end());
    table.repeats.push_back(static_cast<double>(layer.repeat));
  }
  return table;
}

}  // namespace hindsight::workload
