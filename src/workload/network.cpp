/// A network: checked layers, their GEMMs and the sums over both.
#include "hindsight/workload/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <unordered_set>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"

namespace hindsight::workload {
namespace {

/// Bumped when canonical_definition() changes its meaning: hashes in logs depend on it.
constexpr int kDefinitionVersion = 1;
/// One spelling for layers that mean the same, so that reading what was written gives an equal layer.
Layer normalised(Layer layer) {
  if (layer.type == LayerType::matmul) {
    layer.has_bias = false;
    layer.batch_norm = false;
    if (layer.kv_heads == layer.heads) layer.kv_heads = 0;
  }
  return layer;
}

void add(Totals& totals, const GemmLayer& gemm) {
  const auto repeat = static_cast<double>(gemm.repeat);
  totals.macs += repeat * gemm.macs;
  totals.parameters += repeat * gemm.parameters;
  (gemm.weights_are_activations ? totals.input_bytes : totals.weight_bytes) += repeat * gemm.weight_bytes;
  totals.input_bytes += repeat * gemm.input_bytes;
  totals.output_bytes += repeat * gemm.output_bytes;
  totals.layers += gemm.repeat;
}

/// Marks keys and values of more tokens than a pass has: attention behind a layer of fewer rows per inference than
/// keys.
void mark_earlier_passes(std::span<GemmLayer> gemms, std::int64_t batch) {
  std::int64_t rows = 0;  // of the last layer with weights, of all inferences of the batch
  for (std::size_t i = 0; i < gemms.size(); ++i) {
    if (!gemms[i].weights_are_activations) {
      rows = gemms[i].m;
    } else if (i + 1 < gemms.size() && are_attention(gemms[i], gemms[i + 1])) {
      const bool earlier = rows < gemms[i].n * batch;
      gemms[i].from_earlier_passes = gemms[i + 1].from_earlier_passes = earlier;
      ++i;
    }
  }
}

/// Whether the other words of a layer's line say that it is over a sequence: one row of outputs an image under windows
/// of one row, and outputs and parameters of a convolution that is not transposed. A map of rows that a stride leaves
/// one of has such a line, too, which is why a vertical stride says no; so do maps of one pixel under windows of one.
bool reads_as_sequence(const GemmLayer& gemm, std::int64_t batch) {
  const double columns = static_cast<double>(gemm.count) * static_cast<double>(gemm.n);
  return gemm.kernel_height == 1 && gemm.stride_height == 1 && gemm.m / gemm.out_width == batch &&
         (gemm.out_width > 1 || gemm.kernel_width > 1) && gemm.output_bytes == columns * static_cast<double>(gemm.m) &&
         std::fmod(gemm.parameters - gemm.weight_bytes, columns) == 0;
}

/// " of_sequence 1" or 0 where the line would read otherwise, so that networks that cost unlike never share a hash; the
/// lines, and the hashes, of all others are those of before the model knew sequences. A product without rows costs the
/// same as one (`windowed`, accel/spatial.h).
std::string sequence_words(const GemmLayer& gemm, std::int64_t batch) {
  const bool has_rows = gemm.out_width != gemm.m || gemm.kernel_width > 1 || gemm.stride_width > 1;
  if (!has_rows || gemm.of_sequence == reads_as_sequence(gemm, batch)) return "";
  return fmt::format(" {} {}", kOfSequence, gemm.of_sequence ? 1 : 0);
}

/// Parameters of the experts of a layer's groups that no token asks.
double idle_parameters(const Layer& layer, std::span<const GemmLayer> gemms) {
  if (layer.experts == 0) return 0;
  std::int64_t idle = layer.repeat * layer.experts;
  for (const GemmLayer& gemm : gemms) idle -= gemm.repeat;
  return static_cast<double>(idle) * gemms.front().parameters;
}

}  // namespace

Network::Network(std::string name, std::string description, std::string source, bool stand_in, std::int64_t batch,
                 std::vector<Layer> layers, ExtraParameters extra_parameters)
    : name_(std::move(name)),
      description_(std::move(description)),
      source_(std::move(source)),
      stand_in_(stand_in),
      batch_(batch),
      layers_(std::move(layers)),
      extra_parameters_(std::move(extra_parameters)) {
  if (layers_.empty()) {
    throw Error(ErrorKind::usage, fmt::format("network '{}' has no layers (nothing to run)", name_));
  }
  if (extra_parameters_.count < 0) {
    throw Error(ErrorKind::usage,
                fmt::format("network '{}': {} extra parameters (a count is >= 0)", name_, extra_parameters_.count));
  }
  std::unordered_set<std::string> names;
  gemms_.reserve(layers_.size());
  other_parameters_ = static_cast<double>(extra_parameters_.count);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = layers_[i];
    if (!names.insert(layer.name).second) {
      throw Error(ErrorKind::usage,
                  fmt::format("network '{}': two layers are named '{}' (reports tell layers apart by name)", name_,
                              layer.name));
    }
    layer = normalised(layer);
    const std::vector<GemmLayer> gemms = gemms_of(layer, batch_);
    for (const GemmLayer& gemm : gemms) {
      gemms_.push_back(gemm);
      gemm_layers_.push_back(i);
      add(totals_, gemm);
    }
    other_parameters_ += idle_parameters(layer, gemms);
  }
  totals_.parameters += other_parameters_;
  mark_earlier_passes(gemms_, batch_);
  const bool stated = std::ranges::any_of(gemms_, [](const GemmLayer& gemm) { return gemm.after.any(); });
  for (GemmLayer& gemm : gemms_) gemm.work_stated = stated;
  for (const double total : {totals_.macs, totals_.parameters, totals_.input_bytes, totals_.output_bytes}) {
    if (!(total <= kLargestExactInteger)) {
      throw Error(
          ErrorKind::usage,
          fmt::format("network '{}': a total of {:.3g} is more than 2^53 and cannot be counted exactly", name_, total));
    }
  }
}

