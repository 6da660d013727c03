/// The context features: one table of name, meaning and computation.
#include "hindsight/workload/context.h"

#include <algorithm>
#include <cmath>

#include "hindsight/core/error.h"
#include "hindsight/core/units.h"

namespace hindsight::workload {
namespace {

/// [chosen] A layer with fewer terms or columns than this cannot fill a wide array on its own; 64 sets the first
/// layers of image networks and all depthwise layers apart from the rest.
constexpr std::int64_t kNarrow = 64;

double repeats(const GemmLayer& gemm) { return static_cast<double>(gemm.repeat); }
double macs(const GemmLayer& gemm) { return repeats(gemm) * gemm.macs; }
double activation_bytes(const GemmLayer& gemm) {
  return gemm.input_bytes + gemm.output_bytes + (gemm.weights_are_activations ? gemm.weight_bytes : 0.0);
}
double trained_weight_bytes(const GemmLayer& gemm) { return gemm.weights_are_activations ? 0.0 : gemm.weight_bytes; }

using Value = double (*)(const GemmLayer&);
using Predicate = bool (*)(const Layer&, const GemmLayer&);

double largest(const Network& network, Value value) {
  double result = 0.0;
  for (const GemmLayer& gemm : network.gemms()) result = std::max(result, value(gemm));
  return result;
}

/// exp(sum(w * log(value)) / sum(w)) with the MACs of a layer as its weight w.
double geometric_mean_by_macs(const Network& network, Value value) {
  double sum = 0.0;
  for (const GemmLayer& gemm : network.gemms()) sum += macs(gemm) * std::log(value(gemm));
  return std::exp(sum / network.totals().macs);
}

/// The part of `quantity` that lies in layers of which `holds` is true.
double share(const Network& network, Value quantity, Predicate holds) {
  double part = 0.0;
  double whole = 0.0;
  for (std::size_t i = 0; i < network.gemms().size(); ++i) {
    const double value = quantity(network.gemms()[i]);
    whole += value;
    if (holds(network.layer_of(i), network.gemms()[i])) part += value;
  }
  return whole > 0.0 ? part / whole : 0.0;
}

double m_of(const GemmLayer& gemm) { return static_cast<double>(gemm.m); }
double n_of(const GemmLayer& gemm) { return static_cast<double>(gemm.n); }
double k_of(const GemmLayer& gemm) { return static_cast<double>(gemm.k); }

template <LayerType Type>
bool has_type(const Layer& layer, const GemmLayer& /*gemm*/) {
  return layer.type == Type;
}
bool has_more_weights_than_activations(const Layer& /*layer*/, const GemmLayer& gemm) {
  return trained_weight_bytes(gemm) > activation_bytes(gemm);
}
bool has_large_kernel(const Layer& layer, const GemmLayer& gemm) {
  return !gemm.depthwise && layer.kernel_height * layer.kernel_width > 1;
}
bool has_short_reduction(const Layer& /*layer*/, const GemmLayer& gemm) { return gemm.k < kNarrow; }
bool has_few_columns(const Layer& /*layer*/, const GemmLayer& gemm) { return gemm.n < kNarrow; }
bool has_one_row(const Layer& /*layer*/, const GemmLayer& gemm) { return gemm.m == 1; }

double weight_bytes_with_repeats(const GemmLayer& gemm) { return repeats(gemm) * trained_weight_bytes(gemm); }
double activations_of(const Network& network) { return network.totals().input_bytes + network.totals().output_bytes; }

struct NetworkFeature {
  ContextFeature meaning;
  double (*compute)(const Network&);
};

const std::vector<NetworkFeature>& features() {
  static const std::vector<NetworkFeature> table{
      {{"convolution_layers", "Convolutions, dense, grouped and transposed; repeats counted."},
       [](const Network& net) { return static_cast<double>(count_layers(net).convolution); }},
      {{"depthwise_layers", "Depthwise convolutions; repeats counted."},
       [](const Network& net) { return static_cast<double>(count_layers(net).depthwise); }},
      {{"fully_connected_layers", "Fully connected layers; repeats counted."},
       [](const Network& net) { return static_cast<double>(count_layers(net).fully_connected); }},
      {{"matmul_layers", "Batched products of two activations; repeats counted."},
       [](const Network& net) { return static_cast<double>(count_layers(net).matmul); }},
      {{"parameters", "Trained parameters, those outside the layers included."},
       [](const Network& net) { return net.totals().parameters; }},
      {{"macs", "Multiply-accumulates of one inference at the network's batch."},
       [](const Network& net) { return net.totals().macs; }},
      {{"weight_bytes", "Trained weights of all layers at one byte each."},
       [](const Network& net) { return net.totals().weight_bytes; }},
      {{"activation_bytes", "Inputs and outputs of all layers, each layer's counted for itself."}, activations_of},
      {{"intensity_ops_per_byte",
        "Operations per byte of weights and activations when nothing is reused across layers."},
       [](const Network& net) {
         return kOpsPerMac * net.totals().macs / (net.totals().weight_bytes + activations_of(net));
       }},
      {{"largest_weight_bytes", "Weights of the layer that has most."},
       [](const Network& net) { return largest(net, trained_weight_bytes); }},
      {{"largest_activation_bytes", "Input and output of the layer that has most."},
       [](const Network& net) { return largest(net, activation_bytes); }},
      {{"mean_m", "Rows of a layer's GEMM (output pixels or tokens): geometric mean weighted by MACs."},
       [](const Network& net) { return geometric_mean_by_macs(net, m_of); }},
      {{"mean_n", "Columns of a layer's GEMM (output channels): geometric mean weighted by MACs."},
       [](const Network& net) { return geometric_mean_by_macs(net, n_of); }},
      {{"mean_k", "Reduction length of a layer's GEMM: geometric mean weighted by MACs."},
       [](const Network& net) { return geometric_mean_by_macs(net, k_of); }},
      {{"max_m", "Largest number of rows of a GEMM."}, [](const Network& net) { return largest(net, m_of); }},
      {{"max_n", "Largest number of columns of a GEMM."}, [](const Network& net) { return largest(net, n_of); }},
      {{"max_k", "Longest reduction of a GEMM."}, [](const Network& net) { return largest(net, k_of); }},
      {{"depthwise_macs_frac", "Share of MACs in depthwise convolutions."},
       [](const Network& net) { return share(net, macs, has_type<LayerType::depthwise_convolution>); }},
      {{"fully_connected_macs_frac", "Share of MACs in fully connected layers."},
       [](const Network& net) { return share(net, macs, has_type<LayerType::fully_connected>); }},
      {{"matmul_macs_frac", "Share of MACs in products of two activations."},
       [](const Network& net) { return share(net, macs, has_type<LayerType::matmul>); }},
      {{"large_kernel_macs_frac",
        "Share of MACs in convolutions other than depthwise with a kernel larger than 1 x 1."},
       [](const Network& net) { return share(net, macs, has_large_kernel); }},
      {{"weight_heavy_macs_frac", "Share of MACs in layers with more weight bytes than activation bytes."},
       [](const Network& net) { return share(net, macs, has_more_weights_than_activations); }},
      {{"short_reduction_macs_frac", "Share of MACs in layers that reduce fewer than 64 terms."},
       [](const Network& net) { return share(net, macs, has_short_reduction); }},
      {{"few_columns_macs_frac", "Share of MACs in layers with fewer than 64 columns."},
       [](const Network& net) { return share(net, macs, has_few_columns); }},
      {{"single_row_weight_bytes_frac", "Share of weight bytes that serve a single row and so are used once."},
       [](const Network& net) { return share(net, weight_bytes_with_repeats, has_one_row); }},
  };
  return table;
}

}  // namespace

const std::vector<ContextFeature>& context_features() {
  static const std::vector<ContextFeature> list = [] {
    std::vector<ContextFeature> result;
    for (const NetworkFeature& feature : features()) result.push_back(feature.meaning);
    return result;
  }();
  return list;
}

std::vector<double> context_vector(const Network& network) {
  std::vector<double> values;
  values.reserve(features().size());
  for (const NetworkFeature& feature : features()) {
    values.push_back(feature.compute(network));
    HINDSIGHT_ENSURE(std::isfinite(values.back()) && values.back() >= 0.0);
  }
  return values;
}

}  // namespace hindsight::workload