Network Network::with_batch(std::int64_t batch) const {
  return {name_, description_, source_, stand_in_, batch, layers_, extra_parameters_};
}

Network Network::with_name(const std::string& name) const {
  Network renamed = *this;
  renamed.name_ = name;
  return renamed;
}

std::string Network::canonical_definition() const {
  std::string text = fmt::format("hindsight workload definition {}\nbatch {} extra_parameters {}\n", kDefinitionVersion,
                                 batch_, static_cast<std::int64_t>(other_parameters_));
  for (const GemmLayer& gemm : gemms_) {
    text += fmt::format("m {} n {} k {} count {} repeat {}", gemm.m, gemm.n, gemm.k, gemm.count, gemm.repeat);
    text += fmt::format(" kernel {}x{} stride {}x{} dilation {}x{}", gemm.kernel_height, gemm.kernel_width,
                        gemm.stride_height, gemm.stride_width, gemm.dilation_height, gemm.dilation_width);
    text += fmt::format(" out_width {} in_channels {} depthwise {} weights_are_activations {}", gemm.out_width,
                        gemm.in_channels, gemm.depthwise ? 1 : 0, gemm.weights_are_activations ? 1 : 0);
    text += fmt::format(" parameters {} input_bytes {} output_bytes {}", shortest(gemm.parameters),
                        shortest(gemm.input_bytes), shortest(gemm.output_bytes));
    text += sequence_words(gemm, batch_);
    for (const VectorWork work : gemm.after.list()) text += fmt::format(" then {}", to_string(work));
    text += '\n';
  }
  return text;
}

std::string Network::definition_hash() const { return sha256_hex(canonical_definition()); }

LayerCounts count_layers(const Network& network) {
  LayerCounts counts;
  for (std::size_t i = 0; i < network.gemms().size(); ++i) {
    const std::int64_t repeat = network.gemms()[i].repeat;
    switch (network.layer_of(i).type) {
      case LayerType::convolution:
      case LayerType::transposed_convolution:
        counts.convolution += repeat;
        break;
      case LayerType::depthwise_convolution:
        counts.depthwise += repeat;
        break;
      case LayerType::fully_connected:
        counts.fully_connected += repeat;
        break;
      case LayerType::matmul:
        counts.matmul += repeat;
        break;
    }
  }
  return counts;
}

double tokens_of(const Network& network) {
  const LayerCounts counts = count_layers(network);
  if (counts.convolution + counts.depthwise > 0 || counts.matmul == 0) return 0;
  const auto first = std::ranges::find_if(network.layers(), [](const Layer& layer) {
    return layer.type == LayerType::fully_connected;  // there are no convolutions
  });
  if (first == network.layers().end()) return 0;
  return static_cast<double>(network.batch()) * static_cast<double>(first->rows);
}

bool has_idle_experts(const Network& network) {
  return network.extra_parameters().what.find(kIdleExperts) != std::string::npos;
}

}  // namespace hindsight::workload
